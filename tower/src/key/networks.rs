//! [`Networks`]: a set of addresses, as CIDRs.

use core::fmt;
use core::net::IpAddr;
use ipnet::{IpNet, Ipv4Net};

/// Networks, as an allow list or as the proxies that are trusted.
///
/// An IPv4 address that comes mapped into IPv6 counts as itself, and so does a network of such addresses.
///
/// # Examples
///
/// ```
/// use tollgate_tower::key::Networks;
///
/// let inside = Networks::parse(["10.0.0.0/8", "fd00::/8", "192.0.2.7"])?;
/// assert!(inside.contains("10.1.2.3".parse()?));
/// assert!(inside.contains("::ffff:192.0.2.7".parse()?));
/// assert!(!inside.contains("192.0.2.8".parse()?));
/// assert_eq!(Networks::parse(["10.0.0.0/33"]).unwrap_err().to_string(), "`10.0.0.0/33` is no network");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// The networks of these texts: an address and a length of prefix, or an address alone.
    ///
    /// # Errors
    ///
    /// [`NetworksError`], which names the first text that is neither.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate_tower::key::Networks;
    ///
    /// // From a file or a variable, as well as from constants.
    /// let proxies = Networks::parse("10.0.0.0/8, 2001:db8::/32".split(", "))?;
    /// assert!(proxies.contains("2001:db8::1".parse().unwrap()));
    /// assert!(Networks::parse(["proxy.example"]).is_err());
    /// # Ok::<_, tollgate_tower::key::NetworksError>(())
    /// ```
    pub fn parse<'a>(networks: impl IntoIterator<Item = &'a str>) -> Result<Self, NetworksError> {
        let parse = |text: &str| {
            let net = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
            net.map(canonical).map_err(|_| NetworksError { text: text.to_owned() })
        };
        networks.into_iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// Whether `address` is in one of them.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate_tower::key::Networks;
    ///
    /// let inside = Networks::parse(["10.0.0.0/8"])?;
    /// assert!(inside.contains("10.1.2.3".parse()?) && inside.contains("::ffff:10.1.2.3".parse()?));
    /// assert!(!inside.contains("11.1.2.3".parse()?));
    /// assert!(!Networks::default().contains("10.1.2.3".parse()?)); // nobody
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// A network of IPv4 addresses mapped into IPv6, as one of IPv4.
fn canonical(network: IpNet) -> IpNet {
    match (network.addr().to_canonical(), network.prefix_len()) {
        (IpAddr::V4(address), length @ 96..) => Ipv4Net::new(address, length - 96).map_or(network, IpNet::V4),
        _ => network,
    }
}

/// Why there are no such networks.
///
/// # Examples
///
/// ```
/// use tollgate_tower::key::Networks;
///
/// let error = Networks::parse(["10.0.0.0/8", "10.0.0.256"]).unwrap_err();
/// assert_eq!(error.to_string(), "`10.0.0.256` is no network");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworksError {
    text: String,
}

impl fmt::Display for NetworksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no network", self.text)
    }
}

impl core::error::Error for NetworksError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_ipv4_are_known_in_both_forms() {
        let nets = Networks::parse(["::ffff:10.0.0.0/104", "::ffff:192.0.2.7", "2001:db8::1/32"]).unwrap();
        let is_in = |address: &str| nets.contains(address.parse().unwrap());
        for address in ["10.255.0.1", "::ffff:10.255.0.1", "192.0.2.7", "2001:db8:ffff::1"] {
            assert!(is_in(address), "{address}");
        }
        for address in ["11.0.0.1", "192.0.2.8", "2001:db9::1", "::10.0.0.1"] {
            assert!(!is_in(address), "{address}");
        }
    }

    #[test]
    fn what_is_no_network_is_named() {
        for text in ["10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/", "10.0/8", "", " 10.0.0.1", "proxy.example"] {
            let error = Networks::parse(["10.0.0.0/8", text]).unwrap_err();
            assert_eq!(error.to_string(), format!("`{text}` is no network"));
        }
    }
}
