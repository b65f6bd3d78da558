//! Algorithms: pure functions from word to word. No atomics, no clock, no allocation.

mod fields;
mod gcra;
mod packed;
mod sliding_counter;
mod window;

pub use gcra::Gcra;
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
    /// The word after `n` tokens were taken at `now`. The same word means: admitted, and nothing to write.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if there are fewer than `n` tokens, [`Denied::ExceedsBurst`] if there never will be `n`.
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied>;

    /// The word after `n` tokens were given back at `now`; never more than the bucket or window holds.
    fn refund(&self, word: u64, n: u64, now: Nanos) -> u64;

    /// Whole tokens that can be taken at `now`.
    fn available(&self, word: u64, now: Nanos) -> u64;

    /// How long after `now` all tokens will be back.
    fn reset_after(&self, word: u64, now: Nanos) -> Duration;

    /// What the algorithm was built for.
    fn quota(&self) -> Quota;

    /// The most that one call can cost; also the most tokens there can be.
    fn max_cost(&self) -> u64;

    /// Everything there is to know at `now`.
    fn status(&self, word: u64, now: Nanos) -> Status {
        Status {
            limit: self.max_cost(),
            remaining: self.available(word, now),
            retry_after: match self.acquire(word, 1, now) {
                Ok(_) => Some(Duration::ZERO),
                Err(denied) => denied.retry_after(),
            },
            reset_after: self.reset_after(word, now),
        }
    }
}

/// An algorithm that can start with any number of tokens.
pub trait Bucket: Algorithm {
    /// The word of a limiter that holds `tokens` at `now`; `tokens` is at most [`Algorithm::max_cost`].
    fn holding(&self, tokens: u64, now: Nanos) -> u64;
}

mod sealed {
    /// Keeps [`Algorithm`](super::Algorithm) to this crate.
    pub trait Sealed {}
}
