//! [`RateLimitLayer`]: limits in front of a service.

mod decide;
mod future;
mod service;

pub use future::ResponseFuture;
pub use service::RateLimitService;

use crate::answer::{Answer, Dialect, EmptyAnswer};
use crate::key::RequestKey;
use crate::limit::Keyless;
use crate::policy::Policy;
use core::hash::{BuildHasher, Hash};
use std::sync::Arc;
use tollgate::{Clock, KeyedLimiter, RateLimit};
use tower_layer::Layer;

/// Limits in front of a service: of axum, tonic, hyper, or anything else that is a tower service for HTTP.
///
/// A request must be admitted by every policy that concerns it, or it takes nothing from any. They are asked in order, and the first
/// that refuses ends it. It is decided in `call`, where the request is known; `poll_ready` only asks the service within. All clones
/// share the limits: those that axum makes for each route and each connection too. A refusal is a response, never an error.
///
/// Nothing is locked, and while nobody waits no task and no timer is used.
///
/// # Examples
///
/// All of a limit for axum:
///
/// ```
/// use axum::{Router, routing::get};
/// use tollgate::{Quota, TokenBucket};
/// use tollgate_tower::RateLimitLayer;
///
/// let app: Router = Router::new()
///     .route("/", get(async || "hello"))
///     .layer(RateLimitLayer::new(TokenBucket::new(Quota::per_second(100))));
/// ```
///
/// Several limits, and what clients are told of them:
///
/// ```
/// use tollgate::{KeyedLimiter, Quota, TokenBucket};
/// use tollgate_tower::{Dialect, Keyless, Policy, ProblemAnswer, RateLimitLayer, key::PeerAddress};
///
/// let clients = KeyedLimiter::new(Quota::per_minute(60), 100_000);
/// let layer = RateLimitLayer::of([
///     Policy::per_key(clients, PeerAddress::new(), Keyless::Reject).named("client"),
///     Policy::new(TokenBucket::new(Quota::per_second(1_000))).named("all"),
/// ])
/// .telling(Dialect::Draft8To11)
/// .telling_the_admitted()
/// .answering(ProblemAnswer);
/// ```
///
/// Around the whole router, where it executes less than half as much: axum puts a service with each of its layers in a box for each
/// request, and knows nothing of this one. It decides before a request is routed, so that no `MatchedPath` is there yet.
///
/// ```
/// # use core::net::SocketAddr;
/// use axum::{Router, ServiceExt, extract::Request, routing::get};
/// use tollgate::{Quota, TokenBucket};
/// use tollgate_tower::RateLimitLayer;
/// use tower::Layer;
///
/// # async fn serve(listener: tokio::net::TcpListener) -> std::io::Result<()> {
/// let router = Router::new().route("/", get(async || "hello"));
/// let limited = RateLimitLayer::new(TokenBucket::new(Quota::per_second(100))).layer(router);
/// axum::serve(listener, ServiceExt::<Request>::into_make_service_with_connect_info::<SocketAddr>(limited)).await
/// # }
/// ```
#[derive(Debug)]
pub struct RateLimitLayer<A = EmptyAnswer> {
    shared: Arc<Shared<A>>,
}

/// What all clones share.
#[derive(Debug, Clone)]
pub(crate) struct Shared<A> {
    policies: Arc<[Policy]>,
    /// Whether a policy reads more of a request than headers and extensions.
    reads_all: bool,
    answer: A,
    dialect: Dialect,
    tells_admitted: bool,
}

impl RateLimitLayer {
    /// One limit for all requests, of any limiter.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::RateLimitLayer;
    ///
    /// // Shared, so that it can be looked at from elsewhere.
    /// let bucket = Arc::new(TokenBucket::new(Quota::per_second(100)));
    /// let layer = RateLimitLayer::new(Arc::clone(&bucket));
    /// assert_eq!(bucket.available(), 100);
    /// # let _ = layer;
    /// ```
    pub fn new(limiter: impl RateLimit + Send + Sync + 'static) -> Self {
        Self::of([Policy::new(limiter)])
    }

    /// A limit for each key; see [`Policy::per_key`].
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    /// use tollgate_tower::{Keyless, RateLimitLayer, key::PeerAddress};
    ///
    /// let limiter = KeyedLimiter::new(Quota::per_minute(60), 100_000);
    /// let layer = RateLimitLayer::per_key(limiter, PeerAddress::new(), Keyless::Reject);
    /// ```
    pub fn per_key<X, S, C>(limiter: impl Into<Arc<KeyedLimiter<X::Key, S, C>>>, key: X, keyless: Keyless) -> Self
    where
        X: RequestKey<Key: Hash + Send + 'static> + Send + Sync + 'static,
        S: BuildHasher + Send + Sync + 'static,
        C: Clock + Send + Sync + 'static,
    {
        Self::of([Policy::per_key(limiter, key, keyless)])
    }

