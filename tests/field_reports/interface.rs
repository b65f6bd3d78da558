//! Configuration and interface.

#![deny(unfulfilled_lint_expectations)]

use core::time::Duration;
use std::sync::Arc;
use tollgate::{
    Denied, FixedWindow, IntervalBucket, LeakyBucket, ManualClock, PackedTokenBucket, Quota, RateLimit,
    SlidingWindowCounter, TokenBucket,
};
use tollgate_testing::subject::{Kind, Pair};

#[test]
fn per_second_of_4000_is_4000_each_second() {
    let second = Duration::from_secs(1);
    for (quota, tokens, period) in [
        (Quota::per_second(4_000), 4_000, second),
        (Quota::per_minute(4_000), 4_000, 60 * second),
        (Quota::per_hour(4_000), 4_000, 3_600 * second),
        (Quota::per(4_000, second / 4), 4_000, second / 4),
    ] {
        assert_eq!((quota.tokens(), quota.period(), quota.burst()), (tokens, period, tokens));
        for kind in Kind::ALL {
            let mut pair = Pair::new(kind, quota).unwrap();
            assert_eq!(pair.up_to(u64::MAX), 4_000);
            pair.advance(period);
            let passed = pair.up_to(u64::MAX);
            // The window before still counts in the sliding one.
            assert_eq!(passed, if kind == Kind::SlidingWindowCounter { 0 } else { 4_000 }, "{kind:?}");
            pair.advance(period);
            assert_eq!(passed + pair.up_to(u64::MAX), if passed > 0 { 8_000 } else { 4_000 }, "{kind:?}");
        }
    }
}

// Each of these types is written without naming a clock or a store.
static TOKENS: TokenBucket = TokenBucket::new(Quota::per_hour(3));
static LEAKY: LeakyBucket = LeakyBucket::new(Quota::per_hour(3));
static PACKED: PackedTokenBucket = PackedTokenBucket::new(Quota::per_hour(3));
static FIXED: FixedWindow = FixedWindow::new(Quota::per_hour(3));
static INTERVAL: IntervalBucket = IntervalBucket::new(Quota::per_hour(3));
static COUNTER: SlidingWindowCounter = SlidingWindowCounter::new(Quota::per_hour(3));

/// A pointer to a limiter is a limiter.
fn drain(limiter: impl RateLimit) {
    while limiter.try_acquire().is_ok() {}
}

struct Service {
    limiter: TokenBucket,
    any: Box<dyn RateLimit + Send + Sync>,
}

#[test]
fn limiters_stand_in_statics_fields_arcs_and_trait_objects() {
    let limiters: [&dyn RateLimit; 6] = [&TOKENS, &LEAKY, &PACKED, &FIXED, &INTERVAL, &COUNTER];
    for limiter in limiters {
        assert!(limiter.try_acquire_n(3).is_ok());
        assert!(limiter.try_acquire().is_err());
        assert_eq!((limiter.max_cost(), limiter.quota(), limiter.status().remaining), (3, Quota::per_hour(3), 0));
    }
    let service = Service {
        limiter: TokenBucket::new(Quota::per_hour(1)),
        any: Box::new(SlidingWindowCounter::new(Quota::per_hour(1))),
    };
    assert!(service.limiter.try_acquire().is_ok() && service.any.try_acquire().is_ok());
    let shared: Arc<dyn RateLimit + Send + Sync> = Arc::new(FixedWindow::new(Quota::per_hour(100)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let shared = Arc::clone(&shared);
            scope.spawn(move || assert!(shared.try_acquire_n(25).is_ok()));
        }
    });
    assert!(shared.try_acquire().is_err());
    let own = TokenBucket::new(Quota::per_hour(5));
    drain(&own);
    assert!(own.try_acquire().is_err());
    drain(Arc::new(own));
}

/// The expectations fail to compile where the compiler does not warn.
#[test]
fn a_dropped_refusal_is_warned_about() {
    let bucket = TokenBucket::with_clock(Quota::per_hour(1), ManualClock::new());
    #[expect(unused_must_use)]
    {
        bucket.try_acquire();
    }
    #[expect(unused_must_use)]
    {
        bucket.try_acquire_n(1);
    }
    let refused = || bucket.try_acquire().unwrap_err();
    #[expect(unused_must_use)]
    {
        refused();
    }
    #[expect(unused_must_use)]
    {
        let any: &dyn RateLimit = &bucket;
        any.try_acquire();
    }
    assert_eq!(bucket.available(), 0);
}

#[test]
fn remaining_is_what_can_be_spent_now_and_never_more_than_the_burst() {
    for kind in Kind::ALL {
        for quota in [Quota::per_second(10), Quota::per_minute(7), Quota::per(3, Duration::from_nanos(7))] {
            let mut pair = Pair::new(kind, quota).unwrap();
            for step in [0, 1, 3, 1_000, 333_333_333, 86_400_000_000_000] {
                pair.advance(Duration::from_nanos(step));
                let remaining = pair.limiter.status().remaining;
                assert!(remaining <= kind.capacity(quota));
                assert!(matches!(pair.acquire(remaining + 1), Err(Denied::TryAfter(_) | Denied::ExceedsBurst { .. })));
                assert!(pair.acquire(remaining).is_ok(), "{kind:?} {quota:?} after {step} ns");
                assert_eq!(pair.limiter.status().remaining, 0);
                assert!(pair.limiter.status().retry_after > Some(Duration::ZERO));
            }
        }
    }
}
