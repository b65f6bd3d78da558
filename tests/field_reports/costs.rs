//! Costs larger than the burst, costs of zero, partial takes.

use core::time::Duration;
use tollgate::{Denied, ManualClock, Nanos, Quota, QuotaError};
use tollgate_testing::subject::{Kind, Pair};

/// Quotas whose tokens and burst are the same, so that they mean the same to buckets and windows.
fn quotas() -> [Quota; 4] {
    [
        Quota::per_second(5),
        Quota::per_hour(2),
        Quota::per(2, Duration::from_secs(86_400)),
        Quota::per(100, Duration::from_micros(7)),
    ]
}

#[test]
fn a_cost_above_the_largest_is_refused_for_ever_and_says_so() {
    for kind in Kind::ALL {
        for quota in quotas() {
            let mut pair = Pair::new(kind, quota).unwrap();
            let max_cost = kind.capacity(quota);
            assert_eq!(pair.limiter.max_cost(), max_cost);
            for taken in [0, 1] {
                pair.acquire(taken).unwrap();
                let before = pair.limiter.status();
                for cost in [max_cost + 1, max_cost + 2, 3 * max_cost, u64::MAX] {
                    let denied = pair.limiter.try_acquire_n(cost).unwrap_err();
                    assert_eq!(denied, Denied::ExceedsBurst { cost, max_cost }, "{kind:?}");
                    assert_eq!(denied.retry_after(), None);
                    assert!(denied.to_string().contains(&max_cost.to_string()), "{denied}");
                }
                assert_eq!(pair.limiter.status(), before, "{kind:?}");
            }
        }
    }
}

#[test]
fn a_cost_of_the_whole_burst_passes_on_a_full_limiter() {
    for kind in Kind::ALL {
        for quota in quotas() {
            let mut pair = Pair::new(kind, quota).unwrap();
            assert!(pair.acquire(kind.capacity(quota)).is_ok(), "{kind:?}");
            assert_eq!(pair.limiter.available(), 0);
            assert!(pair.acquire(1).is_err(), "{kind:?}");
        }
    }
}

/// The cost that, in 64 bits, comes to next to nothing at `unit` a token after wrapping around so many `times`.
fn wrapping(times: u128, unit: u64) -> Option<u64> {
    u64::try_from((times * (1 << 64)).div_ceil(unit.into())).ok()
}

#[test]
fn no_huge_cost_wraps_around_into_an_admission() {
    for kind in Kind::ALL {
        for quota in quotas() {
            let mut pair = Pair::new(kind, quota).unwrap();
            let token = Nanos::from(quota.period()).0 / quota.tokens();
            // Costs that come to little or nothing in 64 bits, whatever a token is counted in: nanoseconds, or parts.
            let wrapped = |unit: u64| (1..4).filter_map(move |times| wrapping(times, unit));
            let parts = (0..64).flat_map(|f| wrapped(1 << f));
            let found = [5_124_096, 5_124_097, 213_505, 213_504];
            for cost in wrapped(token.max(1)).chain(parts).chain(found).filter(|&cost| cost > quota.burst()) {
                for cost in [cost, cost.saturating_add(1)] {
                    assert!(pair.acquire(cost).is_err(), "{kind:?} let {cost} pass");
                }
            }
            assert_eq!(pair.limiter.available(), kind.capacity(quota));
        }
    }
}

#[test]
fn a_cost_of_zero_passes_and_changes_nothing() {
    let year = Nanos::from_secs(365 * 86_400);
    for kind in Kind::ALL {
        for quota in quotas() {
            let clock = ManualClock::new();
            let limiter = kind.limiter(quota, &clock).unwrap();
            // Had either of these written the later instant, the earlier one would now count as late.
            assert!(limiter.try_acquire_n_at(0, year).is_ok());
            assert!(limiter.try_acquire_n_at(u64::MAX, year).is_err());
            assert_eq!(limiter.available(), kind.capacity(quota), "{kind:?}");
            limiter.try_acquire_n(kind.capacity(quota)).unwrap();
            let before = limiter.status();
            assert!(limiter.try_acquire_n(0).is_ok(), "{kind:?} is empty");
            assert_eq!(limiter.try_acquire_up_to(0), 0);
            limiter.refund(0);
            assert_eq!(limiter.status(), before);
        }
        assert!(kind.limiter(Quota::DENY_ALL, &ManualClock::new()).unwrap().try_acquire_n(0).is_ok());
    }
}

