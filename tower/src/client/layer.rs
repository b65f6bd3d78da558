//! [`PaceLayer`]: a client whose requests go out at a pace.

use super::future::{PaceError, PaceFuture};
use super::host::{self, Hosts};
use super::pace::Pace;
use core::fmt;
use core::task::{Context, Poll};
use http::{Request, Response};
use std::sync::Arc;
use tollgate::{Timer, TokioClock};
use tower_layer::Layer;
use tower_service::Service;

/// Holds requests back so that each host gets them at a pace that it bears: for hyper, reqwest, or any client that is a tower service.
///
/// Requests to a host stand in one line and go out in order, each when its place is due: at the pace, and not while the host's last
/// `Retry-After` in a 429 or 503 runs. While a host has quiet its line stands still, so that afterwards requests go on at the
/// pace instead of all at once. One that would have to wait for longer than it has [patience](Pace::patient_for) fails at once,
/// with an error, and one that only then has to, since the host asked for quiet or bears less, as soon as that is seen. Answers are
/// passed on as they are: it does not repeat requests.
///
/// All clones share what is known of hosts. A request that is dropped while it waits gives its place back. What goes to a host in any
/// time is at most its burst and what the rates in force bring meanwhile.
///
/// # Examples
///
/// ```
/// use std::convert::Infallible;
/// use http::{Request, Response};
/// use tollgate::Quota;
/// use tollgate_tower::client::{Pace, PaceLayer};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let client = service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(())));
/// let client = PaceLayer::new(Pace::new(Quota::per_second(10).with_burst(1))).layer(client);
/// let start = tokio::time::Instant::now();
/// for _ in 0..11 {
///     client.clone().oneshot(Request::get("http://example.com/").body(()).unwrap()).await.unwrap();
/// }
/// assert!(start.elapsed().as_millis() >= 1_000); // of the runtime's time, which is paused here
/// # }
/// ```
///
/// A client of reqwest has requests and answers of its own types. They are those of `http`, with a conversion on either side:
///
/// ```
/// use http::{Request, Response};
/// use tollgate::Quota;
/// use tollgate_tower::client::{Pace, PaceLayer};
/// use tower::{Layer, service_fn};
///
/// let client = reqwest::Client::new();
/// let client = service_fn(move |request: Request<reqwest::Body>| {
///     let client = client.clone();
///     async move { client.execute(request.try_into()?).await.map(Response::<reqwest::Body>::from) }
/// });
/// let client = PaceLayer::new(Pace::new(Quota::per_second(10))).layer(client);
/// # fn is<S: tower::Service<Request<reqwest::Body>>>(_: S) {}
/// # is(client);
/// ```
pub struct PaceLayer<C = TokioClock> {
    hosts: Arc<Hosts<C>>,
}

impl PaceLayer {
    /// At this pace, on the clock of tokio.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::Quota;
    /// use tollgate_tower::client::{Pace, PaceLayer};
    ///
    /// let layer = PaceLayer::new(Pace::new(Quota::per_second(10)));
    /// let client = tower::ServiceBuilder::new().layer(layer).service_fn(async |_: http::Request<()>| {
    ///     Ok::<_, std::convert::Infallible>(http::Response::new(()))
    /// });
    /// # let _: tollgate_tower::client::PaceService<_> = client;
    /// ```
    pub fn new(pace: Pace) -> Self {
        Self::with_clock(pace, TokioClock)
    }
}

impl<C: Timer> PaceLayer<C> {
    /// At this pace, on another clock.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{ManualClock, Quota};
    /// use tollgate_tower::client::{Pace, PaceLayer};
    ///
    /// let clock = ManualClock::new(); // for a test: time goes on when it is told to
    /// let layer = PaceLayer::with_clock(Pace::new(Quota::per_second(10)), clock.clone());
    /// ```
    pub fn with_clock(pace: Pace, clock: C) -> Self {
        Self { hosts: Arc::new(Hosts::new(pace, clock)) }
    }
}

impl<C> Clone for PaceLayer<C> {
    fn clone(&self) -> Self {
        Self { hosts: Arc::clone(&self.hosts) }
    }
}

impl<C> fmt::Debug for PaceLayer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaceLayer").field("pace", &self.hosts.pace).finish_non_exhaustive()
    }
}

impl<S, C> Layer<S> for PaceLayer<C> {
    type Service = PaceService<S, C>;

    fn layer(&self, inner: S) -> PaceService<S, C> {
        PaceService { inner, hosts: Arc::clone(&self.hosts) }
    }
}

/// A client whose requests go out at a pace: what [`PaceLayer`] makes.
///
/// # Examples
///
/// ```
/// use tollgate::Quota;
/// use tollgate_tower::client::{Pace, PaceLayer, PaceService};
/// use tower::Layer;
///
/// fn polite<S>(client: S) -> PaceService<S> {
///     PaceLayer::new(Pace::new(Quota::per_second(10))).layer(client)
/// }
/// ```
pub struct PaceService<S, C = TokioClock> {
    inner: S,
    hosts: Arc<Hosts<C>>,
}

impl<S: Clone, C> Clone for PaceService<S, C> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), hosts: Arc::clone(&self.hosts) }
    }
}

impl<S: fmt::Debug, C> fmt::Debug for PaceService<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaceService").field("inner", &self.inner).field("pace", &self.hosts.pace).finish()
    }
}

impl<S, C, B, D> Service<Request<B>> for PaceService<S, C>
where
    S: Service<Request<B>, Response = Response<D>> + Clone,
    C: Timer,
{
    type Response = Response<D>;
    type Error = PaceError<S::Error>;
    type Future = PaceFuture<S, B, C>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context).map_err(PaceError::Inner)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The service that was polled ready goes with the request; a fresh clone takes its stead.
        let clone = self.inner.clone();
        let ready = core::mem::replace(&mut self.inner, clone);
        let host = self.hosts.of(&host::name(&request));
        PaceFuture::new(Arc::clone(&self.hosts), host, ready, request)
    }
}
