//! What a request costs: [`Unit`] and [`body_bytes`].

use http::Version;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::request::Parts;

/// What tokens of a policy stand for, as the fields of an answer tell it.
///
/// # Examples
///
/// ```
/// use tollgate::{Quota, TokenBucket};
/// use tollgate_tower::{Policy, Unit, body_bytes};
///
/// let upload = TokenBucket::new("10MB/s".parse()?);
/// let policy = Policy::new(upload).named("upload").costing(body_bytes(65_536)).counting(Unit::ContentBytes);
/// # Ok::<_, tollgate::ParseQuotaError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Requests.
    #[default]
    Requests,
    /// Bytes of bodies.
    ContentBytes,
}

/// The bytes of a request's body, as a cost, as far as that is known before it has been read: what `Content-Length` says; nothing where
/// there is no body, which HTTP/1 tells; and `unknown` for one of unknown length: in chunks, or by HTTP/2 without a
/// `Content-Length`.
///
/// What to say for those is a choice. An estimate counts them by it. [`u64::MAX`] refuses them, as what can never be admitted. 0
/// lets them pass, for a [`ThrottledBody`](crate::ThrottledBody) to count their bytes as they come. Servers see to it that
/// no body is longer than its `Content-Length`.
///
/// # Examples
///
/// ```
/// use http::Request;
/// use tollgate_tower::body_bytes;
///
/// let cost = |request: http::request::Builder| body_bytes(9)(&request.body(()).unwrap().into_parts().0);
/// assert_eq!(cost(Request::post("/").header("content-length", "500")), 500);
/// assert_eq!(cost(Request::post("/").header("transfer-encoding", "chunked")), 9);
/// assert_eq!(cost(Request::get("/")), 0);
/// ```
pub fn body_bytes(unknown: u64) -> impl Fn(&Parts) -> u64 + Send + Sync + Clone {
    move |request| {
        let length = request.headers.get(CONTENT_LENGTH);
        // Beside a `Transfer-Encoding` a length means nothing, and without either there is no body (RFC 9112, section 6.3).
        if request.headers.contains_key(TRANSFER_ENCODING) {
            return unknown;
        }
        match length {
            Some(length) => length.to_str().ok().and_then(|length| length.parse().ok()).unwrap_or(unknown),
            None if request.version <= Version::HTTP_11 => 0,
            None => unknown,
        }
    }
}
