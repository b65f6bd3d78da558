//! [`Horizons`]: the instants before which no key that comes anew starts full.

use super::error::KeyedError;
use super::identity::stripe;
use crate::sync::{AtomicU64, Ordering};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Lines for each horizon, so that they take a hundredth of the table's memory; and the fewest there are. Model checks
/// use two.
const LINES: usize = 10;
const FEWEST: usize = if cfg!(all(loom, feature = "loom")) { 2 } else { 32 };

/// `H` of the protocol, for each part of all keys (rules 4, 7 and 8).
///
/// Were there one for all keys, a clock that is far ahead could hold up every newcomer: each of its calls may take a slot
/// that is in debt by the other clocks. So a key has one together with those of the same *stripe*, which its fingerprint
/// tells; and who takes a key's slot finds the fingerprint in the tag.
#[derive(Debug)]
pub(super) struct Horizons(Box<[AtomicU64]>);

impl Horizons {
    /// Horizons for a table of `lines` lines.
    pub(super) fn try_new(lines: usize) -> Result<Self, KeyedError> {
        let count = if cfg!(all(loom, feature = "loom")) { FEWEST } else { (lines / LINES).max(FEWEST) };
        let mut horizons = Vec::new();
        if horizons.try_reserve_exact(count).is_err() {
            return Err(KeyedError::OutOfMemory { bytes: count.saturating_mul(size_of::<AtomicU64>()) });
        }
        horizons.extend(core::iter::repeat_with(|| AtomicU64::new(0)).take(count));
        Ok(Self(horizons.into_boxed_slice()))
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // a tenth of the lines, of which there are fewer than 2^32
    fn of(&self, tag: u32) -> &AtomicU64 {
        &self.0[stripe(tag, self.0.len() as u32)]
    }

    /// Raises the horizon of the key of `tag` to the instant at which a life of it has ended.
    pub(super) fn raise(&self, tag: u32, instant: u64) {
        let horizon = self.of(tag);
        // ORDERING: relaxed; pairs with nothing. The horizon only grows, and what this thread has seen of it is handed on
        // by the release that follows.
        if horizon.load(Ordering::Relaxed) < instant {
            // ORDERING: release; pairs with `get`: whoever sees the rise sees what this thread had opened before it.
            horizon.fetch_max(instant, Ordering::Release);
        }
    }

    /// All horizons, in their order.
    pub(super) fn all(&self) -> impl Iterator<Item = u64> {
        // ORDERING: acquire, as in `get`; what was seen of slots before keeps this load after it (S4 of `saved`).
        self.0.iter().map(|horizon| horizon.load(Ordering::Acquire))
    }

    /// Raises the horizon of this number, if there is one; whether there is.
    pub(super) fn raise_number(&mut self, number: u32, instant: u64) -> bool {
        let Some(horizon) = self.0.get(number as usize) else { return false };
        // ORDERING: relaxed; pairs with nothing. Nobody else has the table.
        horizon.fetch_max(instant, Ordering::Relaxed);
        true
    }

    /// The horizon of the key of `tag`.
    pub(super) fn get(&self, tag: u32) -> u64 {
        // ORDERING: acquire; pairs with `raise`, so that a refusal for a rise that came after a slot was opened finds the
        // slot's word changed (rule 3); and so that what is loaded next is no older (rule 6). Where rule 7 loads it, the
        // acquire loads of the key's slots before it keep it in its place, and tell of every rise that matters.
        self.of(tag).load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_horizon_only_rises_and_takes_a_hundredth_of_the_memory() {
        let horizons = Horizons::try_new(4_000).unwrap();
        assert_eq!(horizons.bytes(), 400 * 8);
        for (raised, instant) in [(5, 5), (3, 5), (9, 9)] {
            horizons.raise(77, raised);
            assert_eq!(horizons.get(77), instant);
        }
        let others = (0..1_000_u32).map(|key| key.wrapping_mul(0x9E37_79B9) & !3);
        let held_up = others.filter(|&tag| horizons.get(tag) > 0).count();
        assert!(held_up < 20, "{held_up} of 1000 keys");
    }
}
