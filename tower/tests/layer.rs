//! The layer by itself, on a clock that moves when told to: exact.

use core::convert::Infallible;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use http::{Method, Request, Response};
use tollgate::{Clock, FixedWindow, KeyedLimiter, ManualClock, Quota, TokenBucket, WaitingTokenBucket};
use tollgate_tower::key::{HashedHeader, Networks, Peer, PeerAddress};
use tollgate_tower::{Dialect, GrpcAnswer, Keyless, Policy, ProblemAnswer, RateLimitLayer, Refusal, Unit, body_bytes};
use tower::{Layer, Service, ServiceExt};

/// A service that counts the requests that reach it.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicU64>);

impl Service<Request<()>> for Counting {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = core::future::Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        self.0.fetch_add(1, Relaxed);
        core::future::ready(Ok(Response::new("in".to_owned())))
    }
}

fn request(method: Method, peer: &str) -> Request<()> {
    let mut request = Request::builder().method(method).body(()).unwrap();
    request.extensions_mut().insert(Peer(peer.parse().unwrap()));
    request
}

fn now<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The answer to a request that does not wait.
fn ask<S>(service: &S, request: Request<()>) -> Response<String>
where
    S: Service<Request<()>, Response = Response<String>, Error = Infallible> + Clone,
{
    now(service.clone().oneshot(request)).expect("it does not wait").unwrap()
}

fn bucket(quota: Quota, clock: &ManualClock) -> Arc<TokenBucket<ManualClock>> {
    Arc::new(TokenBucket::with_clock(quota, clock.clone()))
}

#[test]
fn all_clones_share_one_limit_and_readiness_takes_nothing() {
    fn is_as_axum_wants_it<T: Clone + Send + Sync + 'static>(_: &T) {}
    let (inner, clock) = (Counting::default(), ManualClock::new());
    let layer = RateLimitLayer::new(bucket(Quota::per_minute(5), &clock));
    is_as_axum_wants_it(&layer);
    let services = [layer.layer(inner.clone()), layer.clone().layer(inner.clone())];
    is_as_axum_wants_it(&services[0]);
    for _ in 0..100 {
        assert!(now(services[0].clone().ready()).unwrap().is_ok());
    }
    let passed = (0..20).filter(|i| ask(&services[i % 2], Request::new(())).status() == 200).count();
    assert_eq!((passed, inner.0.load(Relaxed)), (5, 5));
}

#[test]
fn a_request_takes_of_all_limits_or_of_none() {
    let clock = ManualClock::new();
    let (first, last) = (bucket(Quota::per_minute(10), &clock), bucket(Quota::per_minute(3), &clock));
    let line = WaitingTokenBucket::with_clock(Quota::per_minute(10), Duration::ZERO, clock.clone());
    let line = Arc::new(line);
    let keyed = Arc::new(KeyedLimiter::with_clock(Quota::per_minute(10), 100, clock));
    let layer = RateLimitLayer::of([
        Policy::new(Arc::clone(&first)).named("first"),
        Policy::waiting(Arc::clone(&line), Duration::ZERO).named("line"),
        Policy::per_key(Arc::clone(&keyed), PeerAddress::new(), Keyless::Reject).named("client"),
        Policy::new(Arc::clone(&last)).named("last"),
    ]);
    let layer = layer.answering(|refusal: &Refusal<'_>, _: &http::request::Parts| {
        let mut response = Response::new(refusal.violated().unwrap_or("nobody").to_owned());
        *response.status_mut() = refusal.reason.status();
        response
    });
    let inner = Counting::default();
    let service = layer.layer(inner.clone());
    for i in 0..10 {
        let answer = ask(&service, request(Method::GET, "192.0.2.1:1"));
        assert_eq!(answer.body(), if i < 3 { "in" } else { "last" });
    }
    let peer = "192.0.2.1:1".parse::<core::net::SocketAddr>().unwrap().into();
    assert_eq!([first.available(), line.available(), keyed.status(&peer).remaining, last.available()], [7, 7, 7, 0]);
    let answer = ask(&service, Request::new(()));
    assert_eq!((answer.status().as_u16(), &**answer.body()), (400, "nobody"), "there is no key");
    assert_eq!([first.available(), line.available()], [7, 7]);
    assert_eq!(inner.0.load(Relaxed), 3);
}

