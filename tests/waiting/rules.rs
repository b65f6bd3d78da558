//! The rules of waiting, one at a time.

use core::time::Duration;
use tollgate::{Denied, ManualClock, Nanos, Quota, RateLimit, WaitingTokenBucket};

type Bucket = WaitingTokenBucket<ManualClock>;

fn bucket(quota: Quota) -> (Bucket, ManualClock) {
    let clock = ManualClock::new();
    (Bucket::with_clock(quota, Duration::MAX, clock.clone()), clock)
}

#[test]
fn a_refusal_names_what_is_broken() {
    let bucket = Bucket::with_clock(Quota::per_second(1).with_burst(2), Duration::from_secs(1), ManualClock::new());
    assert_eq!(bucket.reserve(3).unwrap_err(), Denied::ExceedsBurst { cost: 3, max_cost: 2 });
    assert_eq!(bucket.reserve(u64::MAX).unwrap_err(), Denied::ExceedsBurst { cost: u64::MAX, max_cost: 2 });
    bucket.try_acquire_n(2).unwrap();
    // What binds is named: the caller's patience, or the line's end.
    assert!(matches!(bucket.reserve_within(2, Duration::from_millis(999)), Err(Denied::WouldExceedDeadline(_))));
    assert!(matches!(bucket.reserve_within(2, Duration::from_secs(1)), Err(Denied::LineFull(_))));
    assert!(matches!(bucket.reserve(2), Err(Denied::LineFull(_))));
    assert!(matches!(bucket.try_acquire(), Err(Denied::TryAfter(_))));
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_secs(1));
}

#[test]
fn nobody_overtakes() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    bucket.try_acquire().unwrap();
    let first = bucket.reserve(1).unwrap();
    clock.set(Nanos::from_secs(1));
    // The place is due and not yet spent: its token is nobody else's.
    assert!(bucket.try_acquire().is_err());
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_secs(2));
    first.spend().unwrap();
}

#[test]
fn a_late_wake_up_costs_the_rate_nothing() {
    let (bucket, clock) = bucket(Quota::per_second(1_000).with_burst(1));
    // Each caller asks as soon as it has been served, and wakes up 0.9 ms late.
    let mut due = Nanos::ZERO;
    let place = bucket.reserve(1).unwrap();
    place.spend().unwrap();
    for i in 1..=1_000 {
        let place = bucket.reserve(1).unwrap();
        due = place.due();
        clock.set(due.saturating_add(Duration::from_micros(900)));
        place.spend().unwrap();
        assert_eq!(due, Nanos::from_millis(i));
    }
    assert_eq!(due, Nanos::from_secs(1));
}

#[test]
fn places_never_drift() {
    let (bucket, _clock) = bucket(Quota::per_second(3).with_burst(1));
    for i in 0..30_000_u64 {
        let place = bucket.reserve(1).unwrap();
        assert_eq!(place.due().as_nanos(), (i * 1_000_000_000).div_ceil(3));
        core::mem::forget(place); // as good as spent
    }
}

#[test]
fn a_stretch_too_short_or_not_due_is_left_alone() {
    let (bucket, clock) = bucket(Quota::per_second(1).with_burst(2));
    bucket.try_acquire_n(2).unwrap();
    let [one, two, last] = [1, 2, 1].map(|n| bucket.reserve(n).unwrap());
    assert_eq!([one.due(), two.due(), last.due()].map(|due| due.as_nanos() / 1_000_000_000), [1, 3, 4]);
    drop(one);
    drop(two);
    // Neither piece holds three; and two pieces are never put together for one cost.
    assert_eq!(
        bucket.reserve_within(2, Duration::from_secs(2)).unwrap_err().retry_after(),
        Some(Duration::from_secs(1))
    );
    let both = bucket.reserve(2).unwrap();
    assert_eq!(both.due(), Nanos::from_secs(3));
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_secs(1));
    drop(both);
    // What is taken is the beginning: the rest is still good.
    let first = bucket.reserve(1).unwrap();
    assert_eq!(first.due(), Nanos::from_secs(1));
    let second = bucket.reserve(1).unwrap();
    assert_eq!(second.due(), Nanos::from_secs(2));
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_secs(3));
    clock.set(Nanos::from_secs(4));
    for place in [first, second, last] {
        place.spend().unwrap();
    }
}

#[test]
fn what_has_dropped_out_of_the_bucket_is_not_used() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    let [first, second, third] = [0; 3].map(|_| bucket.reserve(1).unwrap());
    drop(second); // due at 1 s, and good until then
    clock.set(Nanos(1_000_000_001));
    assert!(bucket.try_acquire().is_err());
    assert_eq!((bucket.available(), bucket.status().remaining), (0, 0));
    assert_eq!(bucket.status().retry_after, Some(Duration::from_nanos(1_999_999_999)));
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_secs(3));
    clock.set(Nanos::from_secs(2));
    first.spend().unwrap();
    third.spend().unwrap();
}

