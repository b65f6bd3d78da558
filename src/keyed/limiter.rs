//! [`KeyedLimiter`]: the type itself and what can be asked of it; how it is built is in `build`.

use super::class::Class;
use super::identity::Identity;
use super::line::{Line, SLOTS};
use super::pace::Pace;
use super::table::Table;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use alloc::boxed::Box;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
#[cfg(feature = "std")]
use std::hash::RandomState;

/// The type, with default parameters where there are any.
macro_rules! keyed_limiter {
    ($(#[$meta:meta])*) => {
        keyed_limiter! { $(#[$meta])* #[cfg(feature = "std")] => S = RandomState, C = DefaultClock }
        keyed_limiter! { $(#[$meta])* #[cfg(not(feature = "std"))] => S, C }
    };
    ($(#[$meta:meta])* => $($parameters:tt)*) => {
        $(#[$meta])*
        pub struct KeyedLimiter<K: ?Sized, $($parameters)*> {
            /// The class of calls that name none; and the others.
            pub(super) first: Pace,
            pub(super) others: Box<[Pace]>,
            pub(super) table: Table,
            /// The last instant told apart.
            pub(super) end: Nanos,
            pub(super) capacity: usize,
            pub(super) hasher: S,
            pub(super) clock: C,
            pub(super) keys: PhantomData<fn(&K)>,
        }
    };
}

keyed_limiter! {
    /// A token bucket for each key, for millions of keys in fixed memory: a limit per client, address or API key.
    ///
    /// The memory is allocated once, at construction: 25.6 bytes for each key of the capacity. Nothing is allocated,
    /// swept or scanned afterwards. A key gets a slot with its first admitted call, starts full unless [told
    /// otherwise](Self::with_initial), and keeps the slot at least until its bucket is full again; from then on it
    /// cannot be told from a key that was never seen, and its slot may go to another. So the capacity is a number of
    /// keys that are *in debt* at the same time, not of keys that exist. When all slots where a new key could go are
    /// in debt, it is refused with [`Denied::TableFull`]; no key in debt is ever forgotten.
    ///
    /// # Bound
    ///
    /// For every key, at most `burst + rate * (t - s)` tokens are admitted with readings in `[s, t]`, plus at most one
    /// unit: 1 ns worth of the rate, or up to 2 ns where the period is no multiple of the tokens. Nothing drifts. Clocks
    /// that disagree by `e` admit at most `2 * rate * e` more in real time, whichever of them charges, forgets or revives a
    /// key.
    ///
    /// Keys are told apart by 30 bits of their hash and by their place. Two keys that share both share a bucket: they are
    /// refused more, never admitted more. Among a million live keys this happens to one pair in 860 tables. Whoever can
    /// choose keys with colliding hashes can take another's tokens, which is why the default hasher resists that. A
    /// table that holds its capacity in live keys refuses less than one newcomer in a million; with 1.2 times as many, about
    /// five in a hundred thousand.
    ///
    /// # Progress and ordering
    ///
    /// Lock-free: a call on a known key makes one read-modify-write, its refusal none. Decisions on one key are
    /// linearizable, but for [`Denied::TableFull`]: while a call looks at one slot, another may become free. The
    /// limiter gives its callers no happens-before edge. No method blocks, allocates, panics unless it says so, or
    /// makes a system call unless the clock does.
    ///
    /// # Without `std`
    ///
    /// [`with_hasher_and_clock`](Self::with_hasher_and_clock) takes any hasher and any clock.
    ///
    /// # Examples
    ///
    /// Lookups borrow: a limiter for `String`s is asked for a `&str`, and never makes a `String`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{KeyedLimiter, ManualClock, Quota};
    ///
    /// let clock = ManualClock::new();
    /// let limiter = KeyedLimiter::<String>::with_clock(Quota::per_second(2), 10_000, clock.clone());
    /// assert!(limiter.try_acquire("alice").is_ok());
    /// assert!(limiter.try_acquire("alice").is_ok());
    /// let denied = limiter.try_acquire("alice").unwrap_err();
    /// assert_eq!(denied.retry_after(), Some(Duration::from_millis(500)));
    /// assert!(limiter.try_acquire("bob").is_ok());
    ///
    /// clock.advance(Duration::from_millis(500));
    /// assert!(limiter.try_acquire("alice").is_ok());
    /// ```
    ///
    /// Several classes of quota can share the table; see [`class`](Self::class).
}

impl<K: ?Sized, S, C> KeyedLimiter<K, S, C> {
    /// The class of this number, in the order of the quotas given at construction: the limiter as its keys see it.
    ///
    /// A key's state is the time until it is full again, whatever its class: a key that changes its class takes that debt of
    /// time along.
    ///
    /// # Panics
    ///
    /// If there is no such class; see [`get_class`](Self::get_class).
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// const FREE: usize = 0;
    /// const PAID: usize = 1;
    /// let limiter = KeyedLimiter::<str>::new([Quota::per_minute(60), Quota::per_minute(6_000)], 10_000);
    /// assert!(limiter.class(FREE).try_acquire_n("alice", 100).is_err());
    /// assert!(limiter.class(PAID).try_acquire_n("bob", 100).is_ok());
    /// ```
    #[inline]
    pub fn class(&self, number: usize) -> Class<'_, K, S, C> {
        match self.get_class(number) {
            Some(class) => class,
            None => panic!("there is no class {number}"),
        }
    }

    /// The class of this number, if there is one.
    #[inline]
    pub fn get_class(&self, number: usize) -> Option<Class<'_, K, S, C>> {
        let pace = match number.checked_sub(1) {
            None => &self.first,
            Some(other) => self.others.get(other)?,
        };
        Some(Class::new(self, pace))
    }

    /// The quota of the first class.
    pub fn quota(&self) -> Quota {
        self.first.quota()
    }

    /// The most tokens that one call of the first class can take; a larger cost can never be admitted.
    pub fn max_cost(&self) -> u64 {
        self.first.quota().burst()
    }

    /// The number of live keys that the table was sized for: half its slots.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The table's size in memory: all that the limiter ever allocates, but for a few bytes per class.
    pub fn bytes(&self) -> usize {
        size_of_val(self.table.lines())
    }

    #[inline]
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    #[inline]
    pub(super) fn clock(&self) -> &C {
        &self.clock
    }

    /// A reading as the table counts it.
    #[inline]
    pub(super) fn within(&self, now: Nanos) -> Nanos {
        now.min(self.end)
    }

    #[inline]
    const fn first_class(&self) -> Class<'_, K, S, C> {
        Class::new(self, &self.first)
    }
}

impl<K: ?Sized, S: BuildHasher, C> KeyedLimiter<K, S, C> {
    /// A key as the table knows it.
    #[inline]
    pub(super) fn identity<Q: Hash + ?Sized>(&self, key: &Q) -> Identity {
        Identity::new(self.hasher.hash_one(key))
    }

    /// Takes `n` tokens of `key` as of `now`, or none: the primitive under every other form. No clock is read.
    ///
    /// `now` must be an instant of the clock that drives this limiter. One that is older than the latest seen for the key
    /// counts as "no time has passed". A cost of 0 is always admitted and writes nothing.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline]
    pub fn try_acquire_n_at<Q>(&self, key: &Q, n: u64, now: Nanos) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.first_class().try_acquire_n_at(key, n, now)
    }

    /// As [`forget`](Self::forget), as of `now`. No clock is read.
    pub fn forget_at<Q>(&self, key: &Q, now: Nanos) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.table.forget(self.identity(key), self.within(now))
    }
}

impl<K: ?Sized, S: BuildHasher, C: Clock> KeyedLimiter<K, S, C> {
    /// Takes one token of `key`, or none.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline]
    pub fn try_acquire<Q>(&self, key: &Q) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.try_acquire_n(key, 1)
    }

    /// Takes `n` tokens of `key`, or none. A cost of 0 is always admitted.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if the key has fewer than `n` tokens now; [`Denied::ExceedsBurst`] if `n` is above
    /// [`max_cost`](Self::max_cost), so that it never will have; [`Denied::TableFull`] if the key is new and there is no
    /// slot for it. A refused call has taken nothing.
    #[inline]
    pub fn try_acquire_n<Q>(&self, key: &Q, n: u64) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.first_class().try_acquire_n(key, n)
    }

    /// Takes one token of each key, as far as they have one; see [`Class::check_many`].
    pub fn check_many<'q, Q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        decisions: &mut [Result<(), Denied>],
    ) -> usize
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized + 'q,
    {
        self.first_class().check_many(keys, decisions)
    }

    /// Limit, tokens left and waiting times of `key`, all as of the same instant. Writes nothing. A key that nobody knows
    /// has what it would start with; whether there is a slot for it is not looked at.
    pub fn status<Q>(&self, key: &Q) -> Status
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.first_class().status(key)
    }

    /// Frees the slot of `key` if the key has recovered; returns whether it has no slot now.
    ///
    /// A key in debt keeps its slot until the debt has drained, for otherwise being forgotten would be a way to a new burst;
    /// then its slot is free in any case. So this is only ever a courtesy to [`Denied::TableFull`]'s next victim, and the
    /// way to start a key anew [with its initial level](Self::with_initial).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{KeyedLimiter, ManualClock, Quota};
    ///
    /// let clock = ManualClock::new();
    /// let limiter = KeyedLimiter::<str>::with_clock(Quota::per_second(2), 1_000, clock.clone());
    /// assert!(limiter.try_acquire("alice").is_ok());
    /// assert!(!limiter.forget("alice")); // in debt
    /// clock.advance(Duration::from_millis(500));
    /// assert!(limiter.forget("alice"));
    /// ```
    pub fn forget<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.forget_at(key, self.clock.now())
    }

    /// How many keys are in debt now. Looks at every slot: an answer for tests and diagnostics, about 1 ns per key of the
    /// capacity; see [`fill`](Self::fill) for an estimate. Exact if nobody else calls meanwhile.
    pub fn live(&self) -> usize {
        self.live_in(self.table.lines())
    }

    /// An estimate of how full the table is, from a sample of at most 64 lines: the part of its slots that hold a key in
    /// debt, of 0 to 1.
    ///
    /// The table is meant to run at up to one half. The standard deviation of the estimate is about 0.03.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<u64>::new(Quota::per_hour(1), 10_000);
    /// assert!((0..5_000).all(|client| limiter.try_acquire(&client).is_ok()));
    /// assert!((0.1..0.4).contains(&limiter.fill())); // half the capacity, which is half the slots
    /// ```
    #[allow(clippy::cast_precision_loss)] // an estimate
    pub fn fill(&self) -> f64 {
        let lines = self.table.lines();
        let sample = lines.len().min(64);
        // Lines far apart, so that what a hasher with a pattern would do shows.
        let live: usize =
            lines.iter().step_by(lines.len() / sample).take(sample).map(|line| self.live_in([line])).sum();
        live as f64 / (sample * SLOTS) as f64
    }

    fn live_in<'l>(&self, lines: impl IntoIterator<Item = &'l Line>) -> usize {
        let now = self.within(self.clock.now());
        let slots = lines.into_iter().flat_map(Line::slots);
        slots.filter(|slot| slot.word().is_open() && !slot.word().is_free(now.0)).count()
    }
}

impl<K: ?Sized, S, C> fmt::Debug for KeyedLimiter<K, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("KeyedLimiter");
        shown.field("quota", &self.quota()).field("capacity", &self.capacity).finish_non_exhaustive()
    }
}
