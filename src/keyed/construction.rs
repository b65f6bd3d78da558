//! How a [`KeyedLimiter`] is built.

use super::all_classes::AllClasses;
use super::classes::Classes;
use super::error::KeyedError;
use super::limiter::KeyedLimiter;
use super::newcomers::Newcomers;
use super::pace::Pace;
use super::store::Store;
use super::table::Table;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::quota::Quota;
use alloc::vec::Vec;
use core::marker::PhantomData;
#[cfg(feature = "std")]
use std::hash::RandomState;

#[cfg(feature = "std")]
impl<K: ?Sized> KeyedLimiter<K> {
    /// A limiter for `capacity` keys in debt at once, each under `quota`, on the default hasher and clock. No reading of
    /// the clock is taken.
    ///
    /// Instead of one quota it takes several [`Classes`]: an array, a slice or a vector of quotas.
    ///
    /// # Panics
    ///
    /// With the message of the [`KeyedError`] that [`try_new`](Self::try_new) reports.
    pub fn new(quota: impl Into<Classes>, capacity: usize) -> Self {
        Self::try_new(quota, capacity).unwrap_or_else(|error| error.panic())
    }

    /// As [`new`](Self::new), but reports what does not fit.
    ///
    /// # Errors
    ///
    /// A [`KeyedError`] that names the limit broken: a capacity of zero, or of more keys or bytes than there can be; or a
    /// burst that takes more than 36 years to recover. Every rate of a [`Quota`] fits, but for more than 2^62 tokens in a
    /// period so short that it is more than one per nanosecond.
    pub fn try_new(quota: impl Into<Classes>, capacity: usize) -> Result<Self, KeyedError> {
        Self::try_with_hasher_and_clock(quota, capacity, RandomState::new(), DefaultClock)
    }

    /// As [`new`](Self::new), with another hasher.
    ///
    /// Any hasher will do whose 64 bits differ where keys do, wherever they differ. A hasher that a stranger can predict lets
    /// them share the bucket of whomever they choose.
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn with_hasher<S>(quota: impl Into<Classes>, capacity: usize, hasher: S) -> KeyedLimiter<K, S> {
        KeyedLimiter::with_hasher_and_clock(quota, capacity, hasher, DefaultClock)
    }

    /// As [`new`](Self::new), on another clock.
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn with_clock<C>(quota: impl Into<Classes>, capacity: usize, clock: C) -> KeyedLimiter<K, RandomState, C> {
        KeyedLimiter::with_hasher_and_clock(quota, capacity, RandomState::new(), clock)
    }
}

impl<K: ?Sized, S, C> KeyedLimiter<K, S, C> {
    /// A limiter with any hasher and any clock; available without `std`.
    ///
    /// # Panics
    ///
    /// With the message of the [`KeyedError`] that the `try_` form reports.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::hash::{BuildHasherDefault, DefaultHasher};
    /// use tollgate::{KeyedLimiter, ManualClock, Quota};
    ///
    /// let hasher = BuildHasherDefault::<DefaultHasher>::default();
    /// let limiter = KeyedLimiter::<u64, _, _>::with_hasher_and_clock(
    ///     Quota::per_second(5),
    ///     1_000,
    ///     hasher,
    ///     ManualClock::new(),
    /// );
    /// assert!(limiter.try_acquire_n(&7, 5).is_ok());
    /// assert!(limiter.try_acquire(&7).is_err());
    /// ```
    pub fn with_hasher_and_clock(quota: impl Into<Classes>, capacity: usize, hasher: S, clock: C) -> Self {
        Self::try_with_hasher_and_clock(quota, capacity, hasher, clock).unwrap_or_else(|error| error.panic())
    }

