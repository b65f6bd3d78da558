//! [`Population`]: an engine with all its keys in it.

use super::engine::{Engine, Entry};
use super::heap::allocated_by;
use crate::engine::Kind;
use crate::load::Load;
use core::time::Duration;
use std::collections::HashSet;
use std::sync::Arc;
use tollgate::Quota;

/// An engine after the first call of each key, and what that took.
pub struct Population {
    /// The engine.
    pub engine: Arc<dyn Engine>,
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
/// - admit: 1 each 30 seconds, burst 1e8 (95 years' worth, about the most there can be). One key has more tokens than all
///   measurements together take, and is in debt for 30 seconds from each call, so that tables stay as full as they are.
/// - deny: 1 per hour. The first call of each key takes its only token.
///
/// # Panics
///
/// There is no mixed load here.
pub fn quota(load: Load) -> Quota {
    match load {
        Load::Admit => Quota::per(1, Duration::from_secs(30)).with_burst(100_000_000),
        Load::Deny => Quota::per(1, Duration::from_hours(1)),
        Load::Mixed => panic!("keyed engines are measured on admit and deny loads"),
    }
}

impl Population {
    /// Builds an engine and makes one call for each key.
    pub fn new(entry: Entry, load: Load, keys: u32) -> Self {
        let mut strangers = HashSet::new();
        let (engine, bytes) = allocated_by(|| {
            let engine = (entry.build)(quota(load), keys);
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
        self.entry.kind == Kind::Floor
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
    pub fn verify(&self) -> Result<(), String> {
        let most = if self.entry.bounded { self.keys as usize / 10_000 } else { 0 };
        match self.strangers.len() {
            refused if refused > most => Err(format!("{refused} of {} keys were refused a place", self.keys)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_table() {
        let population = Population::new(*Entry::named("keyed").unwrap(), Load::Admit, 10_000);
        let each = population.bytes_per_key();
        assert!((25.6..26.5).contains(&each), "{each}");
        let map = Population::new(*Entry::named("mutex-hashmap").unwrap(), Load::Admit, 10_000);
        assert!((17.0..40.0).contains(&map.bytes_per_key()), "{}", map.bytes_per_key());
    }

    #[test]
    fn strangers_are_counted_and_too_many_are_a_fault() {
        let mut population = Population::new(*Entry::named("keyed").unwrap(), Load::Admit, 1_000);
        assert_eq!((population.verify(), population.strangers_among([&[1, 2][..]].into_iter())), (Ok(()), 0));
        population.strangers.insert(7);
        assert!(population.verify().is_err(), "one in a thousand");
        assert_eq!(population.strangers_among([&[1, 7, 7][..], &[7]].into_iter()), 3);
    }
}
