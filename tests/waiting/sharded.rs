//! Places on the central word of a sharded bucket.

use core::time::Duration;
use tollgate::{Denied, ManualClock, Nanos, Place, Quota, ShardedTokenBucket};
use tollgate_testing::trace::{Admission, first_violation};

type Bucket = ShardedTokenBucket<ManualClock>;

fn empty(quota: Quota) -> (Bucket, ManualClock) {
    let clock = ManualClock::new();
    let bucket = Bucket::with_clock(quota, clock.clone());
    while bucket.try_acquire().is_ok() {}
    (bucket, clock)
}

#[test]
fn places_are_due_in_order_and_before_all_who_come_later() {
    let (bucket, clock) = empty(Quota::per_second(1_000));
    let places = [10, 20, 30].map(|n| bucket.reserve(n).unwrap());
    assert_eq!(places.each_ref().map(|place| place.due().as_nanos() / 1_000_000), [10, 30, 60]);
    let Err(Denied::WouldExceedDeadline(hint)) = bucket.reserve_within(1, Duration::from_millis(60)) else {
        panic!("it would be due after 61 ms")
    };
    assert_eq!((hint.due(), hint.retry_after()), (Nanos::from_millis(61), Duration::from_millis(1)));
    assert!(matches!(bucket.reserve(1_001), Err(Denied::ExceedsBurst { .. })));
    clock.set(Nanos::from_millis(60));
    assert!(bucket.try_acquire().is_err(), "what has come belongs to those in line");
    assert!(places.into_iter().all(|place| place.spend().is_ok()));
    clock.set(Nanos::from_millis(61));
    assert!(bucket.try_acquire().is_ok() && bucket.try_acquire().is_err());
}

/// V1, without a pool: what is given back from the middle is lost, and nothing is minted.
#[test]
fn v1_the_last_place_comes_back_and_one_from_the_middle_does_not() {
    let (bucket, _clock) = empty(Quota::per_second(1_000));
    let [b, c] = [(); 2].map(|()| bucket.reserve(1).unwrap());
    assert_eq!((b.cancel(), bucket.reserve(1).unwrap().due()), (0, Nanos::from_millis(3)));
    assert_eq!(c.cancel(), 1);
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_millis(2));
}

#[test]
fn places_and_credits_together_keep_the_bound() {
    let quota = Quota::per(1, Duration::from_micros(1)).with_burst(4_000);
    let clock = ManualClock::new();
    let bucket = Bucket::with_clock(quota, clock.clone());
    let mut random = fastrand::Rng::with_seed(7);
    let (mut spent, mut held) = (Vec::new(), Vec::<Place<&Bucket>>::new());
    for _ in 0..20_000 {
        let now = Nanos(random.u64(0..1_000) + tollgate::Clock::now(&clock).0);
        clock.set(now);
        match random.u64(0..8) {
            0 => held.extend(bucket.reserve_within(random.u64(1..200), Duration::from_micros(random.u64(0..900)))),
            1 if !held.is_empty() => drop(held.swap_remove(random.usize(..held.len()))),
            2 if !held.is_empty() => {
                let place = held.swap_remove(random.usize(..held.len()));
                let admission = Admission::new(place.cost(), place.due());
                match place.spend() {
                    Ok(()) => spent.push(admission),
                    Err(early) => held.push(early),
                }
            }
            _ => {
                let n = random.u64(1..20);
                spent.extend(bucket.try_acquire_n(n).is_ok().then(|| Admission::new(n, now)));
            }
        }
    }
    spent.extend(held.iter().map(|place| Admission::new(place.cost(), place.due())));
    let sum = spent.iter().map(|admission| admission.cost).sum::<u64>();
    assert!(sum > 3_000, "{sum}");
    assert!(first_violation(&spent, quota).is_none());
}
