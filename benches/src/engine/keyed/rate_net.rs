//! `rate-net`, keyed: its main limiter, on its default clock or another.

use super::Keyed;
use crate::engine::peer::better_bucket::NamedClock;
use crate::engine::peer::rate_net::rate_net_quota;
use crate::engine::{Kind, version};
use ::rate_net::RateLimiter;
use clock_lib::SystemClock;
use tollgate::Quota;

/// A keyed limiter of `rate-net` with its default shards, eviction and hasher.
#[derive(Debug)]
pub struct RateNet<C: NamedClock = SystemClock>(RateLimiter<C>);

impl<C: NamedClock> Keyed for RateNet<C> {
    const NAME: &'static str = "rate-net";
    const VERSION: &'static str = version::RATE_NET;
    const CLOCK: &'static str = C::NAME;
    const KIND: Kind = Kind::Peer;

    fn build(quota: Quota, _: u64) -> Self {
        Self(RateLimiter::with_quota(rate_net_quota(quota)).with_clock(C::default()))
    }

    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.check(key).is_allow()
    }
}
