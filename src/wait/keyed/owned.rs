//! [`OwnedKeyedLine`]: a key's line with a share in the limiter, for places and futures that live anywhere.

use super::KeyedLine;
use crate::clock::Clock;
#[cfg(feature = "async")]
use crate::clock::Timer;
use crate::decision::{Denied, Status};
use crate::keyed::{Identity, KeyedLimiter};
use crate::nanos::Nanos;
#[cfg(feature = "async")]
use crate::wait::Acquire;
use crate::wait::line::{Line, sealed};
use crate::wait::place::Place;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::time::Duration;
use sealed::Reserved;

/// A key's line in a [`KeyedLimiter`], with a share in the limiter: what its places point to that may be kept anywhere.
///
/// It holds the key's hash, not the key. Its places are those of the limiter's first class.
pub struct OwnedKeyedLine<K: ?Sized, S, C> {
    limiter: Arc<KeyedLimiter<K, S, C>>,
    key: Identity,
}

/// A place in the line of a key, with a share in the limiter.
pub type OwnedKeyedPlace<K, S, C> = Place<OwnedKeyedLine<K, S, C>>;

impl<K: ?Sized, S: BuildHasher, C> KeyedLimiter<K, S, C> {
    /// As [`line`](Self::line), with a share in the limiter.
    pub fn line_owned<Q>(self: Arc<Self>, key: &Q) -> OwnedKeyedLine<K, S, C>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        OwnedKeyedLine { key: self.class(0).identity(key), limiter: self }
    }
}

impl<K: ?Sized, S: BuildHasher, C: Clock> KeyedLimiter<K, S, C> {
    /// As [`reserve`](Self::reserve), for a place that can be kept anywhere.
    ///
    /// # Errors
    ///
    /// As [`reserve`](Self::reserve).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tollgate::{KeyedLimiter, ManualClock, Nanos, OwnedKeyedLine, Place, Quota};
    ///
    /// struct Job<S> {
    ///     turn: Place<OwnedKeyedLine<str, S, ManualClock>>,
    /// }
    ///
    /// let quota = Quota::per_second(10).with_burst(1);
    /// let limiter = Arc::new(KeyedLimiter::<str>::with_clock(quota, 1_000, ManualClock::new()));
    /// limiter.try_acquire("alice")?;
    /// let job = Job { turn: Arc::clone(&limiter).reserve_owned("alice", 1)? };
    /// drop(limiter);
    /// assert_eq!(job.turn.due(), Nanos::from_millis(100));
    /// # Ok::<_, tollgate::Denied>(())
    /// ```
    pub fn reserve_owned<Q>(self: Arc<Self>, key: &Q, n: u64) -> Result<OwnedKeyedPlace<K, S, C>, Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.reserve_owned_within(key, n, Duration::MAX)
    }

    /// As [`reserve_within`](Self::reserve_within), for a place that can be kept anywhere.
    ///
    /// # Errors
    ///
    /// As [`reserve_within`](Self::reserve_within).
    pub fn reserve_owned_within<Q>(
        self: Arc<Self>,
        key: &Q,
        n: u64,
        max_wait: Duration,
    ) -> Result<OwnedKeyedPlace<K, S, C>, Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        let line = self.line_owned(key);
        let now = line.now();
        Place::reserve(line, n, max_wait, now)
    }

    /// As [`reserve_within_with_status`](Self::reserve_within_with_status), for a place that can be kept anywhere.
    pub fn reserve_owned_within_with_status<Q>(
        self: Arc<Self>,
        key: &Q,
        n: u64,
        max_wait: Duration,
    ) -> (Result<OwnedKeyedPlace<K, S, C>, Denied>, Status)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        let line = self.line_owned(key);
        let now = line.now();
        Place::reserve_with_status(line, n, max_wait, now)
    }
}

#[cfg(feature = "async")]
impl<K: ?Sized, S: BuildHasher, C: Timer> KeyedLimiter<K, S, C> {
    /// As [`acquire`](Self::acquire), with a share in the limiter, for a future that lives anywhere.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub fn acquire_owned<Q>(self: Arc<Self>, key: &Q, n: u64) -> Acquire<OwnedKeyedLine<K, S, C>>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.acquire_owned_within(key, n, Duration::MAX)
    }

    /// As [`acquire_within`](Self::acquire_within), with a share in the limiter, for a future that lives anywhere.
    ///
    /// # Errors
    ///
    /// As [`acquire_within`](Self::acquire_within).
    pub fn acquire_owned_within<Q>(
        self: Arc<Self>,
        key: &Q,
        n: u64,
        max_wait: Duration,
    ) -> Acquire<OwnedKeyedLine<K, S, C>>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        Acquire::within(self.line_owned(key), n, max_wait)
    }
}

impl<K: ?Sized, S, C: Clock> Line for OwnedKeyedLine<K, S, C> {
    type Clock = C;

    #[inline]
    fn clock(&self) -> &C {
        self.limiter.class(0).clock()
    }
}

impl<K: ?Sized, S, C> sealed::Line for OwnedKeyedLine<K, S, C> {
    fn reserve(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<Reserved, Denied> {
        self.borrowed().reserve(n, max_wait, now)
    }

    fn reserve_with_status(&self, n: u64, max_wait: Duration, now: Nanos) -> (Result<Reserved, Denied>, Status) {
        self.borrowed().reserve_with_status(n, max_wait, now)
    }

    fn look(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<(), Denied> {
        self.borrowed().look(n, max_wait, now)
    }

    fn give_back(&self, n: u64, end: u64, now: Nanos) -> u64 {
        self.borrowed().give_back(n, end, now)
    }
}

impl<K: ?Sized, S, C> OwnedKeyedLine<K, S, C> {
    pub(super) fn borrowed(&self) -> KeyedLine<'_, K, S, C> {
        KeyedLine { class: self.limiter.class(0), key: self.key }
    }
}

impl<K: ?Sized, S, C> fmt::Debug for OwnedKeyedLine<K, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedKeyedLine").finish_non_exhaustive()
    }
}
