//! `keyed-batch-16`: this crate's limiter, asked for sixteen keys at a time.

use super::ours::Keyed;
use super::{Build, Engine, NamedHasher};
use crate::engine::{Kind, version};
use tollgate::Quota;

/// Keys in a batch.
const BATCH: usize = 16;

/// As [`Keyed`], by way of `check_many`.
#[derive(Debug)]
pub struct Batch<S>(Keyed<S>);

impl<S: NamedHasher> Engine for Batch<S> {
    fn try_acquire(&self, key: u64) -> bool {
        self.0.try_acquire(key)
    }

    fn admit(&self, keys: &[u32]) -> u64 {
        let mut decisions = [Ok(()); BATCH];
        let mut admitted = 0;
        for keys in keys.chunks(BATCH) {
            let mut batch = [0; BATCH];
            batch.iter_mut().zip(keys).for_each(|(place, &key)| *place = u64::from(key));
            admitted += self.0.0.check_many(&batch[..keys.len()], &mut decisions);
        }
        admitted as u64
    }
}

impl<S: NamedHasher> Build for Batch<S> {
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const HASHER: &'static str = S::NAME;
    const KIND: Kind = Kind::Ours;
    const BOUNDED: bool = true;

    fn build(quota: Quota, keys: u32) -> Self {
        Self(Keyed::build(quota, keys))
    }
}
