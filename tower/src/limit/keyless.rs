//! [`Keyless`]: what becomes of a request that has no key.

use super::{Asked, Held, Limit, Said, Whole};
use std::sync::Arc;
use tollgate::{Quota, TokenBucket};

/// What becomes of a request that has no key. There is no default: each choice is somebody's incident.
///
/// # Examples
///
/// ```
/// use tollgate::{KeyedLimiter, Quota};
/// use tollgate_tower::{Keyless, Policy, key::PeerAddress};
///
/// let limiter = KeyedLimiter::new(Quota::per_minute(60), 10_000);
/// let policy = Policy::per_key(limiter, PeerAddress::new(), Keyless::share(Quota::per_second(5)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Keyless {
    /// It is refused, with `400 Bad Request`.
    Reject,
    /// It passes, without a limit.
    Pass,
    /// All such requests share this bucket.
    Share(Arc<TokenBucket>),
}

impl Keyless {
    /// All requests without a key share one bucket of this quota.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use tollgate::{KeyedLimiter, Quota};
    /// use tollgate_tower::{Keyless, RateLimitLayer, key::HashedHeader};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limiter = KeyedLimiter::new(Quota::per_minute(60), 10_000);
    /// let keyless = Keyless::share(Quota::per_hour(1)); // all of them together
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::per_key(limiter, HashedHeader::new("x-api-key"), keyless))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// assert_eq!(service.call(Request::new(())).await.unwrap().status(), 200);
    /// assert_eq!(service.call(Request::new(())).await.unwrap().status(), 429);
    /// # }
    /// ```
    pub fn share(quota: Quota) -> Self {
        Self::Share(Arc::new(TokenBucket::new(quota)))
    }

    pub(crate) fn take(&self, asked: Asked<'_>) -> Said<()> {
        match self {
            Self::Reject => Said::NoKey,
            Self::Pass => Said::Unlimited,
            Self::Share(bucket) => Whole(Arc::<TokenBucket>::clone(bucket)).take(asked),
        }
    }

    pub(crate) fn hold(&self, asked: Asked<'_>) -> Said<Held> {
        match self {
            Self::Reject => Said::NoKey,
            Self::Pass => Said::Unlimited,
            Self::Share(bucket) => Whole(Arc::<TokenBucket>::clone(bucket)).hold(asked),
        }
    }
}
