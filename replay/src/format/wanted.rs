//! What is asked of a log's lines.

use clap::ValueEnum;

use crate::field::client::{Clients, Hop};
use crate::field::instant::Unit;

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Fields with commas between them, and perhaps names above.
    Csv,
    /// Fields with tabs between them, and perhaps names above.
    Tsv,
    /// Fields with semicolons between them, and perhaps names above.
    Semicolons,
    /// A web server's log: Common or Combined Log Format, with the client first.
    #[value(alias = "clf", alias = "common")]
    Combined,
    /// A web server's log that begins with the virtual host.
    VhostCombined,
    /// One JSON object a line, as nginx, Caddy and Traefik write it.
    Json,
    /// Access log of an AWS application load balancer.
    Alb,
    /// W3C extended log, whose names are in a line `#Fields:`, as of `CloudFront` and IIS.
    #[value(alias = "cloudfront")]
    W3c,
}

impl Format {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Tsv => "tab-separated",
            Self::Semicolons => "semicolon-separated",
            Self::Combined => "Common Log Format",
            Self::VhostCombined => "Common Log Format after a virtual host",
            Self::Json => "JSON lines",
            Self::Alb => "AWS load balancer log",
            Self::W3c => "W3C extended log",
        }
    }
}

/// What an arrival is charged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Charge {
    /// A field named `cost`, or the third of a log without names; 1 where there is none.
    #[default]
    Cost,
    /// 1 for every arrival.
    One,
    /// The field of this name.
    Field(String),
}

/// What is to be read, and how.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The format; without one it is the one of the first line that can be read.
    pub format: Option<Format>,
    /// The field that says when.
    pub time: Option<String>,
    /// In what numbers count time.
    pub unit: Option<Unit>,
    /// The field that says who.
    pub key: Option<String>,
    /// What an arrival costs.
    pub charge: Charge,
    /// Only arrivals whose fields have these values.
    pub filters: Vec<(String, String)>,
    /// The bits of an IPv6 address that count.
    pub ipv6_prefix: u32,
    /// Which address of a list counts.
    pub hop: Hop,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            format: None,
            time: None,
            unit: None,
            key: None,
            charge: Charge::Cost,
            filters: Vec::new(),
            ipv6_prefix: tollgate::ClientKey::DEFAULT_PREFIX,
            hop: Hop::First,
        }
    }
}

impl Wanted {
    /// What makes two clients the same one. Where a web server writes the client, it is an address or a host.
    pub(super) fn clients(&self, hosts_only: bool) -> Clients {
        Clients { ipv6_prefix: self.ipv6_prefix, hop: self.hop, hosts_only }
    }
}
