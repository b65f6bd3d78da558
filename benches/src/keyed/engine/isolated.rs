//! `keyed-isolated`: this crate's limiter, one call at a time.

use super::ours::Keyed;
use super::{Build, Engine, NamedHasher};
use crate::engine::{Kind, version};
use tollgate::Quota;

/// As [`Keyed`], but no call begins before the one before it has ended. In a loop a processor looks ahead and loads the
/// next key's line early; a program that does something else between its calls has no such help.
#[derive(Debug)]
pub struct Isolated<S>(Keyed<S>);

/// Waits until all that came before is done.
#[inline]
fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction only waits; it touches neither registers nor memory.
    unsafe {
        core::arch::asm!("lfence", options(nostack, preserves_flags));
    }
    // ORDERING: for the processor's sake only; elsewhere than on x86-64 it is the nearest there is.
    #[cfg(not(target_arch = "x86_64"))]
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}

impl<S: NamedHasher> Engine for Isolated<S> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        let is_admitted = self.0.try_acquire(key);
        settle();
        is_admitted
    }
}

impl<S: NamedHasher> Build for Isolated<S> {
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const HASHER: &'static str = S::NAME;
    const KIND: Kind = Kind::Ours;
    const BOUNDED: bool = true;

    fn build(quota: Quota, keys: u32) -> Self {
        Self(Keyed::build(quota, keys))
    }
}
