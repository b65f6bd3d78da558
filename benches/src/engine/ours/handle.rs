//! `handle`: a sharded token bucket whose threads each hold tokens in plain memory.

use crate::engine::{Caller, Engine, Kind, version};
use tollgate::{Handle as OwnShare, Quota, ShardedTokenBucket};

/// The sharded token bucket, from which each thread takes a handle.
#[derive(Debug)]
pub struct Handle(ShardedTokenBucket);

impl Engine for Handle {
    const NAME: &'static str = "handle";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;
    type Caller<'a> = OwnShare<'a>;

    fn build(quota: Quota) -> Self {
        Self(ShardedTokenBucket::new(quota))
    }

    fn caller(&self) -> OwnShare<'_> {
        self.0.handle()
    }

    /// An eighth of the burst may lie where a call does not find it.
    fn supply(quota: Quota) -> u64 {
        quota.burst() / 8 * 7
    }
}

impl Caller for OwnShare<'_> {
    #[inline]
    fn try_acquire(&mut self) -> bool {
        Self::try_acquire(self).is_ok()
    }
}
