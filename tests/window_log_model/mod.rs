//! An exact log as its definition reads: every instant kept, every answer found by counting.

use std::collections::VecDeque;

/// All instants admitted so far, oldest first.
pub(crate) struct Exact {
    limit: u64,
    period: u64,
    instants: VecDeque<u64>,
}

impl Exact {
    pub(crate) fn new(limit: u64, period: u64) -> Self {
        Self { limit, period, instants: VecDeque::new() }
    }

    /// What can be taken at `now`: the limit, less all that is younger than a period.
    pub(crate) fn room(&self, now: u64) -> u64 {
        let young = self.instants.iter().filter(|&&instant| instant + self.period > now).count();
        self.limit.saturating_sub(young as u64)
    }

    /// The first instant from `now` on at which `n` can be taken; `n` is at most the limit.
    pub(crate) fn earliest(&self, n: u64, now: u64) -> u64 {
        let changes = self.instants.iter().map(|instant| instant + self.period).filter(|&change| change > now);
        let mut candidates: Vec<u64> = changes.chain([now]).collect();
        candidates.sort_unstable();
        candidates.into_iter().find(|&at| self.room(at) >= n).expect("all is free in the end")
    }

    /// Remembers `n` units admitted at `now`, or at the newest instant there is.
    pub(crate) fn push(&mut self, n: u64, now: u64) {
        let instant = self.instants.back().map_or(now, |&newest| newest.max(now));
        self.instants.extend((0..n).map(|_| instant));
    }
}

/// The most readings in any half-open span of `period`.
pub(crate) fn fullest_span(readings: &[u64], period: u64) -> u64 {
    let mut sorted = readings.to_vec();
    sorted.sort_unstable();
    let (mut start, mut fullest) = (0, 0);
    for end in 0..sorted.len() {
        while sorted[end] - sorted[start] >= period {
            start += 1;
        }
        fullest = fullest.max(end + 1 - start);
    }
    fullest as u64
}
