//! Waiting on tokio's threads, in real time. What is asserted about time is what strictness promises, which no load on the
//! machine can break: so many tokens take at least so long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tollgate::{Clock, Denied, Quota, TokioClock, WaitingTokenBucket};

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tokens_take_as_long_as_they_must_and_nobody_is_early() {
    const TOKENS: u64 = 2_000;
    const BURST: u64 = 10;
    let quota = Quota::per_second(10_000).with_burst(BURST);
    let bucket = Arc::new(WaitingTokenBucket::with_clock(quota, HOUR, TokioClock));
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..TOKENS {
        let bucket = bucket.clone();
        tasks.spawn(async move {
            let place = bucket.reserve(1).unwrap();
            let due = place.due();
            place.await;
            assert!(TokioClock.now() >= due);
        });
    }
    tasks.join_all().await;
    assert!(start.elapsed() >= Duration::from_micros((TOKENS - BURST) * 100));
}

/// Ten thousand tasks on four threads, half of which give up at random, some while others are being served. All end, and
/// all that was given back and is still in the bucket is there for one who asks.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_wait_and_half_of_them_give_up() {
    const WAITERS: u64 = 10_000;
    const BURST: u64 = 100;
    let quota = Quota::per_second(20_000).with_burst(BURST);
    let bucket = Arc::new(WaitingTokenBucket::with_clock(quota, HOUR, TokioClock));
    let admitted = Arc::new(AtomicU64::new(0));
    let mut random = fastrand::Rng::with_seed(7);
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..WAITERS {
        let (bucket, admitted) = (bucket.clone(), admitted.clone());
        let patience = if number % 2 == 0 { HOUR } else { Duration::from_micros(random.u64(..500_000)) };
        tasks.spawn(async move {
            match timeout(patience, bucket.acquire(1)).await {
                Ok(outcome) => {
                    outcome.unwrap();
                    admitted.fetch_add(1, Ordering::Relaxed);
                }
                Err(_) => assert!(number % 2 == 1, "an hour is enough"),
            }
        });
    }
    tasks.join_all().await;
    let admitted = admitted.load(Ordering::Relaxed);
    assert!((WAITERS / 2..=WAITERS).contains(&admitted));
    assert!(start.elapsed() >= Duration::from_micros((admitted - BURST) * 50));
    // Nothing stays taken: as long as its burst takes after the last in line, the bucket is full.
    tokio::time::sleep(bucket.status().reset_after).await;
    assert_eq!(bucket.available(), BURST);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_in_time_does_not_sleep() {
    let bucket = WaitingTokenBucket::with_clock(Quota::per(1, HOUR), HOUR, TokioClock);
    assert!(bucket.try_acquire().is_ok());
    // A wait would end the test only after the better part of an hour.
    let outcome = bucket.acquire_within(1, Duration::from_mins(59)).await;
    assert!(matches!(outcome, Err(Denied::WouldExceedDeadline(_))));
}
