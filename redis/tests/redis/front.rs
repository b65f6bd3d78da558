//! Waiting, statuses, and limits by key.

use crate::process::QUOTA;
use crate::server::{Server, free_port, store_at};
use std::time::{Duration, Instant};
use tollgate::Quota;
use tollgate_redis::{Degraded, DistributedKeyedLimiter, DistributedTokenBucket, Refused, StoreError, TermsError};

const LEASE: Duration = Duration::from_millis(100);

#[tokio::test]
async fn who_waits_is_admitted_when_tokens_fall_due_or_refused_at_once() {
    let Some(server) = Server::start(&[]) else { return };
    for lease in [Duration::ZERO, LEASE] {
        let namespace = format!("test {}", lease.as_millis()); // a new one begins empty
        let bucket = DistributedTokenBucket::new(server.store(2_000), &namespace, "limit", QUOTA, lease).unwrap();
        assert_eq!(bucket.status().remaining, 0);
        // 50 are due in 25 ms at the earliest.
        let hasty = bucket.acquire_by(50, Instant::now()).await;
        assert!(matches!(hasty, Err(Refused::TryAfter(_))), "{hasty:?}");
        let started = Instant::now();
        assert_eq!(bucket.acquire(50).await, Ok(()));
        assert!(started.elapsed() >= Duration::from_millis(20)); // the store's clock, not ours
        assert_eq!(bucket.acquire_within(20, Duration::from_secs(60)).await, Ok(()));
        assert_eq!(bucket.acquire_by(20, Instant::now() + Duration::from_secs(60)).await, Ok(()));
        let cost = bucket.max_cost() + 1;
        assert_eq!(bucket.acquire(cost).await, Err(Refused::ExceedsBurst { cost, max_cost: cost - 1 }));
    }
    let away = DistributedTokenBucket::new(store_at(free_port(), 100), "test", "limit", QUOTA, LEASE).unwrap();
    let refused = away.acquire_within(1, Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(refused, Refused::Store(StoreError::Away(_) | StoreError::Pausing(_))), "{refused}");
}

#[tokio::test]
async fn a_status_says_what_the_centre_was_left_with() {
    let Some(server) = Server::start(&[]) else { return };
    // One token each hour: nothing falls due meanwhile.
    let quota = Quota::per_hour(1).with_burst(30);
    let first = DistributedTokenBucket::new(server.store(2_000), "test", "first", quota, Duration::ZERO).unwrap();
    let (decision, status) = first.try_acquire_with_status().await;
    assert!(matches!(decision, Err(Refused::TryAfter(_))));
    assert_eq!((status.limit, status.remaining), (30, 0));
    assert!(
        status.retry_after.unwrap() > Duration::from_secs(3_590) && status.reset_after > Duration::from_secs(100_000)
    );
    // As if the namespace were two days old.
    let second = DistributedTokenBucket::new(server.store(2_000), "old", "second", quota, Duration::ZERO).unwrap();
    let _ = second.try_acquire().await;
    let epoch: u64 = redis::from_redis_value(server.command(&["HGET", "{old}:marker", "epoch"])).unwrap();
    server.command(&["HSET", "{old}:marker", "epoch", &(epoch - 2 * 86_400_000_000).to_string()]);
    let third = DistributedTokenBucket::new(server.store(2_000), "old", "third", quota, Duration::ZERO).unwrap();
    let (decision, status) = third.try_acquire_n_with_status(4).await;
    assert_eq!((decision, status.remaining, status.retry_after), (Ok(()), 29 - 4, Some(Duration::ZERO)));
}

