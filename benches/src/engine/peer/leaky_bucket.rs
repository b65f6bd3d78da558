//! `leaky-bucket`: an asynchronous limiter, called here through its `try_acquire`.

use crate::engine::{Engine, Kind, Shared, version};
use crate::load::windows;
use ::leaky_bucket::RateLimiter;
use core::time::Duration;
use tollgate::Quota;

/// A limiter of `leaky-bucket` with its default settings. It reads `tokio`'s clock, which is `Instant`.
#[derive(Debug)]
pub struct LeakyBucketCrate(RateLimiter);

impl Engine for LeakyBucketCrate {
    const NAME: &'static str = "leaky-bucket-crate";
    const VERSION: &'static str = version::LEAKY_BUCKET;
    const CLOCK: &'static str = "std";
    const KIND: Kind = Kind::Peer;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        let (tokens, burst) = (usize::try_from(quota.tokens()), usize::try_from(quota.burst()));
        let (tokens, burst) = (tokens.expect("a 64-bit machine"), burst.expect("a 64-bit machine"));
        let mut builder = RateLimiter::builder();
        Self(builder.max(burst).initial(burst).refill(tokens).interval(quota.period()).build())
    }

    fn caller(&self) -> &Self {
        self
    }

    /// It refills all of a period's tokens at the end of each period.
    fn bound(quota: Quota, elapsed: Duration) -> u64 {
        quota.burst() + quota.tokens() * windows(quota, elapsed)
    }
}

impl Shared for LeakyBucketCrate {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire(1)
    }
}
