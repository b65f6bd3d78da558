//! `interval`: a bucket that is filled at every tick.

use crate::engine::{Engine, Kind, Shared, version};
use tollgate::Quota;

/// The interval bucket: the fixed window, asked for what there is, as its users do.
#[derive(Debug)]
pub struct Interval(tollgate::IntervalBucket);

impl Engine for Interval {
    const NAME: &'static str = "interval";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;
    const WINDOWED: bool = true;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        Self(tollgate::IntervalBucket::new(quota))
    }

    fn caller(&self) -> &Self {
        self
    }

    /// Each window brings the whole limit anew, faster than one word can be changed.
    fn supply(_: Quota) -> u64 {
        u64::MAX
    }
}

impl Shared for Interval {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire_up_to(1) == 1
    }
}
