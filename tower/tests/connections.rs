//! The layer in real servers on the loopback: connections of HTTP/1.1 and HTTP/2, clients that hang up, headers made up.

use core::net::SocketAddr;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use axum::{Router, body::Body, extract::Request, middleware, routing::get};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use tollgate::{KeyedLimiter, ManualClock, Quota, TokenBucket, TokioClock, WaitingTokenBucket};
use tollgate_tower::key::{Forwarded, ForwardedAddress, Networks, Peer};
use tollgate_tower::{Keyless, Policy, RateLimitLayer};

/// A client of either version, with connections of its own.
fn client(http2: bool) -> Client<HttpConnector, Body> {
    Client::builder(TokioExecutor::new()).http2_only(http2).build_http()
}

/// Serves `layer` around a route that counts, on a free port.
async fn serve(layer: RateLimitLayer) -> (SocketAddr, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let handler = move || {
        counted.fetch_add(1, SeqCst);
        async { "in" }
    };
    let with_peer =
        |connection: axum::extract::ConnectInfo<SocketAddr>, mut request: Request, next: middleware::Next| {
            request.extensions_mut().insert(Peer(connection.0));
            next.run(request)
        };
    let app = Router::new().route("/", get(handler)).layer(layer).layer(middleware::from_fn(with_peer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await });
    (address, count)
}

async fn status(client: &Client<HttpConnector, Body>, address: SocketAddr, forwarded: Option<&str>) -> u16 {
    let mut request = Request::get(format!("http://{address}/"));
    if let Some(forwarded) = forwarded {
        request = request.header("x-forwarded-for", forwarded);
    }
    client.request(request.body(Body::empty()).unwrap()).await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_connections_of_both_versions_share_one_limit_to_the_request() {
    let bucket = TokenBucket::with_clock(Quota::per_minute(137), ManualClock::new());
    let (address, count) = serve(RateLimitLayer::new(bucket)).await;
    let tasks: Vec<_> = (0..8)
        .map(|i| {
            tokio::spawn(async move {
                let client = client(i % 2 == 0);
                let mut passed = 0;
                for _ in 0..50 {
                    passed += usize::from(status(&client, address, None).await == 200);
                }
                passed
            })
        })
        .collect();
    let mut passed = 0;
    for task in tasks {
        passed += task.await.unwrap();
    }
    assert_eq!((passed, count.load(SeqCst)), (137, 137), "of 400 requests");
}

#[tokio::test]
async fn what_a_client_claims_to_be_changes_nothing() {
    let key = |trusted: &[&'static str]| {
        let trusted = Networks::parse(trusted.iter().copied()).unwrap();
        ForwardedAddress::new(Forwarded::XForwardedFor, trusted)
    };
    let limiter = || KeyedLimiter::with_clock(Quota::per_minute(3), 100_000, ManualClock::new());
    // Nobody is trusted: ten thousand inventions are one client.
    let (address, count) = serve(RateLimitLayer::per_key(limiter(), key(&[]), Keyless::Reject)).await;
    let direct = client(true);
    for i in 0..10_000_u32 {
        let made_up = core::net::Ipv4Addr::from_bits(i).to_string();
        assert_eq!(status(&direct, address, Some(&made_up)).await == 200, i < 3);
    }
    assert_eq!(count.load(SeqCst), 3);
    // The peer is a trusted proxy: what it has added counts, what stands before that does not.
    let (address, count) = serve(RateLimitLayer::per_key(limiter(), key(&["127.0.0.0/8"]), Keyless::Reject)).await;
    for i in 0..10 {
        assert_eq!(status(&direct, address, Some(&format!("10.0.0.{i}, 203.0.113.7"))).await == 200, i < 3);
    }
    assert_eq!(status(&direct, address, Some("203.0.113.7, 203.0.113.8")).await, 200, "another client");
    assert_eq!(status(&direct, address, Some("203.0.113.7, who knows")).await, 400, "no key");
    assert_eq!(count.load(SeqCst), 4);
}

#[tokio::test]
async fn a_client_that_hangs_up_in_line_leaves_its_place_to_the_next() {
    for http2 in [false, true] {
        // One a day: whoever waits, waits for longer than this test lasts.
        let quota = Quota::per(1, Duration::from_secs(86_400));
        let line = Arc::new(WaitingTokenBucket::with_clock(quota, Duration::MAX, TokioClock));
        let policy = Policy::waiting(Arc::clone(&line), Duration::from_secs(86_400));
        let (address, count) = serve(RateLimitLayer::of([policy])).await;
        assert_eq!(status(&client(http2), address, None).await, 200);
        for _ in 0..5 {
            let waits = tokio::spawn(async move { status(&client(http2), address, None).await });
            // Looks, and takes nothing: the next token is more than a day away while somebody waits for the one before.
            let somebody_waits = || line.status().retry_after.unwrap() > Duration::from_secs(86_400);
            while !somebody_waits() {
                tokio::task::yield_now().await;
            }
            waits.abort();
            assert!(waits.await.unwrap_err().is_cancelled());
            // The server notices that the connection, or the stream, is gone.
            while somebody_waits() {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(count.load(SeqCst), 1, "nobody who hung up reached the service");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_in_line_all_pass_within_what_the_rate_allows() {
    let line = WaitingTokenBucket::with_clock(Quota::per_second(200).with_burst(10), Duration::MAX, TokioClock);
    let (address, count) = serve(RateLimitLayer::of([Policy::waiting(line, Duration::from_secs(60))])).await;
    let start = std::time::Instant::now();
    let tasks: Vec<_> =
        (0..60).map(|i| tokio::spawn(async move { status(&client(i % 2 == 0), address, None).await })).collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), 200);
    }
    assert_eq!(count.load(SeqCst), 60);
    // 50 beyond the burst at 200 a second. The bound, not the speed: it cannot have been sooner.
    assert!(start.elapsed() >= Duration::from_millis(250));
}
