//! What a bucket is made with: shards, initial tokens, bursts from none to the largest.

use crate::{Bucket, MOST, QUOTA, bucket, drain};
use core::time::Duration;
use tollgate::{BuildError, Denied, ManualClock, Nanos, Quota, ShardedTokenBucket, TokenBucket};

#[test]
fn buckets_start_with_what_they_are_told_to() {
    let clock = ManualClock::starting_at(Nanos::from_secs(5));
    for tokens in [0, 1, 500, MOST] {
        let bucket = bucket(&clock).with_initial(tokens);
        assert_eq!((bucket.available(), drain(&bucket)), (tokens, tokens));
        clock.advance(Duration::from_millis(3));
        assert_eq!(drain(&bucket), 3);
    }
    for tokens in [MOST + 1, QUOTA.burst(), u64::MAX] {
        let refused = bucket(&clock).try_with_initial(tokens).unwrap_err();
        assert_eq!(refused, BuildError::InitialTooLarge { largest: MOST });
    }
}

#[test]
fn credits_from_before_are_no_part_of_the_initial_tokens() {
    // One shard and one slot for handles, of eight credits each.
    let quota = Quota::per_hour(136);
    let clock = ManualClock::new();
    let used = || {
        let bucket = Bucket::with_shards_and_clock(quota, 1, clock.clone());
        assert!(bucket.try_acquire().is_ok());
        let handle = bucket.handle();
        assert!(handle.try_acquire().is_ok());
        drop(handle);
        bucket
    };
    for tokens in [0, 1, 100] {
        let bucket = used().with_initial(tokens);
        assert_eq!((bucket.available(), drain(&bucket)), (tokens, tokens));
        let bucket = used().with_initial_at(tokens, Nanos::ZERO);
        assert_eq!((bucket.available(), drain(&bucket)), (tokens, tokens));
    }
    // The place of a handle that was leaked is free again.
    let bucket = used();
    core::mem::forget(bucket.handle());
    let bucket = bucket.with_initial(100);
    let handle = bucket.handle();
    assert!(handle.try_acquire().is_ok());
    assert_eq!(handle.credits(), 8);
}

#[test]
#[should_panic(expected = "more initial tokens than the limiter can hold")]
fn too_many_tokens_to_start_with_are_a_panic() {
    let _ = bucket(&ManualClock::new()).with_initial(MOST + 1);
}

#[test]
#[should_panic(expected = "at least one shard")]
fn no_shards_at_all_are_a_panic() {
    let _ = ShardedTokenBucket::with_shards(QUOTA, 0);
}

#[test]
fn any_number_of_shards_but_none_will_do() {
    let clock = ManualClock::new();
    assert_eq!(ShardedTokenBucket::try_with_shards(QUOTA, 0).unwrap_err(), BuildError::ZeroShards);
    assert_eq!(Bucket::try_with_shards_and_clock(QUOTA, 0, clock.clone()).unwrap_err(), BuildError::ZeroShards);
    let large = QUOTA.with_burst(1 << 40);
    for (asked, given) in [(1, 1), (2, 2), (3, 4), (64, 64), (1_000, 1_024), (1_025, 1_024), (usize::MAX, 1_024)] {
        let bucket = Bucket::try_with_shards_and_clock(large, asked, clock.clone()).unwrap();
        assert_eq!(bucket.shards(), given);
        assert!(bucket.max_cost() >= large.burst() / 8 * 7);
        assert!(bucket.try_acquire().is_ok());
        // As few as the burst stretches to.
        let few = Bucket::with_shards_and_clock(QUOTA, asked, clock.clone());
        assert_eq!(few.shards(), given.min(4));
        assert_eq!(drain(&few), few.max_cost());
    }
    for bucket in [ShardedTokenBucket::new(large), ShardedTokenBucket::try_new(large).unwrap()] {
        assert!(bucket.shards() >= 16 && bucket.try_acquire().is_ok());
    }
    assert!(Bucket::try_with_clock(large, clock).unwrap().shards() >= 16);
}

