//! A service with no layer, with one that does nothing, with a limit by client of this crate, and with one of `tower_governor`, in one
//! run.
//!
//! ```sh
//! cargo bench -p tollgate-tower --features axum --bench services             # a table
//! cargo bench -p tollgate-tower --features axum --bench services -- record   # kept in results/services/
//! ```
//!
//! *in process*: nanoseconds for a request that is handed to the router directly, the median of rounds in turn; what a layer costs
//! is the difference to none, and what a limit costs the difference to a layer that does nothing, for axum puts the services
//! around each layer in boxes. *loopback*: requests per second and the 99th percentile over 8 connections of HTTP/1.1 in the same
//! process; most of that is the server and the client. *memory*: resident bytes for each of 500,000 clients that were seen once.
//! Every request is admitted; a refusal ends the run.

use core::net::{Ipv6Addr, SocketAddr};
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use axum::{Router, body::Body, extract::ConnectInfo, routing::get};
use clap::{Parser, Subcommand};
use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde::Serialize;
use tollgate::{KeyedLimiter, Quota};
use tollgate_bench::figures::error::Result;
use tollgate_bench::figures::row::{save, write};
use tollgate_bench::record::{self, machine::Machine};
use tollgate_bench::show::table::Table;
use tollgate_tower::{Keyless, RateLimitLayer, key::PeerAddress};
use tower::{ServiceExt, util::MapRequestLayer};
use tower_governor::{GovernorLayer, governor::GovernorConfigBuilder};

const ROUNDS: usize = 15;
const REQUESTS: u32 = 10_000;
const CONNECTIONS: u32 = 8;
const CLIENTS: u32 = 500_000;

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Option<Job>,
    /// One short round: figures do not matter, that all are admitted does
    #[arg(long)]
    quick: bool,
    /// Cargo says so
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

#[derive(Debug, Subcommand)]
enum Job {
    /// Keeps the figures in a folder under results/services/
    Record {
        /// Where to make the folder
        #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/services"))]
        results: PathBuf,
        /// The machine's name in the folder's name [default: processor and cores]
        #[arg(long)]
        machine: Option<String>,
    },
}

/// What was measured of one engine.
#[derive(Clone, Debug, Serialize)]
struct Row {
    engine: &'static str,
    in_process_ns: f64,
    /// More than without a layer.
    overhead_ns: f64,
    requests_per_second: f64,
    p99_us: f64,
    bytes_per_client: f64,
}

type Build = fn() -> Router;

const ENGINES: [(&str, Build); 4] =
    [("no layer", plain), ("a layer that does nothing", idle), ("tollgate-tower", ours), ("tower_governor", governor)];

fn plain() -> Router {
    Router::new().route("/", get(async || "hello"))
}

fn idle() -> Router {
    plain().layer(MapRequestLayer::new(|request: Request<Body>| request))
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

/// All engines, round by round in turn.
async fn measure(rounds: usize) -> Vec<Row> {
    let routers = ENGINES.map(|(_, build)| build());
    let [mut nanos, mut rates, mut tails] = [const { [const { Vec::new() }; ENGINES.len()] }; 3];
    for _ in 0..rounds {
        for (i, router) in routers.iter().enumerate() {
            nanos[i].push(in_process(router).await);
            let (rate, p99) = loopback(router.clone()).await;
            rates[i].push(rate);
            tails[i].push(p99);
        }
    }
    let nanos = nanos.map(median);
    let mut rows = Vec::new();
    for (((engine, build), in_process_ns), (rates, tails)) in
        ENGINES.into_iter().zip(nanos).zip(rates.into_iter().zip(tails))
    {
        rows.push(Row {
            engine,
            in_process_ns: in_process_ns.round(),
            overhead_ns: (in_process_ns - nanos[0]).round(),
            requests_per_second: median(rates).round(),
            p99_us: median(tails).round(),
            bytes_per_client: memory(build).await.round(),
        });
    }
    rows
}

fn table(rows: &[Row]) -> String {
    let head = ["", "ns in process", "more than no layer", "requests/s", "p99 in us", "bytes per client"];
    let cells = |row: &Row| {
        let Row { in_process_ns, overhead_ns, requests_per_second, p99_us, bytes_per_client, .. } = row;
        [
            row.engine.to_owned(),
            format!("{in_process_ns:.0}"),
            format!("{overhead_ns:+.0}"),
            format!("{requests_per_second:.0}"),
            format!("{p99_us:.0}"),
            format!("{bytes_per_client:.0}"),
        ]
    };
    Table::new(1, head).with(rows.iter().map(cells)).to_string()
}

fn readme(rows: &[Row], machine: &Machine) -> String {
    format!(
        "# Services, {}\n\nMade by `cargo bench -p tollgate-tower --features axum --bench services -- record`. \
         [machine.txt](machine.txt) has the processor, the commit and the compiler; [services.csv](services.csv) has every figure.\n\n\
         {}\nA service of axum, with a limit for each client that admits every request. In process: a request that is handed to the \
         router directly, median of {ROUNDS} rounds of {REQUESTS}, by 1,000 clients. Requests per second and p99: {CONNECTIONS} \
         connections of HTTP/1.1 over the loopback, client and server in one process, medians of as many rounds. Bytes per client: \
         resident memory after {CLIENTS} clients, by their number; a table of ours has its size from the beginning.\n",
        machine.processor,
        table(rows),
    )
}

fn main() -> ExitCode {
    let Cli { command, quick, .. } = Cli::parse();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let rows = || runtime.block_on(measure(if quick { 1 } else { ROUNDS }));
    let result: Result<()> = match command {
        None => {
            println!("{}", table(&rows()));
            Ok(())
        }
        Some(Job::Record { results, machine }) => record::keep(&results, machine.as_deref(), |draft, machine| {
            let rows = rows();
            save(&draft.join("services.csv"), |path| write(path, &rows))?;
            let text = |name: &str, text: &str| save(&draft.join(name), |path: &Path| std::fs::write(path, text));
            text("machine.txt", &machine.description)?;
            text("README.md", &readme(&rows, machine))
        }),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
