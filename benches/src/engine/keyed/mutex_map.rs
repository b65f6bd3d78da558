//! A baseline: the token bucket of the tutorials for each key, in a hash map under a standard mutex.

use super::Keyed;
use crate::engine::baseline::mutex_std::{Rate, State};
use crate::engine::{Kind, version};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tollgate::Quota;

/// A map from keys to buckets. Nothing is ever taken out.
#[derive(Debug)]
pub struct MutexMap {
    buckets: Mutex<HashMap<u64, State>>,
    quota: Rate,
}

impl Keyed for MutexMap {
    const NAME: &'static str = "mutex-std";
    const VERSION: &'static str = version::STD;
    const CLOCK: &'static str = "std";
    const KIND: Kind = Kind::Baseline;

    fn build(quota: Quota, _: u64) -> Self {
        Self { buckets: Mutex::new(HashMap::new()), quota: Rate::new(quota) }
    }

    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.entry(key).or_insert_with(|| State::full(self.quota)).take(self.quota)
    }
}
