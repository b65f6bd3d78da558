//! [`Engine`]: one face for everything that is measured, a file each.

use crate::load::{Load, accrued, windows};
use core::time::Duration;
use tollgate::Quota;

pub mod baseline;
pub mod floor;
pub mod ours;
pub mod peer;
pub mod version;

/// Which part an engine plays in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A limiter of this crate.
    Ours,
    /// The work that nobody can avoid: one atomic read-modify-write, one clock read.
    Floor,
    /// A limiter behind a mutex, as one would write it oneself.
    Baseline,
    /// Another crate.
    Peer,
}

/// A limiter that can be measured.
///
/// The timed loop is compiled for each engine anew, so that a call costs what it costs its users: no dynamic dispatch.
pub trait Engine: Send + Sync + Sized + 'static {
    /// Its name in tables and csv files.
    const NAME: &'static str;
    /// The version of the crate it comes from.
    const VERSION: &'static str;
    /// The clock it reads: `quanta`, `std`, `coarse` or `none`.
    const CLOCK: &'static str;
    /// Its part in the comparison.
    const KIND: Kind;
    /// Whether it keeps a limit in each window of one period, rather than a burst and a rate.
    const WINDOWED: bool = false;

    /// One thread's access to the engine.
    type Caller<'a>: Caller;

    /// The quota that makes a load for this engine: the same for all, unless the engine cannot represent it.
    fn quota(load: Load) -> Quota {
        load.quota()
    }

    /// An engine with this quota, full.
    fn build(quota: Quota) -> Self;

    /// Access for one more thread. Called on that thread, before the clock starts.
    fn caller(&self) -> Self::Caller<'_>;

    /// The most that may be admitted within `elapsed`, as the engine documents it: the limit in each window that the
    /// time touches, or the burst and what falls due.
    fn bound(quota: Quota, elapsed: Duration) -> u64 {
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

/// The call that is timed.
pub trait Caller {
    /// Asks for one token.
    fn try_acquire(&mut self) -> bool;
}

/// What nearly all engines are: all threads call the same object through a shared reference.
pub trait Shared {
    /// Asks for one token.
    fn try_acquire(&self) -> bool;
}

impl<S: Shared> Caller for &S {
    #[inline]
    fn try_acquire(&mut self) -> bool {
        Shared::try_acquire(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::baseline::mutex_log::MutexLog;
    use super::ours::{fixed_window, interval, sharded, sliding_counter, sliding_log, token_bucket};
    use super::peer::leaky_bucket::LeakyBucketCrate;
    use super::*;

    /// What may be admitted under a mixed load in 10 ms (and 1 %), and what is sure to be admitted.
    fn limits<E: Engine>() -> (u64, u64) {
        let quota = E::quota(Load::Mixed);
        (E::bound(quota, Duration::from_millis(10)), E::supply(quota))
    }

    #[test]
    fn bounds_and_supplies_are_those_of_each_algorithm() {
        // 10,000 each millisecond and a burst of as many: the burst and what falls due.
        assert_eq!(limits::<token_bucket::TokenBucket>(), (111_000, 10_000));
        assert_eq!(limits::<sharded::Sharded>(), (111_000, 8_750));
        // The limit in each of twelve windows that are touched.
        assert_eq!(limits::<fixed_window::FixedWindow>(), (120_000, u64::MAX));
        assert_eq!(limits::<interval::Interval>(), (120_000, u64::MAX));
        assert_eq!(limits::<sliding_log::SlidingLog>(), (120_000, 10_000));
        assert_eq!(limits::<MutexLog>(), (120_000, 10_000));
        // 4,000 each millisecond: as much as its word holds.
        assert_eq!(limits::<sliding_counter::SlidingCounter>(), (48_000, 4_000));
        assert_eq!(limits::<LeakyBucketCrate>(), (130_000, 10_000));
    }
}
