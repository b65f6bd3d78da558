//! [`PaceLayer`]: a client whose requests go out at a pace.

use super::future::{PaceError, PaceFuture};
use super::host::{self, Hosts};
use super::pace::Pace;
use core::fmt;
use core::task::{Context, Poll};
use http::{Request, Response};
use std::sync::Arc;
use tollgate::{AdjustError, Timer, TokioClock};
use tower_layer::Layer;
use tower_service::Service;

/// Holds requests back so that each host gets them at a pace that it bears: for hyper, reqwest, or any client that is a tower service.
///
/// A request waits until its host's bucket has a token, and until the host's last `Retry-After` in a 429 or 503 has passed. One that
/// would have to wait for longer than it has [patience](Pace::patient_for) fails at once, with an error. Answers are passed on as
/// they are: it does not repeat requests.
///
/// Who waits is served in no order. All clones share what is known of hosts. A request that is dropped while it waits has taken
/// nothing.
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
pub struct PaceLayer<C = TokioClock> {
    hosts: Arc<Hosts<C>>,
}

impl PaceLayer {
    /// At this pace, on the clock of tokio.
    ///
    /// # Panics
    ///
    /// If the quota does not fit an [`AdjustableTokenBucket`](tollgate::AdjustableTokenBucket).
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
        Self::try_with_clock(pace, TokioClock).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl<C: Timer> PaceLayer<C> {
    /// At this pace, on another clock.
    ///
    /// # Errors
    ///
    /// [`AdjustError`], if the quota does not fit.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{AdjustError, ManualClock, Quota};
    /// use tollgate_tower::client::{Pace, PaceLayer};
    ///
    /// let layer = PaceLayer::try_with_clock(Pace::new(Quota::per_second(10)), ManualClock::new());
    /// assert!(layer.is_ok());
    ///
    /// let too_large = Quota::per_second(1).with_burst(u64::MAX / 2);
    /// let layer = PaceLayer::try_with_clock(Pace::new(too_large), ManualClock::new());
    /// assert_eq!(layer.unwrap_err(), AdjustError::TooLarge);
    /// ```
    pub fn try_with_clock(pace: Pace, clock: C) -> Result<Self, AdjustError> {
        Ok(Self { hosts: Arc::new(Hosts::new(pace, clock)?) })
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
