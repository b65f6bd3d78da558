//! [`PeerAddress`]: the address at the other end of the connection.

use super::RequestKey;
use core::net::{IpAddr, SocketAddr};
use http::request::Parts;
use http::{Extensions, HeaderMap};
use tollgate::ClientKey;

/// The other end of a connection, as an extension of its requests: for servers that have no type of their own for it.
///
/// # Examples
///
/// ```
/// use http::Request;
/// use tollgate_tower::key::Peer;
///
/// let mut request = Request::new(());
/// request.extensions_mut().insert(Peer("192.0.2.1:1234".parse().unwrap()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// The address at the other end of the connection, of IPv6 as far as it tells subscribers apart; see [`ClientKey`].
///
/// It is found in the request's extensions: a [`Peer`], a `SocketAddr`, with the feature `axum` a `ConnectInfo<SocketAddr>` (serve
/// with `into_make_service_with_connect_info::<SocketAddr>()`), with the feature `tonic` a `TcpConnectInfo`. Behind a proxy
/// that is the proxy's address: take a [`ForwardedAddress`](super::ForwardedAddress).
///
/// # Examples
///
/// ```
/// use http::Request;
/// use tollgate_tower::key::{Peer, PeerAddress, RequestKey};
///
/// let key = |address: &str| {
///     let (mut request, ()) = Request::new(()).into_parts();
///     request.extensions.insert(Peer(address.parse().unwrap()));
///     PeerAddress::new().key(&request)
/// };
/// assert_eq!(key("[2001:db8::1]:1"), key("[2001:db8::2]:2")); // one subscriber
/// assert_ne!(key("192.0.2.1:1"), key("192.0.2.2:1"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress {
    prefix: u32,
}

impl PeerAddress {
    /// With 64 bits of an IPv6 address.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use tollgate_tower::key::{Peer, PeerAddress, RequestKey};
    ///
    /// let (mut request, ()) = Request::new(()).into_parts();
    /// assert!(PeerAddress::new().key(&request).is_none()); // the server has not said whose request it is
    /// request.extensions.insert(Peer("192.0.2.1:1234".parse().unwrap()));
    /// assert!(PeerAddress::new().key(&request).is_some());
    /// ```
    pub const fn new() -> Self {
        Self { prefix: ClientKey::DEFAULT_PREFIX }
    }

    /// With the first `bits` of an IPv6 address; more than 128 count as 128.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use tollgate_tower::key::{Peer, PeerAddress, RequestKey};
    ///
    /// let key = |address: &str, bits| {
    ///     let (mut request, ()) = Request::new(()).into_parts();
    ///     request.extensions.insert(Peer(address.parse().unwrap()));
    ///     PeerAddress::new().with_prefix(bits).key(&request)
    /// };
    /// // A provider that gives each subscriber a /56.
    /// assert_eq!(key("[2001:db8:0:1::1]:1", 56), key("[2001:db8:0:2::1]:1", 56));
    /// assert_ne!(key("[2001:db8:0:1::1]:1", 64), key("[2001:db8:0:2::1]:1", 64));
    /// ```
    #[must_use]
    pub const fn with_prefix(self, bits: u32) -> Self {
        Self { prefix: bits }
    }

    /// The whole address, as for an allow list. One of IPv4 that comes mapped into IPv6 is told as itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, request::Parts};
    /// use tollgate_tower::key::{Networks, Peer, PeerAddress};
    ///
    /// let inside = Networks::parse(["10.0.0.0/8"])?;
    /// let is_ours = |request: &Parts| PeerAddress::new().address(request).is_some_and(|peer| inside.contains(peer));
    ///
    /// let (mut request, ()) = Request::new(()).into_parts();
    /// request.extensions.insert(Peer("10.1.2.3:1234".parse()?));
    /// assert!(is_ours(&request)); // as for `Policy::exempting`
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn address(&self, request: &Parts) -> Option<IpAddr> {
        address(&request.extensions)
    }
}

impl Default for PeerAddress {
    fn default() -> Self {
        Self::new()
    }
}

impl RequestKey for PeerAddress {
    type Key = ClientKey;

    fn key(&self, request: &Parts) -> Option<ClientKey> {
        self.key_in(&request.headers, &request.extensions)
    }

    fn reads_all(&self) -> bool {
        false
    }

    fn key_in(&self, _: &HeaderMap, extensions: &Extensions) -> Option<ClientKey> {
        address(extensions).map(|address| ClientKey::with_prefix(address, self.prefix))
    }
}

/// The other end of the connection.
pub(super) fn address(extensions: &Extensions) -> Option<IpAddr> {
    socket(extensions).map(|peer| peer.ip().to_canonical())
}

fn socket(extensions: &Extensions) -> Option<SocketAddr> {
    #[cfg(feature = "axum")]
    if let Some(axum::extract::ConnectInfo(peer)) = extensions.get::<axum::extract::ConnectInfo<SocketAddr>>() {
        return Some(*peer);
    }
    #[cfg(feature = "tonic")]
    if let Some(info) = extensions.get::<tonic::transport::server::TcpConnectInfo>() {
        return info.remote_addr();
    }
    extensions.get::<Peer>().map(|peer| peer.0).or_else(|| extensions.get().copied())
}
