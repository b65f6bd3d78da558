//! Keys: who a request comes from.

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
