//! The client's layer before a server on the loopback, and on paused time.

use core::convert::Infallible;
use core::net::SocketAddr;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use axum::{Router, body::Body, response::IntoResponse, routing::get};
use http::{Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::time::Instant;
use tollgate::{Denied, Quota};
use tollgate_tower::client::{Pace, PaceError, PaceLayer};
use tower::{Layer, ServiceExt, service_fn};

fn to(host: &str) -> Request<()> {
    Request::get(format!("http://{host}/")).body(()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn each_host_has_a_pace_and_impatience_is_an_error_at_once() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let inner = service_fn(move |_: Request<()>| {
        counted.fetch_add(1, SeqCst);
        async { Ok::<_, Infallible>(Response::new(())) }
    });
    let pace = Pace::new(Quota::per_second(1)).patient_for(Duration::from_millis(1_500));
    let client = PaceLayer::new(pace).layer(inner);
    let start = Instant::now();
    for host in ["a.example", "b.example", "A.example"] {
        client.clone().oneshot(to(host)).await.unwrap();
    }
    let elapsed = start.elapsed();
    assert!((1_000..1_010).contains(&elapsed.as_millis()), "the third is the first's host again: {elapsed:?}");

    // Two are dropped while they wait: they have taken nothing.
    for _ in 0..2 {
        let waits = client.clone().oneshot(to("a.example"));
        assert!(tokio::time::timeout(Duration::from_millis(1), waits).await.is_err());
    }
    let hosts = PaceLayer::new(pace.patient_for(Duration::ZERO).for_hosts(1))
        .layer(service_fn(|_: Request<()>| async { Ok::<_, Infallible>(Response::new(())) }));
    hosts.clone().oneshot(to("a.example")).await.unwrap();
    let late = hosts.clone().oneshot(to("a.example")).await.unwrap_err();
    assert!(matches!(late, PaceError::Denied(Denied::WouldExceedDeadline(_))), "{late:?}");
    assert_eq!(hosts.oneshot(to("b.example")).await.unwrap_err(), PaceError::TooManyHosts);
    assert_eq!(sent.load(SeqCst), 3);
}

#[tokio::test]
async fn a_server_that_asks_for_quiet_gets_it() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let handler = move || {
        let first = counted.fetch_add(1, SeqCst) == 0;
        async move {
            if first {
                (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "3600")]).into_response()
            } else {
                "in".into_response()
            }
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, Router::new().route("/", get(handler))).await });

    let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
    let client = PaceLayer::new(Pace::new(Quota::per_second(1_000))).layer(client);
    let request = || Request::get(format!("http://{address}/")).body(Body::empty()).unwrap();
    assert_eq!(client.clone().oneshot(request()).await.unwrap().status(), 503);
    for _ in 0..10 {
        let quiet = client.clone().oneshot(request()).await.unwrap_err();
        let PaceError::Denied(denied) = quiet else { panic!("{quiet}") };
        assert!(denied.retry_after().unwrap() > Duration::from_secs(3_000));
    }
    assert_eq!(asked.load(SeqCst), 1);
}
