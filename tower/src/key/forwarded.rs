//! [`ForwardedAddress`]: the client's address as trusted proxies tell it.

use super::{Networks, RequestKey, peer};
use core::net::{IpAddr, SocketAddr};
use http::header::{FORWARDED, HeaderName};
use http::request::Parts;
use tollgate::ClientKey;

/// Which header proxies add addresses to.
///
/// Choose the one that your proxies write: the other is then the client's, and anything may stand in it.
///
/// # Examples
///
/// ```
/// use tollgate_tower::key::{Forwarded, ForwardedAddress, Networks};
///
/// let proxies = Networks::parse(["10.0.0.0/8"])?;
/// let client = ForwardedAddress::new(Forwarded::Rfc7239, proxies);
/// # Ok::<_, tollgate_tower::key::NetworksError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Forwarded {
    /// `X-Forwarded-For: client, proxy, proxy`.
    XForwardedFor,
    /// `Forwarded: for=client, for=proxy` (RFC 7239).
    Rfc7239,
}

/// The client's address behind trusted proxies.
///
/// Each proxy adds the address it was called from at the *right*. So the walk begins with the connection's own peer, and goes
/// on to the left only while the address reached is a trusted proxy's; the first that is not is the client. What lies further to
/// the left, the client may have made up: it is never looked at. An entry that is no address (`unknown`, an obfuscated name,
/// or a fault) ends the walk without a key. If every entry is a trusted proxy's, the leftmost is the client.
///
/// # Examples
///
/// ```
/// use http::Request;
/// use tollgate_tower::key::{Forwarded, ForwardedAddress, Networks, Peer};
///
/// let client = ForwardedAddress::new(Forwarded::XForwardedFor, Networks::parse(["10.0.0.0/8"])?);
/// let request = Request::builder().header("x-forwarded-for", "1.1.1.1, 203.0.113.9, 10.0.0.2");
/// let (mut request, ()) = request.body(())?.into_parts();
/// request.extensions.insert(Peer("10.0.0.1:443".parse()?));
/// assert_eq!(client.address(&request), Some("203.0.113.9".parse()?)); // whoever claimed to be 1.1.1.1
///
/// // Who calls without the proxies is itself, whatever it says.
/// request.extensions.insert(Peer("198.51.100.7:443".parse()?));
/// assert_eq!(client.address(&request), Some("198.51.100.7".parse()?));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ForwardedAddress {
    header: Forwarded,
    trusted: Networks,
    prefix: u32,
}

impl ForwardedAddress {
    /// By this header of proxies in the networks `trusted`; with 64 bits of an IPv6 address.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use tollgate_tower::key::{Forwarded, ForwardedAddress, Networks, Peer};
    ///
    /// let client = ForwardedAddress::new(Forwarded::Rfc7239, Networks::parse(["10.0.0.0/8"])?);
    /// let (mut request, ()) = Request::builder().header("forwarded", "for=203.0.113.9;proto=https").body(())?.into_parts();
    /// request.extensions.insert(Peer("10.0.0.1:443".parse()?));
    /// assert_eq!(client.address(&request), Some("203.0.113.9".parse()?));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub const fn new(header: Forwarded, trusted: Networks) -> Self {
        Self { header, trusted, prefix: ClientKey::DEFAULT_PREFIX }
    }

    /// With the first `bits` of an IPv6 address; more than 128 count as 128.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use tollgate_tower::key::{Forwarded, ForwardedAddress, Networks, Peer, RequestKey};
    ///
    /// let proxies = Networks::parse(["10.0.0.0/8"])?;
    /// let client = ForwardedAddress::new(Forwarded::XForwardedFor, proxies).with_prefix(56);
    /// let key = |address: &str| {
    ///     let (mut request, ()) = Request::builder().header("x-forwarded-for", address).body(()).unwrap().into_parts();
    ///     request.extensions.insert(Peer("10.0.0.1:443".parse().unwrap()));
    ///     client.key(&request).unwrap()
    /// };
    /// assert_eq!(key("2001:db8:0:1::1"), key("2001:db8:0:2::1"));
    /// # Ok::<_, tollgate_tower::key::NetworksError>(())
    /// ```
    #[must_use]
    pub fn with_prefix(self, bits: u32) -> Self {
        Self { prefix: bits, ..self }
    }

    /// The client's whole address, as for an allow list.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, request::Parts};
    /// use tollgate_tower::key::{Forwarded, ForwardedAddress, Networks, Peer};
    ///
    /// let client = ForwardedAddress::new(Forwarded::XForwardedFor, Networks::parse(["10.0.0.0/8"])?);
    /// let partners = Networks::parse(["203.0.113.0/24"])?;
    /// let is_partner = |request: &Parts| client.address(request).is_some_and(|address| partners.contains(address));
    ///
    /// let (mut request, ()) = Request::builder().header("x-forwarded-for", "203.0.113.9").body(())?.into_parts();
    /// request.extensions.insert(Peer("10.0.0.1:443".parse()?));
    /// assert!(is_partner(&request)); // as for `Policy::exempting`
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn address(&self, request: &Parts) -> Option<IpAddr> {
        let mut client = peer::address(request)?;
        let name = match self.header {
            Forwarded::XForwardedFor => HeaderName::from_static("x-forwarded-for"),
            Forwarded::Rfc7239 => FORWARDED,
        };
        // Several fields of one name are one list (RFC 9110, section 5.3).
        for field in request.headers.get_all(name).iter().rev() {
            let Ok(field) = field.to_str() else {
                return (!self.trusted.contains(client)).then_some(client);
            };
            for entry in entries(field).into_iter().rev() {
                if !self.trusted.contains(client) {
                    return Some(client);
                }
                client = match self.header {
                    Forwarded::XForwardedFor => parse_node(entry)?,
                    Forwarded::Rfc7239 => parse_node(parameter_for(entry)?)?,
                };
            }
        }
        Some(client)
    }
}

