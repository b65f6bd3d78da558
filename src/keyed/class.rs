//! [`Class`]: a keyed limiter under one of its quotas.

use super::limiter::KeyedLimiter;
use super::pace::Pace;
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};

/// The quotas of a keyed limiter, one per class: free and paid clients, say.
///
/// Made from one [`Quota`], or from an array, a slice or a vector of them; the first is that of calls that name no class.
#[derive(Clone, Debug)]
pub struct Classes(Vec<Quota>);

impl IntoIterator for Classes {
    type Item = Quota;
    type IntoIter = alloc::vec::IntoIter<Quota>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Quota> for Classes {
    fn from(quota: Quota) -> Self {
        Self([quota].into())
    }
}

impl<const N: usize> From<[Quota; N]> for Classes {
    fn from(quotas: [Quota; N]) -> Self {
        Self(quotas.into())
    }
}

impl From<&[Quota]> for Classes {
    fn from(quotas: &[Quota]) -> Self {
        Self(quotas.into())
    }
}

impl From<Vec<Quota>> for Classes {
    fn from(quotas: Vec<Quota>) -> Self {
        Self(quotas)
    }
}

/// A keyed limiter under one of its quotas: what [`KeyedLimiter::class`] returns.
///
/// A view that costs nothing to make. All classes share the table and the keys: a key that is charged in one is in debt in
/// all of them, for the same time.
pub struct Class<'a, K: ?Sized, S, C> {
    pub(super) limiter: &'a KeyedLimiter<K, S, C>,
    pub(super) pace: &'a Pace,
}

impl<'a, K: ?Sized, S, C> Class<'a, K, S, C> {
    #[inline]
    pub(super) const fn new(limiter: &'a KeyedLimiter<K, S, C>, pace: &'a Pace) -> Self {
        Self { limiter, pace }
    }

    /// The quota of this class.
    pub fn quota(&self) -> Quota {
        self.pace.quota()
    }

    /// The most tokens that one call can take; a larger cost can never be admitted.
    pub fn max_cost(&self) -> u64 {
        self.pace.quota().burst()
    }
}

impl<K: ?Sized, S: BuildHasher, C> Class<'_, K, S, C> {
    /// As [`KeyedLimiter::try_acquire_n_at`], under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::try_acquire_n`].
    #[inline]
    pub fn try_acquire_n_at<Q>(&self, key: &Q, n: u64, now: Nanos) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.decide(key, n, || now)
    }

    #[inline]
    fn decide<Q: Hash + ?Sized>(&self, key: &Q, n: u64, now: impl FnOnce() -> Nanos) -> Result<(), Denied> {
        let cost = self.pace.cost(n)?;
        if cost == 0 {
            return Ok(());
        }
        // In this order: on the processors where it was measured, a time stamp counter is read only when all loads
        // before it are done, and nothing after it begins before. So the next call's hash is computed while this one
        // waits for its line. To load the line before the clock is read gains with a fast hasher and loses with SipHash.
        let key = self.limiter.identity(key);
        let table = self.limiter.table();
        let line = table.line(key, 0);
        let now = self.limiter.within(now());
        table.acquire(line, self.pace, key, cost, now)
    }
}

impl<K: ?Sized, S: BuildHasher, C: Clock> Class<'_, K, S, C> {
    /// As [`KeyedLimiter::try_acquire`], under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::try_acquire_n`].
    #[inline]
    pub fn try_acquire<Q>(&self, key: &Q) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.try_acquire_n(key, 1)
    }

    /// As [`KeyedLimiter::try_acquire_n`], under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::try_acquire_n`].
    #[inline]
    pub fn try_acquire_n<Q>(&self, key: &Q, n: u64) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.decide(key, n, || self.limiter.clock().now())
    }

    /// As [`KeyedLimiter::status`], under this class's quota.
    pub fn status<Q>(&self, key: &Q) -> Status
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        let now = self.limiter.within(self.limiter.clock().now());
        let table = self.limiter.table();
        let full_at = match table.find(self.limiter.identity(key)) {
            Some((_, word)) => word.instant(),
            None => self.pace.opening(table.horizon().get().max(now.0)),
        };
        self.pace.status(full_at, now)
    }
}

impl<K: ?Sized, S, C> Clone for Class<'_, K, S, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: ?Sized, S, C> Copy for Class<'_, K, S, C> {}

impl<K: ?Sized, S, C> fmt::Debug for Class<'_, K, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Class").field("quota", &self.quota()).finish_non_exhaustive()
    }
}
