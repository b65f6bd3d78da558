//! Waiting for limiters in which there are no places.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tollgate::{
    Clock, Denied, FixedWindow, ManualClock, Nanos, PackedTokenBucket, Quota, RateLimit, Retrying, ShardedTokenBucket,
    SlidingWindowCounter, SlidingWindowLog, TokioClock,
};
use tollgate_runtimes::Tasks;

const MINUTE: Duration = Duration::from_mins(1);

/// On every kind, those who wait are all served, within what the limiter admits, and nobody before the limiter would.
#[test]
fn everybody_is_served_by_every_limiter() {
    let quota = Quota::per(5, Duration::from_millis(50)).with_burst(5);
    let clock = ManualClock::new();
    let limiters: [Box<dyn RateLimit>; 5] = [
        Box::new(FixedWindow::with_clock(quota, clock.clone())),
        Box::new(SlidingWindowCounter::with_clock(quota, clock.clone())),
        Box::new(SlidingWindowLog::with_clock(quota, clock.clone())),
        Box::new(PackedTokenBucket::with_clock(quota, clock.clone())),
        Box::new(ShardedTokenBucket::with_clock(quota, clock.clone())),
    ];
    for (kind, limiter) in limiters.into_iter().enumerate() {
        let retrying = Retrying::with_clock(limiter, clock.clone());
        let (served, mut tasks) = (Cell::new(0), Tasks::new());
        let start = clock.now();
        for _ in 0..100 {
            tasks.start(async {
                retrying.acquire(1).await.unwrap();
                served.set(served.get() + 1);
            });
        }
        tasks.run_to_the_end(&clock);
        assert_eq!((served.get(), tasks.left()), (100, 0), "limiter {kind}");
        // At most ten in any 50 ms, whatever the kind.
        assert!(clock.now().saturating_since(start) >= Duration::from_millis(450), "limiter {kind}");
    }
}

#[test]
fn the_first_try_again_is_at_the_hint_or_a_token_later_and_they_spread() {
    let clock = ManualClock::new();
    let window = FixedWindow::with_clock(Quota::per(10, Duration::from_secs(1)), clock.clone());
    assert!(window.try_acquire_n(10).is_ok());
    let retrying = Retrying::with_clock(window, clock.clone());
    let mut tasks = Tasks::new();
    for _ in 0..50 {
        tasks.start(async { retrying.acquire(1).await.unwrap() });
    }
    tasks.run();
    let mut instants = Vec::new();
    while let Some(due) = clock.next_alarm().filter(|due| *due <= Nanos::from_millis(1_100)) {
        instants.push(due);
        clock.set(due);
        // Not run: so that none sleeps again.
    }
    assert!(instants.iter().all(|due| *due >= Nanos::from_secs(1)));
    assert!(instants.len() > 40, "fifty that were refused together come back at {} instants", instants.len());
}

#[test]
fn what_cannot_be_in_time_fails_without_a_sleep() {
    let clock = ManualClock::new();
    let window = FixedWindow::with_clock(Quota::per(1, MINUTE), clock.clone());
    assert!(window.try_acquire().is_ok());
    let retrying = Retrying::with_clock(&window, clock.clone());
    let outcomes = RefCell::new(Vec::new());
    let mut tasks = Tasks::new();
    tasks.start(async {
        let late = retrying.acquire_within(1, Duration::from_secs(59)).await;
        outcomes.borrow_mut().push(matches!(late, Err(Denied::WouldExceedDeadline(_))));
        let late = retrying.acquire_by(1, Nanos::from_secs(59)).await;
        outcomes.borrow_mut().push(matches!(late, Err(Denied::WouldExceedDeadline(_))));
        let never = retrying.acquire(2).await;
        outcomes.borrow_mut().push(matches!(never, Err(Denied::ExceedsBurst { .. })));
    });
    tasks.run();
    assert_eq!((tasks.left(), clock.next_alarm()), (0, None));
    assert_eq!(*outcomes.borrow(), [true; 3]);
    let late = retrying.acquire_blocking_timeout(1, Duration::from_secs(59));
    assert!(matches!(late, Err(Denied::WouldExceedDeadline(_))));
}

#[test]
fn a_thread_blocks_until_it_is_admitted() {
    let retrying = Retrying::new(SlidingWindowLog::new(Quota::per(5, Duration::from_millis(10))));
    let start = Instant::now();
    for _ in 0..15 {
        retrying.acquire_blocking(1).unwrap();
    }
    assert!(start.elapsed() >= Duration::from_millis(20));
}

#[tokio::test(start_paused = true)]
async fn on_tokios_paused_time_nobody_spins() {
    let window = FixedWindow::with_clock(Quota::per(10, Duration::from_secs(1)), TokioClock);
    let retrying = std::sync::Arc::new(Retrying::with_clock(window, TokioClock));
    let mut tasks = JoinSet::new();
    let start = tokio::time::Instant::now();
    for _ in 0..100 {
        let retrying = retrying.clone();
        tasks.spawn(async move { retrying.acquire(1).await.unwrap() });
    }
    tasks.join_all().await;
    assert!(start.elapsed() >= Duration::from_secs(8), "ten windows, of which the first and the last are parts");
}
