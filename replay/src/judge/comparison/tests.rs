use super::*;
use core::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);

fn all(quota: Quota) -> Comparison {
    Comparison::new(quota, Algorithm::ALL.to_vec(), 1_000).unwrap()
}

fn tally(comparison: &Comparison, algorithm: Algorithm) -> &Tally {
    let place = comparison.algorithms().iter().position(|&one| one == algorithm).unwrap();
    comparison.tallies().nth(place).unwrap()
}

#[test]
fn keys_have_their_own_limiters() {
    let mut comparison = all(Quota::per(2, MINUTE));
    for key in [0, 0, 0, 0, 1, 1] {
        comparison.arrive(key, 1, Nanos::ZERO);
    }
    for one in comparison.tallies().chain([comparison.log_tally()]) {
        assert_eq!((one.admitted, one.denied, one.keys_denied, one.over, one.under), (4, 2, 1, 0, 0));
        assert_eq!(one.most_in_a_period, 2);
    }
    let of = |key| (comparison.arrivals_of(key), comparison.denied_by_log(key), comparison.denied_by_first(key));
    assert_eq!((of(0), of(1)), ((4, 2, 2), (2, 0, 0)));
    assert_eq!((comparison.most_asked_by(0), comparison.asked().most()), (4, 6));
    assert_eq!(comparison.busiest(), Busiest { key: 0, most: 4, at: Nanos::ZERO });
}

#[test]
fn both_kinds_of_difference() {
    // Two at the start of a minute, one half a minute later: a token has come back by then, the log's window still
    // holds both.
    let mut comparison = all(Quota::per(2, MINUTE));
    for second in [0, 0, 30] {
        comparison.arrive(0, 1, Nanos::from_secs(second));
    }
    let bucket = tally(&comparison, Algorithm::TokenBucket);
    assert_eq!((bucket.admitted, bucket.over, bucket.under, bucket.most_in_a_period), (3, 1, 0, 3));
    let window = tally(&comparison, Algorithm::FixedWindow);
    assert_eq!((window.denied, window.over, window.under), (1, 0, 0));
    assert_eq!(window.longest_wait, Duration::from_secs(30));
    assert!((bucket.share_differing() - 1.0 / 3.0).abs() < 1e-12);

    // At 60 s the log has room again, and what the bucket let through at 30 s is now held against it.
    for _ in 0..2 {
        comparison.arrive(0, 1, Nanos::from_secs(60));
    }
    let bucket = tally(&comparison, Algorithm::TokenBucket);
    assert_eq!((bucket.admitted, bucket.over, bucket.under), (4, 1, 1));
}

#[test]
fn costs_above_the_limit_never_pass() {
    let mut comparison = all(Quota::per(5, MINUTE));
    for cost in [6, u64::MAX, 5] {
        comparison.arrive(0, cost, Nanos::ZERO);
    }
    for one in comparison.tallies().chain([comparison.log_tally()]) {
        assert_eq!((one.admitted, one.denied, one.never, one.most_in_a_period), (1, 2, 2, 5));
        assert_eq!((one.longest_wait, one.over, one.under), (Duration::ZERO, 0, 0));
    }
}

#[test]
fn time_that_goes_back_mints_nothing() {
    let mut comparison = all(Quota::per(3, MINUTE));
    for second in [200, 20, 20, 100, 199] {
        comparison.arrive(0, 1, Nanos::from_secs(second));
    }
    for one in comparison.tallies().chain([comparison.log_tally()]) {
        assert_eq!(one.admitted, 3, "{one:?}");
    }
}

/// The library's log decides and hints as the exact one does, whatever the costs and however time jumps back.
#[test]
fn the_sliding_log_is_exact() {
    for seed in 0..20 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut comparison = all(Quota::per(7, MINUTE));
        let mut now = 100;
        for _ in 0..1_000 {
            now = if rng.u8(..8) == 0 { now - rng.u64(..now.min(90)) } else { now + rng.u64(..20) };
            let key = rng.usize(..=comparison.keys().min(2));
            comparison.arrive(key, rng.u64(..5), Nanos::from_secs(now));
            assert_eq!(tally(&comparison, Algorithm::SlidingLog), comparison.log_tally(), "seed {seed}");
        }
        assert!(comparison.log_tally().denied > 100 && comparison.log_tally().admitted > 100);
    }
}

