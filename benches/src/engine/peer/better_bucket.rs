//! `better-bucket`: the instant at which the bucket was last empty, in one atomic.

use crate::engine::label::{Label, Named};
use crate::engine::{Engine, version};
use ::better_bucket::Bucket;
use clock_lib::{Clock, SystemClock};
use tollgate::Quota;

/// A bucket of `better-bucket`, on its default clock or another.
pub struct BetterBucket<C: Clock + Clone + Named = SystemClock>(Bucket<C>);

impl Named for SystemClock {
    const NAME: &'static str = "std";
}

impl<C: Clock + Clone + Named> core::fmt::Debug for BetterBucket<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("BetterBucket").field(&self.0.config()).finish()
    }
}

impl<C: Clock + Clone + Named> Engine for BetterBucket<C> {
    const LABEL: Label = Label::peer("better-bucket", version::BETTER_BUCKET, C::NAME);

    fn build(quota: Quota) -> Self {
        let (tokens, burst) = (u32::try_from(quota.tokens()), u32::try_from(quota.burst()));
        let (tokens, burst) = (tokens.expect("tokens fit 32 bits"), burst.expect("the burst fits 32 bits"));
        let builder = Bucket::builder().capacity(burst).refill(tokens, quota.period()).initial(burst);
        Self(builder.build_with_clock(C::default()).expect("nothing is zero"))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.try_acquire(1)
    }
}
