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
    held: Vec<Held>,
    service: S,
    request: Request<B>,
    fields: Fields,
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
        #[pin]
        stage: Stage<S, B, D, S::Future>,
    }
}

pin_project! {
    #[project = Now]
    enum Stage<S, B, D, F> {
        Refused { response: Option<Response<D>> },
        // In a box, for it is large and rare, and the future of every request has to have room for it.
        Waiting { waiting: Option<Box<Waiting<S, B>>> },
        Passing { #[pin] future: F },
        Telling { #[pin] future: F, fields: Fields },
    }
}

impl<S: Service<Request<B>>, B, D> ResponseFuture<S, B, D> {
    pub(super) fn refused(response: Response<D>) -> Self {
        Self { stage: Stage::Refused { response: Some(response) } }
    }

    pub(super) const fn passing(future: S::Future) -> Self {
        Self { stage: Stage::Passing { future } }
    }

    pub(super) const fn telling(future: S::Future, fields: Fields) -> Self {
        Self { stage: Stage::Telling { future, fields } }
    }

    pub(super) fn waiting(held: Vec<Held>, service: S, request: Request<B>, fields: Fields) -> Self {
        let longest = held.iter().map(Held::delay).max().unwrap_or_default();
        observe::wait(longest);
        let waiting = Some(Box::new(Waiting { held, service, request, fields }));
        Self { stage: Stage::Waiting { waiting } }
    }
}

impl<S, B, D> Future for ResponseFuture<S, B, D>
where
    S: Service<Request<B>, Response = Response<D>>,
{
    type Output = Result<Response<D>, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        const OVER: &str = "a future was polled after it was ready";
        let mut this = self.project();
        // PROGRESS: ends at the second turn at the latest: a request that waits is then on its way.
        loop {
            match this.stage.as_mut().project() {
                Now::Refused { response } => return Poll::Ready(Ok(response.take().expect(OVER))),
                Now::Waiting { waiting } => {
                    for held in &mut waiting.as_mut().expect(OVER).held {
                        ready!(held.poll_due(context));
                    }
                    let Waiting { held, mut service, request, fields } = *waiting.take().expect(OVER);
                    held.into_iter().for_each(Held::spend);
                    this.stage.set(Stage::Telling { future: service.call(request), fields });
                }
                Now::Passing { future } => return future.poll(context),
                Now::Telling { future, fields } => {
                    let mut response = ready!(future.poll(context))?;
                    fields.put_on(&mut response);
                    return Poll::Ready(Ok(response));
                }
            }
        }
    }
}

impl<S: Service<Request<B>>, B, D> fmt::Debug for ResponseFuture<S, B, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Refused { .. } => "refused",
            Stage::Waiting { .. } => "waiting",
            Stage::Passing { .. } | Stage::Telling { .. } => "passing",
        };
        f.debug_struct("ResponseFuture").field("stage", &stage).finish_non_exhaustive()
    }
}
