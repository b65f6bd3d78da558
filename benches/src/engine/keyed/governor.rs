//! `governor`, keyed: its default store, a `DashMap`.

use super::Keyed;
use crate::engine::peer::governor::governor_quota;
use crate::engine::{Kind, version};
use ::governor::{DefaultKeyedRateLimiter, RateLimiter};
use tollgate::Quota;

/// A keyed limiter of `governor`, with its default store, hasher and clock.
#[derive(Debug)]
pub struct Governor(DefaultKeyedRateLimiter<u64>);

impl Keyed for Governor {
    const NAME: &'static str = "governor";
    const VERSION: &'static str = version::GOVERNOR;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Peer;

    fn build(quota: Quota, _: u64) -> Self {
        Self(RateLimiter::keyed(governor_quota(quota)))
    }

    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.check_key(&key).is_ok()
    }
}
