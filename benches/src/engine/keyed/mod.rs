//! [`Keyed`]: one face for all that limits by key.

pub mod floor;
pub mod maps;
pub mod ours;
pub mod peers;
pub mod registry;

use super::label::{Label, Named};
use core::hash::BuildHasher;
use std::sync::Arc;
use tollgate::Quota;

/// A limiter for many keys.
pub trait Keyed: Send + Sync {
    /// Takes one token of `key`.
    fn try_acquire(&self, key: u64) -> bool;

    /// Takes `n` tokens of `key`, or none. Not timed.
    fn try_acquire_n(&self, key: u64, n: u32) -> bool;

    /// Takes one token of each of `keys`; returns how many calls were admitted. This is the timed loop: compiled for each
    /// engine anew, so that the calls in it are no virtual ones.
    fn admit(&self, keys: &[u32]) -> u64 {
        keys.iter().map(|&key| u64::from(self.try_acquire(u64::from(key)))).sum()
    }
}

/// How an engine is made.
pub trait Build: Keyed + Sized + 'static {
    /// What it is called, and which part it plays.
    const LABEL: Label;
    /// Whether its memory is bounded, so that it may have to refuse a key that it does not know.
    const BOUNDED: bool = false;

    /// An engine for so many keys, each under this quota, as its documentation recommends it.
    fn build(quota: Quota, keys: u32) -> Self;

    /// As [`build`](Self::build), but with memory for no more keys than these, if it can be bounded.
    fn build_bounded(quota: Quota, keys: u32) -> Self {
        Self::build(quota, keys)
    }
}

/// What is done with an engine by key.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// See [`Build::BOUNDED`].
    pub bounded: bool,
    /// See [`Build::build`].
    pub build: fn(Quota, u32) -> Arc<dyn Keyed>,
    /// See [`Build::build_bounded`].
    pub build_bounded: fn(Quota, u32) -> Arc<dyn Keyed>,
}

/// An engine by key as one of a list.
pub type Entry = super::label::Entry<Work>;

impl Entry {
    /// This engine under this name.
    pub const fn of<E: Build>(name: &'static str) -> Self {
        let build = |quota, keys| -> Arc<dyn Keyed> { Arc::new(E::build(quota, keys)) };
        let build_bounded = |quota, keys| -> Arc<dyn Keyed> { Arc::new(E::build_bounded(quota, keys)) };
        Self { label: E::LABEL.named(name), work: Work { bounded: E::BOUNDED, build, build_bounded } }
    }
}

/// A hasher of keys.
pub trait Hasher: BuildHasher + Clone + Named {}

impl<S: BuildHasher + Clone + Named> Hasher for S {}

/// The hasher that this crate, governor and the standard library come with.
pub type Sip = std::hash::RandomState;
/// A fast one.
pub type Fold = foldhash::fast::RandomState;

impl Named for Sip {
    const NAME: &'static str = "siphash";
}

impl Named for Fold {
    const NAME: &'static str = "foldhash";
}
