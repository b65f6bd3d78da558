//! The worked examples that rate limiting tutorials use, on a clock moved by hand, with the answers worked out by hand.

use core::time::Duration;
use tollgate::{
    Denied, FixedWindow, IntervalBucket, LeakyBucket, ManualClock, Nanos, PackedTokenBucket, Quota,
    SlidingWindowCounter, SlidingWindowLog, TokenBucket,
};

/// A bucket of ten that refills at two per second gets twenty requests, the i-th at i times 50 ms.
///
/// It is full until the first request, at 50 ms. Just before request i it has gained 0.1 * (i - 1) since then. Were all
/// requests before i to pass, there would be 10 + 0.1 * (i - 1) - (i - 1) left: one or more up to i = 11, where it is exactly
/// 1. So requests 1 to 11 pass. The twelfth token is there once 10 + 0.1 * (i - 1) reaches 12, at i = 21.
const TWENTY_REQUESTS: [bool; 20] = [
    true, true, true, true, true, true, true, true, true, true, true, // 1 to 11
    false, false, false, false, false, false, false, false, false, // 12 to 20
];

macro_rules! twenty_requests {
    ($name:ident, $limiter:ident) => {
        #[test]
        fn $name() {
            let clock = ManualClock::new();
            let bucket = $limiter::with_clock(Quota::per_second(2).with_burst(10), clock.clone());
            for (request, passes) in (1..).zip(TWENTY_REQUESTS) {
                clock.set(Nanos::from_millis(50 * request));
                assert_eq!(bucket.try_acquire().is_ok(), passes, "request {request}");
            }
            // At 1 s there are 10 + 2 * 0.95 - 11 = 0.9 tokens. Three seconds later there are 6.9, and two more pass.
            clock.advance(Duration::from_secs(3));
            assert_eq!(bucket.available(), 6);
            assert!(bucket.try_acquire().is_ok());
            assert!(bucket.try_acquire().is_ok());
            assert_eq!(bucket.available(), 4);
            // Fifteen can never pass, not even from a full bucket.
            clock.advance(Duration::from_secs(3_600));
            assert_eq!(bucket.available(), 10);
            assert_eq!(bucket.try_acquire_n(15), Err(Denied::ExceedsBurst { cost: 15, max_cost: 10 }));
            assert_eq!(bucket.available(), 10);
        }
    };
}

twenty_requests!(token_bucket_of_ten_at_two_per_second, TokenBucket);
twenty_requests!(leaky_bucket_of_ten_at_two_per_second, LeakyBucket);

/// The packed bucket counts refills from the clock's origin, in whole tokens: at 0.5 s, 1 s, 1.5 s and so on. It is full until
/// the first request, at 50 ms, so the eleventh request, at 550 ms, finds the token of 0.5 s. The one of 1 s comes in time for
/// request 20, half a token early: that is its documented bound.
#[test]
fn packed_token_bucket_of_ten_at_two_per_second() {
    let clock = ManualClock::new();
    let bucket = PackedTokenBucket::with_clock(Quota::per_second(2).with_burst(10), clock.clone());
    for (request, passes) in (1..).zip(TWENTY_REQUESTS) {
        clock.set(Nanos::from_millis(50 * request));
        assert_eq!(bucket.try_acquire().is_ok(), passes || request == 20, "request {request}");
    }
    clock.advance(Duration::from_secs(3));
    assert_eq!(bucket.available(), 6);
    assert_eq!(bucket.try_acquire_n(15), Err(Denied::ExceedsBurst { cost: 15, max_cost: 10 }));
}

/// "Allow(n)": a bucket of ten asked for several tokens at a time. All or nothing.
#[test]
fn several_tokens_at_a_time() {
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Quota::per_second(2).with_burst(10), clock.clone());
    // Time in milliseconds, cost, passes, tokens left.
    let steps = [
        (0, 4, true, 6),
        (0, 7, false, 6),
        (0, 6, true, 0),
        (499, 1, false, 0),
        (500, 1, true, 0),
        (2_000, 4, false, 3), // three since 500 ms
        (2_000, 3, true, 0),
        (6_999, 10, false, 9),
        (7_000, 10, true, 0), // ten since 2 s
        (60_000, 11, false, 10),
        (60_000, 10, true, 0),
    ];
    for (millis, cost, passes, left) in steps {
        clock.set(Nanos::from_millis(millis));
        assert_eq!((bucket.try_acquire_n(cost).is_ok(), bucket.available()), (passes, left), "{cost} at {millis} ms");
    }
}

/// Water: a bucket of four that leaks one per second.
#[test]
fn leaky_bucket_level() {
    let clock = ManualClock::new();
    let bucket = LeakyBucket::with_clock(Quota::per_second(1).with_burst(4), clock.clone());
    // Time in milliseconds, poured in, fits, level after.
    let steps = [
        (0, 3, true, 3),
        (0, 2, false, 3),
        (1_000, 2, true, 4),  // one has leaked
        (1_500, 1, false, 4), // 3.5 is a begun fourth
        (2_000, 1, true, 4),
        (5_999, 3, true, 4),  // 3.001
        (5_999, 1, false, 4), // would be 4.001
        (6_000, 1, true, 4),
        (10_000, 0, true, 0),
    ];
    for (millis, poured, fits, level) in steps {
        clock.set(Nanos::from_millis(millis));
        assert_eq!((bucket.try_acquire_n(poured).is_ok(), bucket.level()), (fits, level), "{poured} at {millis} ms");
        assert_eq!(bucket.capacity(), 4);
    }
}

