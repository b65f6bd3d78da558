//! `sliding-counter`: two windows, the earlier one weighted.

use crate::engine::{Engine, Kind, Shared, version};
use crate::load::Load;
use core::time::Duration;
use tollgate::Quota;

/// The sliding window counter.
#[derive(Debug)]
pub struct SlidingCounter(tollgate::SlidingWindowCounter);

impl Engine for SlidingCounter {
    const NAME: &'static str = "sliding-counter";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;
    const WINDOWED: bool = true;
    type Caller<'a> = &'a Self;

    /// Its word holds two counts: the smaller the limit, the shorter the window may be. Under an admit load it gets a
    /// limit of 1e8 in 30 days, under a mixed load one of 4,000 each millisecond.
    fn quota(load: Load) -> Quota {
        match load {
            Load::Admit => Quota::per(100_000_000, Duration::from_hours(720)),
            Load::Deny => load.quota(),
            Load::Mixed => Quota::per(4_000, Duration::from_millis(1)),
        }
    }

    fn build(quota: Quota) -> Self {
        Self(tollgate::SlidingWindowCounter::new(quota))
    }

    fn caller(&self) -> &Self {
        self
    }
}

impl Shared for SlidingCounter {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().is_ok()
    }
}
