//! [`Dialect`]: the fields that say how limits stand.

use super::{Reason, Report};
use crate::cost::Unit;
use core::cmp::Reverse;
use core::fmt::Write;
use core::time::Duration;
use http::Response;
use http::header::{HeaderName, HeaderValue};

/// The largest integer of a structured field (RFC 9651, section 3.3.1).
const LARGEST: u64 = 999_999_999_999_999;

// Constants, for a name that is made at run time is looked for among all that are known.
const X_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// In which fields clients are told how limits stand. More may come.
///
/// The times in them are whole seconds, rounded up. Unlimited policies are left out.
///
/// # Examples
///
/// ```
/// use http::{Request, Response};
/// use tollgate::{ManualClock, Quota, TokenBucket};
/// use tollgate_tower::{Dialect, RateLimitLayer};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let inner = service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
/// let bucket = TokenBucket::with_clock(Quota::per_minute(60).with_burst(10), ManualClock::new());
/// let layer = RateLimitLayer::new(bucket).telling(Dialect::Draft8To11).telling_the_admitted();
/// let answer = layer.layer(inner).oneshot(Request::new(())).await.unwrap();
/// assert_eq!(answer.headers()["ratelimit-policy"], r#""default";q=10;w=10"#);
/// assert_eq!(answer.headers()["ratelimit"], r#""default";r=9;t=1"#);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// None.
    #[default]
    None,
    /// `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` of the tightest policy, the last as seconds from
    /// now until its limit is whole again. Which one that is: see [`Draft8To11`](Self::Draft8To11).
    XRateLimit,
    /// `RateLimit-Policy` and `RateLimit` as in revisions 8 to 11 of the IETF's draft, the tightest policy first: the one that
    /// has refused, then those that would admit the fewest requests like this one. `q` is the burst, and `w` the seconds in
    /// which it recovers; `r` is what is left, and `t` the seconds until it is whole again, or, of a policy that denies, until
    /// the same request would be admitted: the same as in `Retry-After`. Beside a refusal the other policies tell no `t`.
    Draft8To11,
}

/// Of which policies the time is told. Of others than the one that refused it might be later than `Retry-After`, which must
/// not point earlier.
#[derive(Clone, Copy, Debug)]
enum Told<'a> {
    All,
    Of(&'a Report<'a>),
    None,
}

impl Told<'_> {
    fn includes(self, report: &Report<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Of(refuser) => core::ptr::eq(refuser, report),
            Self::None => false,
        }
    }
}

/// Fields to be put on a response.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(HeaderName, HeaderValue)>);

impl Fields {
    /// How these policies stand after a request that was admitted, or refused for this reason.
    pub(crate) fn of(dialect: Dialect, refusal: Option<Reason>, reports: &[Report<'_>]) -> Self {
        if dialect == Dialect::None {
            return Self::default();
        }
        // An observed policy may have denied the request as well, but only the last one reported refused it.
        let told = match refusal {
            None => Told::All,
            Some(Reason::Denied(_)) => reports.last().map_or(Told::None, Told::Of),
            Some(Reason::NoKey) => Told::None,
        };
        let mut reports: Vec<_> = reports.iter().filter(|report| !report.quota.is_unlimited()).collect();
        reports.sort_by_key(|report| {
            let comes_first = matches!(told, Told::Of(own) if core::ptr::eq(own, *report));
            (!comes_first, report.requests_left(), Reverse(report.status.reset_after))
        });
        match (dialect, reports.first()) {
            (_, None) | (Dialect::None, _) => Self::default(),
            (Dialect::XRateLimit, Some(tightest)) => Self(vec![
                (X_LIMIT, tightest.status.limit.into()),
                (X_REMAINING, tightest.status.remaining.into()),
                (X_RESET, seconds(tightest.status.reset_after).into()),
            ]),
            (Dialect::Draft8To11, Some(_)) => {
                let policies = list(&reports, policy);
                let limits = list(&reports, |report, text| limit(report, told, text));
                Self(vec![(POLICY, policies), (LIMIT, limits)])
            }
        }
    }

    /// Whether there are none.
    /// Adds them, unless the service has said the same itself.
    #[inline]
    pub(crate) fn put_on<B>(&mut self, response: &mut Response<B>) {
        for (name, value) in self.0.drain(..) {
            response.headers_mut().entry(name).or_insert(value);
        }
    }
}

/// A list of items, each a name with parameters.
fn list(reports: &[&Report<'_>], parameters: impl Fn(&Report<'_>, &mut String)) -> HeaderValue {
    let mut text = String::new();
    for report in reports {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push('"');
        for c in report.name.chars() {
            if matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
        text.push('"');
        parameters(report, &mut text);
    }
    HeaderValue::try_from(text).expect("names are printable ASCII")
}

/// Quota, unit and window.
fn policy(report: &Report<'_>, text: &mut String) {
    parameter(text, "q", report.status.limit);
    if report.unit == Unit::ContentBytes {
        text.push_str(r#";qu="content-bytes""#);
    }
    let quota = report.quota;
    if quota.tokens() > 0 {
        let nanos = u128::from(report.status.limit) * quota.period().as_nanos();
        let window = nanos.div_ceil(u128::from(quota.tokens())).div_ceil(1_000_000_000);
        parameter(text, "w", u64::try_from(window).unwrap_or(u64::MAX).max(1));
    }
}

/// What is left, and for how long.
fn limit(report: &Report<'_>, told: Told<'_>, text: &mut String) {
    parameter(text, "r", report.status.remaining);
    if !told.includes(report) {
        return;
    }
    match report.denied {
        None => parameter(text, "t", seconds(report.status.reset_after)),
        Some(denied) => {
            if let Some(after) = crate::retry_after(&denied) {
                parameter(text, "t", after);
            }
        }
    }
}

fn parameter(text: &mut String, name: &str, value: u64) {
    let written = write!(text, ";{name}={}", value.min(LARGEST));
    debug_assert!(written.is_ok(), "a string takes what is written to it");
}

/// Whole seconds, rounded up.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0))
}
