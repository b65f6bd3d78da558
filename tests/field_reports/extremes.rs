//! Overflow and extremes.

use core::time::Duration;
use std::thread;
use tollgate::{BuildError, Denied, ManualClock, Nanos, Quota, QuotaError};
use tollgate_testing::subject::{Kind, Pair};

const HOUR: Duration = Duration::from_secs(3_600);
const YEAR: Duration = Duration::from_secs(31_557_600);

#[test]
fn after_any_idle_time_the_burst_at_once_and_then_the_rate() {
    for (token, burst) in [(Duration::from_secs(2), 5), (Duration::from_millis(1), 3), (Duration::from_nanos(5), 1)] {
        let quota = Quota::per(1, token).with_burst(burst);
        let nearly = token.saturating_sub(Duration::from_nanos(1));
        for kind in Kind::BUCKETS {
            for idle in [Duration::from_secs(10), YEAR, 100 * YEAR] {
                let mut pair = Pair::new(kind, quota).unwrap();
                pair.acquire(1).unwrap();
                pair.advance(idle);
                assert_eq!(pair.up_to(u64::MAX), burst, "{kind:?} {quota:?} after {idle:?}");
                for _ in 0..10 {
                    pair.advance(nearly);
                    assert!(pair.acquire(1).is_err(), "{kind:?} {quota:?} after {idle:?}");
                    pair.advance(Duration::from_nanos(1));
                    assert!(pair.acquire(1).is_ok(), "{kind:?} {quota:?} after {idle:?}");
                }
            }
        }
    }
}

#[test]
fn a_large_refill_fills_and_no_more() {
    for quota in [Quota::per_second(1_000_000), Quota::per_second(3).with_burst(100_000), Quota::per_hour(1)] {
        for kind in Kind::ALL {
            let Ok(mut pair) = Pair::new(kind, quota) else { continue };
            for idle in [12 * HOUR, 24 * 49 * HOUR, YEAR] {
                pair.up_to(u64::MAX);
                pair.advance(idle);
                let capacity = kind.capacity(quota);
                assert_eq!((pair.limiter.available(), pair.limiter.status().remaining), (capacity, capacity));
                assert_eq!(pair.up_to(u64::MAX), capacity, "{kind:?} after {idle:?}");
                assert!(pair.acquire(1).is_err(), "{kind:?} after {idle:?}");
            }
        }
    }
}

#[test]
fn a_huge_burst_is_exact_or_an_error() {
    let huge = |burst| Quota::try_new(1, HOUR, burst);
    let Err(QuotaError::BurstTooLarge { largest }) = huge(u64::MAX) else { panic!("146 years do not fit beside it") };
    assert_eq!(huge(largest + 1), Err(QuotaError::BurstTooLarge { largest }));
    assert!(huge(u64::MAX).unwrap_err().to_string().contains(&largest.to_string()));
    for burst in [u64::from(u32::MAX), 1 << 53, 1 << 63, largest] {
        let mut pair = Pair::new(Kind::TokenBucket, huge(burst).unwrap()).unwrap();
        assert_eq!(pair.limiter.quota().burst(), burst);
        for _ in 0..3 {
            assert!(pair.acquire(burst + 1).is_err());
            assert!(pair.acquire(burst).is_ok());
            assert!(pair.acquire(1).is_err());
            pair.advance(Duration::from_nanos(3_599_999_999_999));
            assert!(pair.acquire(1).is_err(), "{burst}");
            pair.advance(Duration::from_nanos(1));
            assert!(pair.acquire(1).is_ok(), "{burst}");
            assert!(pair.acquire(1).is_err(), "{burst}");
            pair.refund(burst);
        }
    }
}

