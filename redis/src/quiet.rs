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
        let until = until.div_ceil(1 << TICK).min(u64::MAX >> TOKENS);
        // ORDERING: Relaxed: a hint. Whoever misses it asks once more.
        self.0.store(until << TOKENS | cost, Ordering::Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_until_its_end_for_its_cost_and_more() {
        let quiet = Quiet::default();
        assert_eq!(quiet.left(1, 0), None);
        quiet.set(3, 6_400);
        assert_eq!((quiet.left(2, 0), quiet.left(3, 0), quiet.left(9, 6_399)), (None, Some(6_400), Some(1)));
        assert_eq!(quiet.left(3, 6_400), None);
    }

    #[test]
    fn an_end_beyond_what_a_word_holds_is_the_last_that_it_does() {
        let quiet = Quiet::default();
        for until in [(1 << 50) - 1, 1 << 50, (1 << 50) + 5, u64::MAX] {
            quiet.set(1, until);
            assert!(quiet.left(1, 1 << 49).is_some_and(|left| left > 1 << 48), "{until}");
        }
    }
}
