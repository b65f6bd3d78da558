//! The sliding window log against an exact log, by worked examples, and on real threads.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use proptest::prelude::*;
use std::sync::Barrier;
use tollgate::{
    BuildError, Clock, Denied, FixedWindow, ManualClock, Nanos, Quota, RateLimit, SlidingWindowLog, Status,
};
use tollgate_testing::reference::{Model, SlidingWindowLog as Exact};
use tollgate_testing::trace::{Admission, first_overfull_span};

fn log(limit: u64, period: Duration) -> (SlidingWindowLog<ManualClock>, ManualClock) {
    let clock = ManualClock::new();
    (SlidingWindowLog::with_clock(Quota::per(limit, period), clock.clone()), clock)
}

/// What to do to both logs.
#[derive(Clone, Copy, Debug)]
enum Call {
    Take(u64),
    UpTo(u64),
    Look,
}

fn calls(limit: u64) -> impl Strategy<Value = Vec<(Call, i64)>> {
    let call = prop_oneof![
        4 => (0..limit + 2).prop_map(Call::Take),
        2 => (0..limit + 2).prop_map(Call::UpTo),
        1 => Just(Call::Look),
    ];
    // Mostly forward, now and then back, sometimes far ahead.
    let step = prop_oneof![6 => 0..8_i64, 1 => -12..0_i64, 1 => 20..60_i64];
    prop::collection::vec((call, step), 1..120)
}

/// How long after `now` the exact log has room for `n`, which is at most the limit.
fn wait(exact: &Exact, n: u64, now: Nanos) -> Duration {
    exact.earliest(n, now).expect("all is free in the end").saturating_since(now)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    /// Decisions, hints, partial takes and status are those of the exact log, whatever the clock does; and no span of a
    /// period holds more than the limit.
    #[test]
    fn it_is_the_exact_log((limit, calls) in (1..12_u64).prop_flat_map(|limit| (Just(limit), calls(limit)))) {
        const PERIOD: Duration = Duration::from_nanos(20);
        let (log, clock) = log(limit, PERIOD);
        let mut exact = Exact::new(log.quota());
        let (mut now, mut run) = (Nanos::ZERO, Vec::new());
        for (call, step) in calls {
            now = Nanos(now.0.saturating_add_signed(step));
            clock.set(now);
            let taken = match call {
                Call::Take(n) if n > limit => {
                    prop_assert_eq!(log.try_acquire_n(n), Err(Denied::ExceedsBurst { cost: n, max_cost: limit }));
                    0
                }
                Call::Take(n) => match log.try_acquire_n(n) {
                    Ok(()) => n,
                    Err(denied) => {
                        let wait = wait(&exact, n, now);
                        prop_assert!(wait > Duration::ZERO);
                        prop_assert_eq!(denied.retry_after(), Some(wait));
                        0
                    }
                },
                Call::UpTo(n) => {
                    let taken = log.try_acquire_up_to(n);
                    prop_assert_eq!(taken, n.min(exact.available(now)));
                    taken
                }
                Call::Look => 0,
            };
            prop_assert!(exact.charge(taken, now).is_zero());
            run.push(Admission::new(taken, now));
            let remaining = exact.available(now);
            let (retry_after, reset_after) = (Some(wait(&exact, 1, now)), wait(&exact, limit, now));
            prop_assert_eq!(log.status(), Status::new(limit, remaining, retry_after, reset_after));
            prop_assert_eq!(log.available(), remaining);
        }
        prop_assert!(first_overfull_span(&run, PERIOD, limit).is_none());
    }

    /// Whatever was forgiven is as if it had not been, where every call has a later reading; at any readings, what comes
    /// between two calls of `forgive` keeps the bound.
    #[test]
    fn what_is_forgiven_is_forgotten(
        limit in 1..9_u64,
        calls in prop::collection::vec((0..6_u64, -9..9_i64, prop::bool::weighted(0.1)), 1..200),
    ) {
        const PERIOD: Duration = Duration::from_nanos(20);
        let ([later, any], quota) = ([log(limit, PERIOD).0, log(limit, PERIOD).0], Quota::per(limit, PERIOD));
        let (mut exact, mut now) = (Exact::new(quota), Nanos::ZERO);
        let (mut run, mut reading) = (Vec::new(), 0_u64);
        for (n, step, forgive) in calls {
            if forgive {
                later.forgive();
                any.forgive();
                exact = Exact::new(quota);
                run.clear();
            }
            now = Nanos(now.0 + 1 + step.unsigned_abs());
            prop_assert_eq!(later.available_at(now), exact.available(now));
            prop_assert_eq!(later.try_acquire_n_at(n, now).is_ok(), exact.admit(n, now));
            let (retry_after, reset_after) = (Some(wait(&exact, 1, now)), wait(&exact, limit, now));
            prop_assert_eq!(later.status_at(now), Status::new(limit, exact.available(now), retry_after, reset_after));

            reading = reading.saturating_add_signed(step);
            run.push(Admission::new(any.try_acquire_up_to_at(n, Nanos(reading)), Nanos(reading)));
            prop_assert!(first_overfull_span(&run, PERIOD, limit).is_none());
        }
    }

    /// A denied call is denied until a nanosecond before its hint, and admitted at it.
    #[test]
    fn hints_are_exact(limit in 1..200_u64, costs in prop::collection::vec((1..40_u64, 0..9_000_u64), 1..60)) {
        let (log, clock) = log(limit, Duration::from_micros(10));
        for (cost, wait) in costs {
            clock.advance(Duration::from_nanos(wait));
            let cost = cost.min(limit);
            let Err(denied) = log.try_acquire_n(cost) else { continue };
            let after = denied.retry_after().unwrap();
            clock.advance(after.checked_sub(Duration::from_nanos(1)).unwrap());
            let early = log.try_acquire_n(cost).unwrap_err();
            prop_assert_eq!(early.retry_after(), Some(Duration::from_nanos(1)));
            clock.advance(Duration::from_nanos(1));
            prop_assert!(log.try_acquire_n(cost).is_ok());
        }
    }
}

