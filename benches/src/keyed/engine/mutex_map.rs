//! `mutex-hashmap`: what one writes first, a map of buckets under one lock.

use super::{Build, Engine};
use crate::engine::{Kind, version};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tollgate::algorithm::{Algorithm, Gcra};
use tollgate::{Clock, QuantaClock, Quota};

/// The word of this crate's token bucket for each key, on this crate's clock, in a map with the default hasher. Only how
/// the words are kept differs from `keyed`.
#[derive(Debug)]
pub struct MutexMap {
    words: Mutex<HashMap<u64, u64>>,
    algorithm: Gcra,
}

/// Takes a token of `key`, which starts full.
#[inline]
pub(super) fn take(words: &mut HashMap<u64, u64>, algorithm: &Gcra, key: u64, now: tollgate::Nanos) -> bool {
    let word = words.entry(key).or_insert(0);
    match algorithm.acquire(*word, 1, now) {
        Ok(next) => {
            *word = next;
            true
        }
        Err(_) => false,
    }
}

impl Engine for MutexMap {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        let now = QuantaClock.now();
        take(&mut self.words.lock().unwrap_or_else(PoisonError::into_inner), &self.algorithm, key, now)
    }
}

impl Build for MutexMap {
    const VERSION: &'static str = version::STD;
    const CLOCK: &'static str = "quanta";
    const HASHER: &'static str = "siphash";
    const KIND: Kind = Kind::Baseline;

    fn build(quota: Quota, _: u32) -> Self {
        Self { words: Mutex::default(), algorithm: Gcra::new(quota) }
    }
}