/// Interval bucket: ten each 200 ms, takes of four.
#[test]
fn interval_bucket_of_ten_each_200_ms() {
    let clock = ManualClock::new();
    let bucket = IntervalBucket::with_clock(Quota::per(10, Duration::from_millis(200)), clock.clone());
    let steps = [(0, 4), (10, 4), (20, 2), (30, 0), (199, 0), (200, 4), (390, 4), (399, 2), (400, 4)];
    for (millis, given) in steps {
        clock.set(Nanos::from_millis(millis));
        assert_eq!(bucket.try_acquire_up_to(4), given, "at {millis} ms");
    }
}

/// Fixed window: a hundred per minute, all at the end of one minute and at the start of the next.
#[test]
fn fixed_window_lets_twice_the_limit_through_around_a_boundary() {
    let clock = ManualClock::new();
    let window = FixedWindow::with_clock(Quota::per_minute(100), clock.clone());
    let steps = [(59_999, 100, 100), (59_999, 1, 0), (60_000, 150, 100), (119_999, 1, 0), (120_000, 1, 1)];
    for (millis, arrivals, passed) in steps {
        clock.set(Nanos::from_millis(millis));
        assert_eq!((0..arrivals).filter(|_| window.try_acquire().is_ok()).count(), passed, "at {millis} ms");
    }
}

/// Sliding counter: a hundred per minute. At 1 % of the new window 99 % of the one before still counts, so one passes.
#[test]
fn sliding_counter_lets_101_through_around_a_boundary() {
    let clock = ManualClock::new();
    let counter = SlidingWindowCounter::with_clock(Quota::per_minute(100), clock.clone());
    let steps = [(59_999, 150, 100), (60_000, 100, 0), (60_599, 100, 0), (60_600, 100, 1), (90_000, 100, 49)];
    for (millis, arrivals, passed) in steps {
        clock.set(Nanos::from_millis(millis));
        assert_eq!((0..arrivals).filter(|_| counter.try_acquire().is_ok()).count(), passed, "at {millis} ms");
    }
}

/// Sliding counter: five per 30 s, five in the window before. 5 * (30 - 6) / 30 + 1 is 5 at 36 s.
#[test]
fn sliding_counter_of_five_per_thirty_seconds() {
    let clock = ManualClock::new();
    let counter = SlidingWindowCounter::with_clock(Quota::per(5, Duration::from_secs(30)), clock.clone());
    assert_eq!(counter.try_acquire_up_to(5), 5);
    let steps = [(33, false), (35, false), (40, true), (40, false)];
    for (second, passes) in steps {
        clock.set(Nanos::from_secs(second));
        assert_eq!(counter.try_acquire().is_ok(), passes, "at {second} s");
        if second < 36 {
            let due = counter.try_acquire().unwrap_err().retry_after().unwrap();
            assert_eq!(due, Duration::from_secs(36 - second), "at {second} s");
        }
    }
}

/// Sliding log: five per 30 s. At 25 s all five are within the last 30 s. At 35 s those of 0 s and 5 s are gone, one comes;
/// at 40 s there are the two of 15 s and the one of 35 s, so two more pass.
#[test]
fn sliding_log_of_five_per_thirty_seconds() {
    let clock = ManualClock::new();
    let log = SlidingWindowLog::with_clock(Quota::per(5, Duration::from_secs(30)), clock.clone());
    let steps = [(0, 1, 1), (5, 2, 2), (15, 2, 2), (25, 1, 0), (35, 1, 1), (40, 3, 2)];
    for (second, arrivals, passed) in steps {
        clock.set(Nanos::from_secs(second));
        assert_eq!((0..arrivals).filter(|_| log.try_acquire().is_ok()).count(), passed, "at {second} s");
    }
    // Full again: the two of 15 s make room at 45 s, the one of 35 s at 65 s.
    assert_eq!(log.try_acquire().unwrap_err().retry_after(), Some(Duration::from_secs(5)));
    assert_eq!(log.try_acquire_n(3).unwrap_err().retry_after(), Some(Duration::from_secs(25)));
}

/// Sliding log: the arrivals that get twice the limit out of a fixed window get the limit.
#[test]
fn sliding_log_lets_100_through_around_a_boundary() {
    let clock = ManualClock::new();
    let log = SlidingWindowLog::with_clock(Quota::per_minute(100), clock.clone());
    let steps = [(59_999, 150, 100), (60_000, 100, 0), (60_600, 100, 0), (119_998, 100, 0), (119_999, 150, 100)];
    for (millis, arrivals, passed) in steps {
        clock.set(Nanos::from_millis(millis));
        assert_eq!((0..arrivals).filter(|_| log.try_acquire().is_ok()).count(), passed, "at {millis} ms");
    }
}
