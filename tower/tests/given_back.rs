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

/// How many requests pass a limit that stands before a line for `POST`, in which each costs five: before a request that
/// has waited there for `late` hangs up, at that instant, and after it. The limit is twenty in twenty seconds; in the beginning one
/// `POST` passes, another waits, and `others` come.
fn admitted_around_a_return(
    limit: impl RateLimit + Send + Sync + 'static,
    clock: &ManualClock,
    others: usize,
    late: Duration,
) -> (usize, usize) {
    let cost = |request: &http::request::Parts| if request.method == Method::POST { 5 } else { 1 };
    let waiting = Policy::waiting(line(clock), Duration::MAX).only(|request| request.method == Method::POST);
    let service = RateLimitLayer::of([Policy::new(limit).costing(cost), waiting]).layer(inner());
    let passed = |calls| (0..calls).filter(|_| poll(&mut call(&service, Method::GET)) == Some(200)).count();
    assert_eq!(poll(&mut call(&service, Method::POST)), Some(200));
    let mut waits = call(&service, Method::POST);
    assert_eq!(poll(&mut waits), None);
    assert_eq!(passed(others), others);
    clock.advance(late);
    let before = passed(if late.is_zero() { 0 } else { 99 });
    drop(waits);
    (before, passed(99))
}

fn twenty() -> Quota {
    Quota::per(20, Duration::from_secs(20))
}

/// Ten seconds later the five have come again, and others take all there is. Five more would be twenty-five within no time.
#[test]
fn a_bucket_that_is_given_back_late_never_admits_more_than_its_bound() {
    let clock = ManualClock::new();
    let late = Duration::from_secs(10);
    let after = |limit: Box<dyn RateLimit + Send + Sync>| admitted_around_a_return(limit, &clock, 0, late);
    assert_eq!(after(Box::new(TokenBucket::with_clock(twenty(), clock.clone()))), (20, 0));
    assert_eq!(after(Box::new(tollgate::AdjustableTokenBucket::with_clock(twenty(), clock.clone()))), (20, 0));
    assert_eq!(after(Box::new(tollgate::PackedTokenBucket::with_clock(twenty(), clock.clone()))), (20, 0));
    assert_eq!(after(Box::new(tollgate::ShardedTokenBucket::with_clock(twenty(), clock.clone()))), (20, 0));
    assert_eq!(after(Box::new(WaitingTokenBucket::with_clock(twenty(), Duration::ZERO, clock.clone()))), (20, 0));
}

/// Another has taken one meanwhile. A word does not know what has become of the five; where there is room for them, they come back.
#[test]
fn what_others_have_taken_of_meanwhile_stays_spent_unless_there_is_room_for_it() {
    let clock = ManualClock::new();
    let after = |limit: Box<dyn RateLimit + Send + Sync>, others| {
        admitted_around_a_return(limit, &clock, others, Duration::ZERO).1
    };
    let bucket = || Box::new(TokenBucket::with_clock(twenty(), clock.clone()));
    let roomy = || Box::new(WaitingTokenBucket::with_clock(twenty(), Duration::ZERO, clock.clone()));
    assert_eq!([after(bucket(), 0), after(roomy(), 0)], [15, 15]);
    assert_eq!([after(bucket(), 1), after(roomy(), 1)], [9, 14]);
}

/// Beside a refusal, what is told of a bucket before it is what there is: with its tokens back, or without.
#[test]
fn reports_say_what_came_back() {
    let clock = ManualClock::new();
    let bucket = Arc::new(TokenBucket::with_clock(twenty(), clock.clone()));
    for others in [false, true] {
        let another = Arc::clone(&bucket);
        // A later policy that refuses after somebody else has taken of the bucket.
        let closed = Policy::new(TokenBucket::new(Quota::DENY_ALL)).costing(move |_| {
            if others {
                another.try_acquire().unwrap();
            }
            1
        });
        let policies = [Policy::new(Arc::clone(&bucket)).costing(|_| 5), closed];
        let told = |refusal: &tollgate_tower::Refusal<'_>, _: &http::request::Parts| {
            Response::new(refusal.reports[0].status.remaining.to_string())
        };
        let service = RateLimitLayer::of(policies).answering(told).layer(inner());
        let before = bucket.available();
        let answer = service.clone().call(Request::new(()));
        let Poll::Ready(Ok(answer)) = Box::pin(answer).as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("it is refused at once")
        };
        let told: u64 = answer.body().parse().unwrap();
        // What somebody else has taken since the decision is not in what is told.
        assert_eq!((told, bucket.available()), if others { (before - 5, before - 6) } else { (before, before) });
    }
}
