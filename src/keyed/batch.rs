//! Batches: the lines of many keys are on their way at once.

use super::class::Class;
use super::identity::Identity;
use super::line::SLOTS;
use super::table::Call;
use crate::clock::Clock;
use crate::decision::Denied;
use crate::nanos::Nanos;
use core::borrow::Borrow;
use core::hash::{BuildHasher, Hash};

/// Keys whose lines are loaded together: about as many as a core can wait for at once.
const BATCH: usize = 16;

/// A call of a batch on its way.
#[derive(Clone, Copy)]
struct Pending {
    key: Identity,
    n: u64,
    glance: usize,
}

impl Pending {
    const NONE: Self = Self { key: Identity::NONE, n: 0, glance: SLOTS };
}

impl<K: ?Sized, S: BuildHasher, C: Clock> Class<'_, K, S, C> {
    /// Takes tokens of many keys, each as far as it has them: of each pair of a key and a cost, `decisions[i]` is what
    /// [`try_acquire_n`](Self::try_acquire_n) says of the `i`-th. Returns how many calls were admitted.
    ///
    /// The lines of sixteen keys are loaded before any of them is decided, so that a processor waits for memory once and
    /// not sixteen times. On a table beyond the cache this is several times as fast as single calls. The clock is read
    /// once, after the first sixteen, and all calls are decided as of that instant. Decides as many calls as there are
    /// both pairs and places in `decisions`. Allocates nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(1_000), 1_000);
    /// let sizes = [("alice", 700), ("bob", 700), ("alice", 700), ("carol", 7_000)];
    /// let mut decisions = [Ok(()); 4];
    /// assert_eq!(limiter.try_acquire_many(sizes, &mut decisions), 2);
    /// assert!(decisions[2].is_err() && decisions[3].is_err());
    /// ```
    pub fn try_acquire_many<'q, Q>(
        &self,
        calls: impl IntoIterator<Item = (&'q Q, u64)>,
        decisions: &mut [Result<(), Denied>],
    ) -> usize
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized + 'q,
    {
        self.decide_many(calls, decisions, || self.store.clock.now())
    }

    /// Takes one token of each key, as far as it has one: [`try_acquire_many`](Self::try_acquire_many) at a cost of 1.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<u64>::new(Quota::per_hour(1), 1_000);
    /// let keys = [1, 2, 1, 3];
    /// let mut decisions = [Ok(()); 4];
    /// assert_eq!(limiter.check_many(&keys, &mut decisions), 3);
    /// assert!(decisions[2].is_err()); // the second call of key 1
    /// ```
    pub fn check_many<'q, Q>(
        &self,
        keys: impl IntoIterator<Item = &'q Q>,
        decisions: &mut [Result<(), Denied>],
    ) -> usize
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized + 'q,
    {
        self.try_acquire_many(keys.into_iter().map(|key| (key, 1)), decisions)
    }
}

impl<K: ?Sized, S: BuildHasher, C> Class<'_, K, S, C> {
    /// As [`try_acquire_many`](Self::try_acquire_many), as of `now`. No clock is read.
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
        self.decide_many(calls, decisions, || now)
    }

    fn decide_many<'q, Q: Hash + ?Sized + 'q>(
        &self,
        calls: impl IntoIterator<Item = (&'q Q, u64)>,
        decisions: &mut [Result<(), Denied>],
        now: impl Fn() -> Nanos,
    ) -> usize {
        let (table, mut calls) = (&self.store.table, calls.into_iter());
        let (mut reading, mut changed, mut admitted) = (None, None, 0);
        for decisions in decisions.chunks_mut(BATCH) {
            let mut batch = [Pending::NONE; BATCH];
            let mut loaded = 0;
            for (pending, (key, n)) in batch.iter_mut().zip(calls.by_ref().take(decisions.len())) {
                (pending.key, pending.n) = (self.store.identity(key), n);
                loaded += 1;
            }
            if loaded == 0 {
                break;
            }
            let batch = &mut batch[..loaded];
            for Pending { key, glance, .. } in batch.iter_mut() {
                *glance = table.line(*key, 0).glance(key.tag(0));
            }
            // Q1 of `terms`: the clock, then the pace; both hold for the batches that follow.
            let now = *reading.get_or_insert_with(|| {
                let now = self.store.within(now());
                changed = self.terms.changed();
                changed.as_ref().map_or(now, |pace| pace.within(now))
            });
            let pace = changed.as_ref().unwrap_or(self.terms.first());
            for (decision, &mut Pending { key, n, glance }) in decisions.iter_mut().zip(batch) {
                *decision = match pace.cost(n) {
                    Ok(0) => Ok(()),
                    Ok(cost) => table.acquire_at(glance, &Call { key, pace, cost, now }),
                    Err(denied) => Err(denied),
                };
                admitted += usize::from(decision.is_ok());
            }
        }
        admitted
    }
}
