//! `keyed-isolated` and `floor-isolated`: this crate's limiter, and the floor, one call at a time.

use super::{Build, Engine};
use crate::engine::Kind;
use tollgate::Quota;

/// As `E`, but no call begins before the one before it has ended. In a loop a processor looks ahead and loads the next
/// key's line early; a program that does something else between its calls has no such help.
#[derive(Debug)]
pub struct Isolated<E>(E);

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

impl<E: Engine> Engine for Isolated<E> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        let is_admitted = self.0.try_acquire(key);
        settle();
        is_admitted
    }
}

impl<E: Build> Build for Isolated<E> {
    const VERSION: &'static str = E::VERSION;
    const CLOCK: &'static str = E::CLOCK;
    const HASHER: &'static str = E::HASHER;
    const KIND: Kind = E::KIND;
    const BOUNDED: bool = E::BOUNDED;

    fn build(quota: Quota, keys: u32) -> Self {
        Self(E::build(quota, keys))
    }

    fn build_bounded(quota: Quota, keys: u32) -> Self {
        Self(E::build_bounded(quota, keys))
    }
}
