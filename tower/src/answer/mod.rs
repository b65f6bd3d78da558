//! Answers to requests that are refused, and fields that say how limits stand.

mod body;
mod fields;

pub use body::{Answer, EmptyAnswer, GrpcAnswer, ProblemAnswer};
pub use fields::Dialect;
pub(crate) use fields::Fields;

use crate::cost::Unit;
use core::time::Duration;
use http::StatusCode;
use tollgate::{Denied, Quota, Status};

/// How one policy stands after a decision.
///
/// # Examples
///
/// ```
/// use tollgate_tower::Report;
///
/// fn shown(report: &Report<'_>) -> String {
///     format!("{}: {} of {} left", report.name, report.status.remaining, report.status.limit)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Report<'a> {
    /// The policy's name.
    pub name: &'a str,
    /// What it limits to.
    pub quota: Quota,
    /// What its tokens stand for.
    pub unit: Unit,
    /// Limit, tokens left and times, as of the decision.
    pub status: Status,
    /// Why it refused, if it did.
    pub denied: Option<Denied>,
    /// What the request costs there, in tokens.
    pub cost: u64,
}

impl Report<'_> {
    /// How many more requests of this cost would be admitted at once.
    pub(crate) fn requests_left(&self) -> u64 {
        self.status.remaining / self.cost.max(1)
    }
}

/// Why a request is refused.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Denied, Hint};
/// use tollgate_tower::Reason;
///
/// let reason = Reason::Denied(Denied::TryAfter(Hint::after(Duration::from_millis(1_001))));
/// assert_eq!((reason.status().as_u16(), reason.retry_after_seconds()), (429, Some(2)));
/// assert_eq!(Reason::NoKey.status(), 400);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A limiter refused it.
    Denied(Denied),
    /// It has no key, and its policy asks for one.
    NoKey,
}

impl Reason {
    /// The status of an answer in HTTP: `503` where there is no room to remember the client, `400` where there is no key, and
    /// otherwise `429`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Denied, Hint};
    /// use tollgate_tower::Reason;
    ///
    /// let soon = Hint::after(Duration::from_secs(1));
    /// assert_eq!(Reason::Denied(Denied::TryAfter(soon)).status(), 429);
    /// assert_eq!(Reason::Denied(Denied::TableFull(soon)).status(), 503);
    /// assert_eq!(Reason::NoKey.status(), 400);
    /// ```
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::Denied(denied) => crate::status(denied),
            Self::NoKey => StatusCode::BAD_REQUEST,
        }
    }

    /// How long until the same request would be admitted, if nobody else is served first; `None` means never.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Denied, Hint};
    /// use tollgate_tower::Reason;
    ///
    /// let wait = Duration::from_millis(20);
    /// assert_eq!(Reason::Denied(Denied::TryAfter(Hint::after(wait))).retry_after(), Some(wait));
    /// assert_eq!(Reason::NoKey.retry_after(), None);
    /// ```
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Denied(denied) => denied.retry_after(),
            Self::NoKey => None,
        }
    }

    /// The value of a `Retry-After` header; see [`retry_after`](crate::retry_after).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Denied, Hint};
    /// use tollgate_tower::Reason;
    ///
    /// let soon = Hint::after(Duration::from_millis(20));
    /// assert_eq!(Reason::Denied(Denied::TryAfter(soon)).retry_after_seconds(), Some(1)); // rounded up
    /// assert_eq!(Reason::Denied(Denied::ExceedsBurst { cost: 7, max_cost: 5 }).retry_after_seconds(), None); // never
    /// ```
    pub const fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::Denied(denied) => crate::retry_after(denied),
            Self::NoKey => None,
        }
    }
}

/// A request that is refused: why, by which policy, and how the policies stand that were asked.
///
/// # Examples
///
/// An answer of one's own:
///
/// ```
/// use http::{Response, request::Parts};
/// use tollgate::{Quota, TokenBucket};
/// use tollgate_tower::{RateLimitLayer, Refusal};
///
/// fn answer(refusal: &Refusal<'_>, request: &Parts) -> Response<String> {
///     let mut response = Response::new(format!("{} is over {:?}\n", request.uri, refusal.violated()));
///     *response.status_mut() = refusal.reason.status();
///     response
/// }
/// let layer = RateLimitLayer::new(TokenBucket::new(Quota::per_second(100))).answering(answer);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Refusal<'a> {
    /// Why.
    pub reason: Reason,
    /// How the policies stand that were asked, in order; none if the answer does not
    /// [read them](Answer::reads_reports).
    pub reports: &'a [Report<'a>],
    /// The name of the policy that refused.
    pub(crate) policy: &'a str,
}

impl<'a> Refusal<'a> {
    /// The name of the policy that refused; `None` if it was for want of a key.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response, request::Parts};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{Policy, RateLimitLayer, Refusal};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let policies = [
    ///     Policy::new(TokenBucket::new(Quota::per_second(100))).named("all"),
    ///     Policy::new(TokenBucket::new(Quota::DENY_ALL)).named("closed"),
    /// ];
    /// let name = |refusal: &Refusal<'_>, _: &Parts| Response::new(refusal.violated().unwrap_or("no key").to_owned());
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::of(policies).answering(name))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// assert_eq!(service.call(Request::new(())).await.unwrap().body(), "closed");
    /// # }
    /// ```
    pub const fn violated(&self) -> Option<&'a str> {
        match self.reason {
            Reason::Denied(_) => Some(self.policy),
            Reason::NoKey => None,
        }
    }
}