#[test]
fn who_waits_is_served_in_order_and_who_leaves_gives_the_place_back() {
    let clock = ManualClock::new();
    let line = WaitingTokenBucket::with_clock(Quota::per_second(1), Duration::MAX, clock.clone());
    let inner = Counting::default();
    let service = RateLimitLayer::of([Policy::waiting(line, Duration::from_secs(2))]).layer(inner.clone());
    let call = || Box::pin(service.clone().oneshot(Request::new(())));
    let poll = |future: &mut Pin<Box<_>>| -> Option<u16> {
        let poll = Future::poll(Pin::as_mut(future), &mut Context::from_waker(Waker::noop()));
        match poll {
            Poll::Ready(answer) => Some(Result::<Response<String>, Infallible>::unwrap(answer).status().as_u16()),
            Poll::Pending => None,
        }
    };
    let mut calls = [call(), call(), call(), call()];
    assert_eq!(calls.each_mut().map(poll), [Some(200), None, None, Some(429)]);
    let [_, leaves, mut stays, _] = calls;
    drop(leaves); // hangs up
    let mut comes = call();
    assert_eq!(poll(&mut comes), None);
    clock.advance(Duration::from_secs(1));
    assert_eq!([poll(&mut stays), poll(&mut comes)], [None, Some(200)], "who comes has the place of who left");
    clock.advance(Duration::from_secs(1));
    assert_eq!(poll(&mut stays), Some(200));
    assert_eq!(inner.0.load(Relaxed), 3, "who left never reached the service");
}

#[test]
fn places_of_several_lines_are_given_back_together() {
    let clock = ManualClock::new();
    let line = |n| Arc::new(WaitingTokenBucket::with_clock(Quota::per_second(n), Duration::MAX, clock.clone()));
    let (quick, slow) = (line(10), line(1));
    let wait = Duration::from_secs(5);
    let policies = [Policy::waiting(Arc::clone(&quick), wait), Policy::waiting(Arc::clone(&slow), wait)];
    let service = RateLimitLayer::of(policies).layer(Counting::default());
    assert_eq!(ask(&service, Request::new(())).status(), 200);
    let mut waits = Box::pin(service.clone().oneshot(Request::new(())));
    assert!(now(waits.as_mut()).is_none());
    assert_eq!((quick.available(), slow.available()), (8, 0));
    drop(waits);
    clock.advance(Duration::from_secs(1));
    assert_eq!((quick.available(), slow.available()), (10, 1));
}

#[test]
fn an_observed_policy_counts_and_refuses_nobody() {
    let clock = ManualClock::new();
    let (trial, real) = (bucket(Quota::per_minute(1), &clock), bucket(Quota::per_minute(4), &clock));
    let policies = [Policy::new(Arc::clone(&trial)).named("trial").observe_only(), Policy::new(real).named("real")];
    let service = RateLimitLayer::of(policies).telling(Dialect::XRateLimit).layer(Counting::default());
    let statuses: Vec<_> = (0..6).map(|_| ask(&service, Request::new(())).status().as_u16()).collect();
    assert_eq!((statuses, trial.available()), (vec![200, 200, 200, 200, 429, 429], 0));
}

#[test]
fn policies_concern_routes_methods_bytes_and_not_those_on_the_list() {
    let clock = ManualClock::new();
    let bytes = bucket(Quota::per_minute(1_000), &clock);
    let writes = bucket(Quota::per_minute(1), &clock);
    let inside = Networks::parse(["10.0.0.0/8"]).unwrap();
    let service = RateLimitLayer::of([
        Policy::new(Arc::clone(&bytes)).named("bytes").costing(body_bytes(1)).counting(Unit::ContentBytes),
        Policy::new(writes)
            .only(|request| request.method == Method::POST)
            .exempting(move |request| PeerAddress::new().address(request).is_some_and(|peer| inside.contains(peer))),
    ])
    .layer(Counting::default());
    let mut upload = request(Method::GET, "192.0.2.1:1");
    upload.headers_mut().insert("content-length", 600.into());
    assert_eq!([ask(&service, upload.clone()).status(), ask(&service, upload).status()], [200, 429]);
    assert_eq!(bytes.available(), 400);
    let posts = |peer: &str| [(); 3].map(|()| ask(&service, request(Method::POST, peer)).status().as_u16());
    assert_eq!(posts("10.1.2.3:1"), [200, 200, 200]);
    assert_eq!(posts("192.0.2.1:1"), [200, 429, 429]);
    assert_eq!(ask(&service, request(Method::GET, "192.0.2.1:1")).status(), 200);
}

#[test]
fn requests_without_a_key_are_treated_as_chosen() {
    let answers = |keyless| {
        let limiter = KeyedLimiter::with_clock(Quota::per_minute(1), 100, ManualClock::new());
        let service =
            RateLimitLayer::per_key(limiter, HashedHeader::new("x-api-key"), keyless).layer(Counting::default());
        [(); 3].map(|()| ask(&service, Request::new(())).status().as_u16())
    };
    assert_eq!(answers(Keyless::Reject), [400, 400, 400]);
    assert_eq!(answers(Keyless::Pass), [200, 200, 200]);
    assert_eq!(answers(Keyless::share(Quota::per_hour(2))), [200, 200, 429]);
}

