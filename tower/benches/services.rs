//! A service with no layer, with a limit by client of this crate, and with one of `tower_governor`, in one run.
//!
//! ```text
//! cargo bench -p tollgate-tower --features axum --bench services [-- results.csv]
//! ```
//!
//! *in process*: nanoseconds for a request that is handed to the router directly, the median of rounds in turn; what a layer costs
//! is the difference to none. *loopback*: requests per second and the 99th percentile over 8 connections of HTTP/1.1 in the same
//! process; most of that is the server and the client. *memory*: resident bytes for each of 500,000 clients that were seen once.
//! Every request is admitted; a refusal ends the run.

use core::net::{Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use axum::{Router, body::Body, extract::ConnectInfo, routing::get};
use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tollgate::{KeyedLimiter, Quota};
use tollgate_tower::{Keyless, RateLimitLayer, key::PeerAddress};
use tower::ServiceExt;
use tower_governor::{GovernorLayer, governor::GovernorConfigBuilder};

const ROUNDS: usize = 15;
const REQUESTS: u32 = 10_000;
const CONNECTIONS: u32 = 8;
const CLIENTS: u32 = 500_000;

type Build = fn() -> Router;

const ENGINES: [(&str, Build); 3] = [("no layer", plain), ("tollgate-tower", ours), ("tower_governor", governor)];

fn plain() -> Router {
    Router::new().route("/", get(async || "hello"))
}

fn ours() -> Router {
    let limiter = KeyedLimiter::new(Quota::per(1, Duration::from_nanos(1)).with_burst(1_000_000_000), 1_000_000);
    plain().layer(RateLimitLayer::per_key(limiter, PeerAddress::new(), Keyless::Reject))
}

fn governor() -> Router {
    let config = GovernorConfigBuilder::default().per_nanosecond(1).burst_size(1_000_000_000).finish();
    plain().layer(GovernorLayer::new(Arc::new(config.expect("neither number is 0"))))
}

fn from_client(client: u32) -> Request<Body> {
    let mut request = Request::new(Body::empty());
    // Each client has a /64 of its own, so that it is one for either.
    let address = Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) | (u128::from(client) << 64));
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from((address, 1))));
    request
}

/// Nanoseconds for a request of one of 1,000 clients.
async fn in_process(router: &Router) -> f64 {
    let start = Instant::now();
    for i in 0..REQUESTS {
        let response = router.clone().oneshot(from_client(i % 1_000)).await.expect("it cannot fail");
        assert_eq!(response.status(), 200);
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(REQUESTS)
}

/// Requests per second, and the 99th percentile in microseconds.
async fn loopback(router: Router) -> (f64, f64) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let server =
        tokio::spawn(
            async move { axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await },
        );
    let start = Instant::now();
    let clients = (0..CONNECTIONS).map(|_| {
        tokio::spawn(async move {
            let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
            let mut latencies = Vec::new();
            for _ in 0..REQUESTS / CONNECTIONS {
                let start = Instant::now();
                let request = Request::get(format!("http://{address}/")).body(Body::empty());
                let response = client.request(request.expect("it is a valid URL")).await.expect("the server is up");
                assert_eq!(response.status(), 200);
                axum::body::to_bytes(Body::new(response), 1_000).await.expect("it is short");
                latencies.push(start.elapsed());
            }
            latencies
        })
    });
    let mut latencies = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        latencies.extend(client.await.expect("no request was refused"));
    }
    let seconds = start.elapsed().as_secs_f64();
    server.abort();
    latencies.sort_unstable();
    let p99 = latencies[latencies.len() * 99 / 100].as_secs_f64() * 1e6;
    (f64::from(REQUESTS) / seconds, p99)
}

/// Resident bytes for each client.
async fn memory(build: Build) -> f64 {
    let before = resident();
    let router = build();
    for client in 0..CLIENTS {
        let response = router.clone().oneshot(from_client(client)).await.expect("it cannot fail");
        assert_eq!(response.status(), 200);
    }
    let bytes = resident().saturating_sub(before);
    drop(router);
    #[allow(clippy::cast_precision_loss)] // a figure to be read
    let each = bytes as f64 / f64::from(CLIENTS);
    each
}

/// Bytes of this process in memory; 0 where that cannot be told.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|pages| pages.split(' ').nth(1)?.parse::<usize>().ok()).unwrap_or(0) * 4_096
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let routers = ENGINES.map(|(_, build)| build());
        let [mut nanos, mut rates, mut tails] = [const { [const { Vec::new() }; 3] }; 3];
        for _ in 0..ROUNDS {
            for (i, router) in routers.iter().enumerate() {
                nanos[i].push(in_process(router).await);
                let (rate, p99) = loopback(router.clone()).await;
                rates[i].push(rate);
                tails[i].push(p99);
            }
        }
        let nanos = nanos.map(median);
        let mut csv = "engine,in_process_ns,overhead_ns,requests_per_second,p99_us,bytes_per_client\n".to_owned();
        for (i, (name, build)) in ENGINES.into_iter().enumerate() {
            let bytes = memory(build).await;
            let (rate, p99) = (median(core::mem::take(&mut rates[i])), median(core::mem::take(&mut tails[i])));
            let (each, more) = (nanos[i], nanos[i] - nanos[0]);
            println!("{name:15} {each:7.0} ns in process ({more:+5.0}) {rate:8.0} requests/s, p99 {p99:5.0} us, {bytes:4.0} bytes per client");
            writeln!(csv, "{name},{each:.0},{more:.0},{rate:.0},{p99:.0},{bytes:.0}").expect("a string takes it");
        }
        if let Some(path) = arguments.first() {
            std::fs::write(path, csv).expect("the file can be written");
        }
    });
}
