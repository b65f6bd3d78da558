//! Who asks.

use core::fmt::{self, Write};
use core::net::{IpAddr, Ipv6Addr};

use clap::ValueEnum;
use tollgate::ClientKey;

use super::malformed::{Malformed, excerpt};

/// Which of several addresses in one field is the client: each proxy appends the one that it was called from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Hop {
    /// The first: who the client says it is. Anybody can write there what they like.
    #[default]
    First,
    /// The last: who called the proxy that is nearest.
    Last,
}

/// What makes two clients the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clients {
    /// The bits of an IPv6 address that count.
    pub ipv6_prefix: u32,
    /// Which address of a list counts.
    pub hop: Hop,
    /// Whether a client must be an address or the name of a host, as it is where a web server writes it.
    pub hosts_only: bool,
}

/// A client, in the one way in which it is always written.
#[derive(Clone, Copy)]
pub enum Key<'a> {
    /// As the log has it.
    Text(&'a [u8]),
    /// An address that the log writes otherwise.
    Address(Written),
}

/// The text of an address.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    text: [u8; 48],
    length: usize,
}

impl Key<'_> {
    /// Its bytes: never none.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text,
            Self::Address(Written { text, length }) => &text[..*length],
        }
    }
}

impl fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.as_bytes().escape_ascii())
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Key<'_> {}

impl Write for Written {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.text.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

impl Clients {
    /// The client that a field names. An address is written in one way, whatever its port and notation, and an IPv6
    /// address up to its prefix, as by [`ClientKey`]; of a list one address counts. Any other text is itself.
    ///
    /// # Errors
    ///
    /// There is none, or what looks like an address is none.
    pub fn key<'a>(&self, field: &'a [u8]) -> Result<Key<'a>, Malformed> {
        let field = field.trim_ascii();
        if is_plain_ipv4(field) {
            return Ok(Key::Text(field));
        }
        match field {
            b"" | b"-" => return Err(Malformed::Missing("client")),
            _ if field.contains(&0) => return Err(Malformed::Nul),
            _ if field.contains(&b',') => return self.one_of(field),
            _ => {}
        }
        if let Some(address) = address(field) {
            return Ok(self.written(address));
        }
        let numeric = field.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b':'));
        if numeric && (self.hosts_only || memchr::memchr_iter(b'.', field).count() > 2) {
            return Err(Malformed::NotAnAddress(excerpt(field)));
        }
        if self.hosts_only && !field.iter().all(|byte| byte.is_ascii_graphic() && !b"\"'<>\\{}()".contains(byte)) {
            return Err(Malformed::NotAnAddress(excerpt(field)));
        }
        Ok(Key::Text(field))
    }

    fn one_of(self, list: &[u8]) -> Result<Key<'_>, Malformed> {
        let mut parts = list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        if parts.clone().all(|part| address(part).is_none()) && !self.hosts_only {
            return Ok(Key::Text(list)); // a text with commas in it
        }
        let one = match self.hop {
            Hop::First => parts.next(),
            Hop::Last => parts.next_back(),
        };
        let one = one.unwrap_or_default();
        address(one).map(|address| self.written(address)).ok_or_else(|| Malformed::NotAnAddress(excerpt(one)))
    }

    fn written<'a>(self, address: IpAddr) -> Key<'a> {
        let mut written = Written { text: [0; 48], length: 0 };
        // Its longest form has 39 characters.
        let _ = write!(written, "{}", ClientKey::with_prefix(address, self.ipv6_prefix));
        Key::Address(written)
    }
}

/// Whether a field is one address, or a list of them, and nothing else.
pub fn is_addresses(field: &[u8]) -> bool {
    // Most fields are not, as their first byte shows.
    is_plain_ipv4(field)
        || field.first().is_some_and(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'['))
            && field.split(|&byte| byte == b',').all(|part| address(part.trim_ascii()).is_some())
}

/// Reads an address, with or without a port, in brackets or not.
pub fn address(field: &[u8]) -> Option<IpAddr> {
    const LONGEST: usize = 100;
    if field.len() > LONGEST {
        return None;
    }
    let text = core::str::from_utf8(field).ok()?;
    if let Some(rest) = text.strip_prefix('[') {
        let (inner, after) = rest.split_once(']')?;
        let port = after.is_empty() || is_port(after.strip_prefix(':')?);
        return port.then(|| ipv6(inner)).flatten();
    }
    match text.split_once(':') {
        None => text.parse().ok().map(IpAddr::V4),
        Some((host, port)) if !port.contains(':') => {
            let address = host.parse().ok().map(IpAddr::V4)?;
            is_port(port).then_some(address)
        }
        Some(_) => ipv6(text),
    }
}

