//! The layer in real servers on the loopback: connections of HTTP/1.1 and HTTP/2, clients that hang up, headers made up.
//!
//! Time stands still, or moves when told to, so that counts are exact on a fast machine and on a slow one.

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use axum::{Router, body::Body, extract::Request, middleware, routing::get};
use http::HeaderMap;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tollgate::{KeyedLimiter, ManualClock, Quota, Status, TokenBucket, TokioClock, WaitingTokenBucket};
use tollgate_tower::key::{Forwarded, ForwardedAddress, HashedHeader, Networks, Peer, PeerAddress, RequestKey};
use tollgate_tower::{Keyless, Policy, RateLimitLayer};
use tower::Layer;

const DAY: Duration = Duration::from_secs(86_400);

/// A client of either version, with connections of its own.
fn client(http2: bool) -> Client<HttpConnector, Body> {
    Client::builder(TokioExecutor::new()).http2_only(http2).build_http()
}

/// How many requests have reached the service, by what stood in `x-api-key`.
#[derive(Clone, Default)]
struct Served(Arc<Mutex<HashMap<String, usize>>>);

impl Served {
    fn note(&self, headers: &HeaderMap) {
        let key = headers.get("x-api-key").map_or("", |key| key.to_str().unwrap());
        *self.0.lock().unwrap().entry(key.to_owned()).or_default() += 1;
    }

    fn all(&self) -> usize {
        self.0.lock().unwrap().values().sum()
    }
}

