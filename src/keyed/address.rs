//! [`ClientKey`]: a client's address as a key.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A client's address, as far as it tells one client from another.
///
/// An IPv4 address counts in full. Of an IPv6 address the first 64 bits count: that is what one subscriber gets, who can
/// then use any of 2^64 addresses.
///
/// Where an IPv6 address carries the IPv4 address of a client, that is the client: mapped (`::ffff:a.b.c.d`, as dual-stack
/// sockets report it), behind NAT64 (`64:ff9b::/96`, RFC 6052), by 6to4 (`2002::/16`, RFC 3056), or IPv4-compatible
/// (`::a.b.c.d`, RFC 4291; but `::` and `::1` are not).
///
/// # Examples
///
/// ```
/// use std::net::IpAddr;
/// use tollgate::{ClientKey, KeyedLimiter, Quota};
///
/// let limiter = KeyedLimiter::<ClientKey>::new(Quota::per_minute(1), 10_000);
/// let address = |text: &str| ClientKey::from(text.parse::<IpAddr>().unwrap());
///
/// assert!(limiter.try_acquire(&address("2001:db8:0:1::7")).is_ok());
/// assert!(limiter.try_acquire(&address("2001:db8:0:1:ffff::8")).is_err()); // the same subscriber
/// assert!(limiter.try_acquire(&address("2001:db8:0:2::7")).is_ok());
/// assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientKey(u128);

impl ClientKey {
    /// The bits of an IPv6 address that count unless said otherwise.
    pub const DEFAULT_PREFIX: u32 = 64;

    /// The key of `address`.
    pub const fn new(address: IpAddr) -> Self {
        Self::with_prefix(address, Self::DEFAULT_PREFIX)
    }

    /// The key of `address`, of which the first `bits` count if it is an IPv6 address: 48 or 56 where sites get that much, 128
    /// for each address by itself. More than 128 count as 128.
    ///
    /// Use one prefix per limiter.
    pub const fn with_prefix(address: IpAddr, bits: u32) -> Self {
        let address = match address {
            IpAddr::V4(address) => return Self::of_v4(address),
            IpAddr::V6(address) => address,
        };
        if let Some(address) = carried_v4(address) {
            return Self::of_v4(address);
        }
        let mask = match bits {
            0 => 0,
            1..=127 => u128::MAX << (128 - bits),
            _ => u128::MAX,
        };
        Self(address.to_bits() & mask)
    }

    const fn of_v4(address: Ipv4Addr) -> Self {
        Self(address.to_ipv6_mapped().to_bits())
    }

    /// The address, as far as it counts; the rest is zero.
    pub const fn address(self) -> IpAddr {
        Ipv6Addr::from_bits(self.0).to_canonical()
    }
}

/// The IPv4 address that an IPv6 address of a transition mechanism carries.
#[allow(clippy::cast_possible_truncation)] // the 32 bits where it stands
const fn carried_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bits = address.to_bits();
    let (prefix, last) = (bits >> 32, bits as u32);
    let carried = match prefix {
        0x0064_ff9b_0000_0000_0000_0000 | 0xffff => last,
        0 if last > 1 => last,
        _ if bits >> 112 == 0x2002 => (bits >> 80) as u32,
        _ => return None,
    };
    Some(Ipv4Addr::from_bits(carried))
}

impl From<IpAddr> for ClientKey {
    fn from(address: IpAddr) -> Self {
        Self::new(address)
    }
}

impl From<Ipv4Addr> for ClientKey {
    fn from(address: Ipv4Addr) -> Self {
        Self::new(IpAddr::V4(address))
    }
}

impl From<Ipv6Addr> for ClientKey {
    fn from(address: Ipv6Addr) -> Self {
        Self::new(IpAddr::V6(address))
    }
}

impl From<SocketAddr> for ClientKey {
    fn from(address: SocketAddr) -> Self {
        Self::new(address.ip())
    }
}

impl fmt::Display for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn key(address: &str, bits: u32) -> ClientKey {
        ClientKey::with_prefix(address.parse().unwrap(), bits)
    }

    #[test]
    fn an_address_of_any_type_makes_the_same_key() {
        let (four, six) = (Ipv4Addr::new(192, 0, 2, 1), Ipv6Addr::from_bits(0x2001_0db8 << 96 | 1));
        for port in [1, 443] {
            assert_eq!(ClientKey::from(SocketAddr::from((four, port))), ClientKey::from(four));
            assert_eq!(ClientKey::from(SocketAddr::from((six, port))), ClientKey::from(six));
        }
        assert_eq!(ClientKey::from(IpAddr::V4(four)), ClientKey::from(four));
        assert_eq!(ClientKey::from(four.to_ipv6_mapped()), ClientKey::from(four));
        assert_ne!(ClientKey::from(four), ClientKey::from(Ipv4Addr::new(192, 0, 2, 2)));
    }

    #[test]
    fn the_prefix_counts_to_the_bit() {
        for bits in 1..=128 {
            let base = Ipv6Addr::from_bits(0x2001_0db8_0000_0000_0000_0000_0000_0000);
            let within =
                IpAddr::V6(Ipv6Addr::from_bits(base.to_bits() | (u128::MAX.checked_shr(bits).unwrap_or(0) >> 1)));
            let beyond = IpAddr::V6(Ipv6Addr::from_bits(base.to_bits() ^ (1 << (128 - bits))));
            assert_eq!(ClientKey::with_prefix(within, bits), ClientKey::with_prefix(base.into(), bits), "/{bits}");
            assert_ne!(ClientKey::with_prefix(beyond, bits), ClientKey::with_prefix(base.into(), bits), "/{bits}");
        }
        assert_eq!(key("2001:db8::1", 0), key("fe80::1", 0));
        assert_eq!(key("2001:db8::1", 128), key("2001:db8::1", u32::MAX));
    }

    #[test]
    fn a_client_is_its_ipv4_address_where_it_has_one() {
        for carrier in ["::ffff:198.51.100.7", "64:ff9b::198.51.100.7", "2002:c633:6407:9::1", "::198.51.100.7"] {
            for bits in [0, 64, 128] {
                assert_eq!(key(carrier, bits), key("198.51.100.7", 64), "{carrier}/{bits}");
            }
            assert_eq!(key(carrier, 64).to_string(), "198.51.100.7");
        }
        // Addresses beside those prefixes are themselves.
        for other in ["64:ff9b:1::198.51.100.7", "2003:c633:6407::", "::1:198.51.100.7", "::", "::1", "64:ff9b::1:0:0"]
        {
            assert!(key(other, 128).address().is_ipv6(), "{other}");
        }
    }

    #[test]
    fn the_families_do_not_mix() {
        let keys = ["1.2.3.4", "::1", "::", "0.0.0.0", "2001:db8::1.2.3.4"].map(|address| key(address, 128));
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[i + 1..].iter().all(|b| a != b), "{a}");
        }
    }
}