#[test]
fn a_burst_too_small_to_share_makes_a_token_bucket() {
    let mut random = fastrand::Rng::with_seed(1);
    for burst in [1, 2, 7, 64, 135] {
        let quota = Quota::per(3, Duration::from_micros(70)).with_burst(burst);
        let clock = ManualClock::new();
        let sharded = Bucket::with_clock(quota, clock.clone());
        let single = TokenBucket::with_clock(quota, clock.clone());
        let handle = sharded.handle();
        assert_eq!((sharded.shards(), sharded.max_cost()), (1, burst));
        for _ in 0..2_000 {
            let n = random.u64(..burst + 2);
            match random.u64(..8) {
                0 => clock.advance(Duration::from_nanos(random.u64(..200_000))),
                1 => assert_eq!(sharded.try_acquire(), single.try_acquire()),
                2 => assert_eq!(sharded.try_acquire_n(n), single.try_acquire_n(n)),
                3 => assert_eq!(handle.try_acquire_n(n), single.try_acquire_n(n)),
                4 => assert_eq!(sharded.try_acquire_up_to(n), single.try_acquire_up_to(n)),
                5 => assert_eq!(handle.try_acquire_up_to(n), single.try_acquire_up_to(n)),
                6 => {
                    sharded.refund(n % 3);
                    single.refund(n % 3);
                }
                _ => {
                    let at = Nanos(random.u64(..1_000_000));
                    assert_eq!(sharded.try_acquire_n_at(n, at), single.try_acquire_n_at(n, at));
                }
            }
            assert_eq!((sharded.available(), sharded.status()), (single.available(), single.status()));
            assert_eq!((handle.credits(), handle.status()), (0, single.status()));
        }
    }
    // One token more, and there is a shard, and a slot for one handle.
    let shared = Bucket::with_clock(QUOTA.with_burst(136), ManualClock::new());
    assert_eq!((shared.shards(), shared.handles(), shared.max_cost()), (1, 1, 136 - 17));
    // A bucket that is not divided has no slot for any handle.
    let whole = Bucket::with_clock(QUOTA.with_burst(135), ManualClock::new());
    assert_eq!((whole.shards(), whole.handles(), whole.max_cost()), (1, 0, 135));
    let handle = whole.handle();
    assert!(handle.try_acquire().is_ok());
    assert_eq!((handle.credits(), whole.available()), (0, 134));
}

#[test]
fn the_extreme_quotas() {
    let clock = ManualClock::new();
    let free = Bucket::with_shards_and_clock(Quota::UNLIMITED, 64, clock.clone());
    let handle = free.handle();
    assert_eq!((free.quota(), free.max_cost(), free.available()), (Quota::UNLIMITED, u64::MAX, u64::MAX));
    for n in [0, 1, u64::MAX, u64::MAX] {
        assert_eq!((free.try_acquire_n(n), handle.try_acquire_n(n)), (Ok(()), Ok(())));
        assert_eq!((free.try_acquire_up_to(n), handle.try_acquire_up_to(n)), (n, n));
        assert_eq!(free.try_acquire_n_at(n, Nanos::MAX), Ok(()));
        free.refund(n);
    }
    assert_eq!((free.status().remaining, free.status().retry_after), (u64::MAX, Some(Duration::ZERO)));

    let none = Bucket::with_clock(Quota::DENY_ALL, clock.clone());
    let handle = none.handle();
    let never = Err(Denied::ExceedsBurst { cost: 1, max_cost: 0 });
    assert_eq!((none.try_acquire(), handle.try_acquire()), (never, never));
    assert_eq!((none.try_acquire_n(0), none.try_acquire_up_to(9), handle.try_acquire_up_to(9)), (Ok(()), 0, 0));
    none.refund(5);
    assert_eq!((none.try_acquire(), none.available(), none.max_cost()), (never, 0, 0));
    assert_eq!(none.status().retry_after, None);
    let none = Bucket::with_clock(Quota::DENY_ALL, clock.clone());
    assert_eq!(none.try_with_initial(1).unwrap_err(), BuildError::InitialTooLarge { largest: 0 });

    // The largest burst there is: sums of what lies about stay below it.
    let quota = Quota::per_second(1).with_burst(u64::MAX >> 4);
    let large = Bucket::with_shards_and_clock(quota, usize::MAX, clock);
    let handle = large.handle();
    assert!(large.try_acquire().is_ok() && handle.try_acquire().is_ok());
    assert_eq!(large.available() + handle.credits(), large.max_cost() - 2);
    assert_eq!(large.try_acquire_up_to(u64::MAX) + handle.credits(), large.max_cost() - 2);
}

#[test]
fn where_a_unit_is_several_tokens_each_call_takes_a_whole_one() {
    let quota = Quota::per_second(12_500_000_000).with_burst(16); // four tokens in a unit
    let plain = TokenBucket::with_clock(quota, ManualClock::new());
    assert_eq!(plain.available(), 16);
    assert_eq!((0..16).filter(|_| plain.try_acquire().is_ok()).count(), 4);
    let whole = Bucket::with_clock(quota, ManualClock::new()); // not divided: a unit is kept back
    assert_eq!((whole.max_cost(), whole.available()), (12, 12));
    assert_eq!((0..16).filter(|_| whole.try_acquire().is_ok()).count(), 3);
}
