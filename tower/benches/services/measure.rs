//! How each figure is measured.
//!
//! * *in process*: nanoseconds for a request of one of 1,000 clients that is handed to the service on one thread. All engines take
//!   turns, many times; the figure is the median, and what a layer costs is the median of the differences to no layer in the same turn.
//! * *instructions*: what callgrind counts for such a request, once as many have been made before.
//! * *loopback*: requests per second and the 99th percentile over 8 connections of HTTP/1.1; medians of rounds in turn. Client and
//!   server are one process, and most of it is their work.
//! * *memory*: resident bytes for each of 100,000 clients that were seen once, in a process of its own.

use core::time::Duration;
use std::process::{Command, Output};
use std::time::Instant;

use axum::body::Body;
use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tollgate_bench::figures::error::{Error, Result};

use crate::engine::{CLIENTS, Engine};
use crate::row::Row;
use crate::subject::Subject;

const CONNECTIONS: u32 = 8;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Turns of each engine in process, and the requests of one.
    pub(crate) turns: usize,
    pub(crate) requests: u32,
    /// Rounds over the loopback, and how long each engine has in one.
    pub(crate) rounds: usize,
    pub(crate) each: Duration,
    /// Whether instructions are counted, and memory is measured.
    pub(crate) all: bool,
}

impl Pace {
    pub(crate) const QUICK: Self =
        Self { turns: 1, requests: 500, rounds: 1, each: Duration::from_millis(50), all: false };
    pub(crate) const LOOK: Self =
        Self { turns: 101, requests: 2_000, rounds: 3, each: Duration::from_millis(500), all: true };
    pub(crate) const RECORD: Self =
        Self { turns: 1_001, requests: 2_000, rounds: 15, each: Duration::from_secs(3), all: true };
}

/// Before anything over the loopback counts.
const WARM_UP: Duration = Duration::from_millis(100);

/// All figures of all engines.
pub(crate) fn all(pace: Pace) -> Result<Vec<Row>> {
    let services = Engine::ALL.map(Engine::service);
    let turns: Vec<[f64; Engine::ALL.len()]> =
        (0..pace.turns).map(|_| services.each_ref().map(|service| in_process(service, pace.requests))).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Error::Program(format!("no runtime: {error}")))?;
    let rounds: Vec<[(f64, f64); Engine::ALL.len()]> = (0..pace.rounds)
        .map(|_| services.each_ref().map(|service| runtime.block_on(loopback(service, pace.each))))
        .collect();
    let row = |(number, engine): (usize, Engine)| {
        Ok(Row {
            engine,
            in_process_ns: median(turns.iter().map(|turn| turn[number])),
            overhead_ns: median(turns.iter().map(|turn| turn[number] - turn[0])),
            instructions: if pace.all { instructions(engine)? } else { None },
            requests_per_second: median(rounds.iter().map(|round| round[number].0)).round(),
            p99_us: median(rounds.iter().map(|round| round[number].1)).round(),
            bytes_per_client: if pace.all { memory(engine)? } else { 0.0 },
        })
    };
    Engine::ALL.into_iter().enumerate().map(row).collect()
}

/// So many requests, of 1,000 clients.
fn requests(service: &Subject, count: u32) {
    service.answer(&mut (0..count).map(|number| number % 1_000));
}

/// Nanoseconds for a request.
fn in_process(service: &Subject, count: u32) -> f64 {
    let start = Instant::now();
    requests(service, count);
    start.elapsed().as_secs_f64() * 1e9 / f64::from(count)
}

/// Requests per second, and the 99th percentile in microseconds.
async fn loopback(service: &Subject, each: Duration) -> (f64, f64) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let server = service.serve(listener);
    let (start, end) = (Instant::now() + WARM_UP, Instant::now() + WARM_UP + each);
    let clients = (0..CONNECTIONS).map(|_| {
        tokio::spawn(async move {
            let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
            let mut latencies = Vec::new();
            loop {
                let sent = Instant::now();
                if sent >= end {
                    return latencies;
                }
                let request = Request::get(format!("http://{address}/")).body(Body::empty());
                let response = client.request(request.expect("it is a valid URL")).await.expect("the server is up");
                assert_eq!(response.status(), 200);
                axum::body::to_bytes(Body::new(response), 1_000).await.expect("it is short");
                if sent >= start {
                    latencies.push(sent.elapsed());
                }
            }
        })
    });
    let mut latencies = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        latencies.extend(client.await.expect("no request was refused"));
    }
    server.abort();
    latencies.sort_unstable();
    let p99 = latencies.get(latencies.len() * 99 / 100).map_or(0.0, |latency| latency.as_secs_f64() * 1e6);
    #[allow(clippy::cast_precision_loss)] // far fewer than 2^52
    let count = latencies.len() as f64;
    (count / each.as_secs_f64(), p99)
}

/// How many requests callgrind counts.
const COUNTED: u32 = 2_000;

/// Instructions of a request; `None` where there is no valgrind.
fn instructions(engine: Engine) -> Result<Option<f64>> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    valgrind.arg("--toggle-collect=*::measure::counted*").arg(this()?);
    let Ok(output) = valgrind.args(["requests", &engine.word()]).output() else { return Ok(None) };
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok());
    match count.filter(|count| output.status.success() && *count > f64::from(COUNTED)) {
        Some(count) => Ok(Some((count / f64::from(COUNTED)).round())),
        None => Err(failed(engine, &output)),
    }
}

/// What callgrind sees of one engine: as many requests before those that are counted, so that clocks are calibrated and clients known.
pub(crate) fn for_callgrind(service: &Subject) {
    requests(service, COUNTED);
    counted(service);
}

#[inline(never)]
fn counted(service: &Subject) {
    requests(service, COUNTED);
}

/// Bytes for each client, as a process of its own says.
fn memory(engine: Engine) -> Result<f64> {
    let output = Command::new(this()?).args(["memory", &engine.word()]).output();
    let output = output.map_err(|error| Error::Program(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim().parse().map_err(|_| failed(engine, &output))
}

fn this() -> Result<std::path::PathBuf> {
    std::env::current_exe().map_err(|error| Error::Program(error.to_string()))
}

fn failed(engine: Engine, output: &Output) -> Error {
    Error::Program(format!("{}: {}", engine.name(), String::from_utf8_lossy(&output.stderr)))
}

/// Resident bytes for each of many clients that come once.
pub(crate) fn bytes_per_client(engine: Engine) -> f64 {
    // What the first request makes of its own belongs to nobody.
    requests(&Engine::NoLayer.service(), 1);
    let before = resident();
    let service = engine.service();
    service.answer(&mut (0..CLIENTS));
    #[allow(clippy::cast_precision_loss)] // a figure to be read
    let bytes = resident().saturating_sub(before) as f64;
    (bytes / f64::from(CLIENTS)).round()
}

/// Bytes of this process in memory; 0 where that cannot be told.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|pages| pages.split(' ').nth(1)?.parse::<usize>().ok()).unwrap_or(0) * 4_096
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
