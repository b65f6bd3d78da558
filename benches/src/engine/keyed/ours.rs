//! This crate's limiter by key: `keyed`; `keyed-changed`, whose quota was changed; and `keyed-batch-16`, which is asked for sixteen
//! keys at a time.

use super::{Build, Hasher, Keyed};
use crate::engine::label::Label;
use tollgate::{KeyedLimiter, Quota};

/// This crate's limiter, sized for twice the keys' slots as its documentation says; on its default hasher or a fast one.
#[derive(Debug)]
pub struct Table<S>(KeyedLimiter<u64, S>);

impl<S: Hasher> Keyed for Table<S> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.try_acquire(&key).is_ok()
    }

    fn try_acquire_n(&self, key: u64, n: u32) -> bool {
        self.0.try_acquire_n(&key, u64::from(n)).is_ok()
    }
}

impl<S: Hasher> Build for Table<S> {
    const LABEL: Label = Label::ours("keyed", "quanta").hashed_by(S::NAME);
    const BOUNDED: bool = true;

    fn build(quota: Quota, keys: u32) -> Self {
        Self(KeyedLimiter::with_hasher(quota, keys as usize, S::default()))
    }
}

/// As [`Table`], with a quota that it was not built with: what a call costs long after a change.
#[derive(Debug)]
pub struct Changed<S>(Table<S>);

impl<S: Hasher> Keyed for Changed<S> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.try_acquire(key)
    }

    fn try_acquire_n(&self, key: u64, n: u32) -> bool {
        self.0.try_acquire_n(key, n)
    }
}

impl<S: Hasher> Build for Changed<S> {
    const LABEL: Label = Table::<S>::LABEL;
    const BOUNDED: bool = true;

    /// The rate stays as it is, so that words mean the same at once.
    fn build(quota: Quota, keys: u32) -> Self {
        let table = Table::build(quota.with_burst(quota.burst() + 1), keys);
        table.0.set_quota(quota).expect("a smaller burst fits");
        Self(table)
    }
}

/// Keys in a batch.
const BATCH: usize = 16;

/// As [`Table`], by way of `check_many`.
#[derive(Debug)]
pub struct Batch<S>(Table<S>);

impl<S: Hasher> Keyed for Batch<S> {
    fn try_acquire(&self, key: u64) -> bool {
        self.0.try_acquire(key)
    }

    fn try_acquire_n(&self, key: u64, n: u32) -> bool {
        self.0.try_acquire_n(key, n)
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

impl<S: Hasher> Build for Batch<S> {
    const LABEL: Label = Table::<S>::LABEL;
    const BOUNDED: bool = true;

    fn build(quota: Quota, keys: u32) -> Self {
        Self(Table::build(quota, keys))
    }
}
