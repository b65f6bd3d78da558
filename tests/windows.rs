//! Bursts and windows: faults that users of other limiters have reported, each restated as a kind, and the bound of each
//! algorithm over all windows of a recorded run.

use core::time::Duration;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tollgate::{Clock, IntervalBucket, ManualClock, Nanos, Quota};
use tollgate_testing::subject::{Kind, Pair};
use tollgate_testing::trace::Admission;

const SECOND: Duration = Duration::from_secs(1);

/// Checks a run against the bound that the algorithm documents, over all its windows.
#[track_caller]
fn check(kind: Kind, quota: Quota, run: &[Admission]) {
    let breach = kind.first_breach(quota, run);
    assert!(breach.is_none(), "{kind:?} {quota:?}: {}", breach.unwrap());
}

/// Arrivals that push: steps of time in 16ths of a period, and costs in eighths of the limit, at least 1.
fn arrivals() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((prop_oneof![3 => Just(0), 2 => 1..4_u8, 1 => 4..40_u8], 0..6_u8), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn every_window_of_a_run_keeps_the_documented_bound(
        limit in 1_u64..60, period in prop_oneof![1_000_u64..2_000, Just(1_000_000_000)], burst in 1_u64..60,
        arrivals in arrivals(),
    ) {
        let quota = Quota::try_new(limit, Duration::from_nanos(period), burst).unwrap();
        for kind in Kind::ALL {
            let limiter = kind.limiter(quota, &ManualClock::new()).unwrap();
            let (mut run, mut now) = (Vec::new(), 0);
            for &(step, cost) in &arrivals {
                now += period * u64::from(step) / 16;
                let cost = (kind.capacity(quota) * u64::from(cost) / 8).max(1);
                if limiter.try_acquire_n_at(cost, Nanos(now)).is_ok() {
                    run.push(Admission::new(cost, Nanos(now)));
                }
            }
            check(kind, quota, &run);
        }
    }

    /// Threads that sample the clock and commit in any order: buckets and the log are strict on what was sampled.
    #[test]
    fn every_window_of_readings_keeps_the_bound_whatever_order_they_come_in(
        limit in 1_u64..60, period in prop_oneof![1_000_u64..2_000, Just(1_000_000_000)], burst in 1_u64..60,
        arrivals in prop::collection::vec((0_u64..200, 0_u64..6), 1..300),
    ) {
        let quota = Quota::try_new(limit, Duration::from_nanos(period), burst).unwrap();
        for kind in [Kind::TokenBucket, Kind::PackedTokenBucket, Kind::SlidingWindowLog] {
            let limiter = kind.limiter(quota, &ManualClock::new()).unwrap();
            let mut run = Vec::new();
            for &(at, cost) in &arrivals {
                let (at, cost) = (Nanos(period * at / 16), (kind.capacity(quota) * cost / 8).max(1));
                if limiter.try_acquire_n_at(cost, at).is_ok() {
                    run.push(Admission::new(cost, at));
                }
            }
            check(kind, quota, &run);
        }
    }
}

/// Limits and periods for the reports about boundaries.
fn boundaries() -> [Quota; 3] {
    [Quota::per_second(100), Quota::per_minute(100), Quota::per(7, Duration::from_micros(100))]
}

/// What passes of `limit` arrivals on the last nanosecond of a window and `limit` more so much later, one by one.
fn around_a_boundary(kind: Kind, quota: Quota, later: Duration) -> u64 {
    let mut pair = Pair::new(kind, quota).unwrap();
    pair.set(Nanos(5 * Nanos::from(quota.period()).0 - 1));
    let mut run = Vec::new();
    for turn in 0..2 * quota.tokens() {
        if turn == quota.tokens() {
            pair.advance(later);
        }
        if pair.acquire(1).is_ok() {
            run.push(Admission::new(1, pair.now()));
        }
    }
    check(kind, quota, &run);
    run.len() as u64
}

#[test]
fn twice_the_limit_passes_around_the_boundary_of_a_fixed_window() {
    for quota in boundaries() {
        let passed = around_a_boundary(Kind::FixedWindow, quota, Duration::from_nanos(1));
        assert_eq!(passed, 2 * quota.tokens());
    }
}

#[test]
fn the_limit_passes_around_the_boundary_of_a_log_and_no_span_holds_more() {
    for quota in boundaries() {
        let nearly = quota.period().saturating_sub(Duration::from_nanos(1));
        for later in [Duration::ZERO, Duration::from_nanos(1), quota.period() / 2, nearly] {
            assert_eq!(around_a_boundary(Kind::SlidingWindowLog, quota, later), quota.tokens(), "{later:?}");
        }
        let passed = around_a_boundary(Kind::SlidingWindowLog, quota, quota.period());
        assert_eq!(passed, 2 * quota.tokens(), "a whole period later the first ones are gone");
    }
}

