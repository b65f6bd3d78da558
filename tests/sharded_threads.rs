//! Which shard a thread gets. Alone in its program, for other tests' threads would take shards too.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread;
use tollgate::{Clock, Nanos, Quota, ShardedTokenBucket};

/// A clock that stands still and counts its readings: whoever finds credits in its shard takes none.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicU64>);

impl Clock for Counting {
    fn now(&self) -> Nanos {
        self.0.fetch_add(1, Relaxed);
        Nanos(0)
    }
}

#[test]
fn threads_share_a_shard_only_when_more_are_alive_than_there_are_shards() {
    let clock = Counting::default();
    let quota = Quota::per_second(1_000_000);
    let readings = || clock.0.swap(0, Relaxed);
    let bucket = Arc::new(ShardedTokenBucket::with_shards_and_clock(quota, 16, clock.clone()));
    let call = |bucket: &ShardedTokenBucket<Counting>| assert!(bucket.try_acquire().is_ok());

    // This thread's shard is filled once.
    call(&bucket);
    assert_ne!(readings(), 0);
    call(&bucket);
    assert_eq!(readings(), 0);

    // Threads that come and go all get the lowest number that is free: the first of them fills its shard for all.
    for turn in 0..100 {
        let bucket = Arc::clone(&bucket);
        thread::spawn(move || call(&bucket)).join().unwrap();
        assert_eq!(readings() == 0, turn > 0, "thread {turn}");
    }

    // So the sixteen that are alive now have a shard each: fourteen new ones fill theirs.
    let barrier = Arc::new(Barrier::new(15));
    let living: Vec<_> = (0..15)
        .map(|_| {
            let (bucket, barrier) = (Arc::clone(&bucket), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                call(&bucket);
                barrier.wait(); // nobody ends before all have called
            })
        })
        .collect();
    for thread in living {
        thread.join().unwrap();
    }
    assert_eq!(readings(), 2 * 14); // a look at the centre and a refill
}
