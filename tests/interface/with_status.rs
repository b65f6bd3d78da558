//! A decision and the status that it has left are one: the same as deciding and asking, with nothing in between.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, Clock, Counted, Denied, KeyedLimiter,
    KeyedRateLimit, Line, ManualClock, Nanos, Place, Quota, RateLimit, RateLimitAt, ShardedTokenBucket, Status,
    TokenBucket, WaitingTokenBucket,
};
use tollgate_testing::each_word;

type Limiter = Box<dyn RateLimitAt + Send + Sync>;

fn limiters(quota: Quota, clock: &ManualClock) -> Vec<(&'static str, Limiter)> {
    let c = || clock.clone();
    let mut all: Vec<(_, Limiter)> = vec![
        ("waiting", Box::new(WaitingTokenBucket::with_clock(quota, Duration::from_secs(9), c()))),
        ("adjustable", Box::new(AdjustableTokenBucket::with_clock(quota, c()))),
        ("adjustable window", Box::new(AdjustableFixedWindow::with_clock(quota, c()))),
        ("adjustable counter", Box::new(AdjustableSlidingWindowCounter::with_clock(quota, c()))),
        ("sharded", Box::new(ShardedTokenBucket::with_shards_and_clock(quota, 4, c()))),
    ];
    macro_rules! push {
        ($($limiter:ident),*) => {$(
            all.push((stringify!($limiter), Box::new(tollgate::$limiter::with_clock(quota, c()))));
        )*};
    }
    each_word!(push, SlidingWindowLog);
    all
}

/// What may be asked for: small costs, the whole limit, and more.
fn cost(random: &mut fastrand::Rng, most: u64) -> u64 {
    match random.u32(..8) {
        0 => 0,
        1 => most,
        2 => most + 1,
        _ => random.u64(1..=most.div_ceil(3)),
    }
}

/// `status` is what `before`, asked after the same call, says; the decision is the same.
#[track_caller]
fn same(name: &str, one: (Result<(), Denied>, Status), two: (Result<(), Denied>, Status), n: u64) {
    assert_eq!(one, two, "{name}, a cost of {n}");
    if n == 1
        && let Err(denied) = one.0
    {
        assert_eq!(one.1.retry_after, denied.retry_after(), "{name}");
    }
}

#[test]
fn every_limiter_says_what_deciding_and_asking_would() {
    let mut random = fastrand::Rng::with_seed(11);
    for quota in [Quota::per_second(3), Quota::per(7, Duration::from_millis(300)).with_burst(5), Quota::per_second(400)]
    {
        let clock = ManualClock::new();
        let pairs = limiters(quota, &clock).into_iter().zip(limiters(quota, &clock));
        // Where there are credits, one way draws them in batches and the other does not; they have a test of their own.
        for ((name, one), (_, two)) in pairs.filter(|((name, _), _)| *name != "sharded" || quota.burst() < 136) {
            clock.set(Nanos::from_secs(50));
            for _ in 0..2_000 {
                clock.advance(Duration::from_nanos(random.u64(..200_000_000)));
                let n = cost(&mut random, one.max_cost());
                if random.bool() {
                    let decision = two.try_acquire_n(n);
                    same(name, one.try_acquire_n_with_status(n), (decision, two.status()), n);
                } else {
                    // Readings older than the latest count, too.
                    let now = Nanos(clock.now().0 - random.u64(..2) * random.u64(..400_000_000));
                    let decision = two.try_acquire_n_at(n, now);
                    same(name, one.try_acquire_n_with_status_at(n, now), (decision, two.status_at(now)), n);
                }
            }
        }
    }
}

