//! [`Options`]: the command line of `keyed`.

use super::traffic::Pattern;
use crate::figures::stats::sorted;
use crate::run::options::Options as Common;

/// Rate limits by key: over how many keys, under which traffic, and in a flood of keys that come once each
///
/// ns/op is the time of one call as its caller sees it. Each figure is the median of several repetitions, in which the
/// engines take turns.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(id = "keyed")]
pub struct Options {
    /// What all comparisons have.
    #[command(flatten)]
    pub common: Common,
    /// How many keys: whole numbers, or powers such as 1e6 [default: 1e3,1e5,1e6,1e7; quick: 1e3,1e6]
    #[arg(long, value_delimiter = ',', value_parser = parse_count)]
    pub keys: Vec<u32>,
    /// Only this traffic [default: all]
    #[arg(long, value_delimiter = ',', value_enum)]
    pub pattern: Vec<Pattern>,
    /// Keys that come once each, in a flood; 0 for none [default: 1e7, quick: 1e6]
    #[arg(long, value_parser = parse_count)]
    pub flood: Option<u32>,
}

impl Options {
    pub(super) fn sizes(&self) -> Vec<u32> {
        let default: &[u32] =
            if self.common.quick { &[1_000, 1_000_000] } else { &[1_000, 100_000, 1_000_000, 10_000_000] };
        sorted(if self.keys.is_empty() { default.to_vec() } else { self.keys.clone() })
    }

    pub(super) fn patterns(&self) -> Vec<Pattern> {
        sorted(if self.pattern.is_empty() { Pattern::ALL.to_vec() } else { self.pattern.clone() })
    }

    pub(super) fn rounds(&self) -> usize {
        self.common.repetitions(if self.common.quick { 3 } else { 5 })
    }

    /// Seconds for all timed runs, unless others are asked for; a rough look takes a quarter of them.
    pub(super) fn seconds(&self) -> f64 {
        if self.common.quick { 44.0 } else { 90.0 }
    }

    pub(super) fn flood_keys(&self) -> u64 {
        self.flood.map_or(if self.common.quick { 1_000_000 } else { 10_000_000 }, u64::from)
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
        let options = |quick| Options { common: Common { quick, ..Common::default() }, ..Options::default() };
        let [quick, full] = [true, false].map(options);
        let time = |options: &Options| options.common.time(options.seconds()).unwrap();
        assert!(quick.sizes().len() < full.sizes().len() && time(&quick) < time(&full) / 4);
        assert!(quick.rounds() < full.rounds() && quick.flood_keys() < full.flood_keys());
        assert_eq!(full.sizes(), [1_000, 100_000, 1_000_000, 10_000_000]);
        let asked = Options { keys: vec![50, 5, 50], ..quick };
        assert_eq!(asked.sizes(), [5, 50]);
    }
}
