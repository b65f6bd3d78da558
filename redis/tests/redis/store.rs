//! What the store says of itself, and what happens without it.

use crate::process::QUOTA;
use crate::server::{Server, free_port, store_at};
use std::time::Duration;
use tollgate::Quota;
use tollgate_redis::{Degraded, DistributedTokenBucket, Eviction, Refused, StoreError};

const LEASE: Duration = Duration::from_millis(100);

/// Tries until something else than `Pausing` comes.
async fn once(bucket: &DistributedTokenBucket) -> Result<(), Refused> {
    loop {
        match bucket.try_acquire().await {
            Err(Refused::Store(StoreError::Pausing(wait))) => tokio::time::sleep(wait).await,
            decision => return decision,
        }
    }
}

#[tokio::test]
async fn a_store_that_forgets_is_refused_unless_that_is_known() {
    let Some(server) = Server::start(&[]) else { return };
    assert_eq!(server.store(1_000).eviction().await, Ok(Eviction::Never));
    server.command(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    let store = server.store(1_000);
    assert_eq!(store.eviction().await, Ok(Eviction::Forgets("allkeys-lru".to_owned())));
    let bucket = DistributedTokenBucket::new(store.clone(), "test", "limit", QUOTA, LEASE).unwrap();
    let error = bucket.try_acquire().await.unwrap_err();
    assert_eq!(error, Refused::Store(StoreError::Forgets("allkeys-lru".to_owned())));
    let bucket = DistributedTokenBucket::new(store.with_eviction_allowed(), "test", "limit", QUOTA, LEASE).unwrap();
    assert!(matches!(bucket.try_acquire().await, Err(Refused::TryAfter(_)))); // the limit begins empty
}

#[tokio::test]
async fn a_store_that_does_not_say_is_unknown() {
    let Some(server) = Server::start(&["--rename-command", "INFO", ""]) else { return };
    assert_eq!(server.store(1_000).eviction().await, Ok(Eviction::Unknown));
}

#[tokio::test]
async fn a_read_only_replica_is_known_and_left_until_it_is_promoted() {
    let Some(first) = Server::start(&[]) else { return };
    let Some(second) = Server::start(&["--replicaof", &format!("127.0.0.1 {}", first.port)]) else { return };
    let bucket = DistributedTokenBucket::new(second.store(1_000), "test", "limit", QUOTA, LEASE).unwrap();
    for _ in 0..2 {
        assert_eq!(once(&bucket).await, Err(Refused::Store(StoreError::ReadOnly)));
        assert!(matches!(bucket.try_acquire().await, Err(Refused::Store(StoreError::Pausing(_)))));
    }
    second.command(&["REPLICAOF", "NO", "ONE"]);
    assert!(matches!(once(&bucket).await, Err(Refused::TryAfter(_)))); // it answers; the limit begins empty
}

#[tokio::test]
async fn without_a_store_nothing_is_admitted_or_the_share_that_was_declared() {
    let store = store_at(free_port(), 1_000);
    let bucket = DistributedTokenBucket::new(store.clone(), "test", "limit", QUOTA, LEASE).unwrap();
    for _ in 0..100 {
        assert!(matches!(
            bucket.try_acquire().await,
            Err(Refused::Store(StoreError::Away(_) | StoreError::Pausing(_)))
        ));
    }
    // 7 at once, and one more each hour.
    let share = Degraded::Share(Quota::per_hour(1).with_burst(7));
    let bucket = DistributedTokenBucket::new(store, "test", "limit", QUOTA, LEASE).unwrap().with_degraded(share);
    let mut admitted = 0;
    for _ in 0..100 {
        match bucket.try_acquire().await {
            Ok(()) => admitted += 1,
            Err(refused) => assert!(matches!(refused, Refused::TryAfter(_)), "{refused}"),
        }
    }
    assert_eq!(admitted, 7);
}

#[tokio::test]
async fn the_share_ends_when_the_store_is_back() {
    let Some(mut server) = Server::start(&[]) else { return };
    let share = Degraded::Share(Quota::per_hour(1).with_burst(3));
    let bucket =
        DistributedTokenBucket::new(server.store(1_000), "test", "limit", QUOTA, LEASE).unwrap().with_degraded(share);
    while bucket.try_acquire().await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.kill();
    tokio::time::sleep(LEASE).await; // what was leased has ended
    for n in 0..3 {
        assert_eq!(bucket.try_acquire().await, Ok(()), "{n}");
    }
    assert!(matches!(bucket.try_acquire().await, Err(Refused::TryAfter(wait)) if wait > Duration::from_secs(60)));
    server.start_again();
    // A new epoch, which fills after a lease: far more than the share comes.
    let mut admitted = 0;
    while admitted < 100 {
        match bucket.try_acquire().await {
            Ok(()) => admitted += 1,
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

#[tokio::test]
async fn what_is_unspent_goes_back_if_nobody_has_drawn_since() {
    let Some(server) = Server::start(&[]) else { return };
    let lease = Duration::from_millis(400); // a busy machine must not outlast it
    let bucket = || DistributedTokenBucket::new(server.store(1_000), "test", "limit", QUOTA, lease).unwrap();
    let position =
        || -> u64 { redis::from_redis_value(server.command(&["HGET", "{test}:limit:limit", "position"])).unwrap() };
    let (first, second) = (bucket(), bucket());
    for bucket in [&first, &second] {
        tokio::time::sleep(lease / 4).await; // for more than the one token that is spent
        while bucket.try_acquire().await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let drawn = position();
    // The second drew last.
    let back = second.shutdown().await;
    assert!(back > 0 && position() == drawn - back, "{back} of {drawn}");
    assert_eq!((first.shutdown().await, position()), (0, drawn - back));
}

#[cfg(feature = "cluster")]
#[tokio::test]
async fn in_a_cluster_all_keys_of_a_namespace_are_in_one_slot() {
    let Some(server) = Server::start(&["--cluster-enabled", "yes"]) else { return };
    server.command(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    while !redis::from_redis_value::<String>(server.command(&["CLUSTER", "INFO"])).unwrap().contains("cluster_state:ok")
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let client = redis::cluster::ClusterClient::new([server.url()]).unwrap();
    let store = tollgate_redis::Store::new(client, Duration::from_secs(1));
    let bucket = DistributedTokenBucket::new(store, "shop", "orders", QUOTA, LEASE).unwrap();
    // A server that is a cluster refuses a script whose keys are in several slots.
    while let Err(refused) = bucket.try_acquire().await {
        assert!(matches!(refused, Refused::TryAfter(_)), "{refused}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let keys: Vec<String> = redis::from_redis_value(server.command(&["KEYS", "*"])).unwrap();
    assert_eq!(keys.len(), 4);
    let slots = keys
        .iter()
        .map(|key| -> u64 { redis::from_redis_value(server.command(&["CLUSTER", "KEYSLOT", key])).unwrap() });
    let slots: std::collections::HashSet<_> = slots.collect();
    assert_eq!(slots.len(), 1, "{keys:?}");
}
