//! Saturation: a thread that was denied asks its own line alone until a token is due, and misses nothing.

use core::time::Duration;
use std::thread;
use tollgate::{Handle, ManualClock, Nanos, Quota, ShardedTokenBucket};

/// Ten million each second; a batch is 39 tokens, half of which fall due in 1.9 us.
const FAST: Quota = Quota::per_second(10_000_000).with_burst(10_000);
const SETTLING: u64 = 1_900;

/// A thousand each second: nothing settles.
const SLOW: Quota = Quota::per_second(1_000);

type Bucket = ShardedTokenBucket<ManualClock>;

/// Takes a token from the handle, or else from the bucket; the hint if there is none.
fn take(bucket: &Bucket, handle: Option<&Handle<'_, ManualClock>>) -> Result<(), Duration> {
    let outcome = handle.map_or_else(|| bucket.try_acquire(), Handle::try_acquire);
    outcome.map_err(|denied| denied.retry_after().expect("some time"))
}

/// Calls `check` with a bucket at `now` that has been drained, without and with a handle.
fn drained(quota: Quota, check: impl Fn(&ManualClock, &Bucket, Option<&Handle<'_, ManualClock>>)) {
    for with_handle in [false, true] {
        let clock = ManualClock::new();
        clock.set(Nanos::from_secs(1));
        let bucket = ShardedTokenBucket::with_clock(quota, clock.clone());
        let handle = with_handle.then(|| bucket.handle());
        while take(&bucket, handle.as_ref()).is_ok() {}
        check(&clock, &bucket, handle.as_ref());
    }
}

#[test]
fn hints_are_exact_in_the_quiet() {
    drained(SLOW, |clock, bucket, handle| {
        for millis in 1..50 {
            // The longest pause is 10 us: many of them pass before the token is due.
            for nanos in [0, 1, 9_999, 10_000, 10_001, 500_000, 999_999] {
                clock.set(Nanos::from_millis(1_000 + millis - 1).saturating_add(Duration::from_nanos(nanos)));
                assert_eq!(take(bucket, handle), Err(Duration::from_nanos(1_000_000 - nanos)));
            }
            clock.set(Nanos::from_millis(1_000 + millis));
            assert_eq!(take(bucket, handle), Ok(()));
            assert_eq!(take(bucket, handle), Err(Duration::from_millis(1)));
        }
    });
}

#[test]
fn tokens_settle_and_are_drawn_together() {
    drained(FAST, |clock, bucket, handle| {
        let mut admitted = 0;
        for pause in 1..=10_000 {
            let now = 1_000_000_000 + (pause - 1) * SETTLING;
            for nanos in [0, 1, SETTLING - 1] {
                clock.set(Nanos(now + nanos));
                assert_eq!(take(bucket, handle), Err(Duration::from_nanos(SETTLING - nanos)), "{nanos} in {pause}");
            }
            clock.set(Nanos(now + SETTLING));
            while take(bucket, handle).is_ok() {
                admitted += 1;
            }
            assert_eq!(admitted, pause * 19, "none is lost");
        }
    });
}

#[test]
fn what_is_given_back_is_noticed_at_once() {
    for quota in [SLOW, FAST] {
        drained(quota, |_, bucket, handle| {
            assert!(take(bucket, handle).is_err());
            bucket.refund(2);
            assert_eq!((take(bucket, handle), take(bucket, handle)), (Ok(()), Ok(())));
            assert!(take(bucket, handle).is_err());
            let place = bucket.reserve(3).unwrap();
            assert!(take(bucket, handle).is_err());
            drop(place);
            bucket.refund(1);
            assert_eq!(take(bucket, handle), Ok(()));
            assert!(take(bucket, handle).is_err());
            bucket.forgive();
            assert_eq!(take(bucket, handle), Ok(()));
        });
    }
}

#[test]
fn a_place_that_is_given_back_is_noticed_at_once() {
    drained(SLOW, |clock, bucket, handle| {
        let place = bucket.reserve(1).unwrap();
        clock.advance(Duration::from_millis(1));
        assert_eq!(take(bucket, handle), Err(Duration::from_millis(1)), "it is another's");
        drop(place);
        assert_eq!(take(bucket, handle), Ok(()));
    });
}

#[test]
fn credits_of_a_handle_are_noticed_when_it_is_dropped() {
    for quota in [SLOW, FAST] {
        let clock = ManualClock::new();
        let bucket = ShardedTokenBucket::with_clock(quota, clock);
        let handle = bucket.handle();
        assert_eq!(handle.try_acquire(), Ok(()));
        while bucket.try_acquire().is_ok() {}
        assert!(bucket.try_acquire().is_err() && handle.credits() > 0);
        drop(handle);
        assert_eq!(bucket.try_acquire(), Ok(()));
    }
}

/// A clock that was ahead when the pause began does not make it longer.
#[test]
fn a_pause_from_another_time_is_none() {
    let clock = ManualClock::new();
    clock.set(Nanos::from_secs(10));
    let bucket = ShardedTokenBucket::with_clock(FAST, clock.clone());
    while bucket.try_acquire().is_ok() {}
    // Another thread, whose clock is later still, fills its shard.
    clock.set(Nanos::from_secs(20));
    thread::scope(|scope| scope.spawn(|| assert_eq!(bucket.try_acquire(), Ok(()))).join().unwrap());
    clock.set(Nanos::from_secs(5));
    assert_eq!(bucket.try_acquire(), Ok(()), "its credits are found");
}