    /// As [`with_hasher_and_clock`](Self::with_hasher_and_clock), but reports what does not fit.
    ///
    /// # Errors
    ///
    /// A [`KeyedError`] that names the limit broken.
    pub fn try_with_hasher_and_clock(
        quota: impl Into<Classes>,
        capacity: usize,
        hasher: S,
        clock: C,
    ) -> Result<Self, KeyedError> {
        let mut paces = quota.into().into_iter().map(Pace::try_new);
        let first = paces.next().ok_or(KeyedError::NoQuota)??;
        let others: Vec<Pace> = paces.collect::<Result<_, _>>()?;
        let end = others.iter().fold(first.end(), |end, pace| end.min(pace.end()));
        let longest = others.iter().fold(first.longest_debt(), |longest, pace| longest.max(pace.longest_debt()));
        let table = Table::try_new(capacity, longest, AllClasses::new(first, others))?;
        let store = Store { table, end, starts_short: false, hasher, clock };
        Ok(Self { store, capacity, keys: PhantomData })
    }

    /// The same limiter, with new keys starting with `tokens` instead of a full burst; classes whose burst is smaller
    /// start full.
    ///
    /// A key that has recovered and has lost its slot to another starts with `tokens` again. The first call of a key gives
    /// it a slot even if it is refused, so that its bucket fills from then on; but not if it costs more than the burst. So
    /// strangers that are refused fill the table too, and [`Denied::TableFull`](crate::Denied::TableFull) tells when there is
    /// room for a key, which then starts with `tokens`.
    ///
    /// The level is that of the class in which a key first calls. From then on its debt is a time, the same in every class: a
    /// key that starts full in a class whose burst is small is full in the others as well.
    ///
    /// # Panics
    ///
    /// If `tokens` is above the largest burst; see [`try_with_initial`](Self::try_with_initial).
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(50), 1_000).with_initial(5);
    /// assert!(limiter.try_acquire_n("newcomer", 6).is_err());
    /// assert!(limiter.try_acquire_n("newcomer", 5).is_ok());
    /// ```
    #[must_use]
    pub fn with_initial(self, tokens: u64) -> Self {
        self.try_with_initial(tokens).unwrap_or_else(|error| error.panic())
    }

    /// As [`with_initial`](Self::with_initial), but reports what does not fit.
    ///
    /// # Errors
    ///
    /// [`KeyedError::InitialTooLarge`] if `tokens` is above the largest burst.
    pub fn try_with_initial(mut self, tokens: u64) -> Result<Self, KeyedError> {
        let classes = &mut self.store.table.classes;
        let largest = classes.iter().map(|terms| terms.with(Pace::quota).burst()).max().unwrap_or(0);
        if tokens > largest {
            return Err(KeyedError::InitialTooLarge { largest });
        }
        classes.start_with(tokens);
        self.store.starts_short = true;
        Ok(self)
    }

    /// The same limiter, in which newcomers that find no slot share one bucket instead of being refused.
    ///
    /// While the slots where a key could go all hold keys in debt, its calls are charged to a token bucket of this quota, and
    /// so are those of all other keys without a slot. It is refused with [`Denied::TableFull`](crate::Denied::TableFull) when that bucket is short.
    /// So a flood of invented keys cannot lock out everybody new; at worst it takes most of what newcomers share. As
    /// soon as there is a slot, the key has its own bucket again. No key in debt is forgotten either way.
    ///
    /// Bound: what all keys without a slot are admitted is within the shared quota, and comes on top of what each is
    /// admitted once it has a slot. It is not in a key's [status](Self::status), and cannot be [given
    /// back](Self::refund).
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Denied, KeyedLimiter, ManualClock, Quota};
    ///
    /// let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_hour(1), 100, ManualClock::new())
    ///     .sharing_when_full(Quota::per_second(20));
    /// let admitted = (0..10_000).filter(|client| limiter.try_acquire(client).is_ok()).count();
    /// assert_eq!(admitted, limiter.live() + 20); // one each that got a slot, and one second's worth of the others
    /// ```
    #[must_use]
    pub fn sharing_when_full(mut self, quota: Quota) -> Self {
        self.store.table.newcomers = Some(Newcomers::new(quota));
        self
    }
}