/// What each lane has admitted within a period, when its window is computed again from all that it admitted.
#[test]
fn the_most_in_a_period_is_that_of_every_lane() {
    let mut rng = fastrand::Rng::with_seed(5);
    let quota = Quota::per(6, Duration::from_secs(10));
    let mut comparison = all(quota);
    let (mut now, mut admitted) = (0, Vec::new());
    for _ in 0..2_000 {
        now += rng.u64(..3);
        let decided = comparison.arrive(0, 1, Nanos::from_secs(now));
        admitted.extend(decided.by_first.then_some(now));
    }
    let within = |&end: &u64| admitted.iter().filter(|&&at| at <= end && end - at < 10).count() as u64;
    let most = admitted.iter().map(within).max().unwrap();
    assert_eq!(tally(&comparison, Algorithm::TokenBucket).most_in_a_period, most);
    assert!(most > 6 && tally(&comparison, Algorithm::TokenBucket).denied > 100);
}

#[test]
fn logs_are_left_out_before_they_take_too_much_memory() {
    let mut comparison = all(Quota::per(100, MINUTE));
    comparison.log_memory = 2 * (800 + 512);
    comparison.arrive(0, 1, Nanos::ZERO);
    comparison.arrive(1, 1, Nanos::ZERO);
    assert_eq!(comparison.logs_dropped(), None);
    assert!(comparison.algorithms().contains(&Algorithm::SlidingLog));
    comparison.arrive(2, 1, Nanos::ZERO);
    assert_eq!(comparison.logs_dropped(), Some(LogsTooLarge { each: 1_312, keys: 2 }));
    assert!(!comparison.algorithms().contains(&Algorithm::SlidingLog));
    for key in [0, 1, 2] {
        comparison.arrive(key, 1, Nanos::from_secs(61));
    }
    for one in comparison.tallies() {
        assert_eq!((one.admitted, one.most_in_a_period), (6, 1), "what has left the period was not forgotten");
    }
    let (algorithm, error) = Comparison::new(Quota::per(1 << 32, MINUTE), vec![Algorithm::SlidingLog], 1).unwrap_err();
    assert_eq!(algorithm, Algorithm::SlidingLog);
    assert!(error.to_string().contains("34359738880 bytes for each key"), "{error}");
}

#[test]
fn a_table_decides_as_single_buckets_do_until_it_is_full() {
    let quota = Quota::per(2, MINUTE);
    let algorithms = vec![Algorithm::TokenBucket, Algorithm::Keyed];
    let mut roomy = Comparison::new(quota, algorithms.clone(), 1_000).unwrap();
    let mut tight = Comparison::new(quota, algorithms, 10).unwrap();
    assert_eq!((roomy.capacity(), tight.capacity()), (Some(1_000), Some(10)));
    for (key, milli) in (0..300).zip(0..) {
        for milli in [milli, milli, milli, milli + 1] {
            roomy.arrive(key, 1, Nanos::from_millis(milli));
            tight.arrive(key, 1, Nanos::from_millis(milli));
        }
    }
    assert_eq!(tally(&roomy, Algorithm::Keyed), tally(&roomy, Algorithm::TokenBucket));
    let [single, table] = [Algorithm::TokenBucket, Algorithm::Keyed].map(|one| tally(&tight, one));
    assert_eq!((single.no_place, single.admitted), (0, 600));
    assert!(table.no_place > 0 && table.no_place < table.denied, "{table:?}");
    // Whoever has a place has all their tokens, and whoever has none is refused each time.
    assert_eq!(table.admitted * 2 + table.no_place, 1_200);
    assert_eq!(table.under, table.no_place / 2, "the log would have admitted two of the four");
    // After a minute, places are free again.
    let admitted = table.admitted;
    tight.arrive(299, 1, Nanos::from_secs(100));
    assert_eq!(tally(&tight, Algorithm::Keyed).admitted, admitted + 1);
}

#[test]
fn a_limit_that_an_algorithm_cannot_hold() {
    let quota = Quota::per_second(1_000_000);
    let (algorithm, _) = Comparison::new(quota, Algorithm::ALL.to_vec(), 1).unwrap_err();
    assert_eq!(algorithm, Algorithm::Packed);
    assert!(Comparison::new(quota, vec![Algorithm::TokenBucket], 1).is_ok());
}
