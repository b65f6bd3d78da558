//! `sharded`: a token bucket whose threads spend from words of their own.

use crate::engine::{Engine, Kind, Shared, version};
use tollgate::{Quota, ShardedTokenBucket};

/// The sharded token bucket, with as many shards as it chooses.
#[derive(Debug)]
pub struct Sharded(ShardedTokenBucket);

impl Engine for Sharded {
    const NAME: &'static str = "sharded";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        Self(ShardedTokenBucket::new(quota))
    }

    fn caller(&self) -> &Self {
        self
    }

    /// An eighth of the burst may lie where a call does not find it.
    fn supply(quota: Quota) -> u64 {
        quota.burst() / 8 * 7
    }
}

impl Shared for Sharded {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().is_ok()
    }
}
