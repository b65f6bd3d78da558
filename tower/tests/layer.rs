//! The layer by itself, on a clock that moves when told to: exact.

mod counting;

use core::convert::Infallible;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use counting::{Counting, ask, bucket, now};
use http::{Method, Request, Response};
use tollgate::{Clock, FixedWindow, KeyedLimiter, ManualClock, Quota, TokenBucket, WaitingTokenBucket};
use tollgate_tower::key::{HashedHeader, Networks, Peer, PeerAddress};
use tollgate_tower::{Dialect, Keyless, Policy, RateLimitLayer, Refusal, Unit, body_bytes};
use tower::{Layer, ServiceExt};

fn request(method: Method, peer: &str) -> Request<()> {
    let mut request = Request::builder().method(method).body(()).unwrap();
    request.extensions_mut().insert(Peer(peer.parse().unwrap()));
    request
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
fn who_leaves_the_line_takes_nothing_with_it_of_any_limit() {
    let clock = ManualClock::new();
    let line = Arc::new(WaitingTokenBucket::with_clock(Quota::per_minute(1), Duration::MAX, clock.clone()));
    let others = [bucket(Quota::per_minute(10), &clock), bucket(Quota::per_minute(10), &clock)];
    let keyed = Arc::new(KeyedLimiter::with_clock(Quota::per_minute(10), 100, clock));
    let service = RateLimitLayer::of([
        Policy::new(Arc::clone(&others[0])),
        Policy::waiting(Arc::clone(&line), Duration::MAX),
        Policy::per_key(Arc::clone(&keyed), PeerAddress::new(), Keyless::Reject),
        Policy::new(Arc::clone(&others[1])),
    ])
    .layer(Counting::default());
    let peer = "192.0.2.1:1";
    let key = peer.parse::<core::net::SocketAddr>().unwrap().into();
    let left = || [others[0].available(), keyed.status(&key).remaining, others[1].available()];
    assert_eq!(ask(&service, request(Method::GET, peer)).status(), 200);
    assert_eq!(left(), [9, 9, 9]);
    for polls in 0..3 {
        let mut waits = Box::pin(service.clone().oneshot(request(Method::GET, peer)));
        for _ in 0..polls {
            assert!(now(waits.as_mut()).is_none());
        }
        drop(waits);
        assert_eq!(left(), [9, 9, 9], "polled {polls} times");
    }
    assert_eq!(line.status().retry_after, Some(Duration::from_secs(60)));
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
fn a_missing_key_is_treated_as_chosen_ahead_of_other_policies_too() {
    let clock = ManualClock::new();
    let asked = |keyless| {
        let limiter = KeyedLimiter::with_clock(Quota::per_minute(1), 100, clock.clone());
        let last = bucket(Quota::per_minute(2), &clock);
        let service = RateLimitLayer::of([
            Policy::per_key(limiter, HashedHeader::new("x-api-key"), keyless),
            Policy::new(Arc::clone(&last)),
        ])
        .layer(Counting::default());
        ([(); 4].map(|()| ask(&service, Request::new(())).status().as_u16()), last.available())
    };
    assert_eq!(asked(Keyless::Reject), ([400; 4], 2));
    assert_eq!(asked(Keyless::Pass), ([200, 200, 429, 429], 0));
    let shared = Arc::new(TokenBucket::new(Quota::per_hour(3)));
    assert_eq!(asked(Keyless::Share(Arc::clone(&shared))), ([200, 200, 429, 429], 0));
    assert_eq!(shared.available(), 1, "who was refused by the other has given back");
}

#[test]
fn an_observed_policy_lets_those_pass_too_who_have_no_key_or_no_room() {
    let clock = ManualClock::new();
    let key = |request: &http::request::Parts| request.extensions.get::<u64>().copied();
    let limiter = Arc::new(KeyedLimiter::with_clock(Quota::per_hour(1), 1, clock));
    let full = (0..1_000).find(|key| limiter.try_acquire(key).is_err_and(|denied| denied.retry_after().is_some()));
    let policy = Policy::per_key(Arc::clone(&limiter), key, Keyless::Reject).observe_only();
    let service = RateLimitLayer::of([policy]).layer(Counting::default());
    assert_eq!(ask(&service, Request::new(())).status(), 200);
    let mut request = Request::new(());
    request.extensions_mut().insert(full.unwrap());
    assert_eq!(ask(&service, request).status(), 200);
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
