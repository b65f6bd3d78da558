//! The command line.

use core::time::Duration;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use tollgate::ClientKey;

use crate::error::Error;
use crate::field::client::Hop;
use crate::field::instant::Unit;
use crate::format::wanted::{Charge, Format, Wanted};
use crate::policy::{Policy, duration};
use crate::read::paths;
use crate::read::replay::{Source, Spreading};

/// See what a limit would have done to the traffic in a log
///
/// Reads access logs of web servers (Common and Combined Log Format, also behind syslog or a container's prefix), JSON lines as
/// nginx, Caddy and Traefik write them, logs of AWS load balancers and `CloudFront`, and fields with commas, tabs or semicolons
/// between them; packed by gzip or not. Without names above them, fields are `t_ms,key[,cost]`. The report says what was taken
/// for what. Lines that cannot be read are counted, and the first is shown.
#[derive(Parser, Clone, Debug)]
#[command(version)]
pub struct Args {
    /// The logs, also as patterns such as `access.log*`; `-` reads standard input. Several are merged by time
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// The limit.
    #[command(flatten)]
    pub policy: Policy,

    /// How lines are written [default: as the first one that can be read]
    #[arg(long, value_enum)]
    pub format: Option<Format>,

    /// The field that is the client: a column's name or number, `forwarded` or a number of a word in a web server's log, a path
    /// such as `request.client_ip` in JSON; `all` puts all arrivals to one limiter [default: told by names and addresses]
    #[arg(long, value_name = "FIELD")]
    pub key: Option<String>,

    /// The field that is the time [default: told by names and contents]
    #[arg(long, value_name = "FIELD")]
    pub time: Option<String>,

    /// In what numbers count time [default: told by the field's name and by size]
    #[arg(long, value_enum, value_name = "UNIT")]
    pub time_unit: Option<Unit>,

    /// What an arrival costs: `cost` (the field of that name, else 1), `one`, or another field such as `bytes`
    #[arg(long, value_name = "FIELD", default_value = "cost")]
    pub cost: String,

    /// Only requests whose field has this value; may be given more than once
    #[arg(long = "where", value_name = "FIELD=VALUE", value_parser = filter)]
    pub filters: Vec<(String, String)>,

    /// The bits of an IPv6 address that count as one client
    #[arg(long, value_name = "BITS", default_value_t = ClientKey::DEFAULT_PREFIX, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub ipv6_prefix: u32,

    /// Which address of a list is the client, as in X-Forwarded-For
    #[arg(long, value_enum, default_value = "first")]
    pub hop: Hop,

    /// How much older than a line before it a line may be; it is sorted in. More takes more memory
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub sort_window: Duration,

    /// Whether times in whole seconds are spread over their seconds; auto: if a bucket holds less than two seconds' tokens
    #[arg(long, value_enum, default_value = "auto")]
    pub spread: Spreading,

    /// Search for limits that would have denied nothing, 0.1 % and 1 %
    #[arg(long)]
    pub suggest: bool,

    /// How many of the worst clients to list and to draw
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub worst: usize,

    /// How results are printed
    #[arg(long, value_enum, default_value = "table")]
    pub output: Output,

    /// Write the results as CSV to this file
    #[arg(long, value_name = "PATH")]
    pub csv: Option<PathBuf>,

    /// Draw what was offered and admitted over time, and the worst clients, to this SVG file
    #[arg(long, value_name = "PATH")]
    pub plot: Option<PathBuf>,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Table,
    /// One object.
    Json,
    /// A row for each algorithm.
    Csv,
}

impl Args {
    /// What is to be read.
    ///
    /// # Errors
    ///
    /// A pattern stands for no file.
    pub fn source(&self) -> Result<Source, Error> {
        let together = self.key.as_deref() == Some("all");
        Ok(Source {
            files: paths::expanded(&self.files)?,
            wanted: Wanted {
                format: self.format,
                time: self.time.clone(),
                unit: self.time_unit,
                key: self.key.clone().filter(|_| !together),
                charge: match self.cost.as_str() {
                    "cost" => Charge::Cost,
                    "one" => Charge::One,
                    field => Charge::Field(field.to_owned()),
                },
                filters: self.filters.clone(),
                ipv6_prefix: self.ipv6_prefix,
                hop: self.hop,
            },
            together,
            sort_window: self.sort_window,
            spreading: self.spread,
        })
    }
}

fn filter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((field, value)) if !field.is_empty() => Ok((field.to_owned(), value.to_owned())),
        _ => Err("a field, = and a value are needed".to_owned()),
    }
}
