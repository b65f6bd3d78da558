//! Rate limits of [`tollgate`] for tower: in front of services of axum, tonic and hyper, and behind clients.
//!
//! ```
//! use axum::{Router, routing::get};
//! use tollgate::{Quota, TokenBucket};
//! use tollgate_tower::RateLimitLayer;
//!
//! let app: Router = Router::new()
//!     .route("/", get(async || "hello"))
//!     .layer(RateLimitLayer::new(TokenBucket::new(Quota::per_second(100))));
//! ```
//!
//! # What there is
//!
//! * [`RateLimitLayer`]: one [`Policy`] or several in front of a service: for all requests or by key, for routes and methods, in
//!   requests or bytes. A policy refuses, has requests wait in line for a bounded time, or only observes.
//! * [`key`]: whom a request is counted for. Peers, clients behind trusted proxies, API keys, and any function.
//! * [`client`]: a layer for clients that paces what goes to each host, and heeds what the host answers.
//! * [`ThrottledBody`]: bodies whose bytes stand in line as they pass.
//! * [`Dialect`] and [`Answer`]: what clients are told.
//!
//! # Features
//!
//! * `axum`, `tonic`: [`PeerAddress`](key::PeerAddress) finds the address where those servers put it.
//! * `metrics`: the counter `tollgate_requests_total`, with labels `policy`, `outcome` (`admitted`, `denied`, `table_full`,
//!   `no_key`, `unlimited`) and `mode` (`enforced`, `observed`), as many series as that makes and no more; the
//!   counter `tollgate_paced_requests_total` of a client's requests, with the label `outcome` (`sent`, `denied`, `too_many_hosts`);
//!   and the histogram `tollgate_wait_seconds` of what requests that wait have to wait.
//! * `tracing`: an event at level debug for each refusal, with the policy's name and the hint. Keys are not in it.
#![forbid(unsafe_code)]

mod answer;
pub mod client;
mod cost;
#[cfg(any(doc, doctest))]
pub mod docs;
pub mod key;
mod layer;
mod limit;
mod observe;
mod policy;
mod throttled;

pub use answer::{Answer, Dialect, EmptyAnswer, GrpcAnswer, ProblemAnswer, Reason, Refusal, Report};
pub use cost::{Unit, body_bytes};
pub use layer::{RateLimitLayer, RateLimitService, ResponseFuture};
pub use limit::Keyless;
pub use policy::Policy;
pub use throttled::{ThrottledBody, ThrottledBodyError};

use http::header::{HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use tollgate::Denied;

/// The examples in README.md compile and hold.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// In how many whole seconds it is worth coming back: the value of a `Retry-After` header. `None` means never.
///
/// Rounded up, for a client that comes back too early is refused again; and at least 1, for 0 invites it to come back at
/// once. (RFC 9110, section 10.2.3: a non-negative whole number of seconds.)
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Denied, Hint};
///
/// let after = |wait| tollgate_tower::retry_after(&Denied::TryAfter(Hint::after(wait)));
/// assert_eq!(after(Duration::from_millis(1_001)), Some(2));
/// assert_eq!(after(Duration::ZERO), Some(1));
/// ```
#[must_use]
pub const fn retry_after(denied: &Denied) -> Option<u64> {
    match denied.retry_after() {
        Some(wait) => {
            let seconds = if wait.subsec_nanos() > 0 { wait.as_secs().saturating_add(1) } else { wait.as_secs() };
            Some(if seconds == 0 { 1 } else { seconds })
        }
        None => None,
    }
}

/// What a refusal is in HTTP: `503 Service Unavailable` where the limiter has no room to remember the client, which is not
/// the client's fault; `429 Too Many Requests` otherwise.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Denied, Hint};
///
/// let soon = Hint::after(Duration::from_secs(1));
/// assert_eq!(tollgate_tower::status(&Denied::TryAfter(soon)), 429);
/// assert_eq!(tollgate_tower::status(&Denied::TableFull(soon)), 503);
/// ```
#[must_use]
pub const fn status(denied: &Denied) -> StatusCode {
    match denied {
        Denied::TableFull(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::TOO_MANY_REQUESTS,
    }
}

/// The answer to a refused request: [`status`], [`retry_after`] as a header unless it is never, and an empty body.
///
/// # Examples
///
/// ```
/// use tollgate::{Quota, RateLimit, TokenBucket};
///
/// // Where a layer does not fit: in a handler, say.
/// let bucket = TokenBucket::new(Quota::per_hour(1));
/// assert!(bucket.try_acquire().is_ok());
/// let denied = bucket.try_acquire().unwrap_err();
/// let answer = tollgate_tower::refusal::<String>(&denied);
/// assert_eq!(answer.status(), 429);
/// assert_eq!(answer.headers()["retry-after"], "3600");
/// ```
#[must_use]
pub fn refusal<B: Default>(denied: &Denied) -> Response<B> {
    let mut response = Response::new(B::default());
    *response.status_mut() = status(denied);
    if let Some(seconds) = retry_after(denied) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use tollgate::Hint;

    fn after(wait: Duration) -> Denied {
        Denied::TryAfter(Hint::after(wait))
    }

    #[test]
    fn waits_are_rounded_up_to_whole_seconds_and_never_to_none() {
        let second = Duration::from_secs(1);
        let nano = Duration::from_nanos(1);
        for (wait, seconds) in [
            (Duration::ZERO, 1),
            (nano, 1),
            (Duration::from_nanos(999_999_999), 1),
            (second, 1),
            (second + nano, 2),
            (60 * second, 60),
            (Duration::MAX, u64::MAX / 1_000_000_000 + 1), // the end of time, on a limiter's clock
        ] {
            assert_eq!(retry_after(&after(wait)), Some(seconds), "{wait:?}");
        }
    }

    #[test]
    fn a_cost_that_never_fits_has_no_time_to_come_back() {
        let never = Denied::ExceedsBurst { cost: 7, max_cost: 5 };
        assert_eq!(retry_after(&never), None);
        let answer = refusal::<()>(&never);
        assert_eq!((answer.status(), answer.headers().len()), (StatusCode::TOO_MANY_REQUESTS, 0));
    }

    #[test]
    fn want_of_room_is_the_services_fault() {
        let full = Denied::TableFull(Hint::after(Duration::from_millis(2_500)));
        let answer = refusal::<String>(&full);
        assert_eq!(
            (answer.status(), &answer.headers()[RETRY_AFTER]),
            (StatusCode::SERVICE_UNAVAILABLE, &HeaderValue::from(3))
        );
        assert!(answer.body().is_empty());
    }
}