/// Serves `layer` around a route that counts, on a free port.
async fn serve(layer: RateLimitLayer) -> (SocketAddr, Served) {
    let served = Served::default();
    let counting = served.clone();
    let handler = move |headers: HeaderMap| {
        counting.note(&headers);
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
    (address, served)
}

/// The answer to one request with these fields.
async fn status(client: &Client<HttpConnector, Body>, address: SocketAddr, fields: &[(&str, &str)]) -> u16 {
    let request = Request::get(format!("http://{address}/"));
    let request = fields.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    client.request(request.body(Body::empty()).unwrap()).await.unwrap().status().as_u16()
}

/// The answer to these bytes as the fields of a request of HTTP/1.1, which no client library has looked at.
async fn status_of_raw(address: SocketAddr, fields: &'static [u8]) -> u16 {
    let exchange = move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let request = [b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n", fields, b"\r\n"].concat();
        stream.write_all(&request).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    };
    tokio::task::spawn_blocking(exchange).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_connections_of_both_versions_share_one_limit_to_the_request() {
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Quota::per_minute(600).with_burst(137), clock.clone());
    let (address, served) = serve(RateLimitLayer::new(bucket)).await;
    let mut expected = 0;
    // A burst; nothing; half a second's worth; as much as there can be after an hour.
    for (passed, pause) in
        [(137, Duration::ZERO), (0, Duration::from_millis(550)), (5, Duration::from_secs(3_600)), (137, DAY)]
    {
        let tasks: Vec<_> = (0..8)
            .map(|i| {
                tokio::spawn(async move {
                    let client = client(i % 2 == 0);
                    let mut passed = 0;
                    for _ in 0..50 {
                        passed += usize::from(status(&client, address, &[]).await == 200);
                    }
                    passed
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        expected += passed;
        assert_eq!((sum, served.all()), (passed, expected), "of 400 requests");
        clock.advance(pause);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_keys_are_counted_exactly_over_connections_of_both_versions() {
    const KEYS: usize = 10_000;
    let limiter = KeyedLimiter::with_clock(Quota::per_minute(1), 2 * KEYS, ManualClock::new());
    let layer = RateLimitLayer::per_key(limiter, HashedHeader::new("x-api-key"), Keyless::Reject);
    let (address, served) = serve(layer).await;
    // Each key is used on two connections at about the same time, of which one speaks HTTP/2.
    let tasks: Vec<_> = (0..4)
        .map(|i| {
            tokio::spawn(async move {
                let client = client(i % 2 == 0);
                let mut refused = 0;
                for key in (0..KEYS).filter(|key| key % 2 == i / 2) {
                    let status = status(&client, address, &[("x-api-key", &key.to_string())]).await;
                    assert!(status == 200 || status == 429, "{status}");
                    refused += usize::from(status == 429);
                }
                refused
            })
        })
        .collect();
    let mut refused = 0;
    for task in tasks {
        refused += task.await.unwrap();
    }
    assert_eq!(refused, KEYS, "one of two for each");
    let served = served.0.lock().unwrap();
    assert_eq!((served.len(), served.values().max()), (KEYS, Some(&1)));
}

#[tokio::test]
async fn a_server_of_hyper_without_a_framework_is_limited_too() {
    let bucket = TokenBucket::with_clock(Quota::per_minute(5), ManualClock::new());
    let inner = tower::service_fn(async |_| Ok::<_, core::convert::Infallible>(http::Response::new(Body::from("in"))));
    let service = TowerToHyperService::new(RateLimitLayer::new(bucket).layer(inner));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service.clone();
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            tokio::spawn(async move { server.serve_connection(TokioIo::new(stream), service).await });
        }
    });
    let mut passed = 0;
    for i in 0..20 {
        passed += usize::from(status(&client(i % 2 == 0), address, &[]).await == 200);
    }
    assert_eq!(passed, 5);
}

#[tokio::test]
async fn what_a_client_claims_to_be_changes_nothing() {
    let key = |header, trusted: &[&'static str]| {
        let trusted = Networks::parse(trusted.iter().copied()).unwrap();
        ForwardedAddress::new(header, trusted)
    };
    let limiter = || KeyedLimiter::with_clock(Quota::per_minute(3), 100_000, ManualClock::new());
    for http2 in [false, true] {
        let direct = client(http2);
        for (header, name, prefix) in
            [(Forwarded::XForwardedFor, "x-forwarded-for", ""), (Forwarded::Rfc7239, "forwarded", "for=")]
        {
            // Nobody is trusted: thousands of inventions are one client.
            let (address, served) = serve(RateLimitLayer::per_key(limiter(), key(header, &[]), Keyless::Reject)).await;
            for i in 0..2_500_u32 {
                let made_up = format!("{prefix}{}", core::net::Ipv4Addr::from_bits(i));
                assert_eq!(status(&direct, address, &[(name, &made_up)]).await == 200, i < 3);
            }
            assert_eq!(served.all(), 3);
            // The peer is a trusted proxy: what it has added counts, what stands before that does not.
            let layer = RateLimitLayer::per_key(limiter(), key(header, &["127.0.0.0/8"]), Keyless::Reject);
            let (address, served) = serve(layer).await;
            let ask = async |claimed: &str, added: &str, lines: usize| {
                let (line, own) = (format!("{prefix}{claimed}, {prefix}{added}"), format!("{prefix}{added}"));
                let fields = if lines == 1 { vec![(name, &*line)] } else { vec![(name, claimed), (name, &own)] };
                status(&direct, address, &fields).await
            };
            for i in 0..10 {
                assert_eq!(ask(&format!("10.0.0.{i}"), "203.0.113.7", 1 + i % 2).await == 200, i < 3);
            }
            assert_eq!(ask("203.0.113.7", "203.0.113.8", 1).await, 200, "another client");
            assert_eq!(ask("203.0.113.7", "unknown", 1).await, 400, "no key");
            assert_eq!(served.all(), 4);
        }
    }
}

#[tokio::test]
async fn no_bytes_that_a_client_sends_ahead_hide_its_address() {
    let trusted = Networks::parse(["127.0.0.0/8"]).unwrap();
    let by_list = |header| {
        let limiter = KeyedLimiter::with_clock(Quota::per_minute(6), 100, ManualClock::new());
        // Who had no key would pass.
        RateLimitLayer::per_key(limiter, ForwardedAddress::new(header, trusted.clone()), Keyless::Pass)
    };
    // What the client sends, and then what the proxy adds: to the line, or as one of its own.
    let x: [&[u8]; 7] = [
        b"X-Forwarded-For: \", 203.0.113.7\r\n",
        b"x-forwarded-for: \xff\xfe, 203.0.113.7\r\n",
        b"X-FORWARDED-FOR: ,,\t ,203.0.113.7\r\n",
        b"X-Forwarded-For: \xff\r\nX-Forwarded-For: 203.0.113.7:4711\r\n",
        b"X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\nX-Forwarded-For: \"203.0.113.7\"\r\n",
        b"X-Forwarded-For: unknown, 203.0.113.7, 127.0.0.2\r\n",
        b"X-Forwarded-For: 203.0.113.7\r\n",
    ];
    let rfc: [&[u8]; 7] = [
        b"Forwarded: for=\", for=203.0.113.7\r\n",
        b"Forwarded: for=\"\\, for=\"203.0.113.7:4711\";proto=http\r\n",
        b"forwarded: \xff;;=, FOR = 203.0.113.7\r\n",
        b"Forwarded: for=\"\r\nForwarded: for=203.0.113.7\r\n",
        b"Forwarded: for=_hidden\r\nX-Forwarded-For: 6.6.6.6\r\nForwarded: by=a;for=203.0.113.7\r\n",
        b"Forwarded: for=unknown, for=203.0.113.7, for=127.0.0.2\r\n",
        b"Forwarded: for=203.0.113.7\r\n",
    ];
    for (header, requests) in [(Forwarded::XForwardedFor, x), (Forwarded::Rfc7239, rfc)] {
        let (address, served) = serve(by_list(header)).await;
        for (i, fields) in requests.into_iter().enumerate() {
            let expected = if i < 6 { 200 } else { 429 };
            assert_eq!(status_of_raw(address, fields).await, expected, "{}", fields.escape_ascii());
        }
        assert_eq!(served.all(), 6);
    }
}

/// Comes back once `ready` is true. A fault that makes it never so is told, after longer than any machine needs.
async fn until(ready: impl Fn() -> bool) {
    let never = std::time::Instant::now() + Duration::from_secs(120);
    while !ready() {
        assert!(std::time::Instant::now() < never, "it does not come about");
        tokio::task::yield_now().await;
    }
}

/// Asks, waits in line, hangs up, and sees that the place is free again, five times.
async fn hang_up_in_line(http2: bool, policy: Policy, standing: impl Fn() -> Status) {
    let (address, served) = serve(RateLimitLayer::of([policy])).await;
    assert_eq!(status(&client(http2), address, &[]).await, 200);
    for _ in 0..5 {
        let waits = tokio::spawn(async move { status(&client(http2), address, &[]).await });
        // Looks, and takes nothing: the next token is more than a day away while somebody waits for the one before.
        let somebody_waits = || standing().retry_after.unwrap() > DAY;
        until(somebody_waits).await;
        waits.abort();
        assert!(waits.await.unwrap_err().is_cancelled());
        // The server notices that the connection, or the stream, is gone.
        until(|| !somebody_waits()).await;
    }
    assert_eq!(served.all(), 1, "nobody who hung up reached the service");
}

/// One a day: whoever waits, waits for longer than a test lasts.
const ONE_A_DAY: Quota = Quota::per(1, DAY);

#[tokio::test]
async fn a_client_that_hangs_up_in_line_leaves_its_place_to_the_next() {
    for http2 in [false, true] {
        let line = Arc::new(WaitingTokenBucket::with_clock(ONE_A_DAY, Duration::MAX, TokioClock));
        hang_up_in_line(http2, Policy::waiting(Arc::clone(&line), DAY), || line.status()).await;
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_in_a_line_of_its_own_leaves_its_place_too() {
    let (mut loopback, ()) = Request::new(()).into_parts();
    loopback.extensions.insert(Peer("127.0.0.1:1".parse().unwrap()));
    let loopback = PeerAddress::new().key(&loopback).unwrap();
    for http2 in [false, true] {
        let limiter = Arc::new(KeyedLimiter::with_clock(ONE_A_DAY, 100, TokioClock));
        let policy = Policy::per_key_waiting(Arc::clone(&limiter), PeerAddress::new(), Keyless::Reject, DAY);
        hang_up_in_line(http2, policy, || limiter.status(&loopback)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_in_line_pass_when_they_are_due_and_not_before() {
    let clock = ManualClock::new();
    let quota = Quota::per_second(200).with_burst(10); // one each 5 ms
    let line = Arc::new(WaitingTokenBucket::with_clock(quota, Duration::MAX, clock.clone()));
    let (address, served) = serve(RateLimitLayer::of([Policy::waiting(Arc::clone(&line), DAY)])).await;
    let tasks: Vec<_> =
        (0..60).map(|i| tokio::spawn(async move { status(&client(i % 2 == 0), address, &[]).await })).collect();
    // Ten have passed, and fifty stand in line: who came next would wait for 51 times 5 ms.
    until(|| line.status().retry_after == Some(Duration::from_millis(255))).await;
    until(|| served.all() == 10).await;
    for due in 1..=50 {
        clock.advance(Duration::from_nanos(4_999_999));
        assert_eq!(served.all(), 9 + due, "a nanosecond is missing");
        clock.advance(Duration::from_nanos(1));
        until(|| served.all() >= 10 + due).await;
    }
    for task in tasks {
        assert_eq!(task.await.unwrap(), 200);
    }
    assert_eq!(served.all(), 60);
}
