//! `leaky-bucket`: the token bucket seen from the other side.

use crate::engine::{Engine, Kind, Shared, version};
use tollgate::Quota;

/// The leaky bucket as a meter. Its machine code is the token bucket's: how far the two rows of a table are apart is how
/// far chance alone takes them.
#[derive(Debug)]
pub struct LeakyBucket(tollgate::LeakyBucket);

impl Engine for LeakyBucket {
    const NAME: &'static str = "leaky-bucket";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        Self(tollgate::LeakyBucket::new(quota))
    }

    fn caller(&self) -> &Self {
        self
    }
}

impl Shared for LeakyBucket {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().is_ok()
    }
}