fn ipv6(text: &str) -> Option<IpAddr> {
    let without_zone = text.split_once('%').map_or(text, |(address, _)| address);
    without_zone.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

/// Whether this is an IPv4 address as it is always written, and nothing else.
fn is_plain_ipv4(field: &[u8]) -> bool {
    let (mut dots, mut value, mut length) = (0, 0_u32, 0);
    for &byte in field {
        match byte {
            b'0'..=b'9' => {
                value = value * 10 + u32::from(byte - b'0');
                length += 1;
                if length > 1 && value < 10 || value > 255 {
                    return false;
                }
            }
            b'.' if length > 0 => {
                dots += 1;
                (value, length) = (0, 0);
            }
            _ => return false,
        }
    }
    dots == 3 && length > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENTS: Clients = Clients { ipv6_prefix: 64, hop: Hop::First, hosts_only: false };

    fn key(field: &str) -> String {
        read(CLIENTS, field).unwrap()
    }

    fn read(clients: Clients, field: &str) -> Result<String, Malformed> {
        clients.key(field.as_bytes()).map(|key| String::from_utf8(key.as_bytes().to_vec()).unwrap())
    }

    #[test]
    fn an_address_is_one_client_however_it_is_written() {
        for same in [
            "192.0.2.7",
            " 192.0.2.7 ",
            "192.0.2.7:443",
            "::ffff:192.0.2.7",
            "::FFFF:c000:0207",
            "[::ffff:192.0.2.7]:8080",
            "192.0.2.7, 198.51.100.54",
            "192.0.2.7,198.51.100.54:99",
            "::ffff:192.0.2.7, 198.51.100.54, 10.0.0.1",
        ] {
            assert_eq!(key(same), "192.0.2.7", "{same}");
        }
    }

    #[test]
    fn ipv6_clients_are_grouped_by_their_prefix() {
        for same in [
            "2001:db8:0:1::7",
            "2001:DB8:0:1:ffff::8",
            "[2001:db8:0:1::7]",
            "[2001:db8:0:1::7]:443",
            "2001:db8:0:1::7%eth0",
        ] {
            assert_eq!(key(same), "2001:db8:0:1::", "{same}");
        }
        assert_eq!(key("2001:db8:0:2::7"), "2001:db8:0:2::");
        assert_eq!(read(Clients { ipv6_prefix: 128, ..CLIENTS }, "2001:DB8:0:1::7").unwrap(), "2001:db8:0:1::7");
        assert_eq!(read(Clients { ipv6_prefix: 48, ..CLIENTS }, "2001:db8:0:1::7").unwrap(), "2001:db8::");
    }

    #[test]
    fn the_last_of_a_list_is_who_called_the_nearest_proxy() {
        let last = Clients { hop: Hop::Last, ..CLIENTS };
        assert_eq!(read(last, "192.0.2.7, 198.51.100.54:80").unwrap(), "198.51.100.54");
        assert!(read(last, "192.0.2.7, unknown").is_err());
        assert!(read(CLIENTS, "unknown, 192.0.2.7").is_err());
    }

    #[test]
    fn other_texts_are_themselves() {
        for text in ["alice", "a,b", "42", "1.5", "client.example.com", "aa:bb:cc:dd:ee:ff", "caf\u{e9}", "a b"] {
            assert_eq!(key(text), text);
        }
        assert_eq!(CLIENTS.key(b"\xFF\xFE").unwrap().as_bytes(), b"\xFF\xFE");
    }

    #[test]
    fn what_is_no_client_is_refused() {
        for none in
            ["", " ", "-", "192.0.2.007", "999.0.2.1", "192.0.2.1.5", "192.0.2.7:99999", "192.0.2.7:", "\0alice", "a\0"]
        {
            assert!(read(CLIENTS, none).is_err(), "{none:?}");
        }
        let hosts = Clients { hosts_only: true, ..CLIENTS };
        for none in ["42", "0.113.4", "\"GET", "a,b", "caf\u{e9}", "336"] {
            assert!(read(hosts, none).is_err(), "{none:?}");
        }
        for host in ["client.example.com", "localhost", "unix:"] {
            assert_eq!(read(hosts, host).unwrap(), host);
        }
    }

    /// The quick test agrees with the standard library's parser.
    #[test]
    fn plain_ipv4() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut right = 0;
        for _ in 0..200_000 {
            let text: String = (0..rng.usize(7..10)).map(|_| char::from(b"0123456789....:"[rng.usize(..15)])).collect();
            let plain = text.parse::<core::net::Ipv4Addr>().is_ok_and(|address| address.to_string() == text);
            assert_eq!(is_plain_ipv4(text.as_bytes()), plain, "{text}");
            right += u32::from(plain);
        }
        assert!(right > 100, "{right}");
        assert!(is_plain_ipv4(b"255.255.255.255") && !is_plain_ipv4(b"256.1.1.1") && !is_plain_ipv4(b"01.1.1.1"));
    }

    #[test]
    fn lists_of_addresses() {
        for yes in ["192.0.2.7", "192.0.2.7, 2001:db8::1", "::1", "[::1]:80", "fe80::1%eth0"] {
            assert!(is_addresses(yes.as_bytes()), "{yes}");
        }
        for no in ["", "-", "Mozilla/5.0", "192.0.2.7, unknown", "deadbeef", "a.b.c.d", "1.2.3.4 5.6.7.8"] {
            assert!(!is_addresses(no.as_bytes()), "{no}");
        }
    }
}
