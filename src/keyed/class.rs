//! [`Class`]: a keyed limiter under one of its quotas; where every call of either is decided.

use super::course::NoCourse;
use super::error::Unchanged;
use super::identity::Identity;
use super::pace::Pace;
use super::store::Store;
use super::table::{Decided, Left, Table};
use super::terms::Terms;
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
use core::time::Duration;

/// A keyed limiter under one of its quotas: what [`KeyedLimiter::class`] returns.
///
/// A view that costs nothing to make. All classes share the table and the keys: a key that is charged in one is in debt in
/// all of them, for the same time.
///
/// [`KeyedLimiter::class`]: crate::KeyedLimiter::class
pub struct Class<'a, K: ?Sized, S, C> {
    pub(super) store: &'a Store<S, C>,
    pub(super) terms: &'a Terms,
    pub(super) keys: PhantomData<fn(&K)>,
}

impl<'a, K: ?Sized, S, C> Class<'a, K, S, C> {
    #[inline]
    pub(super) const fn new(store: &'a Store<S, C>, terms: &'a Terms) -> Self {
        Self { store, terms, keys: PhantomData }
    }

    /// The quota of this class.
    pub fn quota(&self) -> Quota {
        self.terms.with(Pace::quota)
    }

    /// The most tokens that one call can take; a larger cost can never be admitted.
    pub fn max_cost(&self) -> u64 {
        self.quota().burst()
    }
}

