//! Waiting on smol's executor, with the timers of async-io, in real time. As on tokio's threads, only what strictness
//! promises is asserted about time.

use smol::future::FutureExt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate::{AsyncIoClock, Clock, Quota, WaitingTokenBucket};

const HOUR: Duration = Duration::from_hours(1);

fn on_two_threads<T>(future: impl Future<Output = T>, executor: &smol::Executor<'_>) -> T {
    let (stop, stopped) = smol::channel::unbounded::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| smol::block_on(executor.run(stopped.recv())));
        let output = smol::block_on(executor.run(future));
        drop(stop);
        output
    })
}

#[test]
fn tokens_take_as_long_as_they_must_and_nobody_is_early() {
    const TOKENS: u64 = 1_000;
    const BURST: u64 = 10;
    let quota = Quota::per_second(10_000).with_burst(BURST);
    let bucket = Arc::new(WaitingTokenBucket::with_clock(quota, HOUR, AsyncIoClock));
    let executor = smol::Executor::new();
    let start = Instant::now();
    let tasks: Vec<_> = (0..TOKENS)
        .map(|_| {
            let bucket = bucket.clone();
            executor.spawn(async move {
                let place = bucket.reserve(1).unwrap();
                let due = place.due();
                place.await;
                assert!(AsyncIoClock.now() >= due);
            })
        })
        .collect();
    on_two_threads(
        async {
            for task in tasks {
                task.await;
            }
        },
        &executor,
    );
    assert!(start.elapsed() >= Duration::from_micros((TOKENS - BURST) * 100));
}

#[test]
fn who_gives_up_gives_back_and_all_end() {
    const WAITERS: u64 = 2_000;
    const BURST: u64 = 100;
    let quota = Quota::per_second(10_000).with_burst(BURST);
    let bucket = Arc::new(WaitingTokenBucket::with_clock(quota, HOUR, AsyncIoClock));
    let executor = smol::Executor::new();
    let mut random = fastrand::Rng::with_seed(3);
    let start = Instant::now();
    let tasks: Vec<_> = (0..WAITERS)
        .map(|number| {
            let bucket = bucket.clone();
            let patience = if number % 2 == 0 { HOUR } else { Duration::from_micros(random.u64(..200_000)) };
            executor.spawn(async move {
                let wait = async { Some(bucket.acquire(1).await) };
                let gives_up = async {
                    smol::Timer::after(patience).await;
                    None
                };
                let outcome = wait.or(gives_up).await;
                assert!(outcome.is_some() || number % 2 == 1, "an hour is enough");
                u64::from(outcome.transpose().unwrap().is_some())
            })
        })
        .collect();
    let admitted = on_two_threads(
        async {
            let mut admitted = 0;
            for task in tasks {
                admitted += task.await;
            }
            admitted
        },
        &executor,
    );
    assert!((WAITERS / 2..=WAITERS).contains(&admitted));
    assert!(start.elapsed() >= Duration::from_micros((admitted - BURST) * 100));
}
