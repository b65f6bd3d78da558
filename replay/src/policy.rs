//! The limit that is tried.

use core::time::Duration;

use clap::Args;
use tollgate::Quota;

use crate::error::Error;
use crate::judge::algorithm::Algorithm;
use crate::judge::comparison::Comparison;
use crate::selection::Selection;

/// How the limit is given on the command line.
#[derive(Args, Clone, Debug)]
pub struct Policy {
    /// The limit: `100/s`, `60/min`, `600/5min burst 20`, `10MiB/s`; or a number of tokens for each `--per`
    #[arg(long, value_name = "LIMIT", default_value = "60/min")]
    pub limit: String,

    /// The period of a limit that is a number: `1m`, `250ms`, `1h30m` [default: 1m]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub per: Option<Duration>,

    /// The most tokens a bucket saves up [default: the limit]. Windows have no burst
    #[arg(long, value_name = "B")]
    pub burst: Option<u64>,

    /// Which algorithms to try; several may be given, with commas between
    #[arg(long, value_name = "NAME", value_enum, default_value = "all", value_delimiter = ',')]
    pub algorithm: Vec<Selection>,

    /// For keyed: how many keys its table is made for, in debt at the same time; it takes 26 bytes for each
    #[arg(long, value_name = "KEYS", default_value_t = 100_000, value_parser = capacity)]
    pub capacity: usize,
}

impl Policy {
    /// The quota of one limiter.
    ///
    /// # Errors
    ///
    /// What is given is no limit, or more than a word can hold.
    pub fn quota(&self) -> Result<Quota, Error> {
        let limit = |why: &dyn core::fmt::Display| Error::Limit(format!("{:?}: {why}", self.limit));
        let text = self.limit.trim();
        let quota = if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
            let tokens = text.parse().map_err(|error| limit(&error))?;
            let per = self.per.unwrap_or(Duration::from_secs(60));
            Quota::try_new(tokens, per, self.burst.unwrap_or(tokens)).map_err(|error| limit(&error))?
        } else if self.per.is_some() {
            return Err(limit(&"it has a period of its own, beside --per"));
        } else {
            parsed(text).map_err(|why| limit(&why))?
        };
        if quota.is_unlimited() || quota == Quota::DENY_ALL {
            return Err(limit(&"nothing is learned from it"));
        }
        let Some(burst) = self.burst else { return Ok(quota) };
        Quota::try_new(quota.tokens(), quota.period(), burst).map_err(|error| limit(&error))
    }

    /// The limiters to compare. Of `all`, those that cannot hold the limit are left out and returned with the reason; one
    /// asked for by name must hold it.
    ///
    /// # Errors
    ///
    /// The limit is none, or an algorithm asked for by name cannot hold it.
    pub fn comparison(&self) -> Result<(Comparison, Vec<String>), Error> {
        let quota = self.quota()?;
        let mut algorithms = Selection::algorithms(&self.algorithm);
        let mut left_out = Vec::new();
        loop {
            match Comparison::new(quota, algorithms.clone(), self.capacity) {
                Ok(comparison) => return Ok((comparison, left_out)),
                Err((unfit, error)) if self.asks_for(unfit) => return Err(Error::Unfit(unfit, error)),
                Err((unfit, error)) => {
                    left_out.push(format!("{}: {error}", unfit.name()));
                    algorithms.retain(|&algorithm| algorithm != unfit);
                }
            }
        }
    }

    /// Whether an algorithm is asked for by its own name.
    pub fn asks_for(&self, algorithm: Algorithm) -> bool {
        self.algorithm.contains(&Selection::One(algorithm))
    }
}

/// A quota as text; its period may be in more than one unit.
fn parsed(text: &str) -> Result<Quota, String> {
    let error = match text.parse::<Quota>() {
        Ok(quota) => return Ok(quota),
        Err(error) => error,
    };
    let in_units = || {
        let (tokens, period) = text.split_once('/')?;
        let per = duration(period).ok()?;
        let tokens = format!("{tokens}/s").parse::<Quota>().ok()?.tokens();
        Some(Quota::try_new(tokens, per, tokens))
    };
    match (error.quota_error(), in_units()) {
        (None, Some(quota)) => quota.map_err(|error| error.to_string()),
        _ => Err(error.to_string()),
    }
}

/// Reads durations such as `250ms`, `1h30m`, `2 days`; a unit alone is one of it.
///
/// # Errors
///
/// Says what is wrong, in words for the command line.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let one = if text.starts_with(|c: char| c.is_ascii_alphabetic()) { "1" } else { "" };
    humantime::parse_duration(&format!("{one}{text}")).map_err(|error| error.to_string())
}

fn capacity(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("a table for no key holds none".to_owned()),
        Ok(capacity) => Ok(capacity),
        Err(error) => Err(format!("{error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(limit: &str, per: Option<&str>, burst: Option<u64>) -> Result<Quota, String> {
        let per = per.map(|per| duration(per).unwrap());
        let policy = Policy { limit: limit.to_owned(), per, burst, algorithm: vec![Selection::All], capacity: 1 };
        policy.quota().map_err(|error| error.to_string())
    }

    #[test]
    fn durations() {
        for (text, nanos) in [
            ("1ns", 1),
            ("250us", 250_000),
            ("30s", 30_000_000_000),
            ("1m", 60_000_000_000),
            ("minute", 60_000_000_000),
            (" 2 h ", 7_200_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1h 30min", 5_400_000_000_000),
            ("1d", 86_400_000_000_000),
            ("0s", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for bad in ["", "5", "5 fortnights", "-1s", "s5", "99999999999999999999s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits_as_people_write_them() {
        let minute = Duration::from_secs(60);
        assert_eq!(quota("60", None, None), Ok(Quota::per(60, minute)));
        assert_eq!(quota("60", Some("1h30m"), None), Ok(Quota::per(60, Duration::from_mins(90))));
        assert_eq!(quota("100/s", None, None), Ok(Quota::per_second(100)));
        assert_eq!(quota("100/s", None, Some(7)), Ok(Quota::per_second(100).with_burst(7)));
        assert_eq!(quota("600/min burst 20", None, None), Ok(Quota::per_minute(600).with_burst(20)));
        assert_eq!(quota("600/1h30m", None, None), Ok(Quota::per(600, Duration::from_mins(90))));
        assert_eq!(quota("10MiB/s", None, None), Ok(Quota::per_second(10 << 20)));
        for (limit, per) in [
            ("0", None),
            ("", None),
            ("-1", None),
            ("100/fortnight", None),
            ("100/s", Some("1m")),
            ("unlimited", None),
            ("deny-all", None),
            ("99999999999999999999", None),
            ("100/1h30", None),
            ("100/0s", None),
        ] {
            let error = quota(limit, per, None).unwrap_err();
            assert!(error.starts_with("not a limit: "), "{limit}: {error}");
        }
    }
}
