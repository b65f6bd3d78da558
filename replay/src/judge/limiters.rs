//! The library's limiters of one algorithm, one for each key.

use core::fmt;
use core::hash::BuildHasherDefault;
use std::hash::DefaultHasher;

use tollgate::{BuildError, Denied, KeyedLimiter, ManualClock, Nanos, Quota, RateLimitAt};

/// Why an algorithm cannot hold a limit: a `BuildError`, a `KeyedError` of a table, or want of memory.
pub type Unfit = Box<dyn core::error::Error + Send + Sync>;

/// Limiters by the numbers of their keys.
pub(super) trait Limiters: fmt::Debug {
    /// Makes a limiter for one more key; a table has them all.
    fn admit_key(&mut self);

    /// Puts an arrival to the limiter of a key that has been admitted.
    fn try_acquire_n_at(&self, key: usize, n: u64, now: Nanos) -> Result<(), Denied>;

    /// The keys in debt that a table of all is made for.
    fn capacity(&self) -> Option<usize> {
        None
    }
}

/// A limiter each.
#[derive(Debug)]
pub(super) struct Each<L> {
    made: Vec<L>,
    make: fn(Quota) -> Result<L, BuildError>,
    quota: Quota,
}

impl<L> Each<L> {
    /// None yet.
    ///
    /// # Errors
    ///
    /// One for this quota cannot be made.
    pub(super) fn of(make: fn(Quota) -> Result<L, BuildError>, quota: Quota) -> Result<Self, Unfit> {
        make(quota)?;
        Ok(Self { made: Vec::new(), make, quota })
    }
}

impl<L: RateLimitAt + fmt::Debug> Limiters for Each<L> {
    fn admit_key(&mut self) {
        self.made.push((self.make)(self.quota).expect("one was made for this quota before"));
    }

    fn try_acquire_n_at(&self, key: usize, n: u64, now: Nanos) -> Result<(), Denied> {
        self.made[key].try_acquire_n_at(n, now)
    }
}

/// The table of all keys, which are known by their numbers. Its hashes are the same on each run, so that a replay is,
/// too.
type Table = KeyedLimiter<usize, BuildHasherDefault<DefaultHasher>, ManualClock>;

/// A table for `capacity` keys in debt.
///
/// # Errors
///
/// The table cannot hold the quota, or there is no memory for it.
pub(super) fn table(quota: Quota, capacity: usize) -> Result<Table, Unfit> {
    // No clock is ever read; this one is as good as any.
    Ok(Table::try_with_hasher_and_clock(quota, capacity, BuildHasherDefault::default(), ManualClock::new())?)
}

impl Limiters for Table {
    fn admit_key(&mut self) {}

    fn try_acquire_n_at(&self, key: usize, n: u64, now: Nanos) -> Result<(), Denied> {
        Self::try_acquire_n_at(self, &key, n, now)
    }

    fn capacity(&self) -> Option<usize> {
        Some(Self::capacity(self))
    }
}
