//! Keys: who a request comes from.
//!
//! | key | who that is |
//! |---|---|
//! | [`PeerAddress`] | the other end of the connection |
//! | [`ForwardedAddress`] | the client behind proxies that you trust |
//! | [`HashedHeader`] | who sends this API key or token |
//! | a closure | whoever you say: a tenant, a user, a host name |
//! | a tuple of these | all of them together |
//!
//! ```
//! use http::{Request, request::Parts};
//! use tollgate_tower::key::{HashedHeader, RequestKey};
//!
//! let by_path_and_token = (|request: &Parts| Some(request.uri.path().to_owned()), HashedHeader::new("x-api-key"));
//! let (request, ()) = Request::get("/a").header("x-api-key", "secret").body(()).unwrap().into_parts();
//! assert_eq!(by_path_and_token.key(&request).unwrap().0, "/a");
//! ```

mod forwarded;
mod hashed;
mod networks;
mod peer;

pub use forwarded::{Forwarded, ForwardedAddress};
pub use hashed::{HashedHeader, HashedKey};
pub use networks::{Networks, NetworksError};
pub use peer::{Peer, PeerAddress};

use core::hash::Hash;
use http::request::Parts;

/// What finds a request's key, if it has one.
///
/// Every `Fn(&Parts) -> Option<K>` is one. Two, or three, in a tuple are one as well: a request has the composite key if
/// it has all of its parts.
///
/// # Examples
///
/// ```
/// use http::{Request, request::Parts};
/// use tollgate_tower::key::{HashedHeader, RequestKey};
///
/// let tenant = |request: &Parts| request.extensions.get::<u32>().copied();
/// let tenant_and_token = (tenant, HashedHeader::new("authorization"));
///
/// let (mut request, ()) = Request::builder().header("authorization", "Bearer x").body(()).unwrap().into_parts();
/// assert!(tenant_and_token.key(&request).is_none());
/// request.extensions.insert(7_u32);
/// assert!(tenant_and_token.key(&request).is_some());
/// ```
pub trait RequestKey {
    /// The key's type.
    type Key: Hash;

    /// The key of `request`, or `None` if it has none.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, request::Parts};
    /// use tollgate_tower::key::RequestKey;
    ///
    /// /// The tenant that an outer layer has found.
    /// struct Tenant;
    ///
    /// impl RequestKey for Tenant {
    ///     type Key = u32;
    ///
    ///     fn key(&self, request: &Parts) -> Option<u32> {
    ///         request.extensions.get().copied()
    ///     }
    /// }
    ///
    /// let (mut request, ()) = Request::new(()).into_parts();
    /// assert_eq!(Tenant.key(&request), None);
    /// request.extensions.insert(7_u32);
    /// assert_eq!(Tenant.key(&request), Some(7));
    /// ```
    fn key(&self, request: &Parts) -> Option<Self::Key>;
}

impl<F, K> RequestKey for F
where
    F: Fn(&Parts) -> Option<K>,
    K: Hash,
{
    type Key = K;

    fn key(&self, request: &Parts) -> Option<K> {
        self(request)
    }
}

impl<A: RequestKey, B: RequestKey> RequestKey for (A, B) {
    type Key = (A::Key, B::Key);

    fn key(&self, request: &Parts) -> Option<Self::Key> {
        Some((self.0.key(request)?, self.1.key(request)?))
    }
}

impl<A: RequestKey, B: RequestKey, C: RequestKey> RequestKey for (A, B, C) {
    type Key = (A::Key, B::Key, C::Key);

    fn key(&self, request: &Parts) -> Option<Self::Key> {
        Some((self.0.key(request)?, self.1.key(request)?, self.2.key(request)?))
    }
}
