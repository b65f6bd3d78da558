//! `leaky-bucket`: an asynchronous limiter, called here through its `try_acquire`.

use crate::engine::label::Label;
use crate::engine::load::{CLOCK_SLACK, windows};
use crate::engine::{Engine, version};
use ::leaky_bucket::RateLimiter;
use core::time::Duration;
use tollgate::Quota;

/// A limiter of `leaky-bucket` with its default settings. It reads `tokio`'s clock, which is `Instant`.
#[derive(Debug)]
pub struct LeakyBucketCrate(RateLimiter);

impl Engine for LeakyBucketCrate {
    const LABEL: Label = Label::peer("leaky-bucket-crate", version::LEAKY_BUCKET, "std");

    fn build(quota: Quota) -> Self {
        let (tokens, burst) = (usize::try_from(quota.tokens()), usize::try_from(quota.burst()));
        let (tokens, burst) = (tokens.expect("a 64-bit machine"), burst.expect("a 64-bit machine"));
        let mut builder = RateLimiter::builder();
        Self(builder.max(burst).initial(burst).refill(tokens).interval(quota.period()).build())
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.try_acquire(1)
    }

    /// It refills all of a period's tokens at the end of each period.
    fn bound(quota: Quota, elapsed: Duration) -> u64 {
        quota.burst() + quota.tokens() * (windows(quota, elapsed + elapsed / CLOCK_SLACK) + 2)
    }

    fn due(quota: Quota, elapsed: Duration) -> u64 {
        quota.burst() + quota.tokens() * windows(quota, elapsed)
    }
}
