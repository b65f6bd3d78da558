//! `better-bucket`: the instant at which the bucket was last empty, in one atomic.

use super::quanta_clock::QuantaClock;
use crate::engine::label::Label;
use crate::engine::{Engine, version};
use ::better_bucket::Bucket;
use clock_lib::{Clock, SystemClock};
use tollgate::Quota;

/// A bucket of `better-bucket`, on its default clock or another.
pub struct BetterBucket<C: NamedClock = SystemClock>(Bucket<C>);

/// A clock for `better-bucket` and `rate-net` with its name in our tables.
pub trait NamedClock: Clock + Default + Clone + 'static {
    /// The name.
    const NAME: &'static str;
}

impl NamedClock for SystemClock {
    const NAME: &'static str = "std";
}

impl NamedClock for QuantaClock {
    const NAME: &'static str = "quanta";
}

impl<C: NamedClock> core::fmt::Debug for BetterBucket<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("BetterBucket").field(&self.0.config()).finish()
    }
}

impl<C: NamedClock> Engine for BetterBucket<C> {
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
