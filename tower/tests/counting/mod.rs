//! A service that counts, and how a request is put to it.

use core::convert::Infallible;
use core::task::{Context, Poll, Waker};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use http::{Request, Response};
use tollgate::{ManualClock, Quota, TokenBucket};
use tower::{Service, ServiceExt};

/// A service that counts the requests that reach it.
#[derive(Clone, Default)]
pub(crate) struct Counting(pub(crate) Arc<AtomicU64>);

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

/// What a future is that is ready at once.
pub(crate) fn now<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The answer to a request that does not wait.
pub(crate) fn ask<S>(service: &S, request: Request<()>) -> Response<String>
where
    S: Service<Request<()>, Response = Response<String>, Error = Infallible> + Clone,
{
    now(service.clone().oneshot(request)).expect("it does not wait").unwrap()
}

/// A bucket on a clock that stands still.
pub(crate) fn bucket(quota: Quota, clock: &ManualClock) -> Arc<TokenBucket<ManualClock>> {
    Arc::new(TokenBucket::with_clock(quota, clock.clone()))
}
