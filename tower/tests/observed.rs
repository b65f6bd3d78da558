//! What the metrics facade gets.
#![cfg(feature = "metrics")]

use core::convert::Infallible;
use core::time::Duration;

use http::{Request, Response};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use tollgate::{ManualClock, Quota, TokenBucket, TokioClock, WaitingTokenBucket};
use tollgate_tower::{Policy, RateLimitLayer};
use tower::{Layer, ServiceExt, service_fn};

#[test]
fn decisions_are_counted_by_policy_outcome_and_mode_and_waits_are_recorded() {
    let recorder = DebuggingRecorder::new();
    let snapshots = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let bucket = |n| TokenBucket::with_clock(Quota::per_hour(n), ManualClock::new());
            let line = WaitingTokenBucket::with_clock(Quota::per_second(1), Duration::MAX, TokioClock);
            let service = RateLimitLayer::of([
                Policy::new(bucket(1)).named("trial").observe_only(),
                Policy::waiting(line, Duration::from_secs(9)).named("line"),
                Policy::new(bucket(2)).named("real"),
            ])
            .layer(service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(String::new()))));
            for _ in 0..3 {
                service.clone().oneshot(Request::new(())).await.unwrap();
            }
        });
    });
    let (mut counts, mut waits) = (Vec::new(), Vec::new());
    for (key, _, _, value) in snapshots.snapshot().into_vec() {
        let labels: Vec<_> = key.key().labels().map(|label| label.value().to_owned()).collect();
        match value {
            DebugValue::Counter(n) => counts.push((key.key().name().to_owned(), labels.join(" "), n)),
            DebugValue::Histogram(values) => waits.push((key.key().name().to_owned(), values.len())),
            DebugValue::Gauge(_) => panic!("there is no gauge"),
        }
    }
    counts.sort();
    let expected = [
        ("line admitted enforced", 3),
        ("real admitted enforced", 2),
        ("real denied enforced", 1),
        ("trial admitted observed", 1),
        ("trial denied observed", 2),
    ];
    let expected = expected.map(|(labels, n)| ("tollgate_requests_total".to_owned(), labels.to_owned(), n));
    assert_eq!(counts, expected);
    assert_eq!(waits, [("tollgate_wait_seconds".to_owned(), 1)]);
}
