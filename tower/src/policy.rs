//! [`Policy`]: one named limit of a service, and what a request costs there.

use crate::cost::Unit;
use crate::key::RequestKey;
use crate::limit::{Keyed, Keyless, Limit, Line, Seen, Whole};
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::time::Duration;
use http::request::Parts;
use std::borrow::Cow;
use std::sync::Arc;
use tollgate::{Clock, KeyedLimiter, RateLimit, Timer, WaitingTokenBucket};

type Cost = Box<dyn Fn(&Parts) -> u64 + Send + Sync>;
type Filter = Box<dyn Fn(&Parts) -> bool + Send + Sync>;

/// One limit of a service: a limiter, what a request costs there, and which requests it concerns.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use http::Method;
/// use tollgate::{KeyedLimiter, Quota, TokenBucket, TokioClock};
/// use tollgate_tower::{Keyless, Policy, key::PeerAddress};
///
/// let all = Policy::new(TokenBucket::new(Quota::per_second(5_000))).named("all");
///
/// // Each client, whom a short wait does no harm.
/// let limiter = KeyedLimiter::with_clock(Quota::per_second(10), 100_000, TokioClock);
/// let client = Policy::per_key_waiting(limiter, PeerAddress::new(), Keyless::Reject, Duration::from_millis(200))
///     .named("client");
///
/// // By way of trial: counted and logged, and nobody is refused.
/// let writes = Policy::new(TokenBucket::new(Quota::per_second(100)))
///     .named("writes")
///     .only(|request| request.method == Method::POST)
///     .observe_only();
/// ```
pub struct Policy {
    pub(crate) name: Cow<'static, str>,
    pub(crate) limit: Box<dyn Limit>,
    pub(crate) unit: Unit,
    pub(crate) observed: bool,
    cost: Option<Cost>,
    concerns: Vec<Filter>,
}

impl Policy {
    fn of(limit: impl Limit + 'static) -> Self {
        let (name, unit) = (Cow::Borrowed("default"), Unit::default());
        Self { name, limit: Box::new(limit), unit, observed: false, cost: None, concerns: Vec::new() }
    }

    /// One limit for all requests, of any limiter. Who is over it is refused.
    ///
    /// An `Arc` of a limiter is one as well: keep a share to look at it, or to change its quota.
    ///
    /// Where a later policy refuses, or a request hangs up while it waits for one, exactly what was taken here is
    /// [taken back](RateLimit::take_back), and nothing is ever minted. A window takes back to the window in which it was taken, and to no
    /// other. A bucket takes it back unless another request has taken of it meanwhile: then it stays spent. Where that matters, place what
    /// refuses most often first, or take a [`WaitingTokenBucket`], which has room for what comes back, and in which nobody waits here.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tollgate::{AdjustableTokenBucket, Quota};
    /// use tollgate_tower::Policy;
    ///
    /// let bucket = Arc::new(AdjustableTokenBucket::new(Quota::per_second(100)));
    /// let policy = Policy::new(Arc::clone(&bucket)).named("all");
    /// bucket.set_quota(Quota::per_second(50))?; // in force from now on
    /// assert!(format!("{policy:?}").contains("50"));
    /// # Ok::<_, tollgate::AdjustError>(())
    /// ```
    pub fn new(limiter: impl RateLimit + Send + Sync + 'static) -> Self {
        Self::of(Whole(Arc::new(limiter)))
    }

