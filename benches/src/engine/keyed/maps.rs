//! Maps of buckets under locks, as one would write them oneself.

use super::{Build, Keyed, Sip};
use crate::engine::label::{Label, Named};
use crate::engine::version;
use core::hash::BuildHasher;
use crossbeam_utils::CachePadded;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tollgate::algorithm::{Algorithm, Gcra};
use tollgate::{Clock, Nanos, QuantaClock, Quota};

/// A bucket's word for each key, under one lock. The hasher is the default one.
type Words = Mutex<HashMap<u64, u64>>;

/// Takes `n` tokens of `key`, which starts full.
#[inline]
fn take(words: &Words, algorithm: &Gcra, key: u64, n: u32, now: Nanos) -> bool {
    let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
    let word = words.entry(key).or_insert(0);
    let next = algorithm.acquire(*word, u64::from(n), now);
    if let Ok(next) = next {
        *word = next;
    }
    next.is_ok()
}

/// What one writes first: the word of this crate's token bucket for each key, on this crate's clock, in a map under one
/// lock. Only how the words are kept differs from `keyed`.
#[derive(Debug)]
pub struct MutexMap {
    words: Words,
    algorithm: Gcra,
}

impl Keyed for MutexMap {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        take(&self.words, &self.algorithm, key, 1, QuantaClock.now())
    }

    fn try_acquire_n(&self, key: u64, n: u32) -> bool {
        take(&self.words, &self.algorithm, key, n, QuantaClock.now())
    }
}

impl Build for MutexMap {
    const LABEL: Label = Label::baseline("mutex-hashmap", version::STD, "quanta").hashed_by(Sip::NAME);

    fn build(quota: Quota, _: u32) -> Self {
        Self { words: Words::default(), algorithm: Gcra::new(quota) }
    }
}

/// Locks: many more than the threads measured here.
const SHARDS: usize = 64;

/// What one writes next: as [`MutexMap`], with a map and a lock for each part of the keys. The key is hashed for its part,
/// and again by the map, which a caller of the standard library's map cannot avoid.
#[derive(Debug)]
pub struct ShardedMap {
    shards: Box<[CachePadded<Words>]>,
    hasher: Sip,
    algorithm: Gcra,
}

impl ShardedMap {
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the low bits are wanted
    fn take(&self, key: u64, n: u32) -> bool {
        let now = QuantaClock.now();
        take(&self.shards[self.hasher.hash_one(key) as usize % SHARDS], &self.algorithm, key, n, now)
    }
}

impl Keyed for ShardedMap {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.take(key, 1)
    }

    fn try_acquire_n(&self, key: u64, n: u32) -> bool {
        self.take(key, n)
    }
}

impl Build for ShardedMap {
    const LABEL: Label = Label::baseline("sharded-hashmap", version::STD, "quanta").hashed_by(Sip::NAME);

    fn build(quota: Quota, _: u32) -> Self {
        let shards = (0..SHARDS).map(|_| CachePadded::default()).collect();
        Self { shards, hasher: Sip::new(), algorithm: Gcra::new(quota) }
    }
}
