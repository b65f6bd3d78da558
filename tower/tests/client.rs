//! The client's layer before a server on the loopback, and on paused time.

use core::convert::Infallible;
use core::net::SocketAddr;
use core::time::Duration;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use axum::{Router, body::Body, response::IntoResponse, routing::get};
use http::{Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::time::Instant;
use tollgate::{Clock, Denied, ManualClock, Nanos, Quota, Timer};
use tollgate_tower::client::{Adaptive, Pace, PaceError, PaceLayer};
use tower::{Layer, Service, ServiceExt, service_fn};

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

/// Requests of a client that are still in line.
type Call = tokio::task::JoinHandle<Result<u16, PaceError<Infallible>>>;

/// A client on a clock that moves when told to, and the names of those that it has sent, in order.
fn client(pace: Pace) -> (impl Fn(&'static str) -> Call, ManualClock, Arc<Mutex<Vec<String>>>) {
    let (clock, sent) = (ManualClock::new(), Arc::<Mutex<Vec<_>>>::default());
    let noted = Arc::clone(&sent);
    let inner = service_fn(move |request: Request<String>| {
        let mut response = Response::new(());
        if request.body() == "refused" {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            response.headers_mut().insert("retry-after", 60.into());
        }
        noted.lock().unwrap().push(request.into_body());
        core::future::ready(Ok::<_, Infallible>(response))
    });
    let service = PaceLayer::with_clock(pace, clock.clone()).layer(inner);
    let call = move |name| {
        let request = Request::get("http://a.example/").body(String::from(name)).unwrap();
        let service = service.clone();
        tokio::spawn(async move { service.oneshot(request).await.map(|response| response.status().as_u16()) })
    };
    (call, clock, sent)
}

/// Until every task has done what it can.
async fn settled() {
    for _ in 0..32 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn requests_go_out_in_order_and_one_that_hangs_up_leaves_its_place_to_the_next() {
    let (call, clock, sent) = client(Pace::new(Quota::per_second(1)));
    let mut calls = Vec::new();
    for name in ["1", "2", "3", "4"] {
        calls.push(call(name));
        settled().await;
    }
    calls[2].abort(); // "3" hangs up, and "5" gets its place, before "4"
    settled().await;
    calls.push(call("5"));
    settled().await;
    assert_eq!(*sent.lock().unwrap(), ["1"]);
    for (second, expected) in [(1, &["1", "2"][..]), (2, &["1", "2", "5"]), (3, &["1", "2", "5", "4"])] {
        clock.set(Nanos::from_secs(second));
        settled().await;
        assert_eq!(*sent.lock().unwrap(), expected);
    }
}

#[tokio::test]
async fn impatience_is_told_at_once_from_the_place_that_it_would_have_had() {
    let (call, _, _) = client(Pace::new(Quota::per_second(1)).patient_for(Duration::from_secs(2)));
    let calls = ["1", "2", "3", "4"].map(&call);
    settled().await;
    let finished: Vec<_> = calls.iter().map(tokio::task::JoinHandle::is_finished).collect();
    assert_eq!(finished, [true, false, false, true], "the fourth would be due after three seconds");
    let [.., fourth] = calls;
    let PaceError::Denied(denied) = fourth.await.unwrap().unwrap_err() else { panic!("it was denied") };
    assert_eq!(denied.retry_after(), Some(Duration::from_secs(3)));
}

#[tokio::test]
async fn who_is_in_line_goes_on_in_order_after_the_quiet_or_fails_if_that_is_too_late() {
    for (patience, expected) in [(70, &["refused", "2", "3"][..]), (61, &["refused", "2"])] {
        let (call, clock, sent) = client(Pace::new(Quota::per_second(1)).patient_for(Duration::from_secs(patience)));
        let [first, second, third] = ["refused", "2", "3"].map(&call);
        settled().await;
        assert_eq!((first.await.unwrap().unwrap(), second.is_finished()), (503, false));
        clock.set(Nanos::from_secs(30)); // both would have been due
        settled().await;
        assert_eq!(*sent.lock().unwrap(), ["refused"]);
        // Their places are due one and two seconds after the quiet.
        clock.set(Nanos::from_secs(61));
        settled().await;
        assert_eq!(*sent.lock().unwrap(), ["refused", "2"]);
        clock.set(Nanos::from_secs(62));
        settled().await;
        assert_eq!(*sent.lock().unwrap(), expected);
        assert_eq!((second.await.unwrap().is_ok(), third.await.unwrap().is_ok()), (true, expected.len() == 3));
    }
}

/// How many milliseconds of the client's clock it takes until another request goes out: the first is when it is due at
/// once. The request is answered before this returns, by a server that does as `refuses` says.
async fn gap<S, D>(client: &S, clock: &ManualClock, address: SocketAddr, sent: &AtomicUsize) -> (u64, u16)
where
    S: Service<Request<Body>, Response = Response<D>, Error: core::fmt::Debug + Send> + Clone,
    S: Send + 'static,
    S::Future: Send,
    D: Send,
{
    let before = sent.load(SeqCst);
    let request = Request::get(format!("http://{address}/")).body(Body::empty()).unwrap();
    let service = client.clone();
    let answer = tokio::spawn(async move { service.oneshot(request).await.map(|answer| answer.status().as_u16()) });
    settled().await;
    let mut millis = 0;
    while sent.load(SeqCst) == before {
        clock.advance(Duration::from_millis(1));
        millis += 1;
        settled().await;
    }
    (millis, answer.await.unwrap().unwrap())
}

#[tokio::test]
async fn a_rate_follows_what_a_server_bears_up_by_steps_down_by_halves_and_between_its_limits() {
    // It refuses while it is told to, and wants a second of quiet then.
    let refuses = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&refuses);
    let handler = async move || {
        if told.load(SeqCst) {
            (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "1")]).into_response()
        } else {
            "in".into_response()
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, Router::new().route("/", get(handler))).await });

    let (clock, sent) = (ManualClock::new(), Arc::new(AtomicUsize::new(0)));
    let (http, counted) = (Client::builder(TokioExecutor::new()).build_http::<Body>(), Arc::clone(&sent));
    let inner = service_fn(move |request| {
        counted.fetch_add(1, SeqCst);
        http.request(request)
    });
    let pace = Pace::new(Quota::per_second(4).with_burst(1)).adapting(Adaptive::between(2, 6));
    let client = PaceLayer::with_clock(pace, clock.clone()).layer(inner);

    // A place is due at a fraction, and the clock goes by whole milliseconds.
    let next = async |millis: u64, status| {
        let gap = gap(&client, &clock, address, &sent).await;
        assert!(gap.0.abs_diff(millis) <= 1 && gap.1 == status, "{gap:?} instead of {:?}", (millis, status));
    };
    // The answer that ends a second's worth raises the rate by one; not above the most.
    next(0, 200).await;
    for (rate, requests) in [(4, 3), (5, 5), (6, 11)] {
        for _ in 0..requests {
            next(1_000 / rate, 200).await;
        }
    }
    // Refused: half of 6 from then on, after the second of quiet, in which the line stands still.
    refuses.store(true, SeqCst);
    next(167, 429).await;
    next(1_000 + 333, 429).await;
    // That was refused again, more than a second later: half of 3 is under the least.
    next(1_000 + 500, 429).await;
    refuses.store(false, SeqCst);
    next(1_000 + 500, 200).await;
    next(500, 200).await;
    next(333, 200).await; // two were served: three per second
}

