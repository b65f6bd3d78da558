//! [`PaceFuture`]: a request that waits until it may go out.

use super::host::{Host, Hosts};
use crate::observe;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use http::{Request, Response};
use pin_project_lite::pin_project;
use std::sync::Arc;
use tollgate::{Clock, Denied, Hint, Nanos, Timer};
use tower_service::Service;

/// Why a request failed.
///
/// # Examples
///
/// ```
/// use tollgate_tower::client::PaceError;
///
/// fn is_worth_trying_later<E>(error: &PaceError<E>) -> bool {
///     matches!(error, PaceError::Denied(denied) if denied.retry_after().is_some())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaceError<E> {
    /// It was not sent: it would have had to wait for longer than it has patience.
    Denied(Denied),
    /// It was not sent: too many hosts are in use at once.
    TooManyHosts,
    /// It was sent, or tried to be, and the client within failed.
    Inner(E),
}

impl<E: fmt::Display> fmt::Display for PaceError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(denied) => write!(f, "not sent: {denied}"),
            Self::TooManyHosts => f.write_str("not sent: too many hosts are in use at once"),
            Self::Inner(error) => error.fmt(f),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for PaceError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Denied(denied) => Some(denied),
            Self::TooManyHosts => None,
            Self::Inner(error) => error.source(),
        }
    }
}

pin_project! {
    /// The future of a [`PaceService`](super::PaceService). Dropped while its request waits, it has taken nothing.
    ///
    /// # Examples
    ///
    /// Nobody names it but services around a `PaceService`:
    ///
    /// ```
    /// use tollgate_tower::client::PaceFuture;
    ///
    /// fn takes<S: tower::Service<http::Request<B>>, B, C: tollgate::Timer>(_: PaceFuture<S, B, C>) {}
    /// ```
    #[must_use = "futures do nothing unless polled"]
    pub struct PaceFuture<S, B, C>
    where
        S: Service<Request<B>>,
        C: Timer,
    {
        hosts: Arc<Hosts<C>>,
        host: Option<Arc<Host<C>>>,
        waiting: Option<(S, Request<B>)>,
        started: Nanos,
        slept: bool,
        #[pin]
        sleep: Option<C::Sleep>,
        #[pin]
        sent: Option<S::Future>,
    }
}

impl<S: Service<Request<B>>, B, C: Timer> PaceFuture<S, B, C> {
    pub(super) fn new(hosts: Arc<Hosts<C>>, host: Option<Arc<Host<C>>>, service: S, request: Request<B>) -> Self {
        let started = hosts.clock.now();
        Self { hosts, host, waiting: Some((service, request)), started, slept: false, sleep: None, sent: None }
    }
}

impl<S, B, C, D> Future for PaceFuture<S, B, C>
where
    S: Service<Request<B>, Response = Response<D>>,
    C: Timer,
{
    type Output = Result<Response<D>, PaceError<S::Error>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(host) = this.host else { return Poll::Ready(Err(PaceError::TooManyHosts)) };
        let Hosts { pace, clock, .. } = &**this.hosts;
        // PROGRESS: ends when the request is let out, sleeps, or has waited as long as it may.
        while this.sent.is_none() {
            if let Some(sleep) = this.sleep.as_mut().as_pin_mut() {
                ready!(sleep.poll(context));
                this.sleep.set(None);
            }
            let now = clock.now();
            match host.admit(now) {
                Ok(()) => {
                    if *this.slept {
                        observe::wait(now.saturating_since(*this.started));
                    }
                    let (mut service, request) = this.waiting.take().expect("a future was polled after it was ready");
                    this.sent.set(Some(service.call(request)));
                }
                Err(denied) => {
                    let last = this.started.saturating_add(pace.patience);
                    match denied.retry_after().map(|after| now.saturating_add(after)) {
                        Some(due) if due <= last => {
                            *this.slept = true;
                            this.sleep.set(Some(clock.sleep_until(due)));
                        }
                        Some(due) => {
                            let hint = Hint::after(due.saturating_since(now));
                            return Poll::Ready(Err(PaceError::Denied(Denied::WouldExceedDeadline(hint))));
                        }
                        None => return Poll::Ready(Err(PaceError::Denied(denied))),
                    }
                }
            }
        }
        let sent = this.sent.as_pin_mut().expect("it was sent");
        let response = ready!(sent.poll(context)).map_err(PaceError::Inner)?;
        host.learn(pace, response.status(), response.headers(), clock.now());
        Poll::Ready(Ok(response))
    }
}

impl<S: Service<Request<B>>, B, C: Timer> fmt::Debug for PaceFuture<S, B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaceFuture").field("waiting", &self.waiting.is_some()).finish_non_exhaustive()
    }
}
