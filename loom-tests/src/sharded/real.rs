//! [`Real`]: the library's limiter under the same models.

use super::{Admission, Call, Limiter, Sum, Truth, World, real, slower};
use crate::sync::{Arc, AtomicU64, Ordering};
use core::cell::Cell;
use tollgate::{Clock, Handle, Moment, Nanos, Quota, ShardedTokenBucket};

#[cfg(loom)]
loom::thread_local! {
    static BEHIND: Cell<u64> = Cell::new(0);
}

#[cfg(not(loom))]
std::thread_local! {
    static BEHIND: Cell<u64> = const { Cell::new(0) };
}

/// [`ShardedTokenBucket`] in a small world.
#[derive(Debug)]
pub struct Real {
    bucket: ShardedTokenBucket<Time>,
    time: Time,
    world: World,
}

/// A clock whose readings are as old as the thread's clock is behind: a load might be older.
#[derive(Clone, Debug)]
struct Time(Arc<(AtomicU64, Truth)>);

impl Time {
    fn tick(&self, by: u64) {
        self.0.0.fetch_add(by, Ordering::Relaxed);
        self.0.1.tick(by);
    }

    fn truth(&self) -> Nanos {
        self.0.1.now()
    }
}

impl Clock for Time {
    fn now(&self) -> Nanos {
        real(Nanos(self.0.0.fetch_add(0, Ordering::Relaxed).saturating_sub(BEHIND.with(Cell::get))))
    }
}

impl Real {
    /// A full bucket in `world`.
    pub fn new(world: World) -> Self {
        let time = Time(Arc::new((AtomicU64::new(0), Truth::default())));
        Self { bucket: Self::bucket(world, time.clone()), time, world }
    }

    fn bucket(world: World, time: Time) -> ShardedTokenBucket<Time> {
        let World { shards, handles, batch, .. } = world;
        ShardedTokenBucket::with_sizes(slower(world.quota(1)), shards, handles, batch, time)
    }

    fn acquire(&self, handle: Option<&Handle<'_, Time>>, n: u64) -> bool {
        match handle {
            Some(handle) => handle.try_acquire_n(n).is_ok(),
            None => self.bucket.try_acquire_n(n).is_ok(),
        }
    }
}

impl Limiter for Real {
    fn perform(&self, shard: usize, calls: &[Call]) -> Vec<Admission> {
        #[cfg(loom)]
        tollgate::loom_support::set_shard(shard);
        let _ = shard; // real threads get theirs in turn
        BEHIND.with(|behind| behind.set(0));
        let mut handle = None;
        let mut admitted = Vec::new();
        for &call in calls {
            let from = self.time.truth();
            let cost = match call {
                Call::Acquire(n) if self.acquire(handle.as_ref(), n) => n,
                Call::UpTo(n) => self.bucket.try_acquire_up_to(n),
                Call::AcquireAt(n) if self.bucket.try_acquire_n_at(n, self.time.now()).is_ok() => n,
                _ => 0,
            };
            match call {
                Call::Acquire(_) | Call::AcquireAt(_) | Call::UpTo(_) => {
                    let to = self.time.truth();
                    admitted.push(Admission { from, to, cost });
                }
                Call::Refund => self.bucket.refund(1),
                Call::Claim => handle = Some(self.bucket.handle()),
                Call::Release => handle = None,
                Call::Tick(by) => self.time.tick(by),
                Call::FallBehind => BEHIND.with(|behind| behind.set(self.world.skew)),
            }
        }
        admitted
    }

    fn available(&self) -> u64 {
        BEHIND.with(|behind| behind.set(0));
        self.bucket.available()
    }

    fn told(&self, shard: usize, sum: Sum) -> [u64; 2] {
        #[cfg(loom)]
        tollgate::loom_support::set_shard(shard);
        let _ = shard;
        BEHIND.with(|behind| behind.set(0));
        match sum {
            Sum::Available => [0, self.bucket.available()],
            Sum::Status(n) => {
                let (decision, status) = self.bucket.try_acquire_n_with_status(n);
                [if decision.is_ok() { n } else { 0 }, status.remaining]
            }
            Sum::Snapshot => {
                let now = Moment::new(self.time.now(), Nanos(0));
                let restored = Self::bucket(self.world, self.time.clone());
                restored.restore_at(&self.bucket.snapshot_at(now), now).expect("it was saved by such a bucket");
                [0, restored.available()]
            }
        }
    }

    fn bound(&self) -> Quota {
        self.world.bound(1)
    }
}