/// A long recorded run, every span of it.
#[test]
fn no_span_of_a_long_run_holds_more_than_the_limit() {
    const PERIOD: Duration = Duration::from_micros(1);
    let (log, clock) = log(37, PERIOD);
    let (mut run, mut random) = (Vec::new(), fastrand::Rng::with_seed(1));
    for _ in 0..100_000 {
        let (step, cost) = (random.u64(..60), random.u64(1..=5));
        clock.advance(Duration::from_nanos(step));
        if log.try_acquire_n(cost).is_ok() {
            run.push(Admission::new(cost, clock.now()));
        }
    }
    assert!(first_overfull_span(&run, PERIOD, 37).is_none(), "not exceeded");
    assert!(first_overfull_span(&run, PERIOD, 36).is_some(), "but reached");
}

/// What gives a fixed window 200 gives the log 100.
#[test]
fn the_boundary_attack() {
    const SECOND: Duration = Duration::from_secs(1);
    let (log, clock) = log(100, SECOND);
    let fixed = FixedWindow::with_clock(Quota::per_second(100), clock.clone());
    let (mut by_log, mut by_fixed, mut run) = (0, 0, Vec::new());
    for millis in 990..1_010 {
        clock.set(Nanos::from_millis(millis));
        by_fixed += fixed.try_acquire_up_to(10);
        let taken = log.try_acquire_up_to(10);
        by_log += taken;
        run.push(Admission::new(taken, clock.now()));
    }
    assert_eq!((by_fixed, by_log), (200, 100));
    assert!(first_overfull_span(&run, SECOND, 100).is_none());
    assert!(first_overfull_span(&run, SECOND, 99).is_some());
    clock.set(Nanos(1_990_000_000 - 1));
    assert_eq!(log.available(), 0);
    clock.set(Nanos(1_990_000_000));
    assert_eq!(log.available(), 10, "the first ten are a second old");
}

/// Five per 30 s, arrivals as they come.
#[test]
fn the_worked_example() {
    let (log, clock) = log(5, Duration::from_secs(30));
    let admitted = [(0, 1), (5, 2), (15, 2), (25, 1), (35, 1), (40, 3)].map(|(second, arrivals)| {
        clock.set(Nanos::from_secs(second));
        (0..arrivals).filter(|_| log.try_acquire().is_ok()).count()
    });
    // At 35 s the unit of 0 s and both of 5 s are past: one of three places is taken. At 40 s two are left.
    assert_eq!(admitted, [1, 2, 2, 0, 1, 2]);
}

/// Five in the first second of a window; at 33 s they are past, whatever a counter would say.
#[test]
fn what_came_early_is_past_early() {
    let (log, clock) = log(5, Duration::from_secs(30));
    let counter = tollgate::SlidingWindowCounter::with_clock(Quota::per(5, Duration::from_secs(30)), clock.clone());
    for tenth in 0..5 {
        clock.set(Nanos::from_millis(tenth * 200));
        assert!(log.try_acquire().is_ok() && counter.try_acquire().is_ok());
    }
    clock.set(Nanos::from_secs(33));
    assert!(log.try_acquire().is_ok());
    assert!(counter.try_acquire().is_err());
}

