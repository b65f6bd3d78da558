//! What a refund gives back, and to which window.

use core::time::Duration;
use std::sync::Arc;
use tollgate::{
    AdjustableTokenBucket, Counted, FixedWindow, IntervalBucket, KeyedLimiter, ManualClock, Nanos, PackedTokenBucket,
    Quota, RateLimit, ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog, Taken, TokenBucket,
    WaitingTokenBucket,
};

fn at(seconds: u64) -> Nanos {
    Nanos::from_secs(seconds)
}

fn five_in_ten_seconds() -> Quota {
    Quota::per(5, Duration::from_secs(10))
}

#[test]
fn a_refund_that_names_a_past_window_of_a_fixed_window_is_lost() {
    let window = FixedWindow::with_clock(five_in_ten_seconds(), ManualClock::new());
    assert!(window.try_acquire_n_at(5, at(0)).is_ok());
    assert!(window.try_acquire_n_at(5, at(10)).is_ok());
    window.refund_at(5, at(0));
    assert!(window.try_acquire_at(at(10)).is_err());
    window.refund_at(2, at(19)); // any reading of the window names it
    assert_eq!(window.available_at(at(10)), 2);
    assert!(window.try_acquire_n_at(2, at(20)).is_ok());

    let two = FixedWindow::with_clock(Quota::per_second(2), ManualClock::new());
    assert!(two.try_acquire_at(at(0)).is_ok() && two.try_acquire_at(at(1)).is_ok());
    two.refund_at(1, at(0));
    assert_eq!(two.available_at(at(1)), 1);
}

#[test]
fn a_refund_names_its_window_after_the_roll_over_too_when_nothing_has_been_taken_since() {
    let window = FixedWindow::with_clock(five_in_ten_seconds(), ManualClock::new());
    assert!(window.try_acquire_n_at(5, at(0)).is_ok());
    window.refund_at(5, at(0));
    assert_eq!((window.available_at(at(0)), window.available_at(at(10))), (5, 5));
    window.refund_at(5, at(10));
    assert_eq!(window.available_at(at(10)), 5, "never more than the limit");
}

#[test]
fn a_refund_without_a_reading_goes_to_the_present_window() {
    let clock = ManualClock::new();
    let bucket = IntervalBucket::with_clock(five_in_ten_seconds(), clock.clone());
    assert!(bucket.try_acquire_n(5).is_ok());
    clock.set(at(10));
    bucket.refund(5);
    assert_eq!(bucket.available(), 5, "nothing has been taken in this window");
    assert!(bucket.try_acquire_n(3).is_ok());
    bucket.refund(5); // meant for the first five, perhaps: what this window has counted is given back, and no more
    assert_eq!(bucket.available(), 5);
    let two = FixedWindow::with_clock(Quota::per_second(2), clock.clone());
    assert!(two.try_acquire_at(at(9)).is_ok() && two.try_acquire_at(at(10)).is_ok());
    two.refund(1); // meant for the first; `refund_at` leaves 1
    assert_eq!(two.available(), 2);
}

#[test]
fn a_sliding_counter_takes_back_in_the_window_that_is_named_while_it_counts() {
    let counter = SlidingWindowCounter::with_clock(five_in_ten_seconds(), ManualClock::new());
    assert!(counter.try_acquire_n_at(4, at(5)).is_ok());
    assert!(counter.try_acquire_n_at(3, at(15)).is_ok()); // two of the four still count
    assert_eq!(counter.available_at(at(15)), 0);
    counter.refund_at(4, at(5));
    assert_eq!(counter.available_at(at(15)), 2);
    counter.refund_at(1, at(15));
    assert_eq!(counter.available_at(at(15)), 3);
    // Two windows on, the first no longer counts: there is nothing to give back.
    assert!(counter.try_acquire_n_at(4, at(29)).is_ok());
    counter.refund_at(5, at(5));
    assert_eq!(counter.available_at(at(29)), 0);
}

