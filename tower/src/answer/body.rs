//! [`Answer`]: what a refused request is told.

use super::{Reason, Refusal};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http::request::Parts;
use http::{Response, StatusCode};
use tollgate::Denied;

/// What answers a refused request. Every `Fn(&Refusal, &Parts) -> Response<B>` does.
///
/// The fields of the layer's [`Dialect`](super::Dialect) are added to its answer.
///
/// # Examples
///
/// ```
/// use tollgate::{Quota, TokenBucket};
/// use tollgate_tower::{ProblemAnswer, RateLimitLayer};
///
/// let layer = RateLimitLayer::new(TokenBucket::new(Quota::per_second(100))).answering(ProblemAnswer);
/// ```
pub trait Answer<B> {
    /// The answer.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response, request::Parts};
    /// use tollgate::{Quota, TokenBucket};
    /// use tollgate_tower::{Answer, EmptyAnswer, RateLimitLayer, Refusal};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// /// What an empty answer says, and where help is.
    /// #[derive(Clone)]
    /// struct WithHelp(String);
    ///
    /// impl Answer<String> for WithHelp {
    ///     fn answer(&self, refusal: &Refusal<'_>, request: &Parts) -> Response<String> {
    ///         EmptyAnswer.answer(refusal, request).map(|_: String| format!("see {}", self.0))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let help = WithHelp(String::from("https://example.com/limits"));
    /// let mut service = ServiceBuilder::new()
    ///     .layer(RateLimitLayer::new(TokenBucket::new(Quota::DENY_ALL)).answering(help))
    ///     .service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
    /// let answer = service.call(Request::new(())).await.unwrap();
    /// assert_eq!((answer.status().as_u16(), &**answer.body()), (429, "see https://example.com/limits"));
    /// # }
    /// ```
    fn answer(&self, refusal: &Refusal<'_>, request: &Parts) -> Response<B>;

    /// Whether it looks at [`Refusal::reports`]. If not, and if the layer has no dialect, they are not made: a limit is then
    /// only asked for its decision, which is cheaper. Functions do, and so does the default.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Response, request::Parts};
    /// use tollgate_tower::{Answer, Refusal};
    ///
    /// struct Terse;
    ///
    /// impl Answer<String> for Terse {
    ///     fn answer(&self, refusal: &Refusal<'_>, _: &Parts) -> Response<String> {
    ///         let mut response = Response::new(String::from("no\n"));
    ///         *response.status_mut() = refusal.reason.status();
    ///         response
    ///     }
    ///
    ///     fn reads_reports(&self) -> bool {
    ///         false
    ///     }
    /// }
    /// ```
    fn reads_reports(&self) -> bool {
        true
    }
}

impl<F, B> Answer<B> for F
where
    F: Fn(&Refusal<'_>, &Parts) -> Response<B>,
{
    fn answer(&self, refusal: &Refusal<'_>, request: &Parts) -> Response<B> {
        self(refusal, request)
    }
}

/// A status, `Retry-After` unless it is never, and an empty body. The default.
///
/// # Examples
///
/// ```
/// use tollgate::{Quota, TokenBucket};
/// use tollgate_tower::{EmptyAnswer, RateLimitLayer};
///
/// let layer: RateLimitLayer<EmptyAnswer> = RateLimitLayer::new(TokenBucket::new(Quota::per_second(100)));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyAnswer;

impl<B: Default> Answer<B> for EmptyAnswer {
    fn reads_reports(&self) -> bool {
        false
    }

    fn answer(&self, refusal: &Refusal<'_>, _: &Parts) -> Response<B> {
        with_status(&refusal.reason, B::default())
    }
}

/// As [`EmptyAnswer`], with a body of problem details (RFC 9457).
///
/// The types are those of the IETF's draft on rate limit fields: `quota-exceeded`, or `temporary-reduced-capacity` with status
/// 503; `violated-policies` has the policy's name.
///
/// # Examples
///
/// ```
/// use http::{Request, Response};
/// use tollgate::{Quota, TokenBucket};
/// use tollgate_tower::{ProblemAnswer, RateLimitLayer};
/// use tower::{Layer, ServiceExt, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let inner = service_fn(async |_: Request<()>| Ok::<_, std::convert::Infallible>(Response::new(String::new())));
/// let layer = RateLimitLayer::new(TokenBucket::new(Quota::DENY_ALL)).answering(ProblemAnswer);
/// let answer = layer.layer(inner).oneshot(Request::new(())).await.unwrap();
/// assert_eq!(answer.headers()["content-type"], "application/problem+json");
/// assert!(answer.body().contains(r#""violated-policies":["default"]"#));
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ProblemAnswer;

impl<B: From<String>> Answer<B> for ProblemAnswer {
    fn reads_reports(&self) -> bool {
        false
    }

    fn answer(&self, refusal: &Refusal<'_>, _: &Parts) -> Response<B> {
        let status = refusal.reason.status();
        let (kind, title) = match refusal.reason {
            Reason::Denied(Denied::TableFull(_)) => (
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
                "Too many clients at once",
            ),
            Reason::Denied(_) => ("https://iana.org/assignments/http-problem-types#quota-exceeded", "Over the limit"),
            // A problem of this type has its status's name as the title (RFC 9457, section 4.2.1).
            Reason::NoKey => ("about:blank", "Bad Request"),
        };
        let mut body = format!(r#"{{"type":"{kind}","title":"{title}","status":{}"#, status.as_u16());
        if let Some(name) = refusal.violated() {
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            body = format!(r#"{body},"violated-policies":["{name}"]"#);
        }
        if refusal.reason == Reason::NoKey {
            body.push_str(r#","detail":"The request does not say whom to count it for.""#);
        }
        body.push('}');
        let mut response = with_status(&refusal.reason, B::from(body));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response
    }
}

/// The answer of a gRPC service: status 8, `RESOURCE_EXHAUSTED`, in an HTTP response of status 200, and in `grpc-retry-pushback-ms`
/// when to try again, rounded up; -1 means never.
///
/// For want of a key it is status 3, `INVALID_ARGUMENT`.
///
/// # Examples
///
/// ```
/// use tollgate::{Quota, TokenBucket};
/// use tollgate_tower::{GrpcAnswer, RateLimitLayer};
///
/// let layer = RateLimitLayer::new(TokenBucket::new(Quota::per_second(100))).answering(GrpcAnswer);
/// let server = tonic::transport::Server::builder().layer(layer);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct GrpcAnswer;

impl<B: Default> Answer<B> for GrpcAnswer {
    fn reads_reports(&self) -> bool {
        false
    }

    fn answer(&self, refusal: &Refusal<'_>, _: &Parts) -> Response<B> {
        let mut response = Response::new(B::default());
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        let (code, message) = match refusal.reason {
            Reason::Denied(_) => (8, "over the limit"),
            Reason::NoKey => (3, "no key"),
        };
        headers.insert(HeaderName::from_static("grpc-status"), HeaderValue::from(code));
        headers.insert(HeaderName::from_static("grpc-message"), HeaderValue::from_static(message));
        let millis = refusal.reason.retry_after().map(|wait| wait.as_nanos().div_ceil(1_000_000));
        let pushback = millis.map_or(-1, |millis| i32::try_from(millis).unwrap_or(i32::MAX));
        headers.insert(HeaderName::from_static("grpc-retry-pushback-ms"), HeaderValue::from(pushback));
        response
    }
}

/// The status and `Retry-After` of a refusal.
fn with_status<B>(reason: &Reason, body: B) -> Response<B> {
    let mut response = Response::new(body);
    *response.status_mut() = reason.status();
    if let Some(seconds) = reason.retry_after_seconds() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
