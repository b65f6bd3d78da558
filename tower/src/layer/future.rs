//! [`ResponseFuture`]: a response that may have to wait for its turn.

use crate::answer::Fields;
use crate::limit::Held;
use crate::observe;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_service::Service;

/// What is on its way through the limits.
struct Waiting<S, B> {
    held: Vec<Box<dyn Held>>,
    service: S,
    request: Request<B>,
}

pin_project! {
    /// The future of a [`RateLimitService`](super::RateLimitService). Dropped while its request waits in line, it gives the place
    /// back, and the service within never sees the request.
    ///
    /// # Examples
    ///
    /// Nobody names it but services around a `RateLimitService`:
    ///
    /// ```
    /// use tollgate_tower::ResponseFuture;
    ///
    /// fn takes<S: tower::Service<http::Request<B>>, B, D>(_: ResponseFuture<S, B, D>) {}
    /// ```
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S, B, D>
    where
        S: Service<Request<B>>,
    {
        waiting: Option<Waiting<S, B>>,
        refused: Option<Response<D>>,
        fields: Fields,
        #[pin]
        passing: Option<S::Future>,
    }
}

impl<S: Service<Request<B>>, B, D> ResponseFuture<S, B, D> {
    pub(super) fn refused(response: Response<D>) -> Self {
        Self { waiting: None, refused: Some(response), fields: Fields::default(), passing: None }
    }

    pub(super) fn passing(future: S::Future, fields: Fields) -> Self {
        Self { waiting: None, refused: None, fields, passing: Some(future) }
    }

    pub(super) fn waiting(held: Vec<Box<dyn Held>>, service: S, request: Request<B>, fields: Fields) -> Self {
        let longest = held.iter().map(|held| held.delay()).max().unwrap_or_default();
        observe::wait(longest);
        Self { waiting: Some(Waiting { held, service, request }), refused: None, fields, passing: None }
    }
}

impl<S, B, D> Future for ResponseFuture<S, B, D>
where
    S: Service<Request<B>, Response = Response<D>>,
{
    type Output = Result<Response<D>, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(response) = this.refused.take() {
            return Poll::Ready(Ok(response));
        }
        if let Some(waiting) = this.waiting {
            for held in &mut waiting.held {
                ready!(held.poll_due(context));
            }
        }
        if let Some(mut waiting) = this.waiting.take() {
            waiting.held.into_iter().for_each(Held::spend);
            this.passing.set(Some(waiting.service.call(waiting.request)));
        }
        let passing = this.passing.as_pin_mut().expect("a future was polled after it was ready");
        let mut response = ready!(passing.poll(context))?;
        this.fields.put_on(&mut response);
        Poll::Ready(Ok(response))
    }
}

impl<S: Service<Request<B>>, B, D> fmt::Debug for ResponseFuture<S, B, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (waiting, refused) = (self.waiting.is_some(), self.refused.is_some());
        f.debug_struct("ResponseFuture").field("waiting", &waiting).field("refused", &refused).finish_non_exhaustive()
    }
}
