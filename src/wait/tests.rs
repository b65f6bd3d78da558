//! What is written, and by how many steps; and that a compare-and-swap that fails without cause changes no outcome.

use super::{Place, WaitingTokenBucket};
use crate::sync::injected::{counting_writes, fail_weak};
use crate::{Denied, ManualClock, Nanos, Quota, ShardedTokenBucket};
use alloc::vec::Vec;
use core::time::Duration;

fn bucket(burst: u64) -> WaitingTokenBucket<ManualClock> {
    let quota = Quota::per_second(1).with_burst(burst);
    WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), ManualClock::new())
}

#[test]
fn a_place_is_one_write_and_a_refusal_is_none() {
    let bucket = bucket(2);
    for due in [0, 0, 1, 2] {
        let (place, writes) = counting_writes(|| bucket.reserve(1).unwrap());
        assert_eq!((place.due(), writes), (Nanos::from_secs(due), 1));
        // Spent or too early, that is nobody else's business.
        let (spent, writes) = counting_writes(|| place.spend());
        assert_eq!((spent.is_ok(), writes), (due == 0, 0));
        core::mem::forget(spent);
    }
    let short = Duration::from_secs(1);
    assert!(matches!(counting_writes(|| bucket.reserve_within(1, short)), (Err(Denied::WouldExceedDeadline(_)), 0)));
    assert!(matches!(counting_writes(|| bucket.reserve(3)), (Err(Denied::ExceedsBurst { .. }), 0)));
    assert!(matches!(counting_writes(|| bucket.try_acquire()), (Err(Denied::TryAfter(_)), 0)));
    assert_eq!(counting_writes(|| (bucket.available(), bucket.status().remaining)), ((0, 0), 0));
    // With something in the pool that is of no use to the caller, too.
    let [middle, last] = [(); 2].map(|()| bucket.reserve(1).unwrap());
    drop(middle);
    assert!(matches!(counting_writes(|| bucket.reserve_within(1, short)), (Err(Denied::WouldExceedDeadline(_)), 0)));
    assert!(matches!(counting_writes(|| bucket.reserve_within(2, short)), (Err(Denied::WouldExceedDeadline(_)), 0)));
    assert!(matches!(counting_writes(|| bucket.try_acquire()), (Err(Denied::TryAfter(_)), 0)));
    drop(last);
}

#[test]
fn the_last_place_goes_back_by_one_write_and_one_from_the_middle_by_three() {
    let bucket = bucket(2);
    let [first, second, third] = [(); 3].map(|()| bucket.reserve(1).unwrap());
    assert_eq!(counting_writes(|| third.cancel()), (1, 1));
    // BUSY, start, length.
    assert_eq!(counting_writes(|| first.cancel()), (1, 3));
    // The word; then what ends there: BUSY, the word, start and length.
    assert_eq!(counting_writes(|| second.cancel()), (1, 5));
    assert_eq!(bucket.available(), 2);
}

/// Of a place that is used in part, the later tokens come back, and only those: the word stands where the used ones end.
#[test]
#[cfg(feature = "std")]
fn what_is_kept_of_a_place_is_its_lower_part() {
    const BURST: u64 = 6;
    let taken = |n: u64| Nanos::from_secs(n.saturating_sub(BURST));
    for (cost, kept) in (1..=BURST).flat_map(|cost| (0..=cost + 1).map(move |kept| (cost, kept))) {
        let bucket = bucket(BURST);
        let place = bucket.reserve(cost).unwrap();
        let ((), writes) = counting_writes(|| place.keep(kept));
        assert_eq!(writes, u32::from(kept < cost), "{kept} of {cost}");
        assert_eq!(bucket.available(), BURST - kept.min(cost), "{kept} of {cost}");
        assert_eq!(bucket.reserve(BURST).unwrap().due(), taken(kept.min(cost) + BURST), "{kept} of {cost}");
        // From the middle too: what comes back ends where the place did.
        let place = bucket.reserve(cost).unwrap();
        let after = bucket.reserve(1).unwrap();
        let end = kept.min(cost) + cost + 1;
        assert_eq!(after.due(), taken(end));
        place.keep(kept);
        after.cancel();
        assert_eq!(bucket.reserve(BURST).unwrap().due(), taken(2 * kept.min(cost) + BURST), "{kept} of {cost}");
    }
}

#[test]
fn failures_without_cause_change_no_outcome() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..500 {
        let run = |random: &mut fastrand::Rng, failing: bool| {
            let bucket = bucket(3);
            let mut seen = Vec::new();
            for seed in 0..20_u64 {
                fail_weak(if failing { random.u64(..) } else { 0 });
                let places = [1, 3, 1, 2].map(|n| bucket.reserve(n).ok());
                seen.extend(places.iter().map(|place| place.as_ref().map(|place| place.due().0)));
                for (i, place) in places.into_iter().enumerate() {
                    match place {
                        Some(place) if (seed >> i) & 1 == 1 => seen.push(Some(place.cancel())),
                        other => core::mem::forget(other),
                    }
                }
            }
            fail_weak(0);
            seen
        };
        assert_eq!(run(&mut random, true), run(&mut random, false));
    }
}

#[test]
fn a_place_of_a_sharded_bucket_is_one_write_and_two_when_it_goes_back() {
    let bucket = ShardedTokenBucket::with_clock(Quota::per_second(1_000), ManualClock::new());
    let (place, writes) = counting_writes(|| bucket.reserve(bucket.max_cost()).unwrap());
    // One to the centre, and one for those who have seen it short.
    assert_eq!((writes, counting_writes(|| place.cancel())), (1, (bucket.max_cost(), 2)));
    let ahead = [(); 2].map(|()| bucket.reserve(500).unwrap());
    assert_eq!(counting_writes(|| ahead.map(Place::cancel)), ([0, 500], 2));
}
