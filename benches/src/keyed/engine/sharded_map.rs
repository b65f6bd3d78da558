//! `sharded-hashmap`: what one writes next, many maps under a lock each.

use super::mutex_map::take;
use super::{Build, Engine};
use crate::engine::{Kind, version};
use core::hash::BuildHasher;
use crossbeam_utils::CachePadded;
use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::{Mutex, PoisonError};
use tollgate::algorithm::Gcra;
use tollgate::{Clock, QuantaClock, Quota};

/// Locks: many more than the threads measured here.
const SHARDS: usize = 64;

/// One map under its lock, in cache lines of its own.
type Shard = CachePadded<Mutex<HashMap<u64, u64>>>;

/// As [`MutexMap`](super::mutex_map::MutexMap), with a map and a lock for each part of the keys. The key is hashed for its
/// part, and again by the map, which a caller of the standard library's map cannot avoid.
#[derive(Debug)]
pub struct ShardedMap {
    shards: Box<[Shard]>,
    hasher: RandomState,
    algorithm: Gcra,
}

impl Engine for ShardedMap {
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the low bits are wanted
    fn try_acquire(&self, key: u64) -> bool {
        let now = QuantaClock.now();
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        take(&mut shard.lock().unwrap_or_else(PoisonError::into_inner), &self.algorithm, key, now)
    }
}

impl Build for ShardedMap {
    const VERSION: &'static str = version::STD;
    const CLOCK: &'static str = "quanta";
    const HASHER: &'static str = "siphash";
    const KIND: Kind = Kind::Baseline;

    fn build(quota: Quota, _: u32) -> Self {
        let shards = (0..SHARDS).map(|_| CachePadded::default()).collect();
        Self { shards, hasher: RandomState::new(), algorithm: Gcra::new(quota) }
    }
}
