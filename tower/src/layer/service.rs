//! [`RateLimitService`]: a service behind limits.

use super::decide::{Outcome, decide};
use super::future::ResponseFuture;
use super::{Answer, Shared};
use crate::answer::{Dialect, Fields, Refusal};
use crate::limit::Seen;
use core::fmt;
use core::task::{Context, Poll};
use http::{Request, Response};
use std::sync::Arc;
use tower_service::Service;

/// A service behind limits: what [`RateLimitLayer`](crate::RateLimitLayer) makes.
///
/// # Examples
///
/// ```
/// use http::{Request, Response};
/// use tollgate::{Quota, TokenBucket};
/// use tollgate_tower::RateLimitLayer;
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let inner = service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::from("in"))));
/// let service = RateLimitLayer::new(TokenBucket::new(Quota::per_hour(1))).layer(inner);
/// assert_eq!(service.clone().oneshot(Request::new(())).await.unwrap().status(), 200);
/// assert_eq!(service.oneshot(Request::new(())).await.unwrap().status(), 429);
/// # }
/// ```
pub struct RateLimitService<S, A> {
    pub(super) inner: S,
    pub(super) shared: Arc<Shared<A>>,
}

impl<S: Clone, A> Clone for RateLimitService<S, A> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<S, A, B, D> Service<Request<B>> for RateLimitService<S, A>
where
    S: Service<Request<B>, Response = Response<D>> + Clone,
    A: Answer<D>,
{
    type Response = Response<D>;
    type Error = S::Error;
    type Future = ResponseFuture<S, B, D>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let shared = &*self.shared;
        // How limits stand is computed, and kept, only if somebody is told.
        let told = shared.dialect != Dialect::None || shared.answer.reads_reports();
        let mut reports = told.then(|| Vec::with_capacity(shared.policies.len()));
        let outcome = if shared.reads_all {
            let (parts, body) = request.into_parts();
            let outcome = decide(Seen::Apart(&parts), &mut reports, &shared.policies);
            request = Request::from_parts(parts, body);
            outcome
        } else {
            decide(Seen::Whole(request.headers(), request.extensions()), &mut reports, &shared.policies)
        };
        let reports = reports.as_deref().unwrap_or_default();
        match outcome {
            Outcome::Pass if shared.tells_admitted => {
                let fields = Fields::of(shared.dialect, None, reports);
                ResponseFuture::telling(self.inner.call(request), fields)
            }
            Outcome::Pass => ResponseFuture::passing(self.inner.call(request)),
            Outcome::Wait(held) => {
                let told = if shared.tells_admitted { reports } else { &[] };
                let fields = Fields::of(shared.dialect, None, told);
                // The service that was polled ready goes with the request; a fresh clone takes its stead.
                let clone = self.inner.clone();
                let ready = core::mem::replace(&mut self.inner, clone);
                ResponseFuture::waiting(held, ready, request, fields)
            }
            Outcome::Refuse(reason, policy) => {
                let (parts, _) = request.into_parts();
                let refusal = Refusal { reason, reports, policy: &policy.name };
                let mut response = shared.answer.answer(&refusal, &parts);
                Fields::of(shared.dialect, Some(reason), reports).put_on(&mut response);
                ResponseFuture::refused(response)
            }
        }
    }
}

impl<S: fmt::Debug, A> fmt::Debug for RateLimitService<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policies = &self.shared.policies;
        f.debug_struct("RateLimitService").field("inner", &self.inner).field("policies", policies).finish()
    }
}
