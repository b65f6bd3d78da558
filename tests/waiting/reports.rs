//! What users of other limiters have reported, and the one right answer: reservations, refunds, waiting.

use core::time::Duration;
use std::sync::Arc;
use tollgate::{Denied, ManualClock, Nanos, Place, Quota, WaitingTokenBucket};

type Bucket = WaitingTokenBucket<ManualClock>;

const MINUTE: Duration = Duration::from_secs(60);

fn bucket(quota: Quota, longest: Duration) -> (Bucket, ManualClock) {
    let clock = ManualClock::new();
    (Bucket::with_clock(quota, longest, clock.clone()), clock)
}

fn one_per(period: Duration, burst: u64) -> Quota {
    Quota::per(1, period).with_burst(burst)
}

/// V1: a place given back from the middle goes to the next who asks, and nobody else moves.
#[test]
fn v1_a_cancelled_place_goes_to_the_next_who_asks() {
    let (bucket, clock) = bucket(Quota::per_second(1), MINUTE);
    assert!(bucket.try_acquire().is_ok());
    let b = bucket.reserve(1).unwrap();
    let c = bucket.reserve(1).unwrap();
    assert_eq!([b.due(), c.due()], [Nanos::from_secs(1), Nanos::from_secs(2)]);
    clock.advance(Duration::from_millis(500));
    assert_eq!(b.cancel(), 1);

    let d = bucket.reserve(1).unwrap();
    assert_eq!(d.due(), Nanos::from_secs(1), "in B's place");
    let e = bucket.reserve(1).unwrap();
    assert_eq!(e.due(), Nanos::from_secs(3), "never two at 2 s");
    assert_eq!(c.due(), Nanos::from_secs(2));

    clock.set(Nanos::from_secs(1));
    assert!(d.spend().is_ok() && bucket.try_acquire().is_err());
    let Err(c) = c.spend() else { panic!("C is not due at 1 s") };
    clock.set(Nanos::from_secs(2));
    assert!(c.spend().is_ok() && bucket.try_acquire().is_err());
    clock.set(Nanos::from_secs(3));
    assert!(e.spend().is_ok() && bucket.try_acquire().is_err());
}

/// V1, for one who does not wait: it is served from B's place at the instant at which that is due, and not before.
#[test]
fn v1_a_cancelled_place_serves_a_call_that_does_not_wait() {
    let (bucket, clock) = bucket(Quota::per_second(1), MINUTE);
    let [a, b, c] = [0; 3].map(|_| bucket.reserve(1).unwrap());
    assert!(a.spend().is_ok());
    drop(b);
    let denied = bucket.try_acquire().unwrap_err();
    assert_eq!(denied.retry_after(), Some(Duration::from_secs(1)), "the hint knows of B's place");
    clock.set(Nanos(999_999_999));
    assert!(bucket.try_acquire().is_err());
    clock.set(Nanos::from_secs(1));
    assert!(bucket.try_acquire().is_ok() && bucket.try_acquire().is_err());
    clock.set(Nanos::from_secs(2));
    assert!(c.spend().is_ok() && bucket.try_acquire().is_err());
}

/// V2: whatever the order, all three come back exactly.
#[test]
fn v2_all_places_given_back_come_back_in_any_order() {
    for order in [[2, 1, 0], [0, 1, 2], [1, 0, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1]] {
        let (bucket, clock) = bucket(Quota::per_second(10).with_burst(4), MINUTE);
        clock.set(Nanos::from_secs(7));
        let before = bucket.status();
        let mut places = [1, 4, 2].map(|n| Some(bucket.reserve(n).unwrap()));
        assert_eq!(bucket.available(), 0);
        for i in order {
            assert_eq!(places[i].take().map(Place::cancel), Some([1, 4, 2][i]));
        }
        assert_eq!(bucket.status(), before, "{order:?}");
        assert_eq!(bucket.reserve(4).unwrap().due(), Nanos::from_secs(7), "{order:?}");
    }
}

/// V3: what cannot be in time is refused at once, and costs nothing.
#[test]
fn v3_a_wait_beyond_the_deadline_is_refused_at_once() {
    let (bucket, clock) = bucket(Quota::per_second(1), MINUTE);
    assert!(bucket.try_acquire().is_ok());
    let before = bucket.status();
    let patience = Duration::from_nanos(999_999_999);
    let Err(Denied::WouldExceedDeadline(hint)) = bucket.reserve_within(1, patience) else { panic!("too late") };
    assert_eq!((hint.due(), hint.retry_after()), (Nanos::from_secs(1), Duration::from_nanos(1)));
    assert!(bucket.acquire_blocking_timeout(1, patience).is_err(), "and without sleeping: the clock stands still");
    assert_eq!(bucket.status(), before);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(bucket.reserve_within(1, patience).unwrap().due(), Nanos::from_secs(1));
}

/// V5: the line has an end, and whoever is beyond it knows at once.
#[test]
fn v5_a_line_has_a_bound() {
    let (bucket, clock) = bucket(one_per(Duration::from_millis(100), 3), Duration::from_millis(500));
    let mut places = Vec::new();
    let mut refused = 0;
    for _ in 0..10 {
        match bucket.reserve(1) {
            Ok(place) => places.push(place),
            Err(Denied::LineFull(hint)) => {
                assert_eq!((hint.due(), hint.retry_after()), (Nanos::from_millis(600), Duration::from_millis(100)));
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    let due: Vec<_> = places.iter().map(|place| place.due().as_nanos() / 1_000_000).collect();
    assert_eq!((due.as_slice(), refused), (&[0, 0, 0, 100, 200, 300, 400, 500][..], 2));
    clock.set(Nanos(99_999_999));
    assert!(bucket.reserve(1).is_err());
    clock.set(Nanos::from_millis(100));
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_millis(600));
}

/// V6: dropped means given back; nobody else is stuck, or moves.
#[test]
fn v6_a_dropped_place_is_given_back() {
    let (bucket, clock) = bucket(Quota::per_second(1), MINUTE);
    let bucket = Arc::new(bucket);
    assert!(bucket.try_acquire().is_ok());
    let first = Arc::clone(&bucket).reserve_owned(1).unwrap();
    let second = bucket.reserve(1).unwrap();
    std::thread::spawn(move || drop(first)).join().unwrap();
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_secs(1));
    assert_eq!(second.due(), Nanos::from_secs(2));
    drop(second);
    clock.advance(Duration::from_secs(1));
    assert!(bucket.try_acquire().is_ok());
    assert_eq!(Arc::strong_count(&bucket), 1);
}

/// V7: a refund of more than the burst, with and without places.
#[test]
fn v7_no_refund_exceeds_the_burst() {
    let (bucket, _clock) = bucket(Quota::per_second(5), MINUTE);
    assert!(bucket.try_acquire_n(5).is_ok());
    bucket.refund(u64::MAX);
    assert_eq!(bucket.available(), 5);
    let place = bucket.reserve(3).unwrap();
    bucket.refund(u64::MAX);
    place.cancel();
    assert_eq!(bucket.available(), 5);
}
