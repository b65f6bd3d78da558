//! Clocks that differ, go back, or never start.

use core::time::Duration;
use std::thread;
use tollgate::{
    Clock, CoarseClock, IntervalBucket, ManualClock, Monotone, Nanos, PackedTokenBucket, Quota, TokenBucket,
};
use tollgate_testing::subject::{Kind, Pair};
use tollgate_testing::trace::{Admission, first_overfull_span, worst_window};

#[test]
fn alternating_readings_mint_nothing() {
    for kind in Kind::ALL {
        for (quota, skew) in [
            (Quota::per_second(5), Duration::from_secs(2)),
            (Quota::per(10, Duration::from_micros(10)), Duration::from_micros(3)),
            (Quota::per_second(1_000), Duration::from_nanos(1)),
        ] {
            let Ok(limiter) = kind.limiter(quota, &ManualClock::new()) else { continue };
            let ahead = Nanos::from_secs(1_000);
            let behind = ahead.saturating_sub(skew);
            let mut admitted = 0;
            for turn in 0..10_000 {
                let now = if turn % 2 == 0 { ahead } else { behind };
                admitted += u64::from(limiter.try_acquire_n_at(1, now).is_ok());
            }
            assert_eq!(admitted, kind.capacity(quota), "{kind:?} {quota:?} {skew:?}");
        }
    }
}

#[test]
fn a_reading_from_the_past_on_a_full_bucket_gives_no_more_than_the_burst() {
    for kind in Kind::ALL {
        for skew in [1, 1_600_000_000, 10_000_000_000] {
            let mut pair = Pair::new(kind, Quota::per_second(10)).unwrap();
            pair.set(Nanos(10_000_000_000));
            let mut taken = pair.up_to(1);
            for now in [10_000_000_000 - skew, 10_000_000_000, 10_000_000_000 - skew] {
                pair.set(Nanos(now));
                taken += pair.limiter.try_acquire_up_to(u64::MAX);
            }
            assert_eq!(taken, 10, "{kind:?} {skew} ns back");
        }
    }
}

#[test]
fn a_wrapper_makes_readings_monotone_across_threads() {
    // Each core's clock is off by its own amount.
    struct Skewed(ManualClock);
    impl Clock for Skewed {
        fn now(&self) -> Nanos {
            let core = format!("{:?}", thread::current().id()).bytes().map(u64::from).sum::<u64>() % 7;
            self.0.now().saturating_sub(Duration::from_nanos(core * 1_000))
        }
    }
    let source = ManualClock::starting_at(Nanos(10_000));
    let clock = Monotone::new(Skewed(source.clone()));
    // What one thread has read, no thread reads less than from then on.
    let latest = std::sync::Mutex::new(Nanos::ZERO);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    source.advance(Duration::from_nanos(10));
                    let before = *latest.lock().unwrap();
                    let now = clock.now();
                    assert!(now >= before, "{now:?} after {before:?}");
                    let mut latest = latest.lock().unwrap();
                    *latest = now.max(*latest);
                }
            });
        }
    });
    assert!(clock.now() <= source.now(), "no later than the latest reading");
}

/// All orders of `items`.
fn orders<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let first = |at: usize| {
        let rest = [&items[..at], &items[at + 1..]].concat();
        orders(&rest).into_iter().map(move |order| [&[items[at]], &order[..]].concat())
    };
    (0..items.len()).flat_map(first).collect()
}

/// Threads take their readings, are held up, and commit in any order.
#[test]
fn late_commits_are_strict_on_the_readings_they_were_sampled_at() {
    let readings = [(0, 2), (300, 1), (500, 2), (1_000, 3), (1_001, 1), (2_500, 2), (2_500, 3)];
    for kind in [Kind::TokenBucket, Kind::PackedTokenBucket, Kind::SlidingWindowLog] {
        for quota in [
            Quota::per_second(2).with_burst(3),
            Quota::per_second(3),
            Quota::per(1, Duration::from_secs(5)).with_burst(4),
        ] {
            for order in orders(&readings) {
                let limiter = kind.limiter(quota, &ManualClock::new()).unwrap();
                let mut run = Vec::new();
                for (millis, cost) in order {
                    let at = Nanos::from_millis(millis);
                    if limiter.try_acquire_n_at(cost, at).is_ok() {
                        run.push(Admission::new(cost, at));
                    }
                }
                let window = match kind {
                    Kind::SlidingWindowLog => first_overfull_span(&run, quota.period(), quota.tokens()),
                    _ => worst_window(&run, quota).filter(|window| !kind.allows(window.excess, quota)),
                };
                assert!(window.is_none(), "{kind:?} {quota:?}: {}, of {run:?}", window.unwrap());
            }
        }
    }
}

