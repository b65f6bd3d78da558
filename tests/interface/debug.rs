//! `Debug` names what the user named, and shows the quota.

use core::fmt::Debug;
use core::time::Duration;
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, Counted, KeyedLimiter, ManualClock,
    Quota, ShardedTokenBucket, TokenBucket, WaitingTokenBucket,
};
use tollgate_testing::each_limiter;

const QUOTA: Quota = Quota::per_second(5);

#[track_caller]
fn check(limiter: impl Debug, name: &str) {
    let shown = format!("{limiter:?}");
    assert!(shown.starts_with(&format!("{name} {{ quota: Quota {{ tokens: 5,")), "{shown}");
}

#[test]
fn a_limiter_is_shown_by_its_name() {
    macro_rules! check_each {
        ($($limiter:ident),*) => {$( check(tollgate::$limiter::with_clock(QUOTA, ManualClock::new()), stringify!($limiter)); )*};
    }
    each_limiter!(check_each);
}

#[test]
fn so_is_what_is_built_around_one() {
    let clock = ManualClock::new;
    check(AdjustableTokenBucket::with_clock(QUOTA, clock()), "AdjustableTokenBucket");
    check(AdjustableFixedWindow::with_clock(QUOTA, clock()), "AdjustableFixedWindow");
    check(AdjustableSlidingWindowCounter::with_clock(QUOTA, clock()), "AdjustableSlidingWindowCounter");
    check(WaitingTokenBucket::with_clock(QUOTA, Duration::from_secs(9), clock()), "WaitingTokenBucket");
    check(KeyedLimiter::<u64>::new(QUOTA, 10), "KeyedLimiter");
    let sharded = ShardedTokenBucket::with_clock(QUOTA, clock());
    check(sharded.handle(), "Handle");
    let counted = format!("{:?}", Counted::new(TokenBucket::with_clock(QUOTA, clock())));
    assert!(counted.starts_with("Counted {") && counted.contains("TokenBucket { quota:"), "{counted}");
}
