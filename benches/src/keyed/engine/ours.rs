//! `keyed`: this crate's limiter, on its default hasher or a fast one.

use super::{Build, Engine, NamedHasher};
use crate::engine::{Kind, version};
use tollgate::{KeyedLimiter, Quota};

/// This crate's limiter, sized for twice the keys' slots as its documentation says.
#[derive(Debug)]
pub struct Keyed<S>(pub(super) KeyedLimiter<u64, S>);

impl<S: NamedHasher> Engine for Keyed<S> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.try_acquire(&key).is_ok()
    }
}

impl<S: NamedHasher> Build for Keyed<S> {
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const HASHER: &'static str = S::NAME;
    const KIND: Kind = Kind::Ours;
    const BOUNDED: bool = true;

    fn build(quota: Quota, keys: u32) -> Self {
        Self(KeyedLimiter::with_hasher(quota, keys as usize, S::default()))
    }
}
