//! `rate-net`: its limiter for one stream, which runs the token bucket of `better-bucket`.

use crate::engine::label::{Label, Named};
use crate::engine::{Engine, version};
use ::rate_net::{DirectLimiter, Quota as RateNetQuota};
use clock_lib::{Clock, SystemClock};
use tollgate::Quota;

/// A direct limiter of `rate-net`, on its default clock or another.
#[derive(Debug)]
pub struct RateNet<C: Clock + Clone + Named = SystemClock>(DirectLimiter<C>);

impl<C: Clock + Clone + Named> Engine for RateNet<C> {
    const LABEL: Label = Label::peer("rate-net", version::RATE_NET, C::NAME);

    fn build(quota: Quota) -> Self {
        Self(DirectLimiter::with_quota(rate_net_quota(quota)).with_clock(C::default()))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.check().is_allow()
    }
}

/// The same quota in `rate-net`'s terms.
///
/// # Panics
///
/// If tokens or burst do not fit 32 bits: `rate-net` cannot represent that.
pub fn rate_net_quota(quota: Quota) -> RateNetQuota {
    let tokens = u32::try_from(quota.tokens()).expect("tokens fit 32 bits");
    let burst = u32::try_from(quota.burst()).expect("the burst fits 32 bits");
    RateNetQuota::rate(tokens, quota.period()).expect("nothing is zero").with_burst(burst)
}