#[test]
fn a_sliding_counter_whose_present_window_is_empty_takes_back_what_the_last_one_counted() {
    let counter = SlidingWindowCounter::with_clock(five_in_ten_seconds(), ManualClock::new());
    assert!(counter.try_acquire_n_at(5, at(5)).is_ok());
    assert_eq!(counter.available_at(at(10)), 0);
    counter.refund_at(5, at(5));
    assert_eq!(counter.available_at(at(10)), 5);
}

#[test]
fn a_counter_whose_clock_jumps_back_by_two_windows_stays_in_the_latest() {
    let counter = SlidingWindowCounter::with_clock(five_in_ten_seconds(), ManualClock::new());
    assert!(counter.try_acquire_n_at(2, at(15)).is_ok());
    assert!(counter.try_acquire_n_at(2, at(25)).is_ok());
    // Counted at the beginning of the window from 20 s on: 2 of the window before count in full, and 2 of this one.
    assert_eq!(counter.available_at(at(5)), 1);
    let denied = counter.try_acquire_n_at(2, at(5)).unwrap_err();
    assert_eq!(
        denied.retry_after(),
        Some(Duration::from_secs(20)),
        "in that window, once half of the one before has faded"
    );
    assert!(counter.try_acquire_at(at(5)).is_ok());
    assert_eq!((counter.available_at(at(5)), counter.available_at(at(20))), (0, 0));
    assert_eq!(counter.status_at(at(5)).remaining, 0);
    assert!(counter.status_at(at(5)).reset_after > Duration::from_secs(25));
    // From the next window on it is as if the call had come in the latest one.
    assert_eq!(counter.available_at(at(35)), 5 - 2);
}

#[test]
fn a_fixed_window_counts_a_late_reading_in_the_latest_window() {
    let window = FixedWindow::with_clock(Quota::per_second(5), ManualClock::new());
    assert!(window.try_acquire_n_at(5, at(0)).is_ok());
    assert!(window.try_acquire_at(at(1)).is_ok());
    // The count of the window at 0 s is forgotten: these count in the window at 1 s, which gives five in all.
    let late = (0..9).filter(|_| window.try_acquire_at(at(0)).is_ok()).count();
    assert_eq!((late, window.available_at(at(1))), (4, 0));
}

#[test]
fn buckets_take_a_refund_back_on_any_reading_since() {
    let token = TokenBucket::with_clock(Quota::per_hour(10), ManualClock::new());
    let packed = PackedTokenBucket::with_clock(Quota::per_hour(10), ManualClock::new());
    for seconds in [7, 8] {
        assert!(token.try_acquire_n_at(4, at(7)).is_ok() && packed.try_acquire_n_at(4, at(7)).is_ok());
        token.refund_at(4, at(seconds));
        packed.refund_at(4, at(seconds));
        assert_eq!((token.available_at(at(8)), packed.available_at(at(8))), (10, 10));
    }
}

/// What a limiter of five per window has left after five were taken at 5 s, five at 15 s, and the first were given back.
fn left_after_a_late_refund(limiter: &dyn RateLimit, clock: &ManualClock, status: bool) -> u64 {
    clock.set(at(5));
    let taken = if status { limiter.take_n_with_status(5).0 } else { limiter.take_n(5) };
    clock.set(at(15));
    assert!(limiter.try_acquire_n(5).is_ok());
    limiter.take_back(taken.unwrap());
    limiter.available()
}