#[test]
fn where_the_word_has_no_room_the_error_names_the_largest_that_fits() {
    let clock = ManualClock::new();
    for kind in [Kind::PackedTokenBucket, Kind::SlidingWindowCounter] {
        for period in [Duration::from_nanos(100), Duration::from_millis(1), HOUR] {
            let with_limit = |limit| {
                let burst_alone = kind == Kind::PackedTokenBucket;
                if burst_alone { Quota::try_new(1, period, limit) } else { Quota::try_new(limit, period, 1) }
            };
            // The largest that a quota can have is more than the word has room for.
            let most = match with_limit(u64::MAX) {
                Err(QuotaError::RateTooHigh { most, .. }) => most,
                Err(QuotaError::BurstTooLarge { largest }) => largest,
                other => panic!("{other:?}"),
            };
            let error = kind.limiter(with_limit(most).unwrap(), &clock).err().expect("no room");
            let BuildError::LimitTooLarge { largest } = error else { panic!("{kind:?} {period:?} {error}") };
            assert!(error.to_string().contains(&largest.to_string()));
            let mut pair = Pair::new(kind, with_limit(largest).unwrap()).unwrap();
            assert!(pair.acquire(largest).is_ok(), "{kind:?} {period:?}");
            assert!(pair.acquire(1).is_err(), "{kind:?} {period:?}");
            let above = kind.limiter(with_limit(largest + 1).unwrap(), &clock).err();
            assert_eq!(above, Some(BuildError::LimitTooLarge { largest }), "{kind:?} {period:?}");
        }
    }
}

#[test]
fn the_fixed_window_has_room_for_any_quota() {
    for period in (0..59).flat_map(|bits| [1 << bits, (1 << bits) + 1, 3 << bits >> 1, (2 << bits) - 1]) {
        let period = Duration::from_nanos(period);
        let Err(QuotaError::RateTooHigh { most, .. }) = Quota::try_new(u64::MAX, period, 1) else { continue };
        let mut pair = Pair::new(Kind::FixedWindow, Quota::try_new(most, period, 1).unwrap()).unwrap();
        pair.set(Kind::FixedWindow.horizon());
        assert!(pair.acquire(most).is_ok(), "{period:?}");
        assert!(pair.acquire(1).is_err(), "{period:?}");
    }
}

#[test]
fn absurd_periods_and_rates_are_errors_that_name_the_limit() {
    let second = Duration::from_secs(1);
    assert_eq!(Quota::try_new(1, Duration::ZERO, 1), Err(QuotaError::ZeroPeriod));
    for period in [10_000 * YEAR, Duration::MAX] {
        let Err(error @ QuotaError::PeriodTooLong { longest }) = Quota::try_new(1, period, 1) else { panic!() };
        assert!(error.to_string().contains(&longest.as_secs().to_string()), "{error}");
        assert!(Quota::try_new(1, longest, 1).is_ok());
        assert!(Quota::try_new(1, longest + Duration::from_nanos(1), 1).is_err());
    }
    for period in [Duration::from_nanos(1), second, HOUR] {
        let Err(error @ QuotaError::RateTooHigh { most, .. }) = Quota::try_new(u64::MAX, period, 1) else { panic!() };
        assert!(error.to_string().contains(&most.to_string()), "{error}");
        assert!(matches!(Quota::try_new(most + 1, period, 1), Err(QuotaError::RateTooHigh { .. })));
        // The highest rate works, and for 146 years.
        let mut pair = Pair::new(Kind::TokenBucket, Quota::try_new(most, period, 1).unwrap()).unwrap();
        for start in [Nanos::ZERO, Nanos::from(72 * YEAR), Nanos::from(145 * YEAR)] {
            pair.set(start);
            assert_eq!(pair.up_to(2), 1);
            pair.advance(period);
            assert_eq!(pair.up_to(2), 1);
        }
    }
    assert!(Quota::try_new(7_999_999_999, second, 1).is_ok(), "eight thousand million per second is no absurd rate");
}

#[test]
fn a_window_longer_than_the_age_of_the_clock() {
    for kind in Kind::ALL {
        let quota = Quota::per(3, 70 * YEAR);
        let mut pair = Pair::new(kind, quota).unwrap();
        for now in [0, 1, 2] {
            pair.set(Nanos(now));
            pair.look();
            assert!(pair.acquire(1).is_ok(), "{kind:?}");
        }
        assert!(pair.acquire(1).is_err(), "{kind:?}");
        pair.look();
    }
}

