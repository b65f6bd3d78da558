//! Algorithms: pure functions from word to word. No atomics, no clock, no allocation.

mod continued;
mod fields;
mod gcra;
mod packed;
mod sliding_counter;
mod window;

pub use continued::{ContinuedCounter, ContinuedWindow};
pub(crate) use continued::{MOST_OWED, Standing};
pub use gcra::Gcra;
pub(crate) use gcra::{Fit, Stretch};
pub use packed::Packed;
pub use sliding_counter::SlidingCounter;
pub use window::Window;

use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use core::time::Duration;

/// A rate limiting algorithm whose whole state is one 64-bit word.
///
/// Every method is a pure function of the word, the cost and the instant. An instant older than one that the word has
/// seen counts as "no time has passed". Nothing here panics, divides on the way to an admission, or allocates.
///
/// The trait is sealed: a limiter's guarantees rest on its algorithm.
pub trait Algorithm: sealed::Sealed {
    /// The name by which people know the limiter.
    const NAME: &'static str;

    /// The word of a limiter that is full, whatever the time, for none of its tokens has been taken.
    fn fresh(&self) -> u64 {
        0
    }

    /// The word after `n` tokens were taken at `now`. The same word means: admitted, and nothing to write.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if there are fewer than `n` tokens, [`Denied::ExceedsBurst`] if there never will be `n`.
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied>;

    /// The word after `n` tokens were given back that were taken at `taken`; never more than the bucket or window holds.
    ///
    /// Windows give back to the window in which `taken` lies, as far as it still counts. For a bucket any later reading
    /// does as well.
    fn refund(&self, word: u64, n: u64, taken: Nanos) -> u64;

    /// The word as it would be had a call not taken `n` tokens, which left the word `after`, where others have changed it since;
    /// `None` if the word does not tell. Never fuller than it would be.
    fn without(&self, word: u64, n: u64, after: u64) -> Option<u64> {
        let _ = (word, n, after);
        None
    }

    /// Whole tokens that can be taken at `now`.
    fn available(&self, word: u64, now: Nanos) -> u64;

    /// How long after `now` all tokens will be back.
    fn reset_after(&self, word: u64, now: Nanos) -> Duration;

    /// What the algorithm was built for.
    fn quota(&self) -> Quota;

    /// The most that one call can cost; also the most tokens there can be.
    fn max_cost(&self) -> u64;

    /// The word that stands for another clock, which reads `to`, as this one does at the instant `from` of its own: for state that
    /// is carried from one process to the next. `None` if no limiter of this kind can have left such a word, or if the other
    /// clock is too far on to hold it.
    ///
    /// It is never fuller at any instant from then on than this one would have been; and where the clocks' units or windows
    /// begin together, it is the same.
    fn carried(&self, word: u64, from: Nanos, to: Nanos) -> Option<u64>;

    /// Everything there is to know at `now`.
    fn status(&self, word: u64, now: Nanos) -> Status {
        let retry_after = match self.acquire(word, 1, now) {
            Ok(_) => Some(Duration::ZERO),
            Err(denied) => denied.retry_after(),
        };
        Status::new(self.max_cost(), self.available(word, now), retry_after, self.reset_after(word, now))
    }
}

mod sealed {
    /// Keeps [`Algorithm`](super::Algorithm) to this crate.
    pub trait Sealed {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An algorithm for `quota`, with the word of a limiter that has seen nothing.
    fn all(quota: Quota) -> (Gcra, (Packed, u64), Window, SlidingCounter) {
        let packed = Packed::try_new(quota).unwrap();
        let counter = SlidingCounter::try_new(quota).unwrap();
        (Gcra::new(quota), (packed, packed.fresh()), Window::try_new(quota).unwrap(), counter)
    }

    fn a_cost_of_nothing_writes_nothing(algorithm: &impl Algorithm, fresh: u64) {
        let used = algorithm.acquire(fresh, 3, Nanos::from_secs(1)).unwrap();
        for word in [fresh, used] {
            for now in [Nanos::ZERO, Nanos::from_secs(1), Nanos::from_secs(1_000)] {
                assert_eq!(algorithm.acquire(word, 0, now), Ok(word));
            }
        }
    }

    fn without_a_limit_nothing_is_written(algorithm: &impl Algorithm, fresh: u64) {
        assert_eq!((algorithm.quota(), algorithm.max_cost()), (Quota::UNLIMITED, u64::MAX));
        for now in [Nanos::ZERO, Nanos::from_secs(1), Nanos::MAX] {
            for n in [1, 2, u64::MAX] {
                assert_eq!(algorithm.acquire(fresh, n, now), Ok(fresh));
                assert_eq!(algorithm.refund(fresh, n, now), fresh);
            }
            assert_eq!(algorithm.available(fresh, now), u64::MAX);
            assert_eq!(algorithm.reset_after(fresh, now), Duration::ZERO);
        }
    }

    fn all_is_denied(algorithm: &impl Algorithm, fresh: u64) {
        assert_eq!((algorithm.quota(), algorithm.max_cost()), (Quota::DENY_ALL, 0));
        for now in [Nanos::ZERO, Nanos::MAX] {
            assert_eq!(algorithm.acquire(fresh, 0, now), Ok(fresh));
            assert_eq!(algorithm.acquire(fresh, 1, now), Err(Denied::ExceedsBurst { cost: 1, max_cost: 0 }));
            assert_eq!((algorithm.available(fresh, now), algorithm.reset_after(fresh, now)), (0, Duration::ZERO));
        }
    }

    #[test]
    fn what_costs_nothing_leaves_the_word_as_it_is() {
        let (gcra, (packed, full), window, counter) = all(Quota::per_second(10));
        a_cost_of_nothing_writes_nothing(&gcra, 0);
        a_cost_of_nothing_writes_nothing(&packed, full);
        a_cost_of_nothing_writes_nothing(&window, 0);
        a_cost_of_nothing_writes_nothing(&counter, 0);
    }

    #[test]
    fn the_extreme_quotas_have_no_state() {
        let (gcra, (packed, full), window, counter) = all(Quota::UNLIMITED);
        without_a_limit_nothing_is_written(&gcra, 0);
        without_a_limit_nothing_is_written(&packed, full);
        without_a_limit_nothing_is_written(&window, 0);
        without_a_limit_nothing_is_written(&counter, 0);
        let (gcra, (packed, full), window, counter) = all(Quota::DENY_ALL);
        all_is_denied(&gcra, 0);
        all_is_denied(&packed, full);
        all_is_denied(&window, 0);
        all_is_denied(&counter, 0);
    }

    #[test]
    fn the_quota_comes_back_as_it_was() {
        let quota = Quota::per(7, Duration::from_millis(300)).with_burst(20);
        let (gcra, (packed, _), window, counter) = all(quota);
        assert_eq!((gcra.quota(), packed.quota()), (quota, quota));
        // For windows, the limit is the burst.
        assert_eq!((window.quota(), counter.quota()), (quota.with_burst(7), quota.with_burst(7)));
    }
}