#[test]
fn a_full_table_is_503_and_ten_thousand_keys_are_counted_exactly() {
    let limiter = |capacity| KeyedLimiter::with_clock(Quota::per_hour(3), capacity, ManualClock::new());
    let key = |request: &http::request::Parts| request.extensions.get::<u64>().copied();
    let ask = |service: &_, key: u64| {
        let mut request = Request::new(());
        request.extensions_mut().insert(key);
        ask(service, request).status().as_u16()
    };
    let inner = Counting::default();
    let service = RateLimitLayer::per_key(limiter(10_000), key, Keyless::Reject).layer(inner.clone());
    for _ in 0..4 {
        for client in 0..10_000 {
            ask(&service, client);
        }
    }
    assert_eq!(inner.0.load(Relaxed), 30_000);
    let small = RateLimitLayer::per_key(limiter(1), key, Keyless::Reject).layer(Counting::default());
    assert!((0..1_000).any(|client| ask(&small, client) == 503));
}

/// A list of strings with integers as parameters, as a parser of structured fields sees it.
fn parsed(response: &Response<String>, name: &str) -> Vec<(String, Vec<(String, i64)>)> {
    let list: sfv::List = sfv::Parser::new(response.headers()[name].as_bytes()).parse().unwrap();
    let item = |entry: &sfv::ListEntry| {
        let sfv::ListEntry::Item(item) = entry else { panic!("an inner list") };
        let number = |value: &sfv::BareItem| value.as_integer().map_or(-1, i64::from);
        let parameters = item.params.iter().map(|(key, value)| (key.to_string(), number(value)));
        (item.bare_item.as_string().unwrap().to_string(), parameters.collect())
    };
    list.iter().map(item).collect()
}

fn item(name: &str, parameters: &[(&str, i64)]) -> (String, Vec<(String, i64)>) {
    (name.to_owned(), parameters.iter().map(|&(key, value)| (key.to_owned(), value)).collect())
}

#[test]
fn the_drafts_fields_are_structured_tightest_first_and_agree_with_retry_after() {
    let clock = ManualClock::new();
    let daily = bucket(Quota::per(1_000, Duration::from_secs(86_400)), &clock);
    let burst = bucket(Quota::per_second(2).with_burst(3), &clock);
    let bytes = bucket(Quota::per_second(50).with_burst(500), &clock);
    let layer = RateLimitLayer::of([
        Policy::new(daily).named("daily"),
        Policy::new(bytes).named("a \"b\\c").counting(Unit::ContentBytes).costing(|_| 10),
        Policy::new(burst).named("burst"),
        Policy::new(TokenBucket::new(Quota::UNLIMITED)).named("none"),
    ]);
    let service = layer.telling(Dialect::Draft8To11).telling_the_admitted().layer(Counting::default());
    let admitted = ask(&service, Request::new(()));
    let policies = [
        item("burst", &[("q", 3), ("w", 2)]),
        item("a \"b\\c", &[("q", 500), ("qu", -1), ("w", 10)]),
        item("daily", &[("q", 1_000), ("w", 86_400)]),
    ];
    assert_eq!(parsed(&admitted, "ratelimit-policy"), policies);
    let limits = [
        item("burst", &[("r", 2), ("t", 1)]),
        item("a \"b\\c", &[("r", 490), ("t", 1)]),
        item("daily", &[("r", 999), ("t", 87)]),
    ];
    assert_eq!(parsed(&admitted, "ratelimit"), limits);
    for _ in 0..2 {
        ask(&service, Request::new(()));
    }
    let refused = ask(&service, Request::new(()));
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    let limits = [item("burst", &[("r", 0), ("t", 1)]), item("a \"b\\c", &[("r", 470)]), item("daily", &[("r", 997)])];
    assert_eq!(parsed(&refused, "ratelimit"), limits);
}

#[test]
fn an_observed_denial_takes_no_time_from_the_others_and_tells_none_beside_a_refusal() {
    let clock = ManualClock::new();
    let layer = RateLimitLayer::of([
        Policy::new(bucket(Quota::per_hour(1), &clock)).observe_only(),
        Policy::new(bucket(Quota::per_second(1).with_burst(2), &clock)),
    ]);
    let service = layer.telling(Dialect::Draft8To11).telling_the_admitted().layer(Counting::default());
    ask(&service, Request::new(()));
    let admitted = ask(&service, Request::new(()));
    let limits = [item("default", &[("r", 0), ("t", 3_600)]), item("default", &[("r", 0), ("t", 2)])];
    assert_eq!((admitted.status().as_u16(), parsed(&admitted, "ratelimit")), (200, limits.to_vec()));
    // The one that refuses comes first, and the other, whose time is later than `Retry-After`, tells none.
    let refused = ask(&service, Request::new(()));
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    assert_eq!(parsed(&refused, "ratelimit"), [item("default", &[("r", 0), ("t", 1)]), item("default", &[("r", 0)])]);
}