#[test]
fn a_partial_take_gives_what_there_is() {
    for kind in Kind::ALL {
        for (capacity, left, wanted) in [(10, 3, 8), (10, 10, 10), (7, 1, u64::MAX), (1_000, 999, 1_000), (5, 4, 2)] {
            let mut pair = Pair::new(kind, Quota::per_minute(capacity)).unwrap();
            pair.acquire(capacity - left).unwrap();
            assert_eq!(pair.up_to(wanted), left.min(wanted), "{kind:?}");
            assert_eq!(pair.limiter.available(), left - left.min(wanted));
            pair.up_to(capacity);
            assert_eq!(pair.up_to(wanted), 0, "{kind:?} is empty");
        }
    }
}

#[test]
fn zeros_are_errors_and_deny_all_is_explicit() {
    let second = Duration::from_secs(1);
    assert_eq!(Quota::try_new(0, second, 1), Err(QuotaError::ZeroTokens));
    assert_eq!(Quota::try_new(1, second, 0), Err(QuotaError::ZeroBurst));
    assert_eq!(Quota::try_new(1, Duration::ZERO, 1), Err(QuotaError::ZeroPeriod));
    for slip in [|| Quota::per_second(0), || Quota::per(1, Duration::ZERO), || Quota::per_second(1).with_burst(0)] {
        assert!(std::panic::catch_unwind(slip).is_err());
    }
    for kind in Kind::ALL {
        let clock = ManualClock::new();
        let closed = kind.limiter(Quota::DENY_ALL, &clock).unwrap();
        for now in [0, 1, u64::MAX / 2, u64::MAX] {
            clock.set(Nanos(now));
            assert_eq!(closed.try_acquire(), Err(Denied::ExceedsBurst { cost: 1, max_cost: 0 }), "{kind:?}");
            assert_eq!((closed.available(), closed.try_acquire_up_to(u64::MAX)), (0, 0));
            let status = closed.status();
            assert_eq!((status.limit, status.remaining, status.retry_after), (0, 0, None));
            closed.refund(5);
        }
    }
}

#[test]
fn no_limit_is_explicit() {
    for kind in Kind::ALL {
        let clock = ManualClock::new();
        let open = kind.limiter(Quota::UNLIMITED, &clock).unwrap();
        for now in [0, u64::MAX, 1] {
            clock.set(Nanos(now));
            for cost in [1, u64::MAX, u64::MAX] {
                assert!(open.try_acquire_n(cost).is_ok(), "{kind:?}");
            }
            assert_eq!(open.try_acquire_up_to(u64::MAX), u64::MAX);
            let status = open.status();
            assert_eq!(
                (status.remaining, status.retry_after, status.reset_after),
                (u64::MAX, Some(Duration::ZERO), Duration::ZERO)
            );
            assert_eq!((open.max_cost(), open.quota().is_unlimited()), (u64::MAX, true));
        }
    }
}

#[test]
fn a_refund_fills_up_to_the_capacity_and_no_more() {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.takes_back(false)) {
        for quota in quotas() {
            let capacity = kind.capacity(quota);
            for refund in [1, capacity, capacity + 1, 2 * capacity, u64::MAX] {
                let mut pair = Pair::new(kind, quota).unwrap();
                for taken in [0, 1, capacity] {
                    pair.advance(2 * quota.period());
                    pair.acquire(taken).unwrap();
                    pair.refund(refund);
                    pair.look();
                    assert_eq!(pair.limiter.available(), capacity - taken.saturating_sub(refund), "{kind:?}");
                    // Nor does any of it come back later.
                    pair.up_to(u64::MAX);
                    assert!(pair.acquire(1).is_err(), "{kind:?} holds more than {capacity}");
                }
            }
        }
    }
}
