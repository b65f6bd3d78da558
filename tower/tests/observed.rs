//! What the metrics facade gets.
#![cfg(feature = "metrics")]

use core::convert::Infallible;
use core::time::Duration;

use http::{Request, Response, request::Parts};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use tollgate::{KeyedLimiter, ManualClock, Quota, TokenBucket, TokioClock, WaitingTokenBucket};
use tollgate_tower::client::{Pace, PaceLayer};
use tollgate_tower::{Keyless, Policy, RateLimitLayer};
use tower::{Layer, ServiceExt, service_fn};

/// All counters, with their labels, in order; and the histograms, with what was recorded there.
type Recorded = (Vec<(String, u64)>, Vec<(String, Vec<f64>)>);

/// What is recorded while `work` runs, on paused time.
fn recorded(work: impl Future<Output = ()>) -> Recorded {
    let recorder = DebuggingRecorder::new();
    let snapshots = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(work);
    });
    let (mut counts, mut waits) = (Vec::new(), Vec::new());
    for (key, _, _, value) in snapshots.snapshot().into_vec() {
        let labels: Vec<_> = key.key().labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        let name = [&[key.key().name().to_owned()], &*labels].concat().join(" ");
        match value {
            DebugValue::Counter(n) => counts.push((name, n)),
            DebugValue::Histogram(values) => {
                waits.push((name, values.iter().map(|value| value.into_inner()).collect()));
            }
            DebugValue::Gauge(_) => panic!("there is no gauge"),
        }
    }
    counts.sort();
    (counts, waits)
}

fn counts<const N: usize>(expected: [(&str, &str, &str, u64); N]) -> Vec<(String, u64)> {
    let name = |(policy, outcome, mode, n)| {
        (format!("tollgate_requests_total policy={policy} outcome={outcome} mode={mode}"), n)
    };
    expected.map(name).to_vec()
}

async fn inner(_: Request<()>) -> Result<Response<String>, Infallible> {
    Ok(Response::new(String::new()))
}

fn with_key(key: u64) -> Request<()> {
    let mut request = Request::new(());
    request.extensions_mut().insert(key);
    request
}

#[test]
fn decisions_are_counted_by_policy_outcome_and_mode_and_waits_are_recorded() {
    let (counted, waits) = recorded(async {
        let bucket = |n| TokenBucket::with_clock(Quota::per_hour(n), ManualClock::new());
        let line = WaitingTokenBucket::with_clock(Quota::per_second(1), Duration::MAX, TokioClock);
        let service = RateLimitLayer::of([
            Policy::new(bucket(1)).named("trial").observe_only(),
            Policy::waiting(line, Duration::from_secs(9)).named("line"),
            Policy::new(bucket(2)).named("real"),
        ])
        .layer(service_fn(inner));
        for _ in 0..3 {
            service.clone().oneshot(Request::new(())).await.unwrap();
        }
    });
    let expected = counts([
        ("line", "admitted", "enforced", 3),
        ("real", "admitted", "enforced", 2),
        ("real", "denied", "enforced", 1),
        ("trial", "admitted", "observed", 1),
        ("trial", "denied", "observed", 2),
    ]);
    assert_eq!(counted, expected);
    assert_eq!(waits, [("tollgate_wait_seconds".to_owned(), vec![1.0])]);
}

#[test]
fn however_many_clients_come_there_are_as_many_series_as_outcomes() {
    const CLIENTS: u64 = 3_000;
    let (counted, waits) = recorded(async {
        let key = |request: &Parts| request.extensions.get::<u64>().copied();
        let limiter = |capacity| KeyedLimiter::with_clock(Quota::per_hour(1), capacity, ManualClock::new());
        let service = RateLimitLayer::of([
            Policy::per_key(limiter(2 * 3_000), key, Keyless::Reject).named("client"),
            Policy::per_key(limiter(1), key, Keyless::Pass).named("small").observe_only(),
        ])
        .layer(service_fn(inner));
        for client in (0..CLIENTS).chain(0..CLIENTS) {
            service.clone().oneshot(with_key(client)).await.unwrap();
        }
        service.clone().oneshot(Request::new(())).await.unwrap();
        let anybody = RateLimitLayer::per_key(limiter(1), key, Keyless::Pass).layer(service_fn(inner));
        anybody.oneshot(Request::new(())).await.unwrap();
    });
    let small = |outcome| {
        let name = format!("tollgate_requests_total policy=small outcome={outcome} mode=observed");
        counted.iter().find(|(series, _)| *series == name).unwrap().1
    };
    let expected = counts([
        ("client", "admitted", "enforced", CLIENTS),
        ("client", "denied", "enforced", CLIENTS),
        ("client", "no_key", "enforced", 1),
        ("default", "unlimited", "enforced", 1),
        ("small", "admitted", "observed", small("admitted")),
        ("small", "table_full", "observed", CLIENTS - small("admitted")),
    ]);
    assert_eq!((counted.clone(), waits), (expected, vec![]));
}

#[test]
fn what_a_client_holds_back_is_recorded_too_and_what_it_does_not_send_is_counted() {
    let (counted, waits) = recorded(async {
        let pace = Pace::new(Quota::per_second(2).with_burst(1)).for_hosts(1);
        let client = PaceLayer::new(pace).layer(service_fn(inner));
        let to = |url: &str| Request::get(url).body(()).unwrap();
        for _ in 0..3 {
            client.clone().oneshot(to("http://a.example/")).await.unwrap();
        }
        assert!(client.oneshot(to("http://b.example/")).await.is_err());
        let hasty = PaceLayer::new(pace.patient_for(Duration::ZERO)).layer(service_fn(inner));
        for is_sent in [true, false, false] {
            assert_eq!(hasty.clone().oneshot(to("http://a.example/")).await.is_ok(), is_sent);
        }
    });
    let expected = [("denied", 2), ("sent", 4), ("too_many_hosts", 1)]
        .map(|(outcome, n)| (format!("tollgate_paced_requests_total outcome={outcome}"), n));
    assert_eq!(counted, expected);
    let [(name, waits)] = &waits[..] else { panic!("{waits:?}") };
    assert_eq!(name, "tollgate_wait_seconds");
    // The runtime's timers are of whole milliseconds, rounded up.
    assert!(waits.len() == 2 && waits.iter().all(|wait| (0.5..0.502).contains(wait)), "{waits:?}");
}
