//! [`ForwardedAddress`]: the client's address as trusted proxies tell it.

use super::{Networks, RequestKey, peer};
use core::net::IpAddr;
use http::header::{FORWARDED, HeaderName};
use http::request::Parts;
use http::{Extensions, HeaderMap};
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

    /// The client's whole address, as for an allow list. One of IPv4 that comes mapped into IPv6 is told as itself.
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
        self.address_in(&request.headers, &request.extensions)
    }

    fn address_in(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<IpAddr> {
        let mut client = peer::address(extensions)?;
        let name = match self.header {
            Forwarded::XForwardedFor => HeaderName::from_static("x-forwarded-for"),
            Forwarded::Rfc7239 => FORWARDED,
        };
        // Several fields of one name are one list (RFC 9110, section 5.3), in which empty elements do not count.
        for field in headers.get_all(name).iter().rev() {
            for entry in from_the_right(field.as_bytes()) {
                let entry = entry.trim_ascii();
                if entry.is_empty() {
                    continue;
                }
                if !self.trusted.contains(client) {
                    return Some(client);
                }
                let entry = core::str::from_utf8(entry).ok()?;
                let node = match self.header {
                    Forwarded::XForwardedFor => entry,
                    Forwarded::Rfc7239 => parameter_for(entry)?,
                };
                client = parse_node(node)?.to_canonical();
            }
        }
        Some(client)
    }
}

impl RequestKey for ForwardedAddress {
    type Key = ClientKey;

    fn key(&self, request: &Parts) -> Option<ClientKey> {
        self.key_in(&request.headers, &request.extensions)
    }

    fn reads_all(&self) -> bool {
        false
    }

    fn key_in(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<ClientKey> {
        self.address_in(headers, extensions).map(|address| ClientKey::with_prefix(address, self.prefix))
    }
}

/// The parts of `list` between commas, from the right. Commas in quoted strings do not divide.
///
/// Not only are the parts told from the right, they are found from there: what is on the right a proxy has written, so its quotes
/// are closed, and where its part begins does not depend on what lies to the left. Read from the left, a quote that a client
/// leaves open would swallow what the proxy has added.
fn from_the_right(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(list);
    core::iter::from_fn(move || {
        let list = rest?;
        let mut quoted = false;
        let comma = (0..list.len()).rev().find(|&at| {
            if list[at] == b'"' && !(quoted && is_escaped(list, at)) {
                quoted = !quoted;
            }
            list[at] == b',' && !quoted
        });
        rest = comma.map(|at| &list[..at]);
        Some(comma.map_or(list, |at| &list[at + 1..]))
    })
}

/// Whether an odd number of backslashes stands before `list[at]`.
fn is_escaped(list: &[u8], at: usize) -> bool {
    list[..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// The value of `for` in an element of `Forwarded`.
fn parameter_for(element: &str) -> Option<&str> {
    let (mut quoted, mut escaped) = (false, false);
    let pairs = element.split(move |c| {
        let divides = c == ';' && !quoted;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        divides
    });
    pairs
        .filter_map(|pair| pair.split_once('='))
        .find_map(|(name, value)| name.trim().eq_ignore_ascii_case("for").then_some(value.trim()))
}

/// An address, with or without a port, brackets, or quotes. In RFC 7239 a port may be obfuscated: `192.0.2.1:_x`.
fn parse_node(node: &str) -> Option<IpAddr> {
    let node = node.strip_prefix('"').map_or(Some(node), |rest| rest.strip_suffix('"'))?;
    if let Some(rest) = node.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        return if port.is_empty() || port.starts_with(':') { host.parse().map(IpAddr::V6).ok() } else { None };
    }
    node.parse().ok().or_else(|| node.split_once(':')?.0.parse().map(IpAddr::V4).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Peer;
    use core::net::SocketAddr;
    use http::Request;

    fn client(header: Forwarded, peer: &str, fields: &[&str]) -> Option<String> {
        client_of_bytes(header, peer, &fields.iter().map(|field| field.as_bytes()).collect::<Vec<_>>())
    }

    fn client_of_bytes(header: Forwarded, peer: &str, fields: &[&[u8]]) -> Option<String> {
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
    fn what_a_client_leaves_open_hides_nothing_that_a_proxy_has_added() {
        let x = |fields: &[&[u8]]| client_of_bytes(Forwarded::XForwardedFor, "10.0.0.1", fields);
        let f = |fields: &[&[u8]]| client_of_bytes(Forwarded::Rfc7239, "10.0.0.1", fields);
        let seven = Some("7.7.7.7".to_owned());
        assert_eq!(x(&[b"\", 7.7.7.7"]), seven, "an open quote");
        assert_eq!(x(&[b"\"6.6.6.6, 7.7.7.7, 10.0.0.2"]), seven);
        assert_eq!(x(&[b"\xff\x80, 7.7.7.7"]), seven, "no text");
        assert_eq!(x(&[b"\xff", b"7.7.7.7"]), seven);
        assert_eq!(x(&[b",,\t, 7.7.7.7 ,, ,"]), seven, "nothing at all");
        assert_eq!(x(&[b"7.7.7.7, \xff"]), None, "a proxy would not");
        assert_eq!(f(&[b"for=\", for=7.7.7.7"]), seven);
        assert_eq!(f(&[b"for=\"\\, for=7.7.7.7;by=\"a, \\\"b\""]), seven, "quotes and commas of the proxy's own");
        assert_eq!(f(&[b"for=\"6.6.6.6\\\\, for=\"7.7.7.7:80\""]), seven);
        assert_eq!(f(&[b"for=\xff;\", for=7.7.7.7, for=10.0.0.2"]), seven);
        assert_eq!(f(&[b"for=\"", b"for=7.7.7.7"]), seven);
    }

    #[test]
    fn addresses_are_read_in_every_form_and_nothing_else_is() {
        let x = |field: &str| client(Forwarded::XForwardedFor, "10.0.0.1", &[field]);
        for (node, address) in [
            ("7.7.7.7:80", "7.7.7.7"),
            ("7.7.7.7:_port", "7.7.7.7"),
            ("\"7.7.7.7\"", "7.7.7.7"),
            ("::ffff:7.7.7.7", "7.7.7.7"),
            ("[::ffff:7.7.7.7]:80", "7.7.7.7"),
            ("2001:DB8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:_port", "2001:db8::1"),
        ] {
            assert_eq!(x(node).as_deref(), Some(address), "{node}");
        }
        for node in
            ["unknown", "_hidden", "7.7.7", "7.7.7.07", "7.7.7.7.7", "[7.7.7.7]", "[2001:db8::1]x", "fe80::1%eth0", "-"]
        {
            assert_eq!(x(node), None, "{node}");
        }
        let peer = |address| client(Forwarded::XForwardedFor, address, &[]);
        assert_eq!(peer("::ffff:7.7.7.7").as_deref(), Some("7.7.7.7"));
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