/// The worked example of the tutorials on sliding logs: two per minute.
#[test]
fn the_tutorials_numbers_two_per_minute() {
    let (log, clock) = log(2, Duration::from_secs(60));
    let at = |second| {
        clock.set(Nanos::from_secs(second));
        log.try_acquire().is_ok()
    };
    // 1:00:01 and 1:00:30 pass; 1:00:50 is the third in a minute; at 1:01:40 both of the first are past.
    assert_eq!([1, 30, 50, 100].map(at), [true, true, false, true]);
}

#[test]
fn a_reading_older_than_the_newest_unit_adds_no_room() {
    let (log, _) = log(2, Duration::from_nanos(10));
    let take = |at| log.try_acquire_n_at(1, Nanos(at));
    assert!(take(0).is_ok() && take(0).is_ok() && take(10).is_ok());
    // Judged as if it were 10, this would be admitted: three on readings from 0 to 5.
    assert_eq!(take(5).unwrap_err().retry_after(), Some(Duration::from_nanos(5)));
    assert!(take(10).is_ok());
    // Admitted on an old reading, remembered as the newest.
    let (log, _) = self::log(2, Duration::from_nanos(10));
    assert!(log.try_acquire_n_at(1, Nanos(7)).is_ok() && log.try_acquire_n_at(1, Nanos(3)).is_ok());
    assert!(log.try_acquire_n_at(2, Nanos(16)).is_err());
    assert!(log.try_acquire_n_at(2, Nanos(17)).is_ok());
}

#[test]
fn costs_of_nothing_and_too_much() {
    let (log, _) = log(5, Duration::from_secs(1));
    for _ in 0..10 {
        assert!(log.try_acquire_n(0).is_ok());
    }
    assert_eq!(log.available(), 5);
    for cost in [6, 7, 15, u64::MAX] {
        let denied = log.try_acquire_n(cost).unwrap_err();
        assert_eq!(denied, Denied::ExceedsBurst { cost, max_cost: 5 });
        assert_eq!(denied.retry_after(), None);
    }
    assert_eq!(log.try_acquire_up_to(0), 0);
    assert!(log.try_acquire_n(5).is_ok());
    assert_eq!(log.try_acquire_up_to(u64::MAX), 0);
}

#[test]
fn no_limit_and_deny_all() {
    let free = SlidingWindowLog::with_clock(Quota::UNLIMITED, ManualClock::new());
    assert!(free.try_acquire_n(u64::MAX).is_ok() && free.try_acquire().is_ok());
    assert_eq!((free.available(), free.try_acquire_up_to(u64::MAX)), (u64::MAX, u64::MAX));
    assert_eq!((free.quota(), free.max_cost()), (Quota::UNLIMITED, u64::MAX));
    assert_eq!(free.status().retry_after, Some(Duration::ZERO));

    let shut = SlidingWindowLog::with_clock(Quota::DENY_ALL, ManualClock::new());
    assert_eq!(shut.try_acquire(), Err(Denied::ExceedsBurst { cost: 1, max_cost: 0 }));
    assert!(shut.try_acquire_n(0).is_ok());
    assert_eq!((shut.try_acquire_up_to(3), shut.status().retry_after), (0, None));
    assert_eq!(shut.quota(), Quota::DENY_ALL);
}

#[test]
fn what_does_not_fit_is_named() {
    let per = |n, period| SlidingWindowLog::try_with_clock(Quota::per(n, period), ManualClock::new());
    let error = per(1 << 33, Duration::from_secs(1_000)).unwrap_err();
    assert_eq!(error, BuildError::LogTooLong { largest: 1 << 32 });
    assert_eq!(error.to_string(), "the limit is too large for a log with a slot for each unit: at most 4294967296");
    let year = Duration::from_secs(31_557_600);
    assert!(per(1, 146 * year).is_ok(), "any quota's period will do");
}

#[test]
fn a_long_period_and_the_end_of_time() {
    let year = Duration::from_secs(31_557_600);
    let (log, clock) = log(2, 70 * year);
    clock.advance(5 * year);
    assert!(log.try_acquire().is_ok());
    clock.advance(10 * year);
    assert!(log.try_acquire().is_ok());
    assert_eq!(log.try_acquire().unwrap_err().retry_after(), Some(60 * year));
    clock.advance((60 * year).checked_sub(Duration::from_nanos(1)).unwrap());
    assert!(log.try_acquire().is_err());
    clock.set(Nanos::MAX);
    assert!(log.try_acquire_n(2).is_ok(), "146 years after its origin it has room again");
    let denied = log.try_acquire().unwrap_err();
    assert_eq!(denied.retry_after(), None, "time stands still at its end, after 146 years");
    let status = log.status();
    assert_eq!((status.remaining, status.retry_after, status.reset_after), (0, None, Duration::MAX));
}

