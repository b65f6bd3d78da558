//! [`Population`]: an engine with all its keys in it.

use super::heap::allocated_by;
use super::load::Load;
use super::traffic::Pattern;
use crate::engine::keyed::{Entry, Keyed};
use crate::engine::label::Kind;
use crate::figures::outcome::Verdict;
use crate::figures::row::Row;
use crate::run::plan::case;
use crate::run::sample::{Sample, median};
use std::collections::HashSet;
use std::sync::Arc;

/// What the rows are called.
pub const BENCH: &str = "keyed";

/// The columns that say what was measured, where `pattern` is the traffic; the figures are still to come.
pub fn row(entry: &Entry, load: Load, pattern: &str, threads: usize, keys: u64) -> Row {
    Row { keys: Some(keys), pattern: Some(pattern.into()), ..case(BENCH, &entry.label, load.name(), threads) }
}

/// An engine after the first call of each key, and what that took.
pub struct Population {
    /// The engine.
    pub engine: Arc<dyn Keyed>,
    /// Which one.
    pub entry: Entry,
    /// Whether the keys have tokens.
    pub load: Load,
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

impl Population {
    /// Builds an engine and makes one call for each key.
    pub fn new(entry: Entry, load: Load, keys: u32) -> Self {
        let mut strangers = HashSet::new();
        let (engine, bytes) = allocated_by(|| {
            let engine = (entry.work.build)(load.quota(), keys);
            for key in 0..keys {
                if !engine.try_acquire_n(u64::from(key), load.first_cost(key)) {
                    strangers.insert(key);
                }
            }
            engine
        });
        Self { engine, entry, load, keys, bytes, strangers }
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

    /// Calls whose key has spent its tokens.
    pub fn over_among<'a>(&self, chunks: impl Iterator<Item = &'a [u32]>) -> u64 {
        chunks.flatten().filter(|&&key| self.load.is_over(key)).count() as u64
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
    pub fn row(&self, pattern: Pattern, threads: usize, samples: &[Sample]) -> Row {
        let row = median(row(&self.entry, self.load, pattern.name(), threads, u64::from(self.keys)), samples);
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
        let row = |population: &Population| population.row(Pattern::Zipf, 1, &[sample(5), sample(5)]);
        let placed = row(&population);
        assert_eq!((placed.ops, placed.keys, placed.refused, placed.verified), (5, Some(1_000), Some(0), true));
        assert!((placed.bytes_per_key.unwrap() - population.bytes_per_key()).abs() < 1e-9);
        population.strangers.insert(7);
        assert!(population.verify().is_err(), "one in a thousand");
        assert!(!row(&population).verified && row(&population).refused == Some(1));
        assert_eq!(population.strangers_among([&[1, 7, 7][..], &[7]].into_iter()), 3);
    }
}
