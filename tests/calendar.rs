//! Windows that begin where calendars say, on a time of day that can be set.

use core::time::Duration;
use tollgate::{
    Clock, FixedWindow, IntervalBucket, ManualClock, Nanos, Quota, RateLimitAt, SlidingWindowCounter, WallClock,
};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

/// 2026-03-01 00:00 UTC, a Sunday.
const MARCH: Nanos = Nanos::from_secs(1_772_323_200);

/// Five in each window, on a time of day that reads `now`.
fn five_each(period: Duration, now: Nanos) -> (FixedWindow<ManualClock>, ManualClock) {
    let clock = ManualClock::starting_at(now);
    (FixedWindow::with_clock(Quota::per(5, period), clock.clone()), clock)
}

#[test]
fn minutes_hours_and_days_begin_when_they_do() {
    for period in [MINUTE, HOUR, DAY] {
        let (window, clock) = five_each(period, MARCH.saturating_sub(Duration::from_nanos(1)));
        assert_eq!(window.try_acquire_up_to(u64::MAX), 5);
        assert_eq!(window.try_acquire().unwrap_err().retry_after(), Some(Duration::from_nanos(1)), "{period:?}");
        clock.set(MARCH);
        assert_eq!(window.try_acquire_up_to(u64::MAX), 5);
        assert_eq!(window.try_acquire().unwrap_err().retry_after(), Some(period));
    }
}

#[test]
fn a_zone_moves_the_day() {
    let (behind, ahead) = (WallClock::west(5 * HOUR), WallClock::east(330 * MINUTE));
    let day = |clock: &dyn Clock| clock.now().as_nanos() / 86_400_000_000_000;
    let seconds = |clock: &dyn Clock| clock.now().saturating_since(WallClock::UTC.now());
    // The zones are ten and a half hours apart, give or take the time between the readings.
    let apart = seconds(&ahead).as_secs_f64();
    assert!((apart - 5.5 * 3_600.0).abs() < 60.0, "{apart}");
    assert!(day(&behind) <= day(&WallClock::UTC) && day(&WallClock::UTC) <= day(&ahead));
}

#[test]
fn a_clock_set_back_gives_no_second_windows_worth() {
    for back in [Duration::from_secs(1), MINUTE, HOUR, 10 * DAY] {
        let (window, clock) = five_each(MINUTE, MARCH);
        assert_eq!(window.try_acquire_up_to(u64::MAX), 5);
        clock.set(MARCH.saturating_sub(back));
        assert_eq!(window.try_acquire_up_to(u64::MAX), 0, "{back:?} back");
        // Nor in any minute until the clock is past where it was.
        for _ in 0..=back.as_secs() / 60 {
            assert_eq!(window.try_acquire_up_to(u64::MAX), 0, "{back:?} back");
            clock.advance(MINUTE);
        }
        assert_eq!(window.try_acquire_up_to(u64::MAX), if back.as_secs() % 60 == 0 { 5 } else { 0 });
    }
}

#[test]
fn a_clock_set_forward_gives_at_most_the_windows_passed() {
    for forward in [MINUTE, HOUR, 10 * DAY] {
        let (window, clock) = five_each(MINUTE, MARCH);
        assert_eq!(window.try_acquire_up_to(u64::MAX), 5);
        clock.set(MARCH.saturating_add(forward));
        assert_eq!(window.try_acquire_up_to(u64::MAX), 5, "one window's worth, however many were stepped over");
        // And back: the windows that were stepped over are gone, not owed.
        clock.set(MARCH);
        assert_eq!(window.try_acquire_up_to(u64::MAX), 0, "{forward:?} forward and back");
    }
}

/// Set to and fro, by less than a window and by many: a minute's worth is never admitted after what a later minute has begun, and
/// a fixed window refuses nothing for which there is room in the latest.
#[test]
fn however_the_clock_is_set_no_window_is_given_twice() {
    let mut random = fastrand::Rng::with_seed(15);
    for _ in 0..300 {
        let (limit, clock) = (random.u64(1..9), ManualClock::new());
        let quota = Quota::per(limit, MINUTE);
        let limiters: [Box<dyn RateLimitAt>; 3] = [
            Box::new(FixedWindow::with_clock(quota, clock.clone())),
            Box::new(IntervalBucket::with_clock(quota, clock.clone())),
            Box::new(SlidingWindowCounter::with_clock(quota, clock.clone())),
        ];
        let (mut latest, mut admitted) = ([0; 3], [0; 3]);
        let mut now = MARCH;
        for _ in 0..200 {
            let step = Duration::from_nanos(random.u64(..300_000_000_000));
            now = match random.u32(..10) {
                0 => now.saturating_sub(step),
                1 => now.saturating_add(step),
                _ => now.saturating_add(step / 20),
            };
            clock.set(now);
            let (minute, n) = (now.0 / 60_000_000_000, random.u64(1..=limit));
            for (number, limiter) in limiters.iter().enumerate() {
                if limiter.try_acquire_n(n).is_ok() {
                    if minute > latest[number] {
                        (latest[number], admitted[number]) = (minute, 0);
                    }
                    admitted[number] += n;
                    assert!(admitted[number] <= limit, "a second window's worth");
                } else if number < 2 {
                    assert!(minute <= latest[number] && admitted[number] + n > limit, "refused, and there is room");
                }
            }
        }
    }
}
