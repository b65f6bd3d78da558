//! `rate-net-keyed`: rate-net's limiter over sharded maps, on its default clock or this crate's.

use super::{Build, Engine};
use crate::engine::peer::better_bucket::NamedClock;
use crate::engine::peer::rate_net::rate_net_quota;
use crate::engine::{Kind, version};
use ::rate_net::{DEFAULT_MAX_KEYS, Eviction, RateLimiter};
use tollgate::Quota;

/// A keyed limiter of rate-net.
#[derive(Debug)]
pub struct RateNet<C: NamedClock>(RateLimiter<C>);

impl<C: NamedClock> Engine for RateNet<C> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.check(key).is_allow()
    }
}

impl<C: NamedClock> Build for RateNet<C> {
    const VERSION: &'static str = version::RATE_NET;
    const CLOCK: &'static str = C::NAME;
    const HASHER: &'static str = "its own";
    const KIND: Kind = Kind::Peer;
    const BOUNDED: bool = true;

    fn build(quota: Quota, keys: u32) -> Self {
        let limiter = RateLimiter::with_quota(rate_net_quota(quota)).with_clock(C::default());
        let keys = keys as usize;
        // By default it keeps 2^20 keys; for more it has to be told, with some room, for its shards fill unevenly.
        let enough = keys <= DEFAULT_MAX_KEYS;
        Self(if enough { limiter } else { limiter.with_eviction(Eviction::capacity(keys + keys / 16)) })
    }

    fn build_bounded(quota: Quota, keys: u32) -> Self {
        Self(Self::build(quota, keys).0.with_eviction(Eviction::capacity(keys as usize)))
    }
}
