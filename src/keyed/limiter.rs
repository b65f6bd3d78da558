//! [`KeyedLimiter`]: the type itself and what can be asked of it; how it is built is in `construction`.

use super::class::Class;
use super::store::Store;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
#[cfg(feature = "std")]
use std::hash::RandomState;

/// A token bucket for each key, for millions of keys in fixed memory: a limit per client, address or API key.
///
/// The memory is allocated once, at construction: under 26 bytes for each key of the capacity. Nothing is allocated,
/// swept or scanned afterwards. A key gets a slot with its first admitted call, starts full unless [told
/// otherwise](Self::with_initial) (a refused call will do then), and keeps the slot at least until its bucket is full again; from then on it
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
/// A key is known by 30 bits of its hash and by its place. Two keys that share both share a bucket: they are
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
pub struct KeyedLimiter<
    K: ?Sized,
    #[cfg(feature = "std")] S = RandomState,
    #[cfg(not(feature = "std"))] S,
    #[cfg(feature = "std")] C = DefaultClock,
    #[cfg(not(feature = "std"))] C,
> {
    pub(super) store: Store<S, C>,
    pub(super) capacity: usize,
    pub(super) keys: PhantomData<fn(&K)>,
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
        Some(Class::new(&self.store, self.store.table.classes.get(number)?))
    }

    /// The quota of the first class.
    pub fn quota(&self) -> Quota {
        self.first_class().quota()
    }

    /// The most tokens that one call of the first class can take; a larger cost can never be admitted.
    pub fn max_cost(&self) -> u64 {
        self.first_class().max_cost()
    }

    #[inline]
    const fn first_class(&self) -> Class<'_, K, S, C> {
        Class::new(&self.store, &self.store.table.classes.first)
    }
}

impl<K: ?Sized, S: BuildHasher, C> KeyedLimiter<K, S, C> {
    /// Takes one token of `key` as of `now`, or none. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline]
    pub fn try_acquire_at<Q>(&self, key: &Q, now: Nanos) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.first_class().try_acquire_at(key, now)
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

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), as of `now`. No clock is read.
    pub fn try_acquire_n_with_status_at<Q>(&self, key: &Q, n: u64, now: Nanos) -> (Result<(), Denied>, Status)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.first_class().try_acquire_n_with_status_at(key, n, now)
    }

    /// Takes tokens of many keys as of `now`; see [`Class::try_acquire_many`]. No clock is read.
    pub fn try_acquire_many_at<'q, Q>(
        &self,
        calls: impl IntoIterator<Item = (&'q Q, u64)>,
        decisions: &mut [Result<(), Denied>],
        now: Nanos,
    ) -> usize
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized + 'q,
    {
        self.first_class().try_acquire_many_at(calls, decisions, now)
    }

    /// As [`status`](Self::status), as of `now`. No clock is read.
    pub fn status_at<Q>(&self, key: &Q, now: Nanos) -> Status
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.first_class().status_at(key, now)
    }

    /// Gives `n` tokens of `key` back, for work that was admitted and then not done. No clock is read.
    ///
    /// The level is capped at the burst. A key that has no slot owes nothing, and gets nothing. Nor does one whose call was
    /// admitted [while there was no slot for it](Self::sharing_when_full).
    ///
    /// Only give back what was taken, in the class in which it was. The bound then holds in any window for what was
    /// admitted less what was given back meanwhile. The key keeps its slot for longer: after its bucket is full again, as
    /// long as the longest debt of any class takes to drain, and about two seconds more. Where the line of memory in which
    /// it lives has a key that was given tokens back and is in debt by a clock far ahead of others, less may come back.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(10), 1_000);
    /// assert!(limiter.try_acquire_n("alice", 4).is_ok());
    /// limiter.refund("alice", 3); // one was used
    /// assert_eq!(limiter.status("alice").remaining, 9);
    /// ```
    pub fn refund<Q>(&self, key: &Q, n: u64)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.first_class().refund(key, n);
    }

    /// As [`forget`](Self::forget), as of `now`. No clock is read.
    pub fn forget_at<Q>(&self, key: &Q, now: Nanos) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.store.forget(key, now)
    }

    /// As [`forgive`](Self::forgive), as of `now`. No clock is read.
    pub fn forgive_at<Q>(&self, key: &Q, now: Nanos) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.store.forgive(key, now)
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

    /// Takes `n` tokens of `key`, or none; returns the decision and the status of the key that it has left, admitted or denied.
    ///
    /// The status is that of the very word which was decided on, on the same reading of the clock. A key for which there is
    /// no slot has what is left in the bucket that [newcomers share](Self::sharing_when_full), or nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(10), 1_000);
    /// let (decision, status) = limiter.try_acquire_n_with_status("alice", 4);
    /// assert_eq!((decision, status.remaining), (Ok(()), 6));
    /// ```
    pub fn try_acquire_n_with_status<Q>(&self, key: &Q, n: u64) -> (Result<(), Denied>, Status)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.first_class().try_acquire_n_with_status(key, n)
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub fn try_acquire_with_status<Q>(&self, key: &Q) -> (Result<(), Denied>, Status)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.try_acquire_n_with_status(key, 1)
    }

    /// Takes tokens of many keys, each as far as it has them: pairs of a key and a cost; see [`Class::try_acquire_many`].
    pub fn try_acquire_many<'q, Q>(
        &self,
        calls: impl IntoIterator<Item = (&'q Q, u64)>,
        decisions: &mut [Result<(), Denied>],
    ) -> usize
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized + 'q,
    {
        self.first_class().try_acquire_many(calls, decisions)
    }

    /// Takes one token of each key, as far as it has one; see [`Class::check_many`].
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

    /// Forgets `key` if the key owes nothing; returns whether it owes nothing.
    ///
    /// A key in debt keeps its slot until the debt has drained, for otherwise being forgotten would be a way to a new
    /// burst; then its slot is free in any case. So this is only ever the way to start a key anew [with its initial
    /// level](Self::with_initial); a key whose tokens were given back can be forgotten as late as its slot is free. To lift
    /// a debt, [`forgive`](Self::forgive) it.
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
        self.forget_at(key, self.store.clock.now())
    }

    /// Lifts what `key` owes, so that it is full at once; returns whether it owes nothing now.
    ///
    /// For a person who unblocks a customer. Bound: what is admitted before and what is admitted after keep the key's bound,
    /// each for itself; a window in which a key was forgiven `k` times admits at most `k + 1` times what it would have.
    /// The key keeps its slot for longer, as after a [`refund`](Self::refund). The answer is `false` if the key has been
    /// charged again meanwhile, or has no slot and is held up by the horizon that a clock far ahead has left.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(10), 1_000);
    /// assert!(limiter.try_acquire_n("alice", 10).is_ok());
    /// assert!(limiter.try_acquire("alice").is_err());
    /// assert!(limiter.forgive("alice"));
    /// assert!(limiter.try_acquire_n("alice", 10).is_ok());
    /// ```
    pub fn forgive<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.forgive_at(key, self.store.clock.now())
    }
}

impl<K: ?Sized, S, C> fmt::Debug for KeyedLimiter<K, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("KeyedLimiter");
        shown.field("quota", &self.quota()).field("capacity", &self.capacity).finish_non_exhaustive()
    }
}