#[test]
fn a_million_units() {
    let (log, clock) = log(1_000_000, Duration::from_secs(60));
    for second in 0..60 {
        clock.set(Nanos::from_secs(second));
        for _ in 0..10_000 {
            assert!(log.try_acquire().is_ok());
        }
    }
    assert!(log.try_acquire_n(400_000).is_ok());
    assert_eq!((log.available(), log.status().reset_after), (0, Duration::from_secs(60)));
    for second in 60..119 {
        clock.set(Nanos::from_secs(second));
        assert_eq!(log.available(), 10_000);
        assert_eq!(log.try_acquire_up_to(1_000_000), 10_000);
    }
    clock.set(Nanos::from_secs(119));
    assert_eq!(log.available(), 410_000);
    assert!(log.try_acquire_n(410_001).is_err() && log.try_acquire_n(410_000).is_ok());
}

#[test]
fn as_a_trait_object() {
    let log: Box<dyn RateLimit + Send + Sync> = Box::new(SlidingWindowLog::new(Quota::per_hour(2)));
    assert!(log.try_acquire().is_ok() && log.try_acquire_n(1).is_ok());
    assert!(log.try_acquire().is_err());
    assert_eq!((log.status().remaining, log.max_cost()), (0, 2));
    assert_eq!(format!("{:?}", SlidingWindowLog::new(log.quota())).find("SlidingWindowLog"), Some(0));
}

/// Threads that take singles, groups and parts in every period, on a clock that goes on when all have done so: exactly
/// the limit passes each time, and every span of the run keeps it.
#[test]
fn exact_counts_on_real_threads() {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = if cfg!(miri) { 3 } else { 3_000 };
    const LIMIT: u64 = 23;
    let (log, clock) = log(LIMIT, Duration::from_nanos(100));
    let (gate, passed) = (Barrier::new(usize::try_from(THREADS).unwrap()), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (log, clock, gate, passed) = (&log, &clock, &gate, &passed);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    gate.wait();
                    let mut taken = 0;
                    // More is wanted than there is, in costs of 1, 2, 3 and parts.
                    for call in 0..LIMIT {
                        let cost = 1 + (thread + call + round) % 3;
                        taken += match (thread + call) % 4 {
                            0 => log.try_acquire_up_to(cost),
                            _ => log.try_acquire_n(cost).map_or(0, |()| cost),
                        };
                    }
                    while log.try_acquire().is_ok() {
                        taken += 1;
                    }
                    passed.fetch_add(taken, Ordering::Relaxed);
                    if gate.wait().is_leader() {
                        assert_eq!(passed.swap(0, Ordering::Relaxed), LIMIT, "in round {round}");
                        assert_eq!(log.available(), 0);
                        clock.advance(Duration::from_nanos(100));
                        assert_eq!(log.available(), LIMIT);
                    }
                }
            });
        }
    });
}

/// Threads on readings of their own, some of them old, at limits so small that every admission is a lap: no span of the
/// readings holds more than the limit.
#[test]
fn no_span_of_a_concurrent_run_holds_more_than_the_limit() {
    const CALLS: u64 = if cfg!(miri) { 100 } else { 40_000 };
    const PERIOD: Duration = Duration::from_nanos(50);
    for limit in [1, 2, 3, 8] {
        let (log, _) = log(limit, PERIOD);
        let now = AtomicU64::new(0);
        let run: Vec<Admission> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let (log, now) = (&log, &now);
                    scope.spawn(move || {
                        let mut run = Vec::new();
                        for call in 0..CALLS {
                            let lag = if thread == 0 { call % 70 } else { 0 };
                            let at = now.fetch_add(call % 7, Ordering::Relaxed).saturating_sub(lag);
                            let cost = 1 + (call + thread) % limit.min(3);
                            if log.try_acquire_n_at(cost, Nanos(at)).is_ok() {
                                run.push(Admission::new(cost, Nanos(at)));
                            }
                        }
                        run
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let passed: u64 = run.iter().map(|admission| admission.cost).sum();
        assert!(passed >= CALLS * 4 / 50, "the clock went on, and calls passed");
        assert!(first_overfull_span(&run, PERIOD, limit).is_none(), "limit {limit}");
    }
}
