//! [`ClientKey`]: a client's address as a key.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A client's address, as far as it tells one client from another.
///
/// An IPv4 address counts in full. Of an IPv6 address the first 64 bits count: that is what one subscriber gets, who can
/// then use any of 2^64 addresses. An IPv4 address that was mapped into IPv6 (`::ffff:a.b.c.d`, as dual-stack sockets
/// report it) is that IPv4 address.
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
        if let Some(address) = address.to_ipv4_mapped() {
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
    fn the_three_families_do_not_mix() {
        let keys = ["1.2.3.4", "::1.2.3.4", "::", "0.0.0.0", "64:ff9b::1.2.3.4"].map(|address| key(address, 128));
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[i + 1..].iter().all(|b| a != b), "{a}");
        }
        assert_eq!(key("::ffff:1.2.3.4", 64), key("1.2.3.4", 64));
        assert_eq!(key("::ffff:1.2.3.4", 64).to_string(), "1.2.3.4");
    }
}
