//! What came in the last window.

use std::collections::VecDeque;

/// The exact sum of what was added within the last `window` nanoseconds, at any instant.
///
/// An instant `t` is within the window that ends at `now` iff `now - window < t <= now`. A reading older than the
/// newest one stored counts as that one. What came at one instant is kept as one entry, so that memory follows the
/// number of different instants in a window: at most one a millisecond for a log that counts in milliseconds.
#[derive(Clone, Debug)]
pub struct SlidingSum {
    window: u64,
    entries: VecDeque<(u64, u64)>,
    sum: u64,
}

impl SlidingSum {
    /// A sum over windows of this many nanoseconds.
    pub fn new(window: u64) -> Self {
        Self { window, entries: VecDeque::new(), sum: 0 }
    }

    /// Drops what has left the window that ends at `now`, and returns the sum of what is in it.
    fn at(&mut self, now: u64) -> u64 {
        let now = self.clamp(now);
        while let Some(&(then, amount)) = self.entries.front() {
            if now - then < self.window {
                break;
            }
            self.sum -= amount;
            self.entries.pop_front();
        }
        self.sum
    }

    /// Adds an amount at `now`, and returns the sum of the window that ends there. Saturates at `u64::MAX`.
    pub fn add(&mut self, amount: u64, now: u64) -> u64 {
        let now = self.clamp(now);
        let amount = amount.min(u64::MAX - self.at(now));
        match self.entries.back_mut() {
            Some((then, stored)) if *then == now => *stored += amount,
            _ => self.entries.push_back((now, amount)),
        }
        self.sum += amount;
        self.sum
    }

    fn clamp(&self, now: u64) -> u64 {
        self.entries.back().map_or(now, |&(newest, _)| now.max(newest))
    }
}
