//! [`PaceFuture`]: a request that waits until it may go out.

use super::host::{Host, Hosts, Line};
use crate::observe;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use http::{Request, Response};
use pin_project_lite::pin_project;
use std::sync::Arc;
use tollgate::{Clock, Denied, Hint, Nanos, Place, Timer};
use tower_service::Service;

/// After so long a request in line looks again when it is due.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

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
    /// The future of a [`PaceService`](super::PaceService). Dropped while its request waits, it gives the place back.
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
        place: Option<Place<Arc<Line<C>>>>,
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
        Self {
            hosts,
            host,
            waiting: Some((service, request)),
            started,
            place: None,
            slept: false,
            sleep: None,
            sent: None,
        }
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
        let Some(host) = this.host else {
            observe::paced("too_many_hosts", None);
            return Poll::Ready(Err(PaceError::TooManyHosts));
        };
        let Hosts { pace, clock, .. } = &**this.hosts;
        let deadline = this.started.saturating_add(pace.patience);
        let refused = |denied: Denied| {
            observe::paced("denied", denied.retry_after());
            Poll::Ready(Err(PaceError::Denied(denied)))
        };
        // PROGRESS: ends when the request is let out, sleeps, or would have to wait for longer than it may.
        while this.sent.is_none() {
            if let Some(sleep) = this.sleep.as_mut().as_pin_mut() {
                ready!(sleep.poll(context));
                this.sleep.set(None);
            }
            let now = clock.now();
            let place = match this.place.take() {
                Some(place) => place,
                // It may have been polled late: what can go out at once, may.
                None => match host.reserve(deadline.max(now), now) {
                    Ok(place) => place,
                    Err(denied) => return refused(denied),
                },
            };
            // Read again, for a place that is due at once is due as of when it was taken, which is later than that.
            let now = clock.now();
            // Later than when the place was taken, if the host has asked for quiet since, or bears less.
            let due = host.when(&place);
            if due > deadline.max(now) {
                drop(place);
                return refused(Denied::WouldExceedDeadline(Hint::after(due.saturating_since(now))));
            }
            let spent = if due <= now { place.spend() } else { Err(place) };
            if let Err(place) = spent {
                *this.place = Some(place);
                *this.slept = true;
                // Or sooner, for the rate may rise.
                this.sleep.set(Some(clock.sleep_until(due.min(now.saturating_add(LONGEST_SLEEP)))));
                continue;
            }
            observe::paced("sent", None);
            if *this.slept {
                observe::wait(now.saturating_since(*this.started));
            }
            let (mut service, request) = this.waiting.take().expect("a future was polled after it was ready");
            this.sent.set(Some(service.call(request)));
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
