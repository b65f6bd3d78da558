//! What a request gives back when it is refused, or hangs up while it waits.

use core::convert::Infallible;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::pin::Pin;
use std::sync::Arc;

use http::{Method, Request, Response};
use tollgate::{FixedWindow, KeyedLimiter, ManualClock, Quota, RateLimit, TokenBucket, WaitingTokenBucket};
use tollgate_tower::{Keyless, Policy, RateLimitLayer, RateLimitService, ResponseFuture};
use tower::{Layer, Service, service_fn};

type Answered = core::future::Ready<Result<Response<String>, Infallible>>;

fn inner() -> impl Service<Request<()>, Response = Response<String>, Error = Infallible, Future = Answered> + Clone {
    service_fn(|_| core::future::ready(Ok(Response::new(String::new()))))
}

/// The status of the answer, unless the request waits.
fn poll<S>(future: &mut Pin<Box<ResponseFuture<S, (), String>>>) -> Option<u16>
where
    S: Service<Request<()>, Response = Response<String>, Error = Infallible>,
{
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(answer)) => Some(answer.status().as_u16()),
        Poll::Ready(Err(never)) => match never {},
        Poll::Pending => None,
    }
}

fn call<S, A>(service: &RateLimitService<S, A>, method: Method) -> Pin<Box<ResponseFuture<S, (), String>>>
where
    RateLimitService<S, A>: Service<Request<()>, Future = ResponseFuture<S, (), String>>,
    S: Service<Request<()>> + Clone,
{
    let request = Request::builder().method(method).body(()).unwrap();
    Box::pin(service.clone().call(request))
}

fn line(clock: &ManualClock) -> WaitingTokenBucket<ManualClock> {
    WaitingTokenBucket::with_clock(Quota::per(1, Duration::from_secs(60)), Duration::MAX, clock.clone())
}

/// What a window that stands before a line for `POST` admits of the next period, after a request that waited in the line
/// has hung up there. The window allows two.
fn admitted_after_a_late_return(window: impl RateLimit + Send + Sync + Clone + 'static, clock: &ManualClock) -> usize {
    let waiting = Policy::waiting(line(clock), Duration::MAX).only(|request| request.method == Method::POST);
    let service = RateLimitLayer::of([Policy::new(window.clone()), waiting]).layer(inner());
    assert_eq!(poll(&mut call(&service, Method::POST)), Some(200));
    let mut waits = call(&service, Method::POST);
    assert_eq!((poll(&mut waits), window.available()), (None, 0));
    drop(waits); // within its window, to which it gives back
    assert_eq!(window.available(), 1);
    let mut waits = call(&service, Method::POST);
    assert_eq!(poll(&mut waits), None);

    clock.advance(Duration::from_secs(1));
    let passed = || (0..9).filter(|_| poll(&mut call(&service, Method::GET)) == Some(200)).count();
    let before = passed();
    drop(waits);
    before + passed()
}

#[test]
fn what_was_taken_of_a_window_goes_back_to_that_window_and_to_no_other() {
    let clock = ManualClock::new();
    let window = || Arc::new(FixedWindow::with_clock(Quota::per_second(2), clock.clone()));
    assert_eq!(admitted_after_a_late_return(window(), &clock), 2);
    let counted = Arc::new(tollgate::Counted::new(window()));
    assert_eq!(admitted_after_a_late_return(Arc::clone(&counted), &clock), 2);
    assert_eq!(counted.counts().admitted, 5);
    // Nor where the layer tells how limits stand.
    let window = window();
    let policies = [Policy::new(Arc::clone(&window)), Policy::waiting(line(&clock), Duration::MAX)];
    let service = RateLimitLayer::of(policies).telling(tollgate_tower::Dialect::XRateLimit).layer(inner());
    let mut calls = [(); 2].map(|()| call(&service, Method::POST));
    assert_eq!(calls.each_mut().map(poll), [Some(200), None]);
    clock.advance(Duration::from_secs(1));
    assert!(window.try_acquire_n(2).is_ok());
    drop(calls);
    assert!(window.try_acquire().is_err());
}

#[test]
fn who_hangs_up_while_it_waits_gives_back_what_the_policies_after_the_line_have_given_it_too() {
    let clock = ManualClock::new();
    let bucket = Arc::new(TokenBucket::with_clock(Quota::per_hour(5), clock.clone()));
    let keyed = Arc::new(KeyedLimiter::with_clock(Quota::per_hour(5), 100, clock.clone()));
    let key = |_: &http::request::Parts| Some(7_u32);
    for last in [Policy::new(Arc::clone(&bucket)), Policy::per_key(Arc::clone(&keyed), key, Keyless::Reject)] {
        let service = RateLimitLayer::of([Policy::waiting(line(&clock), Duration::MAX), last]).layer(inner());
        let mut calls = [(); 3].map(|()| call(&service, Method::GET));
        assert_eq!(calls.each_mut().map(poll), [Some(200), None, None]);
        calls.into_iter().rev().for_each(drop); // of a key's line only the last place can come back
    }
    assert_eq!((bucket.available(), keyed.status(&7).remaining), (4, 4), "the one that passed has its token");
}
