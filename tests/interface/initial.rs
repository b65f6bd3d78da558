//! Every limiter can start with fewer tokens than it holds.

use core::time::Duration;
use tollgate::{BuildError, ManualClock, Nanos, Quota, RateLimitAt};
use tollgate_testing::each_limiter;

const QUOTA: Quota = Quota::per(10, Duration::from_secs(10));

/// `with_initial` and `with_initial_at` at 25 s, each beside the same limiter after the first tokens were spent there.
macro_rules! starts_with {
    ($($limiter:ident),*) => {$(
        for tokens in 0..=10 {
            let (clock, now) = (ManualClock::starting_at(Nanos::from_secs(25)), Nanos::from_secs(25));
            let spent = tollgate::$limiter::with_clock(QUOTA, clock.clone());
            spent.try_acquire_n(10 - tokens).unwrap();
            let cold = tollgate::$limiter::with_clock(QUOTA, clock.clone()).with_initial(tokens);
            let cold_at = tollgate::$limiter::with_clock(QUOTA, ManualClock::new()).with_initial_at(tokens, now);
            for millis in (25_000..60_000).step_by(500) {
                let now = Nanos::from_millis(millis);
                let expected = spent.status_at(now);
                assert_eq!((cold.status_at(now), cold_at.status_at(now)), (expected, expected), "{tokens} at {now:?}");
            }
            assert_eq!(cold.available_at(now), tokens, concat!(stringify!($limiter), " holds what it was given"));
        }
        let refused = tollgate::$limiter::with_clock(QUOTA, ManualClock::new()).try_with_initial(11).unwrap_err();
        assert_eq!(refused, BuildError::InitialTooLarge { largest: 10 });
        for (quota, tokens) in [(Quota::UNLIMITED, 3), (Quota::UNLIMITED, u64::MAX), (Quota::DENY_ALL, 0)] {
            let limiter = tollgate::$limiter::with_clock(quota, ManualClock::new()).with_initial(tokens);
            assert_eq!(limiter.available(), quota.burst(), "no limit and no tokens stay as they are");
        }
    )*};
}

#[test]
fn limiters_start_as_if_the_rest_had_just_been_spent() {
    each_limiter!(starts_with);
}

/// What was spent before does not come on top, and is not forgotten twice.
#[test]
fn a_limiter_that_has_been_used_holds_what_it_is_told() {
    fn used<L: RateLimitAt>(limiter: L) -> L {
        limiter.try_acquire_n_at(7, Nanos::ZERO).unwrap();
        limiter
    }
    let clock = ManualClock::new;
    macro_rules! holds_what_it_is_told {
        ($($limiter:ident),*) => {$(
            let limiter = stringify!($limiter);
            let kept = if limiter == "SlidingWindowLog" { 3 } else { 4 }; // a log forgets nothing: it has 3 left
            assert_eq!(used(tollgate::$limiter::with_clock(QUOTA, clock())).with_initial(4).available(), kept, "{limiter}");
            assert_eq!(used(tollgate::$limiter::with_clock(QUOTA, clock())).with_initial(1).available(), 1, "{limiter}");
        )*};
    }
    each_limiter!(holds_what_it_is_told);
}
