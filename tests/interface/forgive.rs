//! `forgive` lifts a debt, and admits no more for it than it says.

use core::time::Duration;
use tollgate::{Clock, ManualClock, Moment, Nanos, Quota, RateLimitAt, SlidingWindowLog, TokenBucket};
use tollgate_testing::each_limiter;
use tollgate_testing::trace::{Admission, first_violation};

const QUOTA: Quota = Quota::per_second(10);

fn a_limiter_is_full_at_once<L: RateLimitAt>(build: impl Fn(ManualClock) -> L, forgive: impl Fn(&L)) {
    let clock = ManualClock::starting_at(Nanos::from_secs(5));
    let limiter = build(clock.clone());
    let fresh = build(clock.clone());
    for _ in 0..3 {
        limiter.try_acquire_n(10).unwrap();
        clock.advance(Duration::from_millis(10));
        assert!(limiter.try_acquire().is_err());
        forgive(&limiter);
        assert_eq!(limiter.status(), fresh.status());
        clock.advance(Duration::from_millis(370));
    }
}

/// A clock was an hour ahead for one call, and was put right: nothing is left but to forgive.
fn a_limiter_is_open_again<L: RateLimitAt>(build: impl Fn(ManualClock) -> L, forgive: impl Fn(&L)) {
    let clock = ManualClock::starting_at(Nanos::from_secs(5));
    let limiter = build(clock.clone());
    limiter.try_acquire_n_at(10, Nanos::from_secs(3_605)).unwrap();
    assert!(limiter.try_acquire().is_err());
    forgive(&limiter);
    assert_eq!(limiter.try_acquire_up_to(u64::MAX), 10);
}

/// Each run between two calls of `forgive` keeps the bound of the quota; so `k` of them admit `k + 1` bursts at most. That
/// much is reached.
fn the_bound_is_kept<L: RateLimitAt>(build: impl Fn(ManualClock) -> L, forgive: impl Fn(&L)) {
    let clock = ManualClock::starting_at(Nanos::from_secs(5));
    let limiter = build(clock.clone());
    let mut all = 0;
    for _ in 0..4 {
        let mut run = Vec::new();
        for _ in 0..20 {
            let taken = limiter.try_acquire_up_to(3);
            if taken > 0 {
                run.push(Admission::new(taken, limiter_now(&clock)));
            }
            all += taken;
        }
        let violation = first_violation(&run, QUOTA);
        assert!(violation.is_none(), "{violation:?}");
        forgive(&limiter);
    }
    assert_eq!(all, 40, "four times the burst of one instant");
}

fn limiter_now(clock: &ManualClock) -> Nanos {
    clock.now()
}

#[test]
fn forgiven_limiters_are_as_good_as_new() {
    macro_rules! check {
        ($($limiter:ident),*) => {$( a_limiter_is_full_at_once(|clock| tollgate::$limiter::with_clock(QUOTA, clock), tollgate::$limiter::forgive); )*};
    }
    each_limiter!(check);
}

#[test]
fn a_clock_that_was_put_right_is_no_reason_to_stay_shut() {
    macro_rules! check {
        ($($limiter:ident),*) => {$( a_limiter_is_open_again(|clock| tollgate::$limiter::with_clock(QUOTA, clock), tollgate::$limiter::forgive); )*};
    }
    each_limiter!(check);
}

#[test]
fn what_is_forgiven_comes_on_top_once() {
    macro_rules! check {
        ($($limiter:ident),*) => {$( the_bound_is_kept(|clock| tollgate::$limiter::with_clock(QUOTA, clock), tollgate::$limiter::forgive); )*};
    }
    each_limiter!(check);
}

/// But a log is full again only when that clock's instant is past, for what it admits is due in order; the others at once.
#[test]
fn a_clock_that_was_ahead_shuts_a_log_until_then() {
    let clock = ManualClock::starting_at(Nanos::from_secs(5));
    let log = SlidingWindowLog::with_clock(QUOTA, clock.clone());
    let bucket = TokenBucket::with_clock(QUOTA, clock.clone());
    for limiter in [&log as &dyn RateLimitAt, &bucket] {
        limiter.try_acquire_n_at(10, Nanos::from_secs(3_605)).unwrap();
    }
    log.forgive();
    bucket.forgive();
    assert_eq!((log.try_acquire_up_to(99), bucket.try_acquire_up_to(99)), (10, 10));
    clock.set(Nanos::from_secs(3_605));
    assert_eq!((log.try_acquire_up_to(99), bucket.try_acquire_up_to(99)), (0, 10));
    clock.set(Nanos::from_secs(3_606).saturating_add(Duration::from_nanos(1)));
    assert_eq!(log.try_acquire_up_to(99), 10);
}

/// What is saved of a log is what counts.
#[test]
fn what_is_forgiven_is_not_saved() {
    let clock = ManualClock::starting_at(Nanos::from_secs(5));
    let log = SlidingWindowLog::with_clock(QUOTA, clock.clone());
    log.try_acquire_n(10).unwrap();
    log.forgive();
    clock.advance(Duration::from_millis(1));
    log.try_acquire_n(3).unwrap();
    let now = Moment::new(clock.now(), Nanos::from_secs(1_000));
    let saved = log.snapshot_at(now);
    let restored = SlidingWindowLog::with_clock(QUOTA, clock.clone()).restored_at(&saved, now).unwrap();
    assert_eq!(restored.available(), 7);
}