#[test]
fn a_limiter_made_late_starts_full() {
    for kind in Kind::ALL {
        for age in [1, 3_600, 86_400 * 365 * 20] {
            for quota in [Quota::per_second(50), Quota::per_hour(50), Quota::per(50, Duration::from_secs(31_557_600))] {
                let mut pair = Pair::new(kind, quota).unwrap();
                pair.set(Nanos::from_secs(age));
                pair.look();
                assert_eq!(pair.limiter.available(), 50, "{kind:?} {quota:?} after {age} s");
                assert_eq!(pair.up_to(u64::MAX), 50);
                assert!(pair.acquire(1).is_err());
            }
        }
    }
}

#[test]
fn a_limiter_made_late_starts_at_its_chosen_level() {
    macro_rules! check {
        ($limiter:ty) => {
            for age in [0, 1, 3_600, 86_400 * 365 * 20] {
                for initial in [0, 5, 49, 50] {
                    let clock = ManualClock::starting_at(Nanos::from_secs(age));
                    let quota = Quota::per_second(1).with_burst(50);
                    let limiter = <$limiter>::with_clock(quota, clock.clone()).with_initial(initial);
                    assert_eq!(limiter.try_acquire_up_to(u64::MAX), initial, "after {age} s");
                    clock.advance(Duration::from_nanos(999_999_999));
                    assert!(limiter.try_acquire().is_err(), "in advance, after {age} s");
                    clock.advance(Duration::from_nanos(1));
                    assert!(limiter.try_acquire().is_ok(), "in debt after {age} s");
                    assert!(limiter.try_acquire().is_err());
                }
                let limiter = <$limiter>::with_clock(Quota::per_second(50), ManualClock::new());
                assert!(limiter.try_with_initial(51).is_err());
            }
            // Where nothing is counted, there is no level to choose.
            let limiter = <$limiter>::with_clock(Quota::UNLIMITED, ManualClock::new()).with_initial(5);
            assert_eq!((limiter.try_acquire_up_to(1_000), limiter.available()), (1_000, u64::MAX));
            assert_eq!(limiter.status(), <$limiter>::with_clock(Quota::UNLIMITED, ManualClock::new()).status());
            let limiter = <$limiter>::with_clock(Quota::DENY_ALL, ManualClock::new()).with_initial(0);
            assert!(limiter.try_acquire().is_err());
        };
    }
    check!(TokenBucket<ManualClock>);
    check!(PackedTokenBucket<ManualClock>);
}

#[test]
fn an_interval_bucket_made_late_holds_its_chosen_level_until_the_tick() {
    for initial in [0, 3, 10] {
        let clock = ManualClock::starting_at(Nanos::from_millis(3_600_150));
        let bucket = IntervalBucket::with_clock(Quota::per(10, Duration::from_millis(200)), clock.clone());
        let bucket = bucket.with_initial(initial);
        assert_eq!(bucket.try_acquire_up_to(u64::MAX), initial);
        clock.set(Nanos(3_600_199_999_999));
        assert_eq!(bucket.try_acquire_up_to(u64::MAX), 0);
        clock.set(Nanos::from_millis(3_600_200));
        assert_eq!(bucket.try_acquire_up_to(u64::MAX), 10);
    }
    let unlimited = IntervalBucket::with_clock(Quota::UNLIMITED, ManualClock::new()).with_initial(5);
    assert_eq!((unlimited.try_acquire_up_to(1_000), unlimited.available()), (1_000, u64::MAX));
    assert_eq!(unlimited.status(), IntervalBucket::with_clock(Quota::UNLIMITED, ManualClock::new()).status());
}

#[test]
fn a_coarse_clock_starts_by_itself_and_never_goes_back() {
    let limiter = TokenBucket::with_clock(Quota::per_second(1_000).with_burst(1), CoarseClock);
    let mut latest = Nanos::ZERO;
    for _ in 0..5 {
        // Each of these waits for the clock to move on: one that stands still hangs the test.
        while limiter.try_acquire().is_err() {}
        let now = CoarseClock.now();
        assert!(now >= latest, "{now:?} after {latest:?}");
        latest = now;
    }
    assert!(latest > Nanos::ZERO);
}
