//! Looking inside: what a table holds, who owes most, what was decided.

use allocation_counter::{AllocationInfo, measure};
use std::collections::HashMap;
use std::time::Duration;
use tollgate::{
    Counted, Debtor, HeavyKeys, KeyedLimiter, KeyedRateLimit, ManualClock, Nanos, Quota, RateLimit, TokenBucket,
};

#[test]
fn every_slot_is_counted_as_what_it_is() {
    let quota = Quota::per_second(1).with_burst(10);
    let limiter = KeyedLimiter::<u64>::with_clock(quota, 100, ManualClock::new());
    let occupancy = |secs| {
        let occupancy = limiter.occupancy_at(Nanos::from_secs(secs));
        assert_eq!(occupancy.live, limiter.live_at(Nanos::from_secs(secs)));
        [occupancy.live, occupancy.kept, occupancy.recovered, occupancy.vacant]
    };
    assert_eq!(occupancy(0), [0, 0, 0, 200]);
    for key in 0..50 {
        assert!(limiter.try_acquire_n_at(&key, if key < 20 { 1 } else { 5 }, Nanos(0)).is_ok());
    }
    limiter.refund(&0, 1);
    assert_eq!(occupancy(0), [49, 1, 0, 150]);
    assert_eq!(occupancy(1), [30, 1, 19, 150]);
    assert_eq!(occupancy(4), [30, 1, 19, 150]);
    assert_eq!(occupancy(60), [0, 0, 50, 150]); // what is given back is kept for as long as the longest debt
    assert!((limiter.occupancy_at(Nanos::from_secs(1)).taken() - 31.0 / 200.0).abs() < 1e-9);
}

#[test]
fn the_heaviest_are_those_that_owe_most() {
    let quota = Quota::per_second(1).with_burst(1_000);
    let limiter = KeyedLimiter::<u64>::with_clock(quota, 500, ManualClock::new());
    for key in 0..400_u64 {
        assert!(limiter.try_acquire_n_at(&key, key * 7 % 401 + 1, Nanos(0)).is_ok());
    }
    let now = Nanos::from_secs(100);
    for places in [0, 1, 10, 300, 400] {
        let mut heaviest = vec![Debtor { key: limiter.fingerprint(&0), owes: Duration::ZERO }; places];
        let found = limiter.heaviest_at(&mut heaviest, now);
        let mut expected: Vec<_> =
            (0..400_u64).map(|key| (limiter.status_at(&key, now).reset_after, limiter.fingerprint(&key))).collect();
        expected.retain(|(owes, _)| *owes > Duration::ZERO);
        expected.sort_by(|one, other| other.cmp(one));
        expected.truncate(places);
        let heaviest: Vec<_> = heaviest[..found].iter().map(|debtor| (debtor.owes, debtor.key)).collect();
        assert_eq!(heaviest, expected);
    }
}

/// Against a count of everything, over streams in which some keys are heavy.
#[test]
fn heavy_keys_keep_what_the_algorithm_promises() {
    for seed in 0..20 {
        let (heavy, mut exact, mut random) = (HeavyKeys::new(20), HashMap::new(), fastrand::Rng::with_seed(seed));
        let mut total = 0;
        for _ in 0..5_000 {
            let key = if random.bool() { random.u64(..8) } else { random.u64(..2_000) };
            let weight = random.u64(1..10);
            heavy.record(&key, weight);
            *exact.entry(key).or_insert(0) += weight;
            total += weight;
        }
        let top = heavy.top(usize::MAX);
        assert_eq!((top.len(), heavy.missed()), (20, 0));
        assert!(top.is_sorted_by(|one, other| one.at_most >= other.at_most));
        for key in &top {
            let weight = exact[&key.key];
            assert!(key.at_least <= weight && weight <= key.at_most && key.at_most - key.at_least <= total / 20);
        }
        for (key, &weight) in exact.iter().filter(|&(_, &weight)| weight > total / 20) {
            assert!(top.iter().any(|heavy| heavy.key == *key), "{key} of {weight}");
        }
        heavy.clear();
        assert!(heavy.top(5).is_empty());
    }
}

/// However many keys come: what they need was there when they were made. (Keys with memory of their own, such as text, take theirs.)
#[test]
fn heavy_keys_take_no_more_memory_than_at_first() {
    let mut made = None;
    assert!(measure(|| made = Some(HeavyKeys::new(100))).bytes_current < 100 * 100);
    let heavy = made.unwrap();
    let allocated = measure(|| (0..100_000_u64).for_each(|key| heavy.record(&(key * key % 65_537), key % 5)));
    assert_eq!(allocated, AllocationInfo::default());
    assert_eq!(heavy.top(usize::MAX).len(), 100);
}

#[test]
fn a_weight_of_nothing_drives_nobody_out() {
    let heavy = HeavyKeys::<u64>::new(2);
    for (key, weight) in [(1, 5), (2, 3), (3, 0), (4, 0)] {
        heavy.record(&key, weight);
    }
    let top: Vec<_> = heavy.top(9).into_iter().map(|heavy| (heavy.key, heavy.at_least, heavy.at_most)).collect();
    assert_eq!(top, [(1, 5, 5), (2, 3, 3)]);
}

/// What several threads record at once is in a key, or is said to be missed.
#[test]
fn nothing_is_lost_unsaid() {
    let heavy = HeavyKeys::<u64>::new(4);
    std::thread::scope(|scope| {
        for key in 0..4 {
            let heavy = &heavy;
            scope.spawn(move || (0..20_000).for_each(|_| heavy.record(&key, 1)));
        }
    });
    let recorded: u64 = heavy.top(4).iter().map(|key| key.at_least).sum();
    assert_eq!(recorded + heavy.missed(), 80_000);
}

#[test]
fn every_decision_counts_once_under_its_outcome() {
    let bucket = Counted::new(TokenBucket::with_clock(Quota::per_hour(5), ManualClock::new()));
    assert!(bucket.try_acquire().is_ok() && bucket.try_acquire_n(3).is_ok());
    assert!(bucket.try_acquire_n(2).is_err() && bucket.try_acquire_n(6).is_err());
    assert_eq!([bucket.try_acquire_up_to(9), bucket.try_acquire_up_to(9), bucket.try_acquire_up_to(0)], [1, 0, 0]);
    let counts: Vec<_> = bucket.counts().by_outcome().collect();
    assert_eq!(counts, [("admitted", 4), ("denied", 2), ("too_large", 1), ("table_full", 0)]);

    let keyed = Counted::new(KeyedLimiter::<u64>::with_clock(Quota::per_hour(1), 1, ManualClock::new()));
    let admitted = (0..1_000).filter(|key| KeyedRateLimit::try_acquire(&keyed, key).is_ok()).count();
    let counts = keyed.counts();
    assert_eq!((counts.admitted, counts.table_full), (admitted as u64, 1_000 - admitted as u64));
}

#[test]
fn counts_of_many_threads_add_up() {
    const CALLS: u64 = 20_000;
    let bucket = Counted::new(TokenBucket::with_clock(Quota::per_hour(CALLS), ManualClock::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..CALLS).for_each(|_| _ = bucket.try_acquire()));
        }
    });
    let counts = bucket.counts();
    assert_eq!((counts.admitted, counts.denied), (CALLS, 3 * CALLS));
}
