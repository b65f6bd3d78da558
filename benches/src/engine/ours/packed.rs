//! `packed`: tokens and time in fields of one word.

use crate::engine::{Engine, Kind, Shared, version};
use crate::load::Load;
use core::time::Duration;
use tollgate::Quota;

/// The packed token bucket.
#[derive(Debug)]
pub struct Packed(tollgate::PackedTokenBucket);

impl Engine for Packed {
    const NAME: &'static str = "packed";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;
    type Caller<'a> = &'a Self;

    /// Its word holds `rate * burst` up to 1.9e10 only. Under an admit load it lives on a rate that one word cannot use
    /// up; under a mixed load it has a tenth of the burst.
    fn quota(load: Load) -> Quota {
        match load {
            Load::Admit => Quota::per(250_000, Duration::from_millis(1)).with_burst(63),
            Load::Deny => load.quota(),
            Load::Mixed => load.quota().with_burst(1_000),
        }
    }

    fn build(quota: Quota) -> Self {
        Self(tollgate::PackedTokenBucket::new(quota))
    }

    fn caller(&self) -> &Self {
        self
    }

    /// The rate brings more than one word can be changed.
    fn supply(_: Quota) -> u64 {
        u64::MAX
    }
}

impl Shared for Packed {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().is_ok()
    }
}
