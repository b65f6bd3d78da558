//! Ticks at an even pace.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tollgate::{ManualClock, Nanos, Pacer, Quota, Tick, Ticks};

fn poll(ticks: std::pin::Pin<&mut Ticks<ManualClock>>) -> Poll<Option<Tick>> {
    ticks.poll_tick(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn ticks_are_exact_multiples_and_do_not_drift() {
    let clock = ManualClock::starting_at(Nanos(12_345));
    let mut ticks = pin!(Pacer::with_clock(Quota::per_second(3), clock.clone()).ticks());
    for number in 0..30_000_u64 {
        let due = Nanos(12_345 + (number * 1_000_000_000).div_ceil(3));
        if number > 0 {
            clock.set(Nanos(due.0 - 1));
            assert_eq!(poll(ticks.as_mut()), Poll::Pending, "tick {number}");
            assert_eq!(clock.next_alarm(), Some(due));
        }
        clock.set(due);
        assert_eq!(poll(ticks.as_mut()), Poll::Ready(Some(Tick { due, skipped: 0 })));
    }
}

/// Hands out what is due at `millis`, in milliseconds and with how many were skipped.
fn due_at(millis: u64, clock: &ManualClock, mut ticks: std::pin::Pin<&mut Ticks<ManualClock>>) -> Vec<(u64, u64)> {
    clock.set(Nanos::from_millis(millis));
    std::iter::from_fn(|| match poll(ticks.as_mut()) {
        Poll::Ready(tick) => tick.map(|tick| (tick.due.as_nanos() / 1_000_000, tick.skipped)),
        Poll::Pending => None,
    })
    .collect()
}

#[test]
fn a_consumer_that_is_late_skips_all_but_the_slack() {
    /// In milliseconds, and with how many were skipped.
    type Due = &'static [(u64, u64)];
    let clock = ManualClock::new();
    let quota = Quota::per(1, Duration::from_millis(100)); // its burst means nothing
    let mut strict = pin!(Pacer::with_clock(quota, clock.clone()).ticks());
    let mut slack = pin!(Pacer::with_clock(quota, clock.clone()).with_slack(2).ticks());
    let expected: [(u64, Due, Due); 6] = [
        (0, &[(0, 0)], &[(0, 0)]),
        (99, &[], &[]),
        (199, &[(100, 0)], &[(100, 0)]), // late, and none is missed
        (200, &[(200, 0)], &[(200, 0)]),
        (650, &[(600, 3)], &[(400, 1), (500, 0), (600, 0)]),
        (700, &[(700, 0)], &[(700, 0)]), // the pace is what it was
    ];
    for (millis, without, with) in expected {
        assert_eq!(due_at(millis, &clock, strict.as_mut()), without, "at {millis} ms");
        assert_eq!(due_at(millis, &clock, slack.as_mut()), with, "at {millis} ms, with slack");
    }
}

#[test]
fn the_first_tick_is_due_when_it_is_asked_for() {
    let clock = ManualClock::new();
    let mut ticks = pin!(Pacer::with_clock(Quota::per_second(1), clock.clone()).ticks());
    clock.advance(Duration::from_millis(2_500));
    assert_eq!(poll(ticks.as_mut()), Poll::Ready(Some(Tick { due: Nanos::from_millis(2_500), skipped: 0 })));
    assert_eq!(poll(ticks.as_mut()), Poll::Pending);
    assert_eq!(clock.next_alarm(), Some(Nanos::from_millis(3_500)));
}

#[test]
fn a_wait_that_is_dropped_loses_no_tick() {
    let clock = ManualClock::new();
    let mut ticks = pin!(Pacer::with_clock(Quota::per_second(1), clock.clone()).ticks());
    assert!(poll(ticks.as_mut()).is_ready());
    {
        let mut wait = pin!(ticks.as_mut().tick());
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    clock.advance(Duration::from_secs(1));
    assert_eq!(poll(ticks), Poll::Ready(Some(Tick { due: Nanos::from_secs(1), skipped: 0 })));
}

#[test]
fn without_a_limit_ticks_are_always_due_and_of_no_tokens_there_are_none() {
    let clock = ManualClock::starting_at(Nanos::from_secs(7));
    assert_eq!(Pacer::with_clock(Quota::UNLIMITED, clock.clone()).take(1_000).count(), 1_000);
    assert_eq!(Pacer::with_clock(Quota::DENY_ALL, clock).next(), None);
}

/// No tick before its time, however the machine is loaded.
#[test]
fn the_iterator_blocks() {
    let start = Instant::now();
    assert_eq!(Pacer::new(Quota::per_second(1_000)).take(21).count(), 21);
    assert!(start.elapsed() >= Duration::from_millis(20));
}

#[tokio::test(start_paused = true)]
async fn as_a_stream_it_follows_tokios_time() {
    let start = tokio::time::Instant::now();
    let mut ticks = pin!(Pacer::with_clock(Quota::per_second(10), tollgate::TokioClock).ticks());
    for number in 0..50 {
        let next = std::future::poll_fn(|context| futures_core::Stream::poll_next(ticks.as_mut(), context)).await;
        assert_eq!(next.map(|tick| tick.skipped), Some(0));
        assert_eq!(start.elapsed(), Duration::from_millis(100) * number);
    }
}
