//! `governor-keyed`: governor's limiter over a `DashMap`, on its default hasher or a fast one.

use super::{Build, Engine, NamedHasher};
use crate::engine::peer::governor::governor_quota;
use crate::engine::{Kind, version};
use ::governor::RateLimiter;
use ::governor::clock::DefaultClock;
use ::governor::state::keyed::DashMapStateStore;
use tollgate::Quota;

/// A keyed limiter of governor.
#[derive(Debug)]
pub struct Governor<S: NamedHasher>(RateLimiter<u64, DashMapStateStore<u64, S>, DefaultClock>);

impl<S: NamedHasher> Engine for Governor<S> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.check_key(&key).is_ok()
    }
}

impl<S: NamedHasher> Build for Governor<S> {
    const VERSION: &'static str = version::GOVERNOR;
    const CLOCK: &'static str = "quanta";
    const HASHER: &'static str = S::NAME;
    const KIND: Kind = Kind::Peer;

    fn build(quota: Quota, _: u32) -> Self {
        Self(RateLimiter::dashmap_with_hasher(governor_quota(quota), S::default()))
    }
}
