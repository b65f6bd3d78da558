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
use http::{Extensions, HeaderMap};

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

    /// Whether more is read than headers and extensions, by which [`key_in`](Self::key_in) finds the key as well. If nothing else of
    /// a layer looks at all of a request, it is not taken apart and put together again, which is cheaper. Functions do, and so does
    /// the default.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate_tower::key::{PeerAddress, RequestKey};
    ///
    /// assert!(!PeerAddress::new().reads_all());
    /// ```
    fn reads_all(&self) -> bool {
        true
    }

    /// The key of a request with these headers and extensions: the same as [`key`](Self::key), where that [reads no
    /// more](Self::reads_all). Nobody asks otherwise, so that the default finds none.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Extensions, HeaderMap, request::Parts};
    /// use tollgate_tower::key::RequestKey;
    ///
    /// /// The tenant that an outer layer has found.
    /// struct Tenant;
    ///
    /// impl RequestKey for Tenant {
    ///     type Key = u32;
    ///
    ///     fn key(&self, request: &Parts) -> Option<u32> {
    ///         self.key_in(&request.headers, &request.extensions)
    ///     }
    ///
    ///     fn reads_all(&self) -> bool {
    ///         false
    ///     }
    ///
    ///     fn key_in(&self, _: &HeaderMap, extensions: &Extensions) -> Option<u32> {
    ///         extensions.get().copied()
    ///     }
    /// }
    ///
    /// let mut extensions = Extensions::new();
    /// extensions.insert(7_u32);
    /// assert_eq!(Tenant.key_in(&HeaderMap::new(), &extensions), Some(7));
    /// ```
    fn key_in(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<Self::Key> {
        let _ = (headers, extensions);
        None
    }
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

    fn reads_all(&self) -> bool {
        self.0.reads_all() || self.1.reads_all()
    }

    fn key_in(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<Self::Key> {
        Some((self.0.key_in(headers, extensions)?, self.1.key_in(headers, extensions)?))
    }
}

impl<A: RequestKey, B: RequestKey, C: RequestKey> RequestKey for (A, B, C) {
    type Key = (A::Key, B::Key, C::Key);

    fn key(&self, request: &Parts) -> Option<Self::Key> {
        Some((self.0.key(request)?, self.1.key(request)?, self.2.key(request)?))
    }

    fn reads_all(&self) -> bool {
        self.0.reads_all() || self.1.reads_all() || self.2.reads_all()
    }

    fn key_in(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<Self::Key> {
        let (first, second) = (self.0.key_in(headers, extensions)?, self.1.key_in(headers, extensions)?);
        Some((first, second, self.2.key_in(headers, extensions)?))
    }
}
