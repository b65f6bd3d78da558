//! [`Population`]: an engine with all its keys in it.

use super::heap::allocated_by;
use super::traffic::Pattern;
use crate::engine::keyed::{Entry, Keyed};
use crate::engine::label::Kind;
use crate::engine::load::Load;
use crate::figures::outcome::Verdict;
use crate::figures::row::Row;
use crate::run::plan::case;
use crate::run::sample::{Sample, median};
use core::time::Duration;
use std::collections::HashSet;
use std::sync::Arc;
use tollgate::Quota;

/// What the rows are called.
pub const BENCH: &str = "keyed";

/// The columns that say what was measured, where `pattern` is the traffic; the figures are still to come.
pub fn row(entry: &Entry, load: Load, pattern: &str, threads: usize, keys: u64) -> Row {
    Row { keys: Some(keys), pattern: Some(pattern.into()), ..case(BENCH, &entry.label, load, threads) }
}

/// An engine after the first call of each key, and what that took.
pub struct Population {
    /// The engine.
    pub engine: Arc<dyn Keyed>,
    /// Which one.
    pub entry: Entry,
    /// The keys are the numbers below this one.
    pub keys: u32,
    /// Bytes that it has allocated, as it asked for them.
    pub bytes: u64,
    /// Keys whose first call was refused, though they had all their tokens.
    pub strangers: HashSet<u32>,
}

impl core::fmt::Debug for Population {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Population").field("entry", &self.entry).field("keys", &self.keys).finish_non_exhaustive()
    }
}

/// The quota that makes a load. All engines get the same one.
///
/// - admit: 1 each 10 seconds, burst 1e8 (32 years' worth, about the most there can be). One key has more tokens than all
///   measurements together take, and is in debt for 10 seconds from each call, so that tables stay as full as they are.
/// - deny: 1 per hour. The first call of each key takes its only token.
///
/// # Panics
///
/// There are no mixed loads here.
pub fn quota(load: Load) -> Quota {
    match load {
        Load::Admit => Quota::per(1, Duration::from_secs(10)).with_burst(100_000_000),
        Load::Deny => Quota::per(1, Duration::from_hours(1)),
        _ => panic!("keyed engines are measured on admit and deny loads"),
    }
}

impl Population {
    /// Builds an engine and makes one call for each key.
    pub fn new(entry: Entry, load: Load, keys: u32) -> Self {
        let mut strangers = HashSet::new();
        let (engine, bytes) = allocated_by(|| {
            let engine = (entry.work.build)(quota(load), keys);
            for key in 0..keys {
                if !engine.try_acquire(u64::from(key)) {
                    strangers.insert(key);
                }
            }
            engine
        });
        Self { engine, entry, keys, bytes, strangers }
    }

    /// Bytes allocated for each key.
    #[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
    pub fn bytes_per_key(&self) -> f64 {
        self.bytes as f64 / f64::from(self.keys)
    }

    /// Whether it limits nothing.
    pub fn is_floor(&self) -> bool {
        self.entry.label.kind == Kind::Floor
    }

    /// Calls whose key has no place.
    pub fn strangers_among<'a>(&self, chunks: impl Iterator<Item = &'a [u32]>) -> u64 {
        if self.strangers.is_empty() {
            return 0;
        }
        chunks.flatten().filter(|key| self.strangers.contains(key)).count() as u64
    }

    /// Whether as many keys have a place as should: all, or all but one in ten thousand if memory is bounded.
    ///
    /// # Errors
    ///
    /// Says how many have none.
    pub fn verify(&self) -> Verdict {
        let most = if self.entry.work.bounded { self.keys as usize / 10_000 } else { 0 };
        match self.strangers.len() {
            refused if refused > most => Err(format!("{refused} of {} keys were refused a place", self.keys)),
            _ => Ok(()),
        }
    }

    /// The row of the repetition with the median throughput.
    pub fn row(&self, load: Load, pattern: Pattern, threads: usize, samples: &[Sample]) -> Row {
        let row = median(row(&self.entry, load, pattern.name(), threads, u64::from(self.keys)), samples);
        Row {
            verified: row.verified && self.verify().is_ok(),
            bytes_per_key: Some(self.bytes_per_key()),
            refused: Some(self.strangers.len() as u64),
            ..row
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::keyed::registry::named;

    #[test]
    fn bytes_are_those_of_the_table() {
        let population = Population::new(named("keyed"), Load::Admit, 10_000);
        let each = population.bytes_per_key();
        assert!((25.6..26.5).contains(&each), "{each}");
        let map = Population::new(named("mutex-hashmap"), Load::Admit, 10_000);
        assert!((17.0..40.0).contains(&map.bytes_per_key()), "{}", map.bytes_per_key());
    }

    #[test]
    fn strangers_are_counted_and_too_many_are_a_fault() {
        let mut population = Population::new(named("keyed"), Load::Admit, 1_000);
        assert_eq!((population.verify(), population.strangers_among([&[1, 2][..]].into_iter())), (Ok(()), 0));
        let sample = |ops| {
            let (thread_min, thread_max, admitted_share, verdict, details) = (1, ops, None, Ok(()), Vec::new());
            Sample { ops, admitted: ops, seconds: 1.0, thread_min, thread_max, admitted_share, verdict, details }
        };
        let row = |population: &Population| population.row(Load::Admit, Pattern::Zipf, 1, &[sample(5), sample(5)]);
        let placed = row(&population);
        assert_eq!((placed.ops, placed.keys, placed.refused, placed.verified), (5, Some(1_000), Some(0), true));
        assert!((placed.bytes_per_key.unwrap() - population.bytes_per_key()).abs() < 1e-9);
        population.strangers.insert(7);
        assert!(population.verify().is_err(), "one in a thousand");
        assert!(!row(&population).verified && row(&population).refused == Some(1));
        assert_eq!(population.strangers_among([&[1, 7, 7][..], &[7]].into_iter()), 3);
    }
}
