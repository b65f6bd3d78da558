//! How often the store is asked, and what becomes of an answer that does not come.

use crate::process::QUOTA;
use crate::proxy;
use crate::server::{Server, store_at};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tollgate::Quota;
use tollgate_redis::{DistributedTokenBucket, Refused, StoreError};

/// How many scripts the server has run.
fn trips(server: &Server) -> u64 {
    let text: String = redis::from_redis_value(server.command(&["INFO", "commandstats"])).unwrap();
    let calls = text.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    calls.map_or(0, |calls| calls.split(',').next().unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_trip_brings_a_quarter_of_a_batch_and_denials_ask_nobody() {
    let Some(server) = Server::start(&[]) else { return };
    for ahead in [false, true] {
        let quota = Quota::per_second(10_000);
        let namespace = format!("test {ahead}"); // a new one starts empty
        let bucket =
            DistributedTokenBucket::new(server.store(2_000), &namespace, "limit", quota, Duration::from_millis(100));
        let bucket = Arc::new(bucket.unwrap());
        let task = ahead.then(|| tokio::spawn(bucket.keep_ahead()));
        let before = trips(&server);
        let (mut admitted, mut refused) = (0_u64, 0_u64);
        while admitted < 3_000 {
            match bucket.try_acquire().await {
                Ok(()) => admitted += 1,
                Err(Refused::TryAfter(wait)) => {
                    refused += 1;
                    assert!(!wait.is_zero());
                }
                Err(error) => panic!("{error}"),
            }
            if (admitted + refused).is_multiple_of(64) {
                tokio::task::yield_now().await;
            }
        }
        // A batch is 1000. Six more: for the start, for what is not spent yet, and for leases that ended on a busy machine.
        let trips = trips(&server) - before;
        assert!(trips <= 3_000 / 250 + 6, "{trips} trips");
        assert!(refused > 10 * trips);
        if let Some(task) = task {
            task.abort();
        }
    }
}

/// A limit behind a proxy that swallows replies while it is told to.
struct Muted {
    server: Server,
    mute: Arc<AtomicBool>,
    bucket: DistributedTokenBucket,
}

impl Muted {
    async fn start(lease: Duration) -> Option<Self> {
        let server = Server::start(&[])?;
        let mute = Arc::new(AtomicBool::new(false));
        let port = proxy::mutable(server.port, &mute);
        let bucket = DistributedTokenBucket::new(store_at(port, 100), "test", "limit", QUOTA, lease).unwrap();
        while bucket.try_acquire().await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Some(Self { server, mute, bucket })
    }

    fn position(&self) -> u64 {
        redis::from_redis_value(self.server.command(&["HGET", "{test}:limit:limit", "position"])).unwrap()
    }

    fn mute(&self, mute: bool) {
        // ORDERING: SeqCst: a test's switch.
        self.mute.store(mute, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn an_answer_that_was_lost_is_asked_for_again_and_in_exact_mode_given_back() {
    for lease in [Duration::ZERO, Duration::from_millis(400)] {
        let Some(muted) = Muted::start(lease).await else { return };
        // Enough is there, and no lease has it.
        tokio::time::sleep(Duration::from_millis(100)).await;
        while muted.bucket.try_acquire_local(1) {}
        let before = muted.position();
        muted.mute(true);
        let error = muted.bucket.try_acquire_n(3).await.unwrap_err();
        assert!(matches!(error, Refused::Store(StoreError::Away(_))), "{error}");
        let drawn = muted.position() - before;
        assert!(drawn >= 3);
        muted.mute(false);
        let mut tries = 0;
        while muted.bucket.try_acquire_n(2).await.is_err() {
            tries += 1;
            assert!(tries < 100);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Given back, then drawn for this call; or spent from what the first request drew.
        let expected = if lease.is_zero() { 2 } else { drawn };
        assert_eq!(muted.position() - before, expected, "{lease:?}");
    }
}