#[test]
fn the_tightest_policy_admits_the_fewest_requests_like_this_one() {
    let clock = ManualClock::new();
    let layer = RateLimitLayer::of([
        Policy::new(bucket(Quota::per_minute(60), &clock)).named("requests"),
        Policy::new(bucket(Quota::per_minute(6_000), &clock)).named("bytes").costing(|_| 1_000),
    ]);
    let service = layer.telling(Dialect::Draft8To11).telling_the_admitted().layer(Counting::default());
    let admitted = ask(&service, Request::new(()));
    // 5,000 bytes are five such requests more; of the other limit there are 59.
    assert_eq!(
        parsed(&admitted, "ratelimit"),
        [item("bytes", &[("r", 5_000), ("t", 10)]), item("requests", &[("r", 59), ("t", 1)])]
    );
}

#[test]
fn the_usual_fields_are_those_of_the_tightest_policy() {
    let clock = ManualClock::new();
    let policies =
        [Policy::new(bucket(Quota::per_minute(60), &clock)), Policy::new(bucket(Quota::per_minute(2), &clock))];
    let service =
        RateLimitLayer::of(policies).telling(Dialect::XRateLimit).telling_the_admitted().layer(Counting::default());
    let fields = |response: Response<String>| {
        ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]
            .map(|name| response.headers()[name].to_str().unwrap().parse::<u64>().unwrap())
    };
    assert_eq!(fields(ask(&service, Request::new(()))), [2, 1, 30]);
    assert_eq!(fields(ask(&service, Request::new(()))), [2, 0, 60]);
    assert_eq!(fields(ask(&service, Request::new(()))), [2, 0, 60]);
}

#[test]
fn no_field_is_told_unless_asked_for() {
    let bucket = bucket(Quota::per_minute(1), &ManualClock::new());
    let service = RateLimitLayer::new(bucket).layer(Counting::default());
    assert_eq!(ask(&service, Request::new(())).headers().len(), 0);
    let refused = ask(&service, Request::new(()));
    assert_eq!((refused.headers().len(), refused.headers()["retry-after"].to_str().unwrap()), (1, "60"));
}

#[test]
fn problem_details_and_grpc() {
    let clock = ManualClock::new();
    let layer = RateLimitLayer::of([Policy::new(bucket(Quota::per_second(50).with_burst(1), &clock)).named("a\"b")]);
    let problems = layer.clone().answering(ProblemAnswer).layer(Counting::default());
    ask(&problems, Request::new(()));
    let problem = ask(&problems, Request::new(()));
    assert_eq!(problem.headers()["retry-after"], "1", "not the 0 that 20 ms are when cut off");
    let expected = "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\",\"title\":\"Over the limit\",\
                    \"status\":429,\"violated-policies\":[\"a\\\"b\"]}";
    assert_eq!(problem.body(), expected);

    clock.advance(Duration::from_nanos(1)); // 19.999999 ms are left
    let grpc = ask(&layer.answering(GrpcAnswer).layer(Counting::default()), Request::new(()));
    let header = |name| grpc.headers()[name].to_str().unwrap();
    assert_eq!((grpc.status().as_u16(), header("grpc-status"), header("grpc-retry-pushback-ms")), (200, "8", "20"));
    let never = RateLimitLayer::of([Policy::new(bucket(Quota::per_second(1), &clock)).costing(|_| 2)]);
    let never = ask(&never.answering(GrpcAnswer).layer(Counting::default()), Request::new(()));
    assert_eq!(never.headers()["grpc-retry-pushback-ms"], "-1");
}

#[test]
fn limiters_without_places_take_part_too() {
    let clock = ManualClock::new();
    let window = Arc::new(FixedWindow::with_clock(Quota::per_minute(5), clock.clone()));
    let last = bucket(Quota::per_minute(2), &clock);
    let service = RateLimitLayer::of([Policy::new(Arc::clone(&window)), Policy::new(last)]).layer(Counting::default());
    for _ in 0..9 {
        ask(&service, Request::new(()));
    }
    assert_eq!(window.available(), 3, "seven requests were refused by the other, and gave back");
    assert_eq!(clock.now().as_nanos(), 0);
}
