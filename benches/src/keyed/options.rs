//! [`Options`]: the command line of `keyed`.

use super::traffic::Pattern;
use crate::plan::sorted;
use core::num::NonZeroUsize;
use std::path::PathBuf;

/// Rate limits by key: over how many keys, under which traffic, and in a flood of keys that come once each
///
/// ns/op is the time of one call as its caller sees it. Each figure is the median of several repetitions, in which the
/// engines take turns.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// How many keys: whole numbers, or powers such as 1e6 [default: 1e3,1e5,1e6,1e7; quick: 1e3,1e6]
    #[arg(long, value_delimiter = ',', value_parser = parse_count)]
    pub keys: Vec<u32>,
    /// Only these engines, by name (repeat it or separate with commas)
    #[arg(long, value_delimiter = ',')]
    pub engine: Vec<String>,
    /// Thread counts [default: 1,2]
    #[arg(long, value_delimiter = ',')]
    pub threads: Vec<NonZeroUsize>,
    /// Only this traffic [default: all]
    #[arg(long, value_delimiter = ',', value_enum)]
    pub pattern: Vec<Pattern>,
    /// A rough look within 30 seconds
    #[arg(long)]
    pub quick: bool,
    /// Time for all timed runs, in seconds; building tables and floods come on top [default: 90, quick: 11]
    #[arg(long)]
    pub seconds: Option<f64>,
    /// How often each engine is measured [default: 5, quick: 3]
    #[arg(long)]
    pub repetitions: Option<NonZeroUsize>,
    /// Keys that come once each, in a flood; 0 for none [default: 1e7, quick: 1e6]
    #[arg(long, value_parser = parse_count)]
    pub flood: Option<u32>,
    /// Write the figures to this file
    #[arg(long)]
    pub csv: Option<PathBuf>,
    /// Draw the figures to this file [default: target/keyed.svg]
    #[arg(long)]
    pub svg: Option<PathBuf>,
}

impl Options {
    /// All defaults, with so much time.
    pub fn within(seconds: f64) -> Self {
        Self {
            keys: Vec::new(),
            engine: Vec::new(),
            threads: Vec::new(),
            pattern: Vec::new(),
            quick: false,
            seconds: Some(seconds),
            repetitions: None,
            flood: None,
            csv: None,
            svg: None,
        }
    }

    /// As [`within`](Self::within), but measures each engine three times only, and with one flood.
    pub fn rough(seconds: f64) -> Self {
        Self { repetitions: NonZeroUsize::new(3), ..Self::within(seconds) }
    }

    pub(super) fn sizes(&self) -> Vec<u32> {
        let default: &[u32] = if self.quick { &[1_000, 1_000_000] } else { &[1_000, 100_000, 1_000_000, 10_000_000] };
        sorted(if self.keys.is_empty() { default.to_vec() } else { self.keys.clone() })
    }

    pub(super) fn thread_counts(&self) -> Vec<usize> {
        let asked: Vec<_> = self.threads.iter().map(|threads| threads.get()).collect();
        sorted(if asked.is_empty() { vec![1, 2] } else { asked })
    }

    pub(super) fn patterns(&self) -> Vec<Pattern> {
        sorted(if self.pattern.is_empty() { Pattern::ALL.to_vec() } else { self.pattern.clone() })
    }

    pub(super) fn rounds(&self) -> usize {
        self.repetitions.map_or(if self.quick { 3 } else { 5 }, NonZeroUsize::get)
    }

    pub(super) fn time(&self) -> f64 {
        self.seconds.unwrap_or(if self.quick { 11.0 } else { 90.0 })
    }

    pub(super) fn flood_keys(&self) -> u64 {
        self.flood.map_or(if self.quick { 1_000_000 } else { 10_000_000 }, u64::from)
    }

    /// Floods for each engine.
    pub(super) fn floods(&self) -> usize {
        if self.rounds() < 5 { 1 } else { 3 }
    }
}

/// A whole number of up to 32 bits, as digits or as `1e6`.
fn parse_count(text: &str) -> Result<u32, String> {
    let number: Option<u64> = match text.split_once(['e', 'E']) {
        None => text.replace('_', "").parse().ok(),
        Some((digits, power)) => digits
            .parse::<u64>()
            .ok()
            .zip(power.parse().ok())
            .and_then(|(digits, power)| digits.checked_mul(10_u64.checked_pow(power)?)),
    };
    let number = number.ok_or_else(|| "a whole number is needed, such as 1000 or 1e6".to_owned())?;
    u32::try_from(number).map_err(|_| format!("at most {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_digits_or_powers() {
        for (text, count) in [("1000", 1_000), ("1e3", 1_000), ("25E5", 2_500_000), ("1_000", 1_000), ("0", 0)] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in ["", "e3", "1.5e3", "-1", "1e10", "1e99", "many"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn quick_is_less_of_everything() {
        let [quick, full] = [true, false].map(|quick| Options { quick, seconds: None, ..Options::within(1.0) });
        assert!(quick.sizes().len() < full.sizes().len() && quick.time() < full.time());
        assert!(quick.rounds() < full.rounds() && quick.flood_keys() < full.flood_keys());
        assert_eq!(full.sizes(), [1_000, 100_000, 1_000_000, 10_000_000]);
        let asked = Options { keys: vec![50, 5, 50], ..quick };
        assert_eq!(asked.sizes(), [5, 50]);
    }
}