#[tokio::test]
async fn each_key_has_a_limit_of_its_own_that_others_share() {
    let Some(server) = Server::start(&[]) else { return };
    let quota = Quota::per_hour(3_600).with_burst(6); // five at the centre, then one each second
    let limiter = || DistributedKeyedLimiter::new(server.store(2_000), "test", quota, Duration::ZERO, 1_000).unwrap();
    let (ours, theirs) = (limiter(), limiter());
    let _ = ours.try_acquire("first of the namespace").await;
    let epoch: u64 = redis::from_redis_value(server.command(&["HGET", "{test}:marker", "epoch"])).unwrap();
    server.command(&["HSET", "{test}:marker", "epoch", &(epoch - 86_400_000_000).to_string()]);
    let started = Instant::now();
    let mut admitted = [0, 0, 0];
    for _ in 0..20 {
        admitted[0] += u64::from(ours.try_acquire("a").await.is_ok());
        admitted[0] += u64::from(theirs.try_acquire("a").await.is_ok());
        admitted[1] += u64::from(theirs.try_acquire("a:limit").await.is_ok());
        admitted[2] += u64::from(ours.try_acquire("marker").await.is_ok());
    }
    let most = 6 + started.elapsed().as_secs();
    assert!(admitted.iter().all(|admitted| (5..=most).contains(admitted)), "{admitted:?}");
    assert_eq!((ours.live(), theirs.live()), (3, 2));
    assert_eq!((ours.status("a").unwrap().limit, ours.status("nobody")), (6, None));
}

#[tokio::test]
async fn keys_that_hold_nothing_make_room() {
    let Some(server) = Server::start(&[]) else { return };
    let limiter = |lease| DistributedKeyedLimiter::new(server.store(2_000), "test", QUOTA, lease, 64).unwrap();
    let exact = limiter(Duration::ZERO);
    for key in 0..1_000 {
        let refused = exact.try_acquire(&key.to_string()).await.err();
        assert!(!matches!(refused, Some(Refused::TooManyKeys { .. })));
        assert!(exact.live() <= 64);
    }
    // In use: what is held outside stays.
    let leased = limiter(LEASE);
    let buckets: Vec<_> = (0..1_000).filter_map(|key| leased.bucket(&key.to_string()).ok()).collect();
    assert_eq!((buckets.len(), leased.live()), (64, 64));
    assert_eq!(leased.bucket("one more").unwrap_err(), Refused::TooManyKeys { capacity: 64 });
    drop(buckets);
    tokio::time::sleep(LEASE / 4).await; // room is not looked for at once
    assert!(leased.bucket("one more").is_ok());
}

#[test]
fn what_no_store_could_keep_is_refused_at_once() {
    let store = store_at(1, 100);
    let limiter = |namespace, lease, capacity| {
        DistributedKeyedLimiter::new(store.clone(), namespace, QUOTA, lease, capacity).err()
    };
    assert_eq!(limiter("test", LEASE, 0), Some(TermsError::NoCapacity));
    for namespace in ["", "a}b", "{a"] {
        assert_eq!(limiter(namespace, LEASE, 9), Some(TermsError::Namespace));
    }
    assert!(matches!(limiter("test", LEASE * 10, 9), Some(TermsError::LeaseTooLong { .. })));
    let bucket = |tokens| {
        DistributedTokenBucket::new(store.clone(), "test", "limit", QUOTA, LEASE).unwrap().with_batch(tokens).err()
    };
    // The centre has 1600 less what falls due in a lease, less one.
    assert_eq!([bucket(1), bucket(1_399)], [None, None]);
    assert_eq!(bucket(0), Some(TermsError::Batch { tokens: 0, largest: 1_399 }));
    assert_eq!(bucket(1_400), Some(TermsError::Batch { tokens: 1_400, largest: 1_399 }));
}

/// Else whoever knows more keys than there is room for has each one's share as often as it comes round.
#[tokio::test]
async fn a_share_that_was_spent_is_not_forgotten_for_another_key() {
    let share = Degraded::Share(Quota::per_hour(1).with_burst(3));
    let away = DistributedKeyedLimiter::new(store_at(free_port(), 100), "test", QUOTA, Duration::ZERO, 1).unwrap();
    let away = away.with_degraded(share);
    for n in 0..10 {
        let first = away.try_acquire("first").await;
        assert_eq!(first.is_ok(), n < 3, "{n}: {first:?}");
        let second = away.try_acquire("second").await;
        assert_eq!(second, Err(Refused::TooManyKeys { capacity: 1 }));
    }
}
