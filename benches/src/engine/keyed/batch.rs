//! `keyed-batch`: the keyed limiter of this crate, asked for many keys at once.

use super::limiter::Limiter;
use super::{Keys, known, quota};
use crate::engine::{Caller, Engine, Kind, version};
use crate::load::Load;
use core::sync::atomic::{AtomicU64, Ordering};
use std::hash::RandomState;
use tollgate::{Denied, KeyedLimiter, Quota};

/// Keys in a batch.
const BATCH: usize = 32;

/// The keyed limiter that knows the keys below `KEYS`.
#[derive(Debug)]
pub struct Batch<const KEYS: u64> {
    limiter: KeyedLimiter<u64>,
    threads: AtomicU64,
}

/// A thread that collects keys, asks for all of them, and hands out the answers one by one.
#[derive(Debug)]
pub struct Answers<'a, const KEYS: u64> {
    limiter: &'a KeyedLimiter<u64>,
    keys: Keys<KEYS>,
    decisions: [Result<(), Denied>; BATCH],
    given: usize,
}

impl<const KEYS: u64> Engine for Batch<KEYS> {
    const NAME: &'static str = "keyed-batch";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;
    const KEYS: Option<u64> = Some(KEYS);
    type Caller<'a> = Answers<'a, KEYS>;

    fn quota(load: Load) -> Quota {
        quota(load)
    }

    fn build(quota: Quota) -> Self {
        let Limiter::<RandomState>(limiter) = known(quota, KEYS);
        Self { limiter, threads: AtomicU64::new(0) }
    }

    fn caller(&self) -> Answers<'_, KEYS> {
        // ORDERING: relaxed, for only the numbers have to differ.
        let thread = self.threads.fetch_add(1, Ordering::Relaxed);
        Answers { limiter: &self.limiter, keys: Keys::new(thread), decisions: [Ok(()); BATCH], given: BATCH }
    }

    /// Every key's burst of one was taken when it became known.
    fn drain(&self, _: Quota) {}
}

impl<const KEYS: u64> Caller for Answers<'_, KEYS> {
    #[inline]
    fn try_acquire(&mut self) -> bool {
        if self.given == BATCH {
            let keys: [u64; BATCH] = core::array::from_fn(|_| self.keys.next());
            self.limiter.check_many(&keys, &mut self.decisions);
            self.given = 0;
        }
        self.given += 1;
        self.decisions[self.given - 1].is_ok()
    }
}