/// Places are taken in pairs, of one line with a status and of another that is asked afterwards; some are spent, and some given back,
/// from the middle of the line too.
fn places_of_pairs<L: Line, M: Line>(
    clock: &ManualClock,
    one: impl Fn(u64, Duration) -> (Result<Place<L>, Denied>, Status),
    two: impl Fn(u64, Duration) -> (Result<Place<M>, Denied>, Status),
) {
    let mut random = fastrand::Rng::with_seed(13);
    let (mut places, mut waited, mut refused) = (Vec::new(), 0, 0);
    for _ in 0..20_000 {
        clock.advance(Duration::from_nanos(random.u64(..200_000_000)));
        let (n, patience) = (cost(&mut random, 5), Duration::from_millis(random.u64(..1_500)));
        let (place, status) = one(n, patience);
        let (other, asked) = two(n, patience);
        assert_eq!(place.as_ref().map(Place::due), other.as_ref().map(Place::due), "a cost of {n}");
        assert_eq!(status, asked, "a cost of {n}");
        if let (Ok(place), Ok(other)) = (place, other) {
            waited += u32::from(place.due() > clock.now());
            places.push((place, other));
        } else {
            refused += 1;
        }
        if places.len() > random.usize(..12) {
            let both = places.swap_remove(random.usize(..places.len()));
            if random.bool() {
                core::mem::forget(both);
            }
        }
    }
    assert!(waited > 1_000 && refused > 1_000, "{waited} {refused}");
}

#[test]
fn a_place_says_what_reserving_and_asking_would() {
    let quota = Quota::per(7, Duration::from_millis(600)).with_burst(5);
    let clock = ManualClock::starting_at(Nanos::from_secs(50));
    let bucket = || Arc::new(WaitingTokenBucket::with_clock(quota, Duration::from_secs(1), clock.clone()));
    let (one, two) = (bucket(), bucket());
    let ask = |n, patience| (two.reserve_within(n, patience), two.status());
    places_of_pairs(&clock, |n, patience| one.reserve_within_with_status(n, patience), ask);
    let (one, two) = (bucket(), bucket());
    let ask = |n, patience| (two.reserve_within(n, patience), two.status());
    places_of_pairs(&clock, |n, patience| Arc::clone(&one).reserve_owned_within_with_status(n, patience), ask);

    let keys = || Arc::new(KeyedLimiter::<str>::with_clock(quota, 10, clock.clone()));
    let (one, two) = (keys(), keys());
    let ask = |n, patience| (two.reserve_within("a", n, patience), two.status("a"));
    places_of_pairs(&clock, |n, patience| one.reserve_within_with_status("a", n, patience), ask);
    let (one, two) = (keys(), keys());
    let ask = |n, patience| (two.reserve_within("a", n, patience), two.status("a"));
    places_of_pairs(&clock, |n, patience| Arc::clone(&one).reserve_owned_within_with_status("a", n, patience), ask);
}

#[test]
fn every_key_says_what_deciding_and_asking_would() {
    let mut random = fastrand::Rng::with_seed(12);
    let clock = ManualClock::new();
    let quotas = [Quota::per_second(3), Quota::per(7, Duration::from_millis(300)).with_burst(5)];
    let hasher = tollgate::SeededState::new(7);
    let table = || KeyedLimiter::<u64, _, _>::with_hasher_and_clock(quotas, 20, hasher, clock.clone());
    let (one, two) = (table(), table());
    for _ in 0..20_000 {
        clock.advance(Duration::from_nanos(random.u64(..20_000_000)));
        let (key, class) = (random.u64(..30), random.usize(..2));
        let n = cost(&mut random, quotas[class].burst());
        let (one, two) = (one.class(class), two.class(class));
        let decision = two.try_acquire_n(&key, n);
        let (decided, status) = one.try_acquire_n_with_status(&key, n);
        assert_eq!(decided, decision);
        if let Err(full @ Denied::TableFull(_)) = decided {
            assert_eq!((status.limit, status.remaining, status.retry_after), (one.max_cost(), 0, full.retry_after()));
        } else {
            same("keyed", (decided, status), (decision, two.status(&key)), n);
        }
    }
}