/// A clock on which each look takes a nanosecond, as real ones do, and nobody is ever woken.
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Nanos {
        Nanos(self.0.fetch_add(1, SeqCst))
    }
}

impl Timer for Ticking {
    type Sleep = core::future::Pending<()>;

    fn sleep_until(&self, _: Nanos) -> Self::Sleep {
        core::future::pending()
    }
}

#[tokio::test]
async fn without_patience_what_can_go_out_at_once_does_though_time_passes_meanwhile() {
    let inner = service_fn(|_: Request<()>| async { Ok::<_, Infallible>(Response::new(())) });
    let pace = Pace::new(Quota::per_hour(2)).patient_for(Duration::ZERO);
    let mut client = PaceLayer::with_clock(pace, Ticking(AtomicU64::new(0))).layer(inner);
    let mut sent = Vec::new();
    for call in [(); 3].map(|()| client.call(to("a.example"))) {
        sent.push(call.await.is_ok());
    }
    assert_eq!(sent, [true, true, false]);
}

#[tokio::test]
async fn a_client_of_reqwest_keeps_to_the_pace() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, Router::new().route("/", get(async || "in"))).await });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let client = service_fn(move |request: Request<reqwest::Body>| {
        let client = client.clone();
        async move { client.execute(request.try_into()?).await.map(Response::<reqwest::Body>::from) }
    });
    let pace = Pace::new(Quota::per_hour(2)).patient_for(Duration::ZERO);
    let client = PaceLayer::new(pace).layer(client);
    let ask = || client.clone().oneshot(Request::get(format!("http://{address}/")).body("".into()).unwrap());
    assert_eq!((ask().await.unwrap().status(), ask().await.unwrap().status()), (StatusCode::OK, StatusCode::OK));
    assert!(matches!(ask().await, Err(PaceError::Denied(_))));
}