impl<'a, K: ?Sized, S, C> Class<'a, K, S, C> {
    pub(crate) const fn clock(&self) -> &'a C {
        &self.store.clock
    }

    /// Takes `n` tokens of a key that are due by `last`, which is not before `now`. Returns when the key's bucket will be full
    /// again, 0 if the call was admitted without one; and when the tokens are due.
    ///
    /// The hint of a [`Denied::TryAfter`] counts from `last`.
    pub(crate) fn reserve(&self, key: Identity, n: u64, now: Nanos, last: Nanos) -> Result<(u64, Nanos), Denied> {
        self.terms.at(self.store.within(now), |pace, now| {
            let cost = pace.cost(n)?;
            let last = pace.within(self.store.within(last));
            if cost == 0 {
                return Ok((0, now));
            }
            let decided = self.store.table.acquire_again(&pace.patient(now, last), key, cost, now);
            Self::place(pace, decided, now, last)
        })
    }

    /// As [`reserve`](Self::reserve), with the status of the key as of `now` that the decision has left.
    pub(crate) fn reserve_with_status(
        &self,
        key: Identity,
        n: u64,
        now: Nanos,
        last: Nanos,
    ) -> (Result<(u64, Nanos), Denied>, Status) {
        self.terms.at(self.store.within(now), |pace, now| {
            let last = pace.within(self.store.within(last));
            match pace.cost(n) {
                Ok(cost @ 1..) => {
                    let decided = self.store.table.acquire_again(&pace.patient(now, last), key, cost, now);
                    (Self::place(pace, decided, now, last), self.status_left(pace, &decided, now))
                }
                whatever => {
                    let decided = self.undecided(pace, key, whatever.map(|_| ()), now);
                    (whatever.map(|_| (0, now)), self.status_left(pace, &decided, now))
                }
            }
        })
    }

    /// What a decision comes to, of a call at `now` that would wait until `last`: when the key's bucket will be full again, 0 if it
    /// was admitted without one; and when the tokens are due.
    fn place(pace: &Pace, decided: Decided, now: Nanos, last: Nanos) -> Result<(u64, Nanos), Denied> {
        decided.decision.map_err(|denied| match denied {
            Denied::TryAfter(hint) => Denied::TryAfter(pace.hint_from(hint, now, last)),
            denied => denied,
        })?;
        let full_at = if let Left::Bucket(full_at) = decided.left { full_at } else { 0 };
        Ok((full_at, pace.due_at(full_at, now)))
    }

    /// Gives back at `now` what left a key's bucket full at `full_at`, if nothing was taken since; returns how many tokens of
    /// it can be spent again.
    pub(crate) fn give_back(&self, key: Identity, n: u64, full_at: u64, now: Nanos) -> u64 {
        self.terms.at(self.store.within(now), |pace, now| {
            if pace.quota().is_unlimited() {
                return n; // nothing was charged
            }
            if pace.recovered(full_at) <= now.0 {
                return 0; // it has drained, and the slot may be another's
            }
            let cut = |word| if word == full_at { pace.refunded(full_at, n) } else { word };
            let from = self.store.table.lower(key, cut).unwrap_or(full_at);
            pace.undrained(from, full_at, now).min(n)
        })
    }

    /// Changes the quota, as of a reading of the clock (rule Q2 of `terms`).
    pub(crate) fn change(&self, quota: Quota, now: impl Fn() -> Nanos) -> Result<(), Unchanged> {
        let next = Pace::try_new(quota).map_err(Unchanged::Unfit)?;
        let changed = self.terms.change(|pace| {
            let pace = pace.changed(next, self.store.within(now())).map_err(|no_course| match no_course {
                NoCourse::TooLong => Unchanged::TooFarApart,
                NoCourse::TooManyCorners => Unchanged::TooOften,
            })?;
            self.store.table.classes.unsettle(&pace);
            Ok(pace)
        })?;
        if changed { Ok(()) } else { Err(Unchanged::Contended) }
    }

    /// As [`try_acquire_n_with_status_at`](Self::try_acquire_n_with_status_at).
    pub(crate) fn decide_with_status(&self, key: Identity, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        let read = self.store.within(now);
        self.terms.at(read, |pace, now| {
            let decided = self.decide_under(pace, key, n, now);
            let status = self.status_left(pace, &decided, now);
            (decided.read_at(read, now).decision, status)
        })
    }

    /// The status of a key at `now` as a decision has left it.
    #[inline]
    fn status_left(&self, pace: &Pace, decided: &Decided, now: Nanos) -> Status {
        match decided.left {
            Left::Bucket(full_at) => pace.status(full_at, now),
            Left::Shared(_) | Left::Nothing => self.status_without_slot(pace, decided, now),
        }
    }

    /// What is left to a key for which there is no slot.
    #[cold]
    fn status_without_slot(&self, pace: &Pace, decided: &Decided, now: Nanos) -> Status {
        let shared = match (decided.left, &self.store.table.newcomers) {
            (Left::Shared(word), Some(newcomers)) => Some(newcomers.status(word, now)),
            _ => None,
        };
        let limit = pace.quota().burst();
        let room = decided.decision.err().and_then(|denied| denied.retry_after());
        let remaining = shared.map_or(0, |shared| shared.remaining).min(limit);
        let retry_after =
            if remaining > 0 { Some(Duration::ZERO) } else { room.or(shared.and_then(|shared| shared.retry_after)) };
        let reset_after = shared.map_or(Duration::MAX, |shared| shared.reset_after).min(room.unwrap_or(Duration::MAX));
        Status::new(limit, remaining, retry_after, reset_after)
    }

    fn decide_under(&self, pace: &Pace, key: Identity, n: u64, now: Nanos) -> Decided {
        match pace.cost(n) {
            Ok(cost @ 1..) => self.store.table.acquire_again(pace, key, cost, now),
            whatever => self.undecided(pace, key, whatever.map(|_| ()), now),
        }
    }

    /// What was decided whatever there is, with a look at it, which is the first.
    fn undecided(&self, pace: &Pace, key: Identity, decision: Result<(), Denied>, now: Nanos) -> Decided {
        Decided { decision, left: Left::Bucket(self.store.table.full_at(key, pace, now)) }
    }

    /// Whether a key has `n` tokens that are due by `last`, which is not before `now`. Writes nothing. Of a key that has no slot,
    /// whether there is one for it is not looked at.
    ///
    /// The hint of a [`Denied::TryAfter`] counts from `last`.
    pub(crate) fn check(&self, key: Identity, n: u64, now: Nanos, last: Nanos) -> Result<(), Denied> {
        self.terms.at(self.store.within(now), |pace, now| {
            let cost = pace.cost(n)?;
            let last = pace.within(self.store.within(last));
            let known = self.store.table.find(key).map(|(_, word)| word.instant());
            if cost == 0 || known.is_none() && pace.starts_short() {
                return Ok(()); // only a call that is decided makes the key known, so that its bucket fills
            }
            let full_at = known.unwrap_or_else(|| self.store.table.full_at(key, pace, now));
            let patient = pace.patient(now, last);
            match patient.charge(full_at, cost, now) {
                Some(_) => Ok(()),
                None => Err(Denied::TryAfter(pace.hint_from(patient.hint(full_at, cost, now), now, last))),
            }
        })
    }

    /// As [`refund`](Self::refund).
    pub(crate) fn refund_of(&self, key: Identity, n: u64) {
        self.store.table.lower(key, |full_at| self.terms.with(|pace| pace.refunded(full_at, n)));
    }

    /// As [`status_at`](Self::status_at).
    pub(crate) fn status_of(&self, key: Identity, now: Nanos) -> Status {
        self.terms.at(self.store.within(now), |pace, now| pace.status(self.store.table.full_at(key, pace, now), now))
    }
}