#[test]
fn one_percent_into_the_next_window_the_sliding_counter_lets_one_percent_through() {
    for quota in boundaries() {
        for percent in [0, 1, 2, 50, 99] {
            let into = quota.period() * percent / 100 + Duration::from_nanos(1);
            let passed = around_a_boundary(Kind::SlidingWindowCounter, quota, into);
            assert_eq!(passed, quota.tokens() + quota.tokens() * u64::from(percent) / 100, "{quota:?} at {percent} %");
        }
    }
    let at_one_percent = Duration::from_nanos(10_000_001);
    assert_eq!(around_a_boundary(Kind::SlidingWindowCounter, Quota::per_second(100), at_one_percent), 101);
}

#[test]
fn a_log_admits_what_the_last_period_has_room_for() {
    // The same at 5 per 30 s, and at other speeds.
    for second in [SECOND, Duration::from_nanos(10), Duration::from_secs(3_600)] {
        for start in [0, 17, 1_000_000] {
            let mut pair = Pair::new(Kind::SlidingWindowLog, Quota::per(5, 30 * second)).unwrap();
            let arrivals = [(0, 1), (5, 2), (15, 2), (25, 1), (35, 1), (40, 3)];
            let admitted = arrivals.map(|(at, arrivals)| {
                pair.set(Nanos::from(second * (start + at)));
                (0..arrivals).filter(|_| pair.acquire(1).is_ok()).count()
            });
            assert_eq!(admitted, [1, 2, 2, 0, 1, 2], "{second:?} from {start}");
        }
    }
}

#[test]
fn a_sliding_counter_admits_when_enough_of_the_full_window_before_has_passed() {
    // The same at 5 per 30 s, and at other speeds.
    for second in [SECOND, Duration::from_nanos(10), Duration::from_secs(3_600)] {
        let quota = Quota::per(5, 30 * second);
        for filled_at in [0, 10, 29] {
            let mut pair = Pair::new(Kind::SlidingWindowCounter, quota).unwrap();
            let at = |seconds: u32| Nanos::from(second * seconds);
            pair.set(at(filled_at));
            assert!(pair.acquire(5).is_ok());
            for denied_at in [33, 35] {
                pair.set(at(denied_at));
                let denied = pair.acquire(1).unwrap_err();
                assert_eq!(at(denied_at).saturating_add(denied.retry_after().unwrap()), at(36));
            }
            pair.set(at(40));
            assert!(pair.acquire(1).is_ok());
            assert!(pair.acquire(1).is_err());
        }
        // The first instant that admits is the 36th second.
        let mut pair = Pair::new(Kind::SlidingWindowCounter, quota).unwrap();
        assert!(pair.acquire(5).is_ok());
        pair.set(Nanos::from(35 * second));
        let wait = pair.acquire(1).unwrap_err().retry_after().unwrap();
        pair.wait_for(1, wait);
        assert_eq!(pair.now(), Nanos::from(36 * second));
    }
}

#[test]
fn what_came_at_the_start_of_the_window_before_is_gone_from_a_log_and_not_from_a_counter() {
    for kind in [Kind::SlidingWindowCounter, Kind::SlidingWindowLog] {
        let mut pair = Pair::new(kind, Quota::per(5, 30 * SECOND)).unwrap();
        for fifth in 0..5 {
            pair.set(Nanos::from_millis(200 * fifth));
            assert!(pair.acquire(1).is_ok());
        }
        pair.set(Nanos::from_secs(33));
        // The counter takes 4.5 of the five to be within the last 30 s.
        assert_eq!(pair.acquire(1).is_ok(), kind == Kind::SlidingWindowLog);
    }
}

#[test]
fn an_interval_bucket_gives_what_is_left_until_the_next_tick() {
    for (capacity, tick, takes) in [
        (10, Duration::from_millis(200), vec![(4, 4), (4, 4), (4, 2), (4, 0), (1, 0)]),
        (3, Duration::from_micros(1), vec![(1, 1), (5, 2), (5, 0)]),
        (1_000, Duration::from_secs(60), vec![(999, 999), (u64::MAX, 1), (u64::MAX, 0)]),
    ] {
        let clock = ManualClock::new();
        let bucket = IntervalBucket::with_clock(Quota::per(capacity, tick), clock.clone());
        for _ in 0..5 {
            let start = clock.now();
            for &(wanted, given) in &takes {
                assert_eq!(bucket.try_acquire_up_to(wanted), given);
                clock.advance(tick / 10);
            }
            let next = start.saturating_add(tick);
            clock.set(Nanos(next.0 - 1));
            assert_eq!(bucket.try_acquire_up_to(1), 0, "a nanosecond before the tick");
            clock.set(next);
        }
    }
}
