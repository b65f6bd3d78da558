//! Limits of one namespace do not meet, and limits of any size are kept.

use crate::server::Server;
use std::time::Duration;
use tollgate::Quota;
use tollgate_redis::{DistributedTokenBucket, Refused, Store};

async fn bucket(server: &Server, name: &str, quota: Quota, lease: Duration) -> DistributedTokenBucket {
    let store = Store::new(redis::Client::open(server.url()).unwrap(), Duration::from_secs(2));
    let bucket = DistributedTokenBucket::new(store, "test", name, quota, lease).unwrap();
    let _ = bucket.try_acquire().await; // the namespace begins
    bucket
}

/// Names come from users, where each has a limit: none may reach into another's keys, nor into those of the namespace.
#[tokio::test]
async fn no_name_is_a_key_of_another_limit() {
    let Some(server) = Server::start(&[]) else { return };
    let quota = Quota::per_second(1_000);
    for lease in [Duration::ZERO, Duration::from_millis(100)] {
        for name in ["a", "a:seen", "a:answer:7", "marker", "", ":", "seen", "limit", "limit:a", "seen:a", "{x}", "}"] {
            let bucket = bucket(&server, name, quota, lease).await;
            bucket.acquire_within(1, Duration::from_secs(5)).await.unwrap_or_else(|error| panic!("{name:?}: {error}"));
        }
        assert_eq!(server.command(&["TTL", "{test}:marker"]), redis::Value::Int(-1), "the marker would expire");
        server.command(&["FLUSHALL"]);
    }
}

#[tokio::test]
async fn the_largest_burst_at_a_low_rate_is_kept() {
    let Some(server) = Server::start(&[]) else { return };
    let quota = Quota::per(1, Duration::from_secs(60)).with_burst((1 << 52) - 1);
    let bucket = bucket(&server, "large", quota, Duration::ZERO).await;
    let refused = bucket.try_acquire().await.unwrap_err();
    assert!(matches!(refused, Refused::TryAfter(_)), "{refused}");
}

/// A batch that is much more than what falls due in a lease is asked for, not waited for.
#[tokio::test]
async fn no_more_than_a_lease_is_waited_for_what_one_call_costs() {
    let Some(server) = Server::start(&[]) else { return };
    let lease = Duration::from_millis(400);
    let quota = Quota::per_second(100).with_burst(1_000);
    let bucket = bucket(&server, "slow", quota, lease).await.with_batch(900).unwrap();
    tokio::time::sleep(2 * lease).await;
    loop {
        match bucket.try_acquire().await {
            Err(Refused::TryAfter(wait)) => {
                assert!(wait <= lease, "{wait:?}");
                break;
            }
            decision => decision.unwrap(),
        }
    }
}
