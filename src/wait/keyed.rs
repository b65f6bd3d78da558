//! Places by key. There is no pool: what is given back from the middle of a key's line is lost.

#[cfg(feature = "async")]
use super::Acquire;
use super::line::{Line, sealed};
use super::place::Place;
use super::turns::Turns;
use crate::clock::Clock;
#[cfg(feature = "async")]
use crate::clock::Timer;
use crate::decision::{Denied, Status};
use crate::keyed::{Class, Identity, KeyedLimiter};
use crate::nanos::Nanos;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::time::Duration;
use sealed::{Reserved, not_in_time};
#[cfg(feature = "std")]
use std::time::Instant;

mod limit;
mod owned;
pub use owned::{OwnedKeyedLine, OwnedKeyedPlace};

/// A key's line in a [`KeyedLimiter`]: what its places point to, and the limiter as it is to this one key.
///
/// It holds the key's hash, not the key, and costs nothing but that to make. As a [`RateLimit`](crate::RateLimit) and a
/// [`RateLimitAt`](crate::RateLimitAt) it stands wherever a limiter without keys can: beside others in a
/// [`LimitSet`](crate::LimitSet), for one.
///
/// # Examples
///
/// ```
/// use tollgate::{KeyedLimiter, Quota, RateLimit};
///
/// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(10), 1_000);
/// let alice = limiter.line("alice");
/// assert!(alice.try_acquire_n(4).is_ok());
/// assert_eq!(alice.available(), 6);
/// ```
pub struct KeyedLine<'a, K: ?Sized, S, C> {
    class: Class<'a, K, S, C>,
    key: Identity,
}

/// A place in the line of a key.
pub type KeyedPlace<'a, K, S, C> = Place<KeyedLine<'a, K, S, C>>;

impl<K: ?Sized, S: BuildHasher, C: Clock> KeyedLimiter<K, S, C> {
    /// A place for `n` tokens of `key`: due now if it has `n`, else as soon as it will. There is no queue: a key's line is the
    /// same word as its bucket, so millions of keys may have one.
    ///
    /// The last place in a key's line is given back exactly. From the middle, the tokens are lost, as if they had been spent; and
    /// so are those of places at the end, where more are given back one after the other than take the longest burst of any
    /// class to recover. The line has no bound of its own, and a key with a long line keeps its slot for as long: bound it by
    /// [`reserve_within`](Self::reserve_within).
    ///
    /// # Errors
    ///
    /// [`Denied::ExceedsBurst`] if `n` is above [`max_cost`](Self::max_cost); [`Denied::TableFull`] if the key is new and there is no
    /// slot for it; [`Denied::LineFull`] where the tokens would be due after the last instant that a slot can hold. A refused call has taken nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{KeyedLimiter, ManualClock, Nanos, Quota};
    ///
    /// let limiter = KeyedLimiter::<str>::with_clock(Quota::per_second(10).with_burst(1), 1_000, ManualClock::new());
    /// let places = ["alice", "alice", "bob"].map(|key| limiter.reserve(key, 1));
    /// let due: Vec<_> = places.iter().flatten().map(|place| place.due()).collect();
    /// assert_eq!(due, [Nanos::ZERO, Nanos::from_millis(100), Nanos::ZERO]);
    /// ```
    pub fn reserve<Q>(&self, key: &Q, n: u64) -> Result<KeyedPlace<'_, K, S, C>, Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.reserve_within(key, n, Duration::MAX)
    }

    /// As [`reserve`](Self::reserve), for a place that is due within `max_wait`.
    ///
    /// # Errors
    ///
    /// [`Denied::WouldExceedDeadline`] if it would be later, and what [`reserve`](Self::reserve) says.
    pub fn reserve_within<Q>(&self, key: &Q, n: u64, max_wait: Duration) -> Result<KeyedPlace<'_, K, S, C>, Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.class(0).reserve_within(key, n, max_wait)
    }

    /// As [`reserve_within`](Self::reserve_within), admitted or not with the status of the key that the decision has left: as of the
    /// very word which was decided on, on one reading of the clock and one hash of the key.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{KeyedLimiter, ManualClock, Quota};
    ///
    /// let quota = Quota::per_second(1).with_burst(2);
    /// let limiter = KeyedLimiter::<str>::with_clock(quota, 1_000, ManualClock::new());
    /// let (now, status) = limiter.reserve_within_with_status("alice", 1, Duration::ZERO);
    /// assert_eq!((now.is_ok(), status.remaining), (true, 1));
    /// let (later, status) = limiter.reserve_within_with_status("alice", 2, Duration::from_secs(1));
    /// assert_eq!((later.is_ok(), status.reset_after), (true, Duration::from_secs(3)));
    /// ```
    pub fn reserve_within_with_status<Q>(
        &self,
        key: &Q,
        n: u64,
        max_wait: Duration,
    ) -> (Result<KeyedPlace<'_, K, S, C>, Denied>, Status)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        let line = self.line(key);
        let now = line.now();
        Place::reserve_with_status(line, n, max_wait, now)
    }

    /// The turns of one caller in the line of `key`, one after the other, each of whom may be `slack` late: see [`Turns`].
    pub fn turns<Q>(&self, key: &Q, slack: Duration) -> Turns<KeyedLine<'_, K, S, C>>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        Turns::new(self.class(0).line(key), slack)
    }

    /// Takes `n` tokens of `key`, and parks the thread until they are due.
    ///
    /// # Errors
    ///
    /// As [`reserve`](Self::reserve), at once.
    #[cfg(feature = "std")]
    pub fn acquire_blocking<Q>(&self, key: &Q, n: u64) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.reserve(key, n).map(Place::wait)
    }

    /// Takes `n` tokens of `key` that are due within `timeout`, and parks the thread until they are.
    ///
    /// # Errors
    ///
    /// As [`reserve_within`](Self::reserve_within), at once.
    #[cfg(feature = "std")]
    pub fn acquire_blocking_timeout<Q>(&self, key: &Q, n: u64, timeout: Duration) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.reserve_within(key, n, timeout).map(Place::wait)
    }

    /// Takes `n` tokens of `key` that are due by `deadline`, and parks the thread until they are. After the deadline, only
    /// what is due at once will do.
    ///
    /// # Errors
    ///
    /// As [`reserve_within`](Self::reserve_within), at once.
    #[cfg(feature = "std")]
    pub fn acquire_blocking_by<Q>(&self, key: &Q, n: u64, deadline: Instant) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.acquire_blocking_timeout(key, n, deadline.saturating_duration_since(Instant::now()))
    }
}

