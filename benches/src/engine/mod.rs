//! [`Engine`]: one face for everything that is measured.
//!
//! To add an engine: implement [`Engine`] for it, in a file of its own if it comes from another crate, and add its type to
//! the list in `registry.rs`. Every measurement then has it.

pub mod floor;
pub mod keyed;
pub mod label;
pub mod load;
pub mod mutex;
pub mod ours;
pub mod peer;
pub mod registry;
pub mod version;
pub mod waiting;

use core::time::Duration;
use label::Label;
use load::{CLOCK_SLACK, Load, accrued, windows};
use tollgate::Quota;

/// A limiter that can be measured.
///
/// The timed loop is compiled for each engine anew, so that a call costs what it costs its users: no dynamic dispatch.
pub trait Engine: Send + Sync + Sized + 'static {
    /// What it is called, and which part it plays.
    const LABEL: Label;
    /// Whether it keeps a limit in each window of one period, rather than a burst and a rate.
    const WINDOWED: bool = false;

    /// The quota that makes a load for this engine: the same for all, unless the engine cannot represent it.
    fn quota(load: Load) -> Quota {
        load.quota()
    }

    /// An engine with this quota, full.
    fn build(quota: Quota) -> Self;

    /// The call that is timed: asks for one token, and returns whether it was admitted. Each thread gets a call of its own
    /// before the clock starts.
    fn caller(&self) -> impl FnMut() -> bool;

    /// The most that may be admitted within `elapsed`, as the engine documents it: the limit in each window that the
    /// time touches, or the burst and what falls due.
    fn bound(quota: Quota, elapsed: Duration) -> u64 {
        if Self::WINDOWED {
            quota.tokens() * (windows(quota, elapsed + elapsed / CLOCK_SLACK) + 2)
        } else {
            quota.burst().saturating_add(accrued(quota, elapsed + elapsed / CLOCK_SLACK))
        }
    }

    /// What an engine that loses nothing admits within `elapsed`, at the least, if more is asked for all the time: the
    /// limit in each whole window, or the burst and what falls due.
    fn due(quota: Quota, elapsed: Duration) -> u64 {
        if Self::WINDOWED {
            quota.tokens() * windows(quota, elapsed)
        } else {
            quota.burst().saturating_add(accrued(quota, elapsed))
        }
    }

    /// Calls that are sure to be admitted by a full engine: a measurement under an admit load makes no more.
    fn supply(quota: Quota) -> u64 {
        quota.burst()
    }
}

#[cfg(test)]
mod tests {
    use super::mutex::MutexLog;
    use super::ours::{Handles, Interval};
    use super::peer::leaky_bucket::LeakyBucketCrate;
    use super::*;
    use tollgate::{FixedWindow, ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog, TokenBucket};

    /// What may be admitted under a mixed load in 10 ms (and 1 %), what an engine that loses nothing admits, and what is
    /// sure to be admitted.
    fn limits<E: Engine>() -> [u64; 3] {
        let (quota, elapsed) = (E::quota(Load::Mixed), Duration::from_millis(10));
        [E::bound(quota, elapsed), E::due(quota, elapsed), E::supply(quota)]
    }

    #[test]
    fn bounds_and_supplies_are_those_of_each_algorithm() {
        // 10,000 each millisecond and a burst of as many: the burst and what falls due.
        assert_eq!(limits::<TokenBucket>(), [111_000, 110_000, 10_000]);
        assert_eq!(limits::<ShardedTokenBucket>(), [111_000, 110_000, 8_750]);
        assert_eq!(limits::<Handles>(), [111_000, 110_000, 8_750]);
        // The limit in each of twelve windows that are touched; ten are whole.
        assert_eq!(limits::<FixedWindow>(), [120_000, 100_000, u64::MAX]);
        assert_eq!(limits::<Interval>(), [120_000, 100_000, u64::MAX]);
        assert_eq!(limits::<SlidingWindowLog>(), [120_000, 100_000, 10_000]);
        assert_eq!(limits::<MutexLog>(), [120_000, 100_000, 10_000]);
        // 500 each tenth of a millisecond: as much as its word holds.
        assert_eq!(limits::<SlidingWindowCounter>(), [51_500, 50_000, 500]);
        assert_eq!(limits::<LeakyBucketCrate>(), [130_000, 110_000, 10_000]);
    }
}