    /// One line for all requests: who is over the limit waits, for at most `longest`, and no longer than the bucket's own line
    /// lets it; who would have to wait longer is refused at once. The place of a request that is dropped is given back.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use http::{Request, Response};
    /// use tollgate::{Quota, TokioClock, WaitingTokenBucket};
    /// use tollgate_tower::{Policy, RateLimitLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let line = WaitingTokenBucket::with_clock(Quota::per_second(1), Duration::MAX, TokioClock);
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::of([Policy::waiting(line, Duration::from_secs(1))]))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// let [now, waits, late] = [(); 3].map(|()| service.call(Request::new(())));
    /// assert_eq!(late.await.unwrap().status(), 429); // at once: it would have had to wait for two seconds
    /// assert_eq!((now.await.unwrap().status(), waits.await.unwrap().status()), (http::StatusCode::OK, http::StatusCode::OK));
    /// # }
    /// ```
    pub fn waiting<C>(bucket: impl Into<Arc<WaitingTokenBucket<C>>>, longest: Duration) -> Self
    where
        C: Timer + Send + Sync + 'static,
        C::Sleep: Send,
    {
        Self::of(Line { bucket: bucket.into(), longest })
    }

    /// A limit for each key. Who is over it is refused; a request without a key is treated as `keyless` says.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use tollgate::{KeyedLimiter, Quota};
    /// use tollgate_tower::{Keyless, Policy, RateLimitLayer, key::HashedHeader};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limiter = KeyedLimiter::new(Quota::per_hour(1), 10_000);
    /// let policy = Policy::per_key(limiter, HashedHeader::new("x-api-key"), Keyless::Reject);
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::of([policy]))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// let mut statuses = Vec::new();
    /// for key in ["a", "a", "b"] {
    ///     let request = Request::builder().header("x-api-key", key).body(()).unwrap();
    ///     statuses.push(service.call(request).await.unwrap().status().as_u16());
    /// }
    /// assert_eq!(statuses, [200, 429, 200]);
    /// # }
    /// ```
    pub fn per_key<X, S, C>(limiter: impl Into<Arc<KeyedLimiter<X::Key, S, C>>>, key: X, keyless: Keyless) -> Self
    where
        X: RequestKey<Key: Hash + Send + 'static> + Send + Sync + 'static,
        S: BuildHasher + Send + Sync + 'static,
        C: Clock + Send + Sync + 'static,
    {
        Self::of(Keyed::now(limiter.into(), key, keyless))
    }

    /// A line for each key, in which requests wait for at most `longest`; see [`waiting`](Self::waiting).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use http::{Request, Response};
    /// use tollgate::{KeyedLimiter, Quota, TokioClock};
    /// use tollgate_tower::{Keyless, Policy, RateLimitLayer, key::HashedHeader};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let limiter = KeyedLimiter::with_clock(Quota::per_second(1), 10_000, TokioClock);
    /// let by_token = HashedHeader::new("x-api-key");
    /// let policy = Policy::per_key_waiting(limiter, by_token, Keyless::Reject, Duration::from_secs(1));
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::of([policy]))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// let [now, waits, late] = [(); 3].map(|()| {
    ///     service.call(Request::builder().header("x-api-key", "a").body(()).unwrap())
    /// });
    /// assert_eq!(late.await.unwrap().status(), 429);
    /// assert_eq!((now.await.unwrap().status(), waits.await.unwrap().status()), (http::StatusCode::OK, http::StatusCode::OK));
    /// # }
    /// ```
    pub fn per_key_waiting<X, S, C>(
        limiter: impl Into<Arc<KeyedLimiter<X::Key, S, C>>>,
        key: X,
        keyless: Keyless,
        longest: Duration,
    ) -> Self
    where
        X: RequestKey<Key: Hash + Send + 'static> + Send + Sync + 'static,
        S: BuildHasher + Send + Sync + 'static,
        C: Timer + Send + Sync + 'static,
        C::Sleep: Send,
    {
        Self::of(Keyed::waiting(limiter.into(), key, keyless, longest))
    }

    /// The same policy under this name, which stands in answers, metrics and logs; `default` without.
    ///
    /// # Panics
    ///
    /// If it is empty, or not of printable ASCII: it could not stand in a header.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::Policy;
    ///
    /// let policy = Policy::new(TokenBucket::new(Quota::per_second(100))).named("uploads");
    /// assert!(format!("{policy:?}").contains("uploads"));
    /// ```
    #[must_use]
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        let printable = self.name.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        assert!(printable && !self.name.is_empty(), "a policy's name is printable ASCII");
        self
    }

    /// The same policy, where a request costs what `cost` says instead of 1. A cost of 0 always passes.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use http::{Request, Response};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{Policy, RateLimitLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let bucket = Arc::new(TokenBucket::new(Quota::per_hour(100)));
    /// let policy = Policy::new(Arc::clone(&bucket)).costing(|request| if request.uri.path() == "/report" { 20 } else { 1 });
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::of([policy]))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// service.call(Request::get("/report").body(()).unwrap()).await.unwrap();
    /// assert_eq!(bucket.available(), 80);
    /// # }
    /// ```
    #[must_use]
    pub fn costing(self, cost: impl Fn(&Parts) -> u64 + Send + Sync + 'static) -> Self {
        Self { cost: Some(Box::new(cost)), ..self }
    }

    /// The same policy, whose tokens are called `unit` in answers.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{Dialect, Policy, RateLimitLayer, Unit, body_bytes};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let upload = TokenBucket::new(Quota::per_second(1_000));
    /// let policy = Policy::new(upload).costing(body_bytes(0)).counting(Unit::ContentBytes);
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::of([policy]).telling(Dialect::Draft8To11).telling_the_admitted())
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// let answer = service.call(Request::new(())).await.unwrap();
    /// assert_eq!(answer.headers()["ratelimit-policy"], r#""default";q=1000;qu="content-bytes";w=1"#);
    /// # }
    /// ```
    #[must_use]
    pub fn counting(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// The same policy for requests only of which `concerns` is true: those of a method or a route.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{Policy, RateLimitLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let closed = Policy::new(TokenBucket::new(Quota::DENY_ALL)).only(|request| request.uri.path().starts_with("/admin"));
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::of([closed]))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// assert_eq!(service.call(Request::get("/admin/users").body(()).unwrap()).await.unwrap().status(), 429);
    /// assert_eq!(service.call(Request::get("/").body(()).unwrap()).await.unwrap().status(), 200);
    /// # }
    /// ```
    #[must_use]
    pub fn only(mut self, concerns: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        self.concerns.push(Box::new(concerns));
        self
    }

    /// The same policy without requests of which `exempt` is true: an allow list, of [`Networks`](crate::key::Networks) for
    /// example.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::key::{Networks, Peer, PeerAddress};
    /// use tollgate_tower::{Policy, RateLimitLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let monitors = Networks::parse(["192.0.2.0/28"]).unwrap();
    /// let policy = Policy::new(TokenBucket::new(Quota::DENY_ALL))
    ///     .exempting(move |request| PeerAddress::new().address(request).is_some_and(|peer| monitors.contains(peer)));
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::of([policy]))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// let mut request = Request::new(());
    /// assert_eq!(service.call(request.clone()).await.unwrap().status(), 429);
    /// request.extensions_mut().insert(Peer("192.0.2.1:1234".parse().unwrap()));
    /// assert_eq!(service.call(request).await.unwrap().status(), 200);
    /// # }
    /// ```
    #[must_use]
    pub fn exempting(self, exempt: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        self.only(move |request| !exempt(request))
    }

    /// The same policy by way of trial: it counts, logs and reports as if it were in force, and refuses nobody. A waiting policy
    /// has nobody wait.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use http::{Request, Response};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{Policy, RateLimitLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let bucket = Arc::new(TokenBucket::new(Quota::per_hour(1)));
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::of([Policy::new(Arc::clone(&bucket)).observe_only()]))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// for _ in 0..3 {
    ///     assert_eq!(service.call(Request::new(())).await.unwrap().status(), 200);
    /// }
    /// assert_eq!(bucket.available(), 0); // the second and the third would have been refused
    /// # }
    /// ```
    #[must_use]
    pub fn observe_only(self) -> Self {
        Self { observed: true, ..self }
    }

    /// Whether it reads more of a request than headers and extensions.
    pub(crate) fn reads_all(&self) -> bool {
        self.cost.is_some() || !self.concerns.is_empty() || self.limit.reads_all()
    }

    #[inline]
    pub(crate) fn concerns(&self, request: Seen<'_>) -> bool {
        match request {
            Seen::Apart(parts) => self.concerns.iter().all(|concerns| concerns(parts)),
            Seen::Whole(..) => true, // there is no condition: see `reads_all`
        }
    }

    #[inline]
    pub(crate) fn cost(&self, request: Seen<'_>) -> u64 {
        match (request, &self.cost) {
            (Seen::Apart(parts), Some(cost)) => cost(parts),
            _ => 1,
        }
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").field("name", &self.name).field("quota", &self.limit.quota()).finish_non_exhaustive()
    }
}
