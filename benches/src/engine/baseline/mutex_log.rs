//! A baseline: the sliding window log of the tutorials, a queue of instants under a standard mutex.

use crate::engine::ours::sliding_log::SlidingLog;
use crate::engine::{Engine, Kind, Shared, version};
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tollgate::Quota;

/// The instants of the last admissions, oldest first; those that are a period old are dropped at each call.
#[derive(Debug)]
pub struct MutexLog {
    admitted: Mutex<VecDeque<Instant>>,
    limit: usize,
    period: Duration,
}

impl Engine for MutexLog {
    const NAME: &'static str = "mutex-log";
    const VERSION: &'static str = version::STD;
    const CLOCK: &'static str = "std";
    const KIND: Kind = Kind::Baseline;
    const WINDOWED: bool = true;
    type Caller<'a> = &'a Self;

    /// With room for all instants from the start, which is more than the tutorials do.
    fn build(quota: Quota) -> Self {
        let limit = usize::try_from(quota.tokens()).expect("an address space has room for the limit");
        Self { admitted: Mutex::new(VecDeque::with_capacity(limit)), limit, period: quota.period() }
    }

    fn caller(&self) -> &Self {
        self
    }

    /// As for the lock-free log, so that both make the same calls.
    fn supply(quota: Quota) -> u64 {
        SlidingLog::supply(quota)
    }
}

impl Shared for MutexLog {
    #[inline]
    fn try_acquire(&self) -> bool {
        let mut admitted = self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while admitted.front().is_some_and(|&oldest| now.duration_since(oldest) >= self.period) {
            admitted.pop_front();
        }
        let admit = admitted.len() < self.limit;
        if admit {
            admitted.push_back(now);
        }
        admit
    }
}
