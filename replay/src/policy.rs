//! The limit that is tried.

use core::time::Duration;

use clap::{Args, ValueEnum};
use tollgate::{Quota, QuotaError};

use crate::error::Error;
use crate::judge::comparison::Comparison;
use crate::judge::limiter::Selection;

/// Who shares one limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Key {
    /// Each key has its own.
    Each,
    /// All arrivals share one.
    All,
}

/// How the limit is given on the command line.
#[derive(Args, Clone, Debug)]
pub struct Policy {
    /// Tokens each period
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub limit: u64,

    /// The period: a number with a unit of ns, us, ms, s, m, h or d
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = parse_duration)]
    pub per: Duration,

    /// The most tokens a bucket saves up [default: the limit]. Windows have no burst
    #[arg(long, value_name = "B")]
    pub burst: Option<u64>,

    /// Which algorithms to try; several may be given, with commas between
    #[arg(long, value_name = "NAME", value_enum, default_value = "all", value_delimiter = ',')]
    pub algorithm: Vec<Selection>,

    /// For keyed: how many keys its table is made for, in debt at the same time; it takes 26 bytes for each
    #[arg(long, value_name = "KEYS", default_value_t = 100_000)]
    pub capacity: usize,

    /// One limiter for each key, or one for all arrivals together
    #[arg(long, value_enum, default_value = "each")]
    pub key: Key,
}

impl Policy {
    /// The quota of one limiter.
    ///
    /// # Errors
    ///
    /// As `Quota::try_new`: a zero, or more than a word can hold.
    fn quota(&self) -> Result<Quota, QuotaError> {
        Quota::try_new(self.limit, self.per, self.burst.unwrap_or(self.limit))
    }

    /// The limiters to compare. Of `all`, those that cannot hold the limit are left out, with a word on standard error;
    /// one asked for by name must hold it.
    ///
    /// # Errors
    ///
    /// The limit is none, or an algorithm asked for by name cannot hold it.
    pub fn comparison(&self) -> Result<Comparison, Error> {
        let quota = self.quota().map_err(Error::Quota)?;
        let mut algorithms = Selection::algorithms(&self.algorithm);
        loop {
            match Comparison::new(quota, algorithms.clone(), self.capacity) {
                Ok(comparison) => return Ok(comparison),
                Err((unfit, error)) if self.algorithm.contains(&Selection::One(unfit)) => {
                    return Err(Error::Unfit(unfit, error));
                }
                Err((unfit, error)) => {
                    eprintln!("{} left out: {error}", unfit.name());
                    algorithms.retain(|&algorithm| algorithm != unfit);
                }
            }
        }
    }
}

/// Reads a whole number with a unit, such as `250ms`; a unit alone is one of it.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let nanos: u64 = match unit.trim() {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" | "second" => 1_000_000_000,
        "m" | "min" | "minute" => 60_000_000_000,
        "h" | "hour" => 3_600_000_000_000,
        "d" | "day" => 86_400_000_000_000,
        "" => return Err("a unit is needed: ns, us, ms, s, m, h or d".to_owned()),
        other => return Err(format!("unknown unit {other:?}: ns, us, ms, s, m, h and d are known")),
    };
    let number: u64 = if number.is_empty() { 1 } else { number.parse().map_err(|_| "too large".to_owned())? };
    number.checked_mul(nanos).map(Duration::from_nanos).ok_or_else(|| "longer than 584 years".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, nanos) in [
            ("1ns", 1),
            ("250us", 250_000),
            ("30s", 30_000_000_000),
            ("1m", 60_000_000_000),
            ("minute", 60_000_000_000),
            (" 2 h ", 7_200_000_000_000),
            ("1d", 86_400_000_000_000),
            ("0s", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for bad in ["", "5", "5 weeks", "-1s", "1.5s", "s5", "1m30s", "99999999999999999999s", "99999999999h"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
