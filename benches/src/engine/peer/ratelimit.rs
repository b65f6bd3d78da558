//! `ratelimit`: scaled tokens in one atomic, the time of the last refill in another.

use crate::engine::label::{Label, Named};
use crate::engine::{Engine, version};
use ::ratelimit::{Builder, Clock, Ratelimiter, StdClock};
use tollgate::Quota;

/// A limiter of `ratelimit`, on its default clock or another.
pub struct Ratelimit<C: Clock + Named = StdClock>(Ratelimiter<C>);

impl Named for StdClock {
    const NAME: &'static str = "std";
}

impl<C: Clock + Named> core::fmt::Debug for Ratelimit<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Ratelimit").field(&self.0).finish()
    }
}

impl<C: Clock + Named> Engine for Ratelimit<C> {
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
