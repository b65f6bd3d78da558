//! [`Networks`]: a set of addresses, as CIDRs.

use core::fmt;
use core::net::IpAddr;
use ipnet::IpNet;

/// Networks, as an allow list or as the proxies that are trusted.
///
/// An IPv4 address that comes mapped into IPv6 counts as itself.
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
            net.map_err(|_| NetworksError { text: text.to_owned() })
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
