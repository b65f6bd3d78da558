//! `keyed`: the keyed limiter of this crate, with the standard library's hasher or a faster one.

use super::Keyed;
use crate::engine::{Kind, version};
use core::hash::BuildHasher;
use std::hash::RandomState;
use tollgate::{KeyedLimiter, Quota};

/// The keyed limiter, for keys that are numbers.
#[derive(Debug)]
pub struct Limiter<S: NamedHasher = RandomState>(pub(super) KeyedLimiter<u64, S>);

/// A hasher with a name for the limiter that uses it.
pub trait NamedHasher: BuildHasher + Default + Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
}

/// `SipHash`, which resists keys that are chosen to collide.
impl NamedHasher for RandomState {
    const NAME: &'static str = "keyed";
}

/// The hasher that `rate-net` uses.
impl NamedHasher for ahash::RandomState {
    const NAME: &'static str = "keyed-ahash";
}

/// A table with an eighth to spare.
pub(super) fn table<S: NamedHasher>(quota: Quota, keys: u64) -> KeyedLimiter<u64, S> {
    let capacity = usize::try_from(keys + keys / 8).expect("keys fit in memory");
    KeyedLimiter::with_hasher_and_clock(quota, capacity, S::default(), tollgate::QuantaClock)
}

impl<S: NamedHasher> Keyed for Limiter<S> {
    const NAME: &'static str = S::NAME;
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;

    fn build(quota: Quota, keys: u64) -> Self {
        Self(table(quota, keys))
    }

    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.try_acquire(&key).is_ok()
    }
}