impl<'a, K: ?Sized, S: BuildHasher, C: Clock> Class<'a, K, S, C> {
    /// As [`KeyedLimiter::reserve_within`], under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::reserve_within`].
    pub fn reserve_within<Q>(self, key: &Q, n: u64, max_wait: Duration) -> Result<KeyedPlace<'a, K, S, C>, Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        let now = self.clock().now();
        self.reserve_within_at(key, n, max_wait, now)
    }

    /// As [`reserve_within`](Self::reserve_within), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::reserve_within`].
    pub fn reserve_within_at<Q>(
        self,
        key: &Q,
        n: u64,
        max_wait: Duration,
        now: Nanos,
    ) -> Result<KeyedPlace<'a, K, S, C>, Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        Place::reserve(self.line(key), n, max_wait, now)
    }
}

#[cfg(feature = "async")]
impl<K: ?Sized, S: BuildHasher, C: Timer> KeyedLimiter<K, S, C> {
    /// Takes `n` tokens of `key`, and is ready when they are due. The key is hashed by this call, and the future does not
    /// hold it. See [`Acquire`] for when the place is taken, and [`reserve`](Self::reserve) for what dropping gives back.
    ///
    /// # Errors
    ///
    /// At the first poll, with nothing taken: what [`reserve`](Self::reserve) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    /// use std::task::{Context, Waker};
    /// use std::time::Duration;
    /// use tollgate::{KeyedLimiter, ManualClock, Quota};
    ///
    /// let clock = ManualClock::new();
    /// let limiter = KeyedLimiter::<str>::with_clock(Quota::per_second(10).with_burst(1), 1_000, clock.clone());
    /// limiter.try_acquire("alice")?;
    ///
    /// // Elsewhere: `limiter.acquire("alice", 1).await?`.
    /// let (mut alice, bob) = (pin!(limiter.acquire("alice", 1)), pin!(limiter.acquire("bob", 1)));
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert!(alice.as_mut().poll(&mut context).is_pending());
    /// assert!(bob.poll(&mut context).is_ready());
    /// clock.advance(Duration::from_millis(100));
    /// assert!(alice.poll(&mut context).is_ready());
    /// # Ok::<_, tollgate::Denied>(())
    /// ```
    pub fn acquire<Q>(&self, key: &Q, n: u64) -> Acquire<KeyedLine<'_, K, S, C>>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.acquire_within(key, n, Duration::MAX)
    }

    /// Takes `n` tokens of `key` that are due within `max_wait` of the first poll, and is ready when they are.
    ///
    /// # Errors
    ///
    /// At the first poll, with nothing taken and no time slept: what [`reserve_within`](Self::reserve_within) says.
    pub fn acquire_within<Q>(&self, key: &Q, n: u64, max_wait: Duration) -> Acquire<KeyedLine<'_, K, S, C>>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.class(0).acquire_within(key, n, max_wait)
    }

    /// Takes `n` tokens of `key` that are due by `deadline`, an instant of the limiter's clock, and is ready when they are.
    /// After the deadline, only what is due at once will do.
    ///
    /// # Errors
    ///
    /// As [`acquire_within`](Self::acquire_within).
    pub fn acquire_by<Q>(&self, key: &Q, n: u64, deadline: Nanos) -> Acquire<KeyedLine<'_, K, S, C>>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.class(0).acquire_by(key, n, deadline)
    }

    /// Takes one token of `key`, and is ready when it is due: [`acquire(key, 1)`](Self::acquire).
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub fn until_ready<Q>(&self, key: &Q) -> Acquire<KeyedLine<'_, K, S, C>>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.acquire(key, 1)
    }
}

