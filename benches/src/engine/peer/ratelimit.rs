//! `ratelimit`: scaled tokens in one atomic, the time of the last refill in another.

use super::quanta_clock::QuantaClock;
use crate::engine::label::Label;
use crate::engine::{Engine, version};
use ::ratelimit::{Builder, Clock, Ratelimiter, StdClock};
use tollgate::Quota;

/// A limiter of `ratelimit`, on its default clock or another.
pub struct Ratelimit<C: NamedClock = StdClock>(Ratelimiter<C>);

/// A clock for `ratelimit` with its name in our tables.
pub trait NamedClock: Clock + Default + Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
}

impl NamedClock for StdClock {
    const NAME: &'static str = "std";
}

impl NamedClock for QuantaClock {
    const NAME: &'static str = "quanta";
}

impl<C: NamedClock> core::fmt::Debug for Ratelimit<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Ratelimit").field(&self.0).finish()
    }
}

impl<C: NamedClock> Engine for Ratelimit<C> {
    const LABEL: Label = Label::peer("ratelimit", version::RATELIMIT, C::NAME);

    fn build(quota: Quota) -> Self {
        let builder = Builder::with_clock(quota.tokens(), C::default())
            .period(quota.period())
            .max_tokens(quota.burst())
            .initial_available(quota.burst());
        Self(builder.build().expect("the initial tokens are the most there can be"))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.try_wait().is_ok()
    }
}
