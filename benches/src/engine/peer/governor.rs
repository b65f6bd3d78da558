//! `governor`: GCRA on one `AtomicU64`, on its default clock (quanta) or on `Instant`.

use crate::engine::label::{Label, Named};
use crate::engine::{Engine, version};
use ::governor::clock::{Clock, DefaultClock, MonotonicClock};
use ::governor::middleware::NoOpMiddleware;
use ::governor::state::{InMemoryState, NotKeyed};
use ::governor::{Quota as GovernorQuota, RateLimiter};
use core::num::NonZeroU32;
use tollgate::Quota;

/// A direct limiter of `governor`.
#[derive(Debug)]
pub struct Governor<C: Clock + Named = DefaultClock>(
    RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<C::Instant>>,
);

impl Named for DefaultClock {
    const NAME: &'static str = "quanta";
}

impl Named for MonotonicClock {
    const NAME: &'static str = "std";
}

impl<C: Clock + Named> Engine for Governor<C>
where
    C::Instant: Send + Sync,
{
    const LABEL: Label = Label::peer("governor", version::GOVERNOR, C::NAME);

    fn build(quota: Quota) -> Self {
        Self(RateLimiter::direct_with_clock(governor_quota(quota), C::default()))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.check().is_ok()
    }
}

/// Three of them, one after the other until one refuses: what people write for want of more. It is no equal of a set, for what a
/// later one refuses an earlier one has charged.
#[derive(Debug)]
pub struct GovernorThrice([Governor; 3]);

impl Engine for GovernorThrice {
    const LABEL: Label = Label::peer("governor-thrice", version::GOVERNOR, "quanta");

    fn build(quota: Quota) -> Self {
        Self([quota; 3].map(Governor::build))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.iter().all(|limiter| limiter.0.check().is_ok())
    }
}

/// The same quota in `governor`'s terms: the time for one token, and the burst.
///
/// # Panics
///
/// If the time for one token is not a whole number of nanoseconds, or the burst not a `u32`: `governor` cannot
/// represent that.
pub fn governor_quota(quota: Quota) -> GovernorQuota {
    let tokens = u32::try_from(quota.tokens()).expect("tokens fit 32 bits");
    assert_eq!(quota.period().as_nanos() % u128::from(tokens), 0, "a token takes a whole number of nanoseconds");
    let burst = u32::try_from(quota.burst()).ok().and_then(NonZeroU32::new).expect("the burst fits 32 bits");
    GovernorQuota::with_period(quota.period() / tokens).expect("a token takes some time").allow_burst(burst)
}
