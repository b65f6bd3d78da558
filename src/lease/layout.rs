//! [`Layout`]: how a burst is divided between the central word and the slots.

use super::thread::MOST_SHARDS;
use crate::algorithm::Gcra;
use crate::quota::Quota;

/// The most credits in a slot, in units of the scale where those are more than a token. More would not pay: even a refill
/// that waits for another core's line costs a few percent of what spending such a batch does, be it by a handle.
const LARGEST_BATCH: u64 = 4_096;

/// The fewest credits for which a slot is worth having.
const SMALLEST_BATCH: u64 = 8;

/// The part of the burst that may lie in slots is one in this many.
const RESERVE: u64 = 8;

/// Sizes that follow from a burst (rule 6 of `sharded`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Slots that threads share by their index; a power of two.
    pub(crate) shards: usize,
    /// Slots for handles.
    pub(crate) handles: usize,
    /// The most credits in a slot: `q`.
    pub(crate) batch: u64,
}

impl Layout {
    /// No slot has room for a credit: the central word does everything.
    const SINGLE_WORD: Self = Self { shards: 1, handles: 0, batch: 0 };

    /// The sizes for `quota` with about `shards` shards.
    ///
    /// There are as many handles as shards. A batch has at least as many credits as there are shards, since beyond that
    /// the central word would be as busy as a shared slot: so small bursts get fewer shards than asked for.
    pub(crate) const fn new(quota: Quota, shards: usize) -> Self {
        if quota.is_unlimited() {
            return Self::SINGLE_WORD;
        }
        let most = if shards < MOST_SHARDS { shards } else { MOST_SHARDS };
        let (mut shards, spare) = (most.next_power_of_two(), spare(quota));
        // PROGRESS: at most ten steps.
        loop {
            let batch = batch(quota.burst(), shards, spare);
            if batch >= SMALLEST_BATCH && batch >= shards as u64 {
                return Self { shards, handles: shards, batch };
            }
            if shards == 1 {
                return Self::SINGLE_WORD;
            }
            shards /= 2;
        }
    }

    /// The burst that is left to the central word: `Bc`.
    ///
    /// An idle [`Gcra`] may be early by a unit, and where that is a token or more, a burst that is not divided pays for it
    /// too, unless it has no more than that.
    pub(crate) const fn central(&self, quota: Quota) -> u64 {
        let (burst, unit) = (quota.burst(), Gcra::new(quota).whole_tokens_in_a_unit());
        match self.batch {
            0 if unit < burst => burst - unit,
            0 => burst,
            batch => burst - (self.shards + self.handles) as u64 * batch - spare(quota),
        }
    }
}

/// What a divided burst keeps back for the unit by which an idle [`Gcra`] may be early: a token, or a unit if that is more.
const fn spare(quota: Quota) -> u64 {
    let unit = Gcra::new(quota).whole_tokens_in_a_unit();
    if unit > 1 { unit } else { 1 }
}

/// The largest batch with which `shards` shards and as many handles stay within the reserve, beside what is kept back.
const fn batch(burst: u64, shards: usize, spare: u64) -> u64 {
    let batch = (burst / RESERVE).saturating_sub(spare) / (2 * shards as u64);
    let largest = LARGEST_BATCH * spare;
    if batch < largest { batch } else { largest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_bursts_stay_in_one_word() {
        for burst in 1..136 {
            assert_eq!(Layout::new(Quota::per_hour(1).with_burst(burst), 16), Layout::SINGLE_WORD);
        }
        let smallest = Layout::new(Quota::per_hour(1).with_burst(136), 16);
        assert_eq!(smallest, Layout { shards: 1, handles: 1, batch: 8 });
        for quota in [Quota::UNLIMITED, Quota::DENY_ALL] {
            let layout = Layout::new(quota, 16);
            assert_eq!((layout, layout.central(quota)), (Layout::SINGLE_WORD, quota.burst()));
        }
    }

    #[test]
    fn large_bursts_get_what_was_asked_for() {
        let quota = Quota::per_second(1_000_000);
        assert_eq!(Layout::new(quota, 16), Layout { shards: 16, handles: 16, batch: 3_906 });
        assert_eq!(Layout::new(quota, 5), Layout { shards: 8, handles: 8, batch: 4_096 });
        assert_eq!(Layout::new(Quota::per_second(1_000), 16), Layout { shards: 4, handles: 4, batch: 15 });
    }

    #[test]
    fn at_high_rates_a_unit_is_kept_back_and_batches_are_larger() {
        // 4096 tokens in a unit.
        let quota = Quota::per_second(10_000_000_000_000);
        let layout = Layout::new(quota, 8);
        assert_eq!(layout, Layout { shards: 8, handles: 8, batch: 4_096 * 4_096 });
        assert_eq!(layout.central(quota), quota.burst() - 16 * layout.batch - 4_096);
        // Not divided: a unit of one token, of two, and of more than there are.
        let single = |quota: Quota| Layout::new(quota, 8).central(quota);
        let second = core::time::Duration::from_secs(1);
        assert_eq!(single(Quota::per(3_000_000_000, second).with_burst(5)), 4);
        assert_eq!(single(Quota::per(4_500_000_000, second).with_burst(5)), 3);
        assert_eq!(single(Quota::per(12_500_000_000, second).with_burst(3)), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

        #[test]
        fn the_reserve_is_an_eighth_at_most(burst in 1..u64::MAX / 2, shift in 0..63_u32, shards: usize) {
            let burst = (burst >> shift).max(1);
            let quota = Quota::per_hour(1).with_burst(burst);
            let layout = Layout::new(quota, shards.max(1));
            let central = layout.central(quota);
            prop_assert!(burst - central <= burst / RESERVE);
            prop_assert!(layout.shards.is_power_of_two() && layout.shards <= MOST_SHARDS);
            prop_assert!(layout.batch <= LARGEST_BATCH);
            if layout.batch == 0 {
                prop_assert_eq!(central, burst);
            } else {
                let held = (layout.shards + layout.handles) as u64 * layout.batch;
                prop_assert_eq!(central + held + 1, burst);
            }
        }
    }
}