#[test]
fn an_instant_before_the_stored_one_brings_nothing() {
    for kind in Kind::ALL {
        for quota in [Quota::per_second(10), Quota::per_hour(10), Quota::per(10, Duration::from_nanos(100))] {
            let clock = ManualClock::starting_at(Nanos::from(YEAR));
            let limiter = kind.limiter(quota, &clock).unwrap();
            limiter.try_acquire_n(7).unwrap();
            for back in [1, 5, 1_000_000_000, 31_557_600_000_000_000] {
                clock.set(Nanos(Nanos::from(YEAR).0 - back));
                assert!(limiter.available() <= 3, "{kind:?} {quota:?} {back} ns back");
                assert!(limiter.status().remaining <= 3);
                assert!(limiter.try_acquire_n(4).is_err(), "{kind:?} {quota:?} {back} ns back");
                assert_eq!(limiter.try_acquire_n(11), Err(Denied::ExceedsBurst { cost: 11, max_cost: 10 }));
            }
            clock.set(Nanos::from(YEAR));
            assert_eq!(limiter.available(), 3, "{kind:?} {quota:?}: refusals have changed nothing");
        }
    }
}

#[test]
fn the_end_of_time_is_an_instant_like_any_other() {
    for kind in Kind::ALL {
        for quota in [Quota::per_second(10), Quota::per_hour(10), Quota::per(10, Duration::from_nanos(100))] {
            let clock = ManualClock::new();
            let limiter = kind.limiter(quota, &clock).unwrap();
            for now in [u64::MAX, u64::MAX - 1, u64::MAX / 2, 0, u64::MAX] {
                clock.set(Nanos(now));
                limiter.status();
                limiter.refund(1);
                assert!(limiter.available() <= 10);
                let taken = limiter.try_acquire_up_to(u64::MAX);
                assert!(taken <= 10);
                if let Err(denied) = limiter.try_acquire() {
                    // Never 0 while it denies; and where time stands still, there is no waiting.
                    let status = limiter.status();
                    for wait in [denied.retry_after(), status.retry_after] {
                        let never = wait.is_none();
                        assert!(if now > 0 { never } else { wait != Some(Duration::ZERO) }, "{kind:?} {quota:?} {now}");
                    }
                    assert!(status.reset_after > Duration::ZERO);
                }
            }
        }
    }
}

#[test]
fn beyond_the_last_instant_within_time_time_stands_still() {
    for kind in Kind::ALL {
        for quota in [Quota::per_second(10), Quota::per_hour(10), Quota::per(10, Duration::from_nanos(100))] {
            for instant in [kind.horizon().0, 1 << 62, (1 << 62) + 1, 1 << 63, u64::MAX] {
                let clock = ManualClock::new();
                let limiter = kind.limiter(quota, &clock).unwrap();
                assert_eq!(limiter.try_acquire_up_to(u64::MAX), 10);
                clock.set(Nanos(instant));
                assert_eq!(limiter.available(), 10, "{kind:?} {quota:?} at {instant}");
                assert!(limiter.try_acquire_n(10).is_ok(), "{kind:?} {quota:?} at {instant}");
            }
        }
    }
}

#[test]
fn no_arithmetic_panics_when_many_threads_refill_and_take() {
    for kind in Kind::ALL {
        for quota in [Quota::per_second(1_000), Quota::per(3, Duration::from_nanos(11)), Quota::per(1, 70 * YEAR)] {
            let clock = ManualClock::new();
            let limiter = kind.limiter(quota, &clock).unwrap();
            thread::scope(|scope| {
                for thread in 0..4_u64 {
                    let (limiter, clock) = (&limiter, &clock);
                    scope.spawn(move || {
                        for turn in 0..5_000_u64 {
                            // All lengths of time, forward and back.
                            let noise = (turn * 4 + thread).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                            clock.set(Nanos(noise >> (noise % 64)));
                            let _ = limiter.try_acquire_n(noise % 5);
                            limiter.try_acquire_up_to(noise % 7);
                            limiter.refund(noise % 3);
                            assert!(limiter.status().remaining <= limiter.max_cost());
                        }
                    });
                }
            });
        }
    }
}
