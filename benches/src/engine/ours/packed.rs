//! `packed`: tokens and time in fields of one word.

use crate::engine::{Engine, Kind, Shared, version};
use crate::load::Load;
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

    /// Its word holds `rate * burst` up to 1.9e10 only. Under an admit load it gets the burst of all, but four tokens
    /// per second on top; under a mixed load it has a tenth of the burst.
    fn quota(load: Load) -> Quota {
        match load {
            Load::Admit => Quota::per_second(4).with_burst(load.quota().burst()),
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
}

impl Shared for Packed {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().is_ok()
    }
}