impl RequestKey for ForwardedAddress {
    type Key = ClientKey;

    fn key(&self, request: &Parts) -> Option<ClientKey> {
        self.address(request).map(|address| ClientKey::with_prefix(address, self.prefix))
    }
}

/// The parts of a list, without empty ones. Commas in quoted strings do not divide.
fn entries(list: &str) -> Vec<&str> {
    split(list, ',').map(str::trim).filter(|entry| !entry.is_empty()).collect()
}

/// `text` divided at each `at` that is not in a quoted string.
fn split(text: &str, at: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |c| {
        let divides = c == at && !quoted;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        divides
    })
}

/// The value of `for` in an element of `Forwarded`.
fn parameter_for(element: &str) -> Option<&str> {
    split(element, ';').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        name.trim().eq_ignore_ascii_case("for").then_some(value.trim())
    })
}

/// An address, with or without a port, brackets, or quotes.
fn parse_node(node: &str) -> Option<IpAddr> {
    let node = node.strip_prefix('"').map_or(Some(node), |rest| rest.strip_suffix('"'))?;
    if let Ok(address) = node.parse::<IpAddr>() {
        return Some(address);
    }
    if let Ok(address) = node.parse::<SocketAddr>() {
        return Some(address.ip());
    }
    // In RFC 7239 a port may be obfuscated: `192.0.2.1:_x`, `[2001:db8::1]:_x`.
    let host = match node.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.0,
        None => node.split_once(':')?.0,
    };
    host.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Peer;
    use http::Request;

    fn client(header: Forwarded, peer: &str, fields: &[&str]) -> Option<String> {
        let mut request = Request::builder();
        for field in fields {
            let name = if header == Forwarded::Rfc7239 { "forwarded" } else { "x-forwarded-for" };
            request = request.header(name, *field);
        }
        let (mut request, ()) = request.body(()).unwrap().into_parts();
        request.extensions.insert(Peer(SocketAddr::new(peer.parse().unwrap(), 1)));
        let trusted = Networks::parse(["10.0.0.0/8", "2001:db8:f::/48"]).unwrap();
        ForwardedAddress::new(header, trusted).address(&request).map(|address| address.to_string())
    }

    #[test]
    fn the_walk_begins_at_the_right_and_ends_at_the_first_stranger() {
        let x = |peer, fields: &[&str]| client(Forwarded::XForwardedFor, peer, fields);
        let some = |address: &str| Some(address.to_owned());
        assert_eq!(x("9.9.9.9", &["1.1.1.1"]), some("9.9.9.9"), "a stranger is itself");
        assert_eq!(x("10.0.0.1", &["6.6.6.6, 7.7.7.7"]), some("7.7.7.7"), "not the leftmost");
        assert_eq!(x("10.0.0.1", &["6.6.6.6, 7.7.7.7, 10.0.0.2"]), some("7.7.7.7"));
        assert_eq!(x("10.0.0.1", &["6.6.6.6", "7.7.7.7"]), some("7.7.7.7"), "two fields are one list");
        assert_eq!(x("10.0.0.1", &["10.0.0.9, 10.0.0.2"]), some("10.0.0.9"), "all within");
        assert_eq!(x("10.0.0.1", &[]), some("10.0.0.1"));
        assert_eq!(x("10.0.0.1", &["garbage, 7.7.7.7"]), some("7.7.7.7"), "what is beyond is not looked at");
        assert_eq!(x("10.0.0.1", &["7.7.7.7, garbage"]), None);
        assert_eq!(x("10.0.0.1", &["7.7.7.7:80,, "]), some("7.7.7.7"));
        assert_eq!(x("::ffff:10.0.0.1", &["[2001:db8::1]:443"]), some("2001:db8::1"));
        assert_eq!(x("2001:db8:f::1", &["2001:db8::7"]), some("2001:db8::7"));
    }

    #[test]
    fn rfc_7239_likewise() {
        let f = |fields: &[&str]| client(Forwarded::Rfc7239, "10.0.0.1", fields);
        let some = |address: &str| Some(address.to_owned());
        assert_eq!(f(&["for=6.6.6.6, for=7.7.7.7;proto=https;by=10.0.0.1"]), some("7.7.7.7"));
        assert_eq!(f(&["For=\"[2001:db8:cafe::17]:4711\""]), some("2001:db8:cafe::17"));
        assert_eq!(f(&["proto=http;for=\"7.7.7.7:_hidden\""]), some("7.7.7.7"));
        assert_eq!(f(&["for=6.6.6.6, for=\"a,b\";by=x, for=10.1.1.1"]), None, "a comma in quotes");
        assert_eq!(f(&["for=unknown"]), None);
        assert_eq!(f(&["for=6.6.6.6, proto=https"]), None, "an element without an address");
        assert_eq!(f(&["for=\"7.7.7.7"]), None, "an open quote");
    }
}
