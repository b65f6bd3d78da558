//! Batches: the lines of many keys are on their way at once.

use super::class::Class;
use super::identity::Identity;
use super::line::SLOTS;
use super::table::Call;
use crate::clock::Clock;
use crate::decision::Denied;
use core::borrow::Borrow;
use core::hash::{BuildHasher, Hash};

/// Keys whose lines are loaded together: about as many as a core can wait for at once.
const BATCH: usize = 16;

impl<K: ?Sized, S: BuildHasher, C: Clock> Class<'_, K, S, C> {
    /// Takes one token of each key, as far as they have one: `decisions[i]` is that of the `i`-th key. Returns how many
    /// calls were admitted.
    ///
    /// The lines of sixteen keys are loaded before any of them is decided, so that a processor waits for memory once and
    /// not sixteen times; and the clock is read once. On a table beyond the cache this is several times as fast as single
    /// calls. Decides as many calls as there are both keys and places in `decisions`. Allocates nothing.
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
        let cost = match self.pace.cost(1) {
            Ok(0) => {
                let decided = decisions.iter_mut().zip(keys).map(|(decision, _)| *decision = Ok(()));
                return decided.count();
            }
            Ok(cost) => cost,
            Err(denied) => {
                decisions.iter_mut().zip(keys).for_each(|(decision, _)| *decision = Err(denied));
                return 0;
            }
        };
        let (table, mut keys) = (self.limiter.table(), keys.into_iter());
        let mut admitted = 0;
        for decisions in decisions.chunks_mut(BATCH) {
            let mut batch = [Identity::NONE; BATCH];
            let mut loaded = 0;
            for (slot, key) in batch.iter_mut().zip(keys.by_ref().take(decisions.len())) {
                *slot = self.limiter.identity(key);
                loaded += 1;
            }
            let batch = &batch[..loaded];
            let mut glances = [SLOTS; BATCH];
            for (glance, &key) in glances.iter_mut().zip(batch) {
                *glance = table.line(key, 0).glance(key.tag(0));
            }
            let now = self.limiter.within(self.limiter.clock().now());
            for ((decision, &key), glance) in decisions.iter_mut().zip(batch).zip(glances) {
                *decision = table.acquire_at(glance, &Call { key, pace: self.pace, cost, now });
                admitted += usize::from(decision.is_ok());
            }
            if loaded < decisions.len() {
                break;
            }
        }
        admitted
    }
}