#[test]
fn a_place_that_has_long_been_due_gives_back_what_it_is_still_worth() {
    let (bucket, clock) = bucket(Quota::per_second(1).with_burst(4));
    let place = bucket.reserve(4).unwrap();
    let keep = bucket.reserve(1).unwrap();
    clock.set(Nanos::from_secs(2));
    assert_eq!(place.cancel(), 2);
    assert_eq!(bucket.available(), 2);
    assert_eq!(bucket.try_acquire_up_to(9), 2);
    drop(keep);
    let place = bucket.reserve(1).unwrap();
    clock.set(Nanos::from_secs(100));
    assert_eq!((place.cancel(), bucket.available()), (0, 4));
}

#[test]
fn a_full_pool_loses_tokens_and_mints_none() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    let mut places: Vec<_> = (0..40).map(|_| bucket.reserve(1).unwrap()).collect();
    places.remove(0).spend().unwrap();
    // Every second place, so that no two are neighbours: places due at 1, 3, 5, ... 37 s.
    let given: Vec<_> = (0..19).map(|i| places.remove(i).cancel()).collect();
    let kept = given.iter().sum::<u64>();
    assert_eq!((kept, given.len()), (7, 19), "one for each slot of the pool");
    let next: Vec<_> = (0..8).map(|_| bucket.reserve(1).unwrap().due().as_nanos() / 1_000_000_000).collect();
    assert_eq!(next, [1; 8], "dropped at once, so that each asks for the same");
    let next: Vec<_> = (0..8).map(|_| bucket.reserve(1).unwrap()).collect();
    let due: Vec<_> = next.iter().map(|place| place.due().as_nanos() / 1_000_000_000).collect();
    assert_eq!(due, [1, 3, 5, 7, 9, 11, 13, 40]);
    clock.set(Nanos::from_secs(40));
    assert!(places.into_iter().chain(next).all(|place| place.spend().is_ok()));
}

#[test]
fn an_expired_stretch_makes_room() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    let mut places: Vec<_> = (0..40).map(|_| bucket.reserve(1).unwrap()).collect();
    let given: u64 = (0..7).map(|i| places.remove(i).cancel()).sum();
    assert_eq!((given, places.remove(20).cancel()), (7, 0));
    clock.set(Nanos(5_000_000_000 + 1));
    // Of 0, 2, 4 .. 12 s, two have dropped out by now, and at 4 s a third: there is room for three.
    assert_eq!((0..4).map(|i| places.remove(20 + i).cancel()).sum::<u64>(), 3);
}

#[test]
fn unlimited_and_deny_all_have_places_of_their_kind() {
    let (free, _clock) = bucket(Quota::UNLIMITED);
    let place = free.reserve(u64::MAX).unwrap();
    assert_eq!((place.due(), place.cost(), place.cancel()), (Nanos::ZERO, u64::MAX, u64::MAX));
    assert_eq!((free.available(), free.try_acquire_up_to(u64::MAX)), (u64::MAX, u64::MAX));
    let (none, _clock) = bucket(Quota::DENY_ALL);
    assert_eq!(none.reserve(1).unwrap_err(), Denied::ExceedsBurst { cost: 1, max_cost: 0 });
    none.reserve(0).unwrap().spend().unwrap();
    assert_eq!(none.status().retry_after, None);
}

#[test]
fn the_end_of_time_is_a_refusal_and_not_an_overflow() {
    for quota in [Quota::per_second(1), Quota::per_second(7_000_000_000), Quota::per_hour(1).with_burst(1 << 40)] {
        let (bucket, clock) = bucket(quota);
        clock.set(Nanos::MAX);
        assert!(bucket.try_acquire_n(bucket.max_cost()).is_ok());
        assert!(matches!(bucket.reserve(1), Err(Denied::LineFull(_))));
        assert!(matches!(bucket.reserve_within(1, Duration::ZERO), Err(Denied::WouldExceedDeadline(_))));
    }
}

#[test]
fn it_is_a_rate_limit_and_a_static() {
    static GATE: WaitingTokenBucket = WaitingTokenBucket::new(Quota::per_hour(3), Duration::from_secs(1));
    let gate: &dyn RateLimit = &GATE;
    assert_eq!((gate.max_cost(), gate.quota()), (3, Quota::per_hour(3)));
    assert!(gate.try_acquire_n(3).is_ok() && gate.try_acquire().is_err());
    assert_eq!(gate.status().remaining, 0);
    assert!(format!("{GATE:?}").starts_with("WaitingTokenBucket { quota: Quota { tokens: 3,"));
}

#[test]
fn the_initial_level_is_what_was_asked_for() {
    let make = || Bucket::with_clock(Quota::per_second(5), Duration::MAX, ManualClock::new());
    assert_eq!(make().with_initial(2).available(), 2);
    assert!(make().try_with_initial(6).is_err());
}