impl<K: ?Sized, S: BuildHasher, C> Class<'_, K, S, C> {
    /// As [`KeyedLimiter::try_acquire_at`](crate::KeyedLimiter::try_acquire_at), under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::try_acquire_n`](crate::KeyedLimiter::try_acquire_n).
    #[inline]
    pub fn try_acquire_at<Q>(&self, key: &Q, now: Nanos) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.decide(key, 1, || now)
    }

    /// As [`KeyedLimiter::try_acquire_n_at`](crate::KeyedLimiter::try_acquire_n_at), under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::try_acquire_n`](crate::KeyedLimiter::try_acquire_n).
    #[inline]
    pub fn try_acquire_n_at<Q>(&self, key: &Q, n: u64, now: Nanos) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.decide(key, n, || now)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // a call costs an admission ten instructions
    fn decide<Q: Hash + ?Sized>(&self, key: &Q, n: u64, now: impl FnOnce() -> Nanos) -> Result<(), Denied> {
        let pace = self.terms.first().usual();
        let Some(cost) = pace.cost(n) else { return self.decide_otherwise(key, n, now) };
        // In this order: on the processors where it was measured, a time stamp counter is read only when all loads
        // before it are done, and nothing after it begins before. So the next call's hash is computed while this one
        // waits for its line. To load the line before the clock is read gains with a fast hasher and loses with SipHash.
        let key = self.store.identity(key);
        let line = self.store.table.line(key, 0);
        let now = self.store.within(now());
        if !self.terms.is_plain() {
            return self.decide_again(key, n, now);
        }
        match Table::acquire(line, pace, key, cost, now) {
            Some(decision) => decision,
            None => self.store.table.acquire_again(self.terms.first(), key, cost, now).decision,
        }
    }

    /// As [`decide`](Self::decide), where the cost under the first quota is nothing, or too much, or in units of many tokens.
    #[cold]
    #[inline(never)]
    fn decide_otherwise<Q: Hash + ?Sized>(self, key: &Q, n: u64, now: impl FnOnce() -> Nanos) -> Result<(), Denied> {
        let cost = self.terms.first().cost(n);
        if !matches!(cost, Ok(1..)) && self.terms.is_first() {
            return cost.map(|_| ()); // whatever there is
        }
        let key = self.store.identity(key);
        self.decide_again(key, n, self.store.within(now()))
    }

    /// Decides a call under whatever quota there is, of which a unit may be anything. `now` was read before (Q1).
    #[inline(never)]
    fn decide_again(self, key: Identity, n: u64, now: Nanos) -> Result<(), Denied> {
        if self.terms.is_first() {
            return self.decide_under(self.terms.first(), key, n, now).decision;
        }
        // Long after a change a call is as usual again, at another pace.
        if let Some(pace) = self.terms.usual(now)
            && let Some(cost) = pace.cost(n)
            && let Some(decision) = Table::acquire(self.store.table.line(key, 0), pace, key, cost, now)
        {
            return decision;
        }
        self.terms.at(now, |pace, counted| self.decide_under(pace, key, n, counted).read_at(now, counted).decision)
    }

    /// As [`KeyedLimiter::try_acquire_n_with_status_at`](crate::KeyedLimiter::try_acquire_n_with_status_at), under this class's
    /// quota.
    pub fn try_acquire_n_with_status_at<Q>(&self, key: &Q, n: u64, now: Nanos) -> (Result<(), Denied>, Status)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.decide_with_status(self.store.identity(key), n, now)
    }

    /// A key as the table knows it.
    pub(crate) fn identity<Q: Hash + ?Sized>(&self, key: &Q) -> Identity {
        self.store.identity(key)
    }

    /// As [`KeyedLimiter::refund`](crate::KeyedLimiter::refund), of tokens that were taken under this class's quota.
    pub fn refund<Q>(&self, key: &Q, n: u64)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.refund_of(self.store.identity(key), n);
    }

    /// As [`KeyedLimiter::status_at`](crate::KeyedLimiter::status_at), under this class's quota.
    pub fn status_at<Q>(&self, key: &Q, now: Nanos) -> Status
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.status_of(self.store.identity(key), now)
    }
}

impl<K: ?Sized, S: BuildHasher, C: Clock> Class<'_, K, S, C> {
    /// As [`KeyedLimiter::try_acquire`](crate::KeyedLimiter::try_acquire), under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::try_acquire_n`](crate::KeyedLimiter::try_acquire_n).
    #[inline]
    pub fn try_acquire<Q>(&self, key: &Q) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.try_acquire_n(key, 1)
    }

    /// As [`KeyedLimiter::try_acquire_n`](crate::KeyedLimiter::try_acquire_n), under this class's quota.
    ///
    /// # Errors
    ///
    /// As [`KeyedLimiter::try_acquire_n`](crate::KeyedLimiter::try_acquire_n).
    #[inline]
    pub fn try_acquire_n<Q>(&self, key: &Q, n: u64) -> Result<(), Denied>
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.decide(key, n, || self.store.clock.now())
    }

    /// As [`KeyedLimiter::try_acquire_n_with_status`](crate::KeyedLimiter::try_acquire_n_with_status), under this class's quota.
    pub fn try_acquire_n_with_status<Q>(&self, key: &Q, n: u64) -> (Result<(), Denied>, Status)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.try_acquire_n_with_status_at(key, n, self.store.clock.now())
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub fn try_acquire_with_status<Q>(&self, key: &Q) -> (Result<(), Denied>, Status)
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.try_acquire_n_with_status(key, 1)
    }

    /// As [`KeyedLimiter::status`](crate::KeyedLimiter::status), under this class's quota.
    pub fn status<Q>(&self, key: &Q) -> Status
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.status_at(key, self.store.clock.now())
    }

    /// As [`KeyedLimiter::forget`](crate::KeyedLimiter::forget): in whichever class the key owes anything.
    pub fn forget<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        self.store.forget(key, self.store.clock.now())
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