#[cfg(feature = "async")]
impl<'a, K: ?Sized, S: BuildHasher, C: Timer> Class<'a, K, S, C> {
    /// As [`KeyedLimiter::acquire_within`], under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::acquire_within`].
    pub fn acquire_within<Q>(self, key: &Q, n: u64, max_wait: Duration) -> Acquire<KeyedLine<'a, K, S, C>>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        Acquire::within(self.line(key), n, max_wait)
    }

    /// As [`KeyedLimiter::acquire_by`], under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::acquire_within`].
    pub fn acquire_by<Q>(self, key: &Q, n: u64, deadline: Nanos) -> Acquire<KeyedLine<'a, K, S, C>>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        Acquire::by(self.line(key), n, deadline)
    }
}

impl<K: ?Sized, S: BuildHasher, C> KeyedLimiter<K, S, C> {
    /// The line of `key`: what this limiter is to one key, as a limiter of its own. See [`KeyedLine`].
    pub fn line<Q>(&self, key: &Q) -> KeyedLine<'_, K, S, C>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.class(0).line(key)
    }
}

impl<'a, K: ?Sized, S: BuildHasher, C> Class<'a, K, S, C> {
    /// As [`KeyedLimiter::line`], under this class's quota.
    pub fn line<Q>(self, key: &Q) -> KeyedLine<'a, K, S, C>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        KeyedLine { key: self.identity(key), class: self }
    }
}

impl<K: ?Sized, S, C: Clock> Line for KeyedLine<'_, K, S, C> {
    type Clock = C;

    #[inline]
    fn clock(&self) -> &C {
        self.class.clock()
    }
}

impl<K: ?Sized, S, C> sealed::Line for KeyedLine<'_, K, S, C> {
    fn reserve(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<Reserved, Denied> {
        let reserved = self.class.reserve(self.key, n, now, now.saturating_add(max_wait));
        let (end, due) = reserved.map_err(|denied| not_in_time(denied, max_wait))?;
        Ok(Reserved { end, due })
    }

    fn reserve_with_status(&self, n: u64, max_wait: Duration, now: Nanos) -> (Result<Reserved, Denied>, Status) {
        let (reserved, status) = self.class.reserve_with_status(self.key, n, now, now.saturating_add(max_wait));
        let reserved = reserved.map(|(end, due)| Reserved { end, due });
        (reserved.map_err(|denied| not_in_time(denied, max_wait)), status)
    }

    fn look(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<(), Denied> {
        let found = self.class.check(self.key, n, now, now.saturating_add(max_wait));
        found.map_err(|denied| not_in_time(denied, max_wait))
    }

    fn give_back(&self, n: u64, end: u64, now: Nanos) -> u64 {
        self.class.give_back(self.key, n, end, now)
    }
}

impl<K: ?Sized, S, C> Clone for KeyedLine<'_, K, S, C> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<K: ?Sized, S, C> fmt::Debug for KeyedLine<'_, K, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedLine").finish_non_exhaustive()
    }
}