    /// Several policies. A request must be admitted by all that concern it.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Method, Request, Response};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{Policy, RateLimitLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let layer = RateLimitLayer::of([
    ///     Policy::new(TokenBucket::new(Quota::per_hour(100))).named("all"),
    ///     Policy::new(TokenBucket::new(Quota::per_hour(1))).named("writes").only(|request| request.method == Method::POST),
    /// ]);
    /// let mut service = ServiceBuilder::new()
    ///     .layer(layer)
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// assert_eq!(service.call(Request::post("/").body(()).unwrap()).await.unwrap().status(), 200);
    /// assert_eq!(service.call(Request::post("/").body(()).unwrap()).await.unwrap().status(), 429);
    /// assert_eq!(service.call(Request::get("/").body(()).unwrap()).await.unwrap().status(), 200);
    /// # }
    /// ```
    pub fn of(policies: impl IntoIterator<Item = Policy>) -> Self {
        let policies: Arc<[Policy]> = policies.into_iter().collect();
        let reads_all = policies.iter().any(Policy::reads_all);
        let (answer, dialect) = (EmptyAnswer, Dialect::None);
        let shared = Shared { policies, reads_all, answer, dialect, tells_admitted: false };
        Self { shared: Arc::new(shared) }
    }
}

impl<A> RateLimitLayer<A> {
    /// The same limits, with refusals answered by `answer`: [`EmptyAnswer`], [`ProblemAnswer`](crate::ProblemAnswer),
    /// [`GrpcAnswer`](crate::GrpcAnswer), or a function of the [`Refusal`](crate::Refusal) and the request.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response, StatusCode, request::Parts};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{RateLimitLayer, Refusal};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let teapot = |_: &Refusal<'_>, _: &Parts| {
    ///     let mut response = Response::new(String::from("not now"));
    ///     *response.status_mut() = StatusCode::IM_A_TEAPOT;
    ///     response
    /// };
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::new(TokenBucket::new(Quota::DENY_ALL)).answering(teapot))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// let answer = service.call(Request::new(())).await.unwrap();
    /// assert_eq!((answer.status().as_u16(), &**answer.body()), (418, "not now"));
    /// # }
    /// ```
    #[must_use]
    pub fn answering<B>(self, answer: B) -> RateLimitLayer<B> {
        let &Shared { ref policies, reads_all, dialect, tells_admitted, .. } = &*self.shared;
        let shared = Shared { policies: Arc::clone(policies), reads_all, answer, dialect, tells_admitted };
        RateLimitLayer { shared: Arc::new(shared) }
    }
}

impl<A: Clone> RateLimitLayer<A> {
    /// The same limits, with how they stand told in this dialect where a request is refused.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{Dialect, RateLimitLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let bucket = TokenBucket::new(Quota::per_hour(1));
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::new(bucket).telling(Dialect::XRateLimit))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// assert!(service.call(Request::new(())).await.unwrap().headers().is_empty()); // it is admitted
    /// let refused = service.call(Request::new(())).await.unwrap();
    /// assert_eq!(refused.headers()["x-ratelimit-remaining"], "0");
    /// # }
    /// ```
    #[must_use]
    pub fn telling(mut self, dialect: Dialect) -> Self {
        Arc::make_mut(&mut self.shared).dialect = dialect;
        self
    }

    /// The same limits, with how they stand told where a request is admitted, too.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{Dialect, RateLimitLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let bucket = TokenBucket::new(Quota::per_hour(60));
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::new(bucket).telling(Dialect::XRateLimit).telling_the_admitted())
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// let admitted = service.call(Request::new(())).await.unwrap();
    /// assert_eq!(admitted.headers()["x-ratelimit-remaining"], "59");
    /// # }
    /// ```
    #[must_use]
    pub fn telling_the_admitted(mut self) -> Self {
        Arc::make_mut(&mut self.shared).tells_admitted = true;
        self
    }
}

impl<A> Clone for RateLimitLayer<A> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S, A> Layer<S> for RateLimitLayer<A> {
    type Service = RateLimitService<S, A>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimitService { inner, shared: Arc::clone(&self.shared) }
    }
}
