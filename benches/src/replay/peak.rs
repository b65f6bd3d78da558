//! The fullest window of a stream.

use super::sliding_sum::SlidingSum;

/// The most that came within any `window` nanoseconds, and when.
///
/// Instants are rounded down to a 65536th of the window, so that memory is bounded however dense the stream: at most 1 MiB, while a log in
/// milliseconds is still taken exactly up to windows of a minute, and one in seconds up to 18 hours.
#[derive(Clone, Debug)]
pub(crate) struct Peak {
    recent: SlidingSum,
    grain: u64,
    most: u64,
    at: u64,
}

impl Peak {
    pub(crate) fn new(window: u64) -> Self {
        Self { recent: SlidingSum::new(window), grain: (window >> 16).max(1), most: 0, at: 0 }
    }

    pub(crate) fn add(&mut self, amount: u64, now: u64) {
        let sum = self.recent.add(amount, now - now % self.grain);
        if sum > self.most {
            self.most = sum;
            self.at = now;
        }
    }

    /// The most in any window, in tokens.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// The end of the first window that held the most, in nanoseconds.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }
}
