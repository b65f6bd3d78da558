//! Whatever reads the clock has a form that takes the time.

use tollgate::{LeakyBucket, ManualClock, Nanos, Quota, RateLimitAt, ShardedTokenBucket, SlidingWindowLog};
use tollgate_testing::each_limiter;

const QUOTA: Quota = Quota::per_second(10);

/// One limiter by its clock, another like it by readings: they answer alike.
fn check<L: RateLimitAt>(build: impl Fn(ManualClock) -> L) {
    let (clock, stopped) = (ManualClock::new(), ManualClock::new());
    let (by_clock, by_reading) = (build(clock.clone()), build(stopped));
    for (millis, n) in [(0, 4), (100, 7), (250, 3), (900, 5), (1_700, 10), (1_700, 1), (3_000, 9)] {
        let now = Nanos::from_millis(millis);
        clock.set(now);
        assert_eq!(by_clock.try_acquire_n(n), by_reading.try_acquire_n_at(n, now), "{n} at {millis} ms");
        assert_eq!(by_clock.status(), by_reading.status_at(now), "at {millis} ms");
        by_clock.refund(2);
        by_reading.refund_at(2, now);
        assert_eq!(by_clock.available(), by_reading.available_at(now), "at {millis} ms");
        assert_eq!(by_clock.try_acquire_up_to(3), by_reading.try_acquire_up_to_at(3, now), "at {millis} ms");
    }
}

#[test]
fn readings_decide_as_the_clock_does() {
    macro_rules! check_each {
        ($($limiter:ident),*) => {$( check(|clock| tollgate::$limiter::with_clock(QUOTA, clock)); )*};
    }
    each_limiter!(check_each); // the sharded one is too small for shards
}

#[test]
fn a_single_token_and_a_level_have_such_a_form_too() {
    let now = Nanos::from_secs(1);
    let bucket = LeakyBucket::with_clock(QUOTA, ManualClock::new());
    assert!(bucket.try_acquire_at(now).is_ok());
    assert_eq!((bucket.level_at(now), bucket.level_at(Nanos::from_millis(1_100))), (1, 0));
    assert!(SlidingWindowLog::with_clock(QUOTA, ManualClock::new()).try_acquire_at(now).is_ok());
    assert!(ShardedTokenBucket::with_clock(QUOTA, ManualClock::new()).try_acquire_at(now).is_ok());
}