#[test]
fn a_key_without_a_slot_has_what_newcomers_share() {
    let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_hour(10), 1, ManualClock::new());
    let limiter = limiter.sharing_when_full(Quota::per_hour(3));
    let left = (0..1_000).map(|key| limiter.try_acquire_with_status(&key)).filter(|(_, status)| status.remaining < 9);
    let left: Vec<_> = left.map(|(decision, status)| (decision.is_ok(), status.remaining)).collect();
    assert_eq!(left[..4], [(true, 2), (true, 1), (true, 0), (false, 0)]);
}

/// Threads take all there is; each sees a number of its own left, for there is one decision that has left it.
fn numbers_of_their_own(name: &str, all: u64, acquire: impl Fn() -> (Result<(), Denied>, Status) + Sync) {
    const THREADS: usize = 4;
    let start = Barrier::new(THREADS);
    let mut left: Vec<u64> = thread::scope(|scope| {
        let take = || {
            start.wait();
            let calls = (0..all).map(|_| acquire());
            let left = calls.filter_map(|(decision, status)| {
                assert!(
                    decision.is_ok() || status.remaining == 0,
                    "{name}: refused, and there are {}",
                    status.remaining
                );
                decision.ok().map(|()| status.remaining)
            });
            left.collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    left.sort_unstable();
    assert_eq!(left, (0..all).collect::<Vec<_>>(), "{name}");
}

#[test]
fn no_other_call_comes_between_decision_and_status() {
    const ALL: u64 = 100; // too few to be divided among shards
    for _ in 0..50 {
        let clock = ManualClock::new();
        for (name, limiter) in limiters(Quota::per_hour(ALL), &clock) {
            numbers_of_their_own(name, ALL, || limiter.try_acquire_with_status());
        }
        let keyed = KeyedLimiter::<u64>::with_clock(Quota::per_hour(ALL), 10, clock.clone());
        numbers_of_their_own("keyed", ALL, || keyed.try_acquire_with_status(&1));
    }
}

/// Takes tokens without a status until its shard has credits, and then with one.
#[test]
fn a_sharded_status_is_what_can_be_spent() {
    let clock = ManualClock::new();
    let bucket = ShardedTokenBucket::with_shards_and_clock(Quota::per_second(1_000), 4, clock.clone());
    let handle = bucket.handle();
    assert!(bucket.try_acquire().is_ok() && handle.try_acquire().is_ok());
    drop(handle); // what it held is in a slot
    let mut last = bucket.status().remaining;
    loop {
        let (decision, status) = bucket.try_acquire_with_status();
        if let Err(denied) = decision {
            assert_eq!((status.remaining, status.retry_after), (0, denied.retry_after()));
            break;
        }
        assert_eq!(status, bucket.status());
        assert!(status.remaining == last.saturating_sub(1) || status.remaining == status.limit);
        last = status.remaining;
    }
    assert_eq!((last, bucket.available()), (0, 0));

    clock.advance(Duration::from_millis(500));
    let handle = bucket.handle();
    let mut last = None;
    loop {
        let (decision, status) = handle.try_acquire_with_status();
        if decision.is_err() {
            assert_eq!(status.remaining, 0);
            break;
        }
        assert!(last.is_none_or(|last| status.remaining + 1 == last), "{last:?} {status:?}");
        assert_eq!(status, handle.status());
        last = Some(status.remaining);
    }
    assert_eq!(last, Some(0));
}

#[test]
fn a_counted_call_counts_once() {
    let counted = Counted::new(TokenBucket::with_clock(Quota::per_hour(1), ManualClock::new()));
    let remaining = [1, 1].map(|n| counted.try_acquire_n_with_status(n).1.remaining);
    assert_eq!((remaining, counted.counts().admitted, counted.counts().denied), ([0, 0], 1, 1));
    let counted = Counted::new(KeyedLimiter::<u64>::with_clock(Quota::per_hour(1), 9, ManualClock::new()));
    let keyed: &dyn KeyedRateLimit<u64> = &counted;
    assert_eq!(keyed.try_acquire_with_status(&1).1.remaining, 0);
    assert_eq!((counted.counts().admitted, counted.counts().denied), (1, 0));
}