#[test]
fn a_refund_of_what_was_taken_through_the_trait_goes_to_its_own_window() {
    let quota = five_in_ten_seconds();
    for status in [false, true] {
        let clock = ManualClock::new();
        let fixed = FixedWindow::with_clock(quota, clock.clone());
        assert_eq!(left_after_a_late_refund(&&fixed, &clock, status), 0);
        let interval = IntervalBucket::with_clock(quota, clock.clone());
        assert_eq!(left_after_a_late_refund(&Arc::new(interval), &clock, status), 0);
        let counted = Counted::new(Box::new(FixedWindow::with_clock(quota, clock.clone())));
        assert_eq!((left_after_a_late_refund(&counted, &clock, status), counted.counts().admitted), (0, 2));
        // Either receipt can be given back exactly, too.
        let taken = if status { fixed.take_n_with_status(2).0 } else { fixed.take_n(2) };
        assert!(taken.is_err());
        clock.set(at(25));
        let taken = if status { fixed.take_n_with_status(2).0 } else { fixed.take_n(2) };
        assert!(fixed.give_back(taken.unwrap()));
        assert_eq!(fixed.available(), 5);
    }
}

/// Every limiter, as a trait object, of ten tokens, of which it has one each second again.
fn whatever_takes_back(clock: &ManualClock, check: impl Fn(&str, &dyn RateLimit)) {
    let quota = Quota::per(10, Duration::from_secs(10));
    let keyed = KeyedLimiter::<u32>::with_clock(quota, 10, clock.clone());
    let owned = Arc::new(KeyedLimiter::<u32>::with_clock(quota, 10, clock.clone())).line_owned(&7);
    let limiters: [(&str, Box<dyn RateLimit + '_>); 10] = [
        ("token", Box::new(TokenBucket::with_clock(quota, clock.clone()))),
        ("packed", Box::new(PackedTokenBucket::with_clock(quota, clock.clone()))),
        ("adjustable", Box::new(AdjustableTokenBucket::with_clock(quota, clock.clone()))),
        ("waiting", Box::new(WaitingTokenBucket::with_clock(quota, Duration::ZERO, clock.clone()))),
        ("sharded", Box::new(ShardedTokenBucket::with_clock(quota, clock.clone()))),
        ("counted", Box::new(Counted::new(Arc::new(TokenBucket::with_clock(quota, clock.clone()))))),
        ("keyed", Box::new(keyed.line(&7))),
        ("keyed, owned", Box::new(owned)),
        ("interval", Box::new(IntervalBucket::with_clock(quota, clock.clone()))),
        ("log", Box::new(SlidingWindowLog::with_clock(quota, clock.clone()))),
    ];
    for (name, limiter) in &limiters {
        check(name, limiter);
    }
}

fn take(limiter: &dyn RateLimit, n: u64, status: bool) -> Taken {
    if status {
        let (taken, status) = limiter.take_n_with_status(n);
        assert_eq!(status.remaining, limiter.available());
        taken.unwrap()
    } else {
        limiter.take_n(n).unwrap()
    }
}

#[test]
fn through_the_trait_what_comes_back_at_once_is_there_again() {
    for status in [false, true] {
        let clock = ManualClock::starting_at(at(1_000));
        whatever_takes_back(&clock, |name, limiter| {
            let full = limiter.available();
            let taken = take(limiter, 5, status);
            assert_eq!(limiter.take_back(taken), name != "log", "{name}");
            assert_eq!(limiter.available(), if name == "log" { 5 } else { full }, "{name}");
            assert!(limiter.take_n(11).is_err() && limiter.take_n_with_status(11).0.is_err(), "{name}");
        });
    }
}

/// Five are taken, fall due again, and others take all there is: to get the five back then would be fifteen within no time.
#[test]
fn through_the_trait_what_comes_back_late_is_not_minted() {
    for status in [false, true] {
        let clock = ManualClock::starting_at(at(1_000));
        whatever_takes_back(&clock, |name, limiter| {
            clock.set(at(1_000));
            let taken = take(limiter, 5, status);
            clock.set(at(1_005));
            let others = (0..10).filter(|_| limiter.try_acquire().is_ok()).count();
            limiter.take_back(taken);
            let more = (0..10).filter(|_| limiter.try_acquire().is_ok()).count();
            assert!(others + more <= 10, "{name}: {others} and {more}");
        });
    }
}
