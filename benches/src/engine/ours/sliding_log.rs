//! `sliding-log`: a ring of instants, one for each unit of the limit.

use crate::engine::{Engine, Kind, Shared, version};
use tollgate::{Quota, SlidingWindowLog};

/// The sliding window log.
#[derive(Debug)]
pub struct SlidingLog(SlidingWindowLog);

impl Engine for SlidingLog {
    const NAME: &'static str = "sliding-log";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;
    const WINDOWED: bool = true;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        Self(SlidingWindowLog::new(quota))
    }

    fn caller(&self) -> &Self {
        self
    }

    /// A thread that was without a core may come with a reading that is older than the ring: once round, and no more,
    /// is sure.
    fn supply(quota: Quota) -> u64 {
        quota.tokens()
    }
}

impl Shared for SlidingLog {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().is_ok()
    }
}
