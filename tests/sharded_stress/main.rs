//! The sharded limiter under real threads that get stuck in the middle of a refill.
//!
//! Every call is recorded with a reading of the clock before it and one after it, and the fullest window of the run is
//! found exactly: the bound is kept. Other tests show that it is reached, and that no token is lost in the long run.

mod clock;
mod window;

use clock::Stalling;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use std::sync::Arc;
use std::thread;
use tollgate::{Clock, ManualClock, MonotonicClock, Quota, ShardedTokenBucket};
use window::{Admission, worst_window};

type Bucket<C> = ShardedTokenBucket<Arc<Stalling<C>>>;

/// Makes calls of all kinds until `stop`; returns what was admitted.
fn hammer<C: Clock>(bucket: &Bucket<C>, clock: &C, seed: u64, stop: &AtomicBool) -> Vec<Admission> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut admitted = Vec::new();
    let mut handle = None;
    while !stop.load(Relaxed) {
        let n = random.u64(1..=3);
        let from = clock.now();
        let (from, cost) = match random.u64(..20) {
            0 => (from, bucket.try_acquire_up_to(n)),
            1 if bucket.try_acquire_n_at(n, from).is_ok() => {
                admitted.push(Admission { from, to: from, cost: n }); // counts at the reading
                continue;
            }
            2 => {
                handle = if handle.is_some() { None } else { Some(bucket.handle()) };
                continue;
            }
            3..8 if bucket.try_acquire_n(n).is_ok() => (from, n),
            8..14 if bucket.try_acquire().is_ok() => (from, 1),
            14.. if handle.as_ref().is_some_and(|handle| handle.try_acquire().is_ok()) => (from, 1),
            _ => (from, 0),
        };
        if cost > 0 {
            admitted.push(Admission { from, to: clock.now(), cost });
        } else {
            thread::yield_now();
        }
    }
    admitted
}

/// Lets `threads` hammer a bucket of four shards while `run` keeps the time; checks every window.
fn keeps_the_bound<C: Clock + Clone + Send + Sync>(
    clock: &C,
    quota: Quota,
    threads: u64,
    long: Duration,
    run: impl FnOnce(),
) {
    let stalling = Stalling { clock: clock.clone(), one_in: 20, long, stalls: AtomicU64::new(0) };
    let stalling = Arc::new(stalling);
    let bucket = ShardedTokenBucket::with_sizes(quota, 4, 4, 2, Arc::clone(&stalling));
    let stop = AtomicBool::new(false);
    let admitted = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|seed| {
                scope.spawn({
                    let (bucket, stop) = (&bucket, &stop);
                    move || hammer(bucket, clock, seed, stop)
                })
            })
            .collect();
        run();
        stop.store(true, Relaxed);
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let worst = worst_window(&admitted, quota);
    let stalls = stalling.stalls.load(Relaxed);
    println!("{} admissions, {stalls} stalls, worst window {worst} over", admitted.len());
    assert!(admitted.len() > 1_000 && stalls > 100, "{} admissions, {stalls} stalls prove nothing", admitted.len());
    assert!(worst <= 0, "{worst} over the bound");
}

#[test]
fn no_window_is_over_the_bound_while_refillers_are_stuck() {
    // A token each microsecond; a full bucket in 30 of them.
    let quota = Quota::per(1, Duration::from_micros(1)).with_burst(30);
    let clock = ManualClock::new();
    keeps_the_bound(&clock, quota, 64, Duration::from_micros(60), || {
        for _ in 0..2_000 {
            clock.advance(Duration::from_micros(3));
            thread::yield_now();
        }
    });
}

#[test]
fn no_window_is_over_the_bound_in_real_time() {
    let quota = Quota::per(1, Duration::from_micros(10)).with_burst(30);
    keeps_the_bound(&MonotonicClock, quota, 64, Duration::from_micros(600), || {
        thread::sleep(Duration::from_millis(300));
    });
}
