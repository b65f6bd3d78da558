//! [`Quiet`]: until when the centre need not be asked.

use crate::lease::{MASK, TICK, TOKENS};
use std::sync::atomic::{AtomicU64, Ordering};

/// From which cost on, and until when, the centre would refuse, by its last answer.
///
/// ```text
/// LAYOUT   | until: 44 bits, in 64 us of the holder's clock, rounded up | cost: 20 bits |
/// ```
#[derive(Debug, Default)]
pub(crate) struct Quiet(AtomicU64);

impl Quiet {
    pub(crate) fn set(&self, cost: u64, until: u64) {
        // ORDERING: Relaxed: a hint. Whoever misses it asks once more.
        self.0.store(until.div_ceil(1 << TICK) << TOKENS | cost, Ordering::Relaxed);
    }

    /// How many microseconds are left, if a call of `n` tokens would be refused at `now`.
    #[inline]
    pub(crate) fn left(&self, n: u64, now: u64) -> Option<u64> {
        // ORDERING: Relaxed, as in `set`.
        let word = self.0.load(Ordering::Relaxed);
        let until = word >> TOKENS << TICK;
        (n >= word & MASK && now < until).then(|| until - now)
    }
}
