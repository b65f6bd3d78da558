//! [`Exact`]: a sliding window log as its definition reads, for one thread.

use core::time::Duration;
use tollgate::Status;

/// The instants of all units admitted, oldest first.
#[derive(Clone, Debug)]
pub struct Exact {
    limit: u64,
    period: u64,
    instants: Vec<u64>,
}

impl Exact {
    /// A log with nothing in it.
    pub fn new(limit: u64, period: u64) -> Self {
        Self { limit, period, instants: Vec::new() }
    }

    /// The limit, less all units that are younger than a period at `at`; those admitted later than `at` are.
    pub fn room(&self, at: u64) -> u64 {
        let young = self.instants.iter().filter(|&&instant| instant + self.period > at).count();
        self.limit.saturating_sub(young as u64)
    }

    /// Remembers `n` units, if there is room; at `at`, or at the newest instant there is.
    pub fn take(&mut self, n: u64, at: u64) -> bool {
        let admit = n <= self.room(at);
        if admit {
            let instant = self.instants.last().map_or(at, |&newest| newest.max(at));
            self.instants.extend((0..n).map(|_| instant));
        }
        admit
    }

    /// How long after `at` there is room for `n`, which is at most the limit.
    pub fn wait_for(&self, n: u64, at: u64) -> Duration {
        let mut wait = 0;
        while self.room(at + wait) < n {
            wait += 1;
        }
        Duration::from_nanos(wait)
    }

    /// All there is to know at `at`.
    pub fn status(&self, at: u64) -> Status {
        Status::new(self.limit, self.room(at), Some(self.wait_for(1, at)), self.wait_for(self.limit, at))
    }
}

/// Panics with "over-admission" if some half-open span of `period` holds more than `limit`.
///
/// `admitted` has the clock reading and the cost of each admission, in any order.
///
/// # Panics
///
/// See above.
pub fn assert_no_span_overfull(admitted: &[(u64, u64)], limit: u64, period: u64) {
    for &(from, _) in admitted {
        let span = from..from + period;
        let passed: u64 = admitted.iter().filter(|(at, _)| span.contains(at)).map(|&(_, n)| n).sum();
        assert!(passed <= limit, "over-admission: {passed} in {span:?} of {admitted:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_of_five_per_thirty() {
        let mut exact = Exact::new(5, 30);
        let mut admitted = Vec::new();
        for (at, arrivals) in [(0, 1), (5, 2), (15, 2), (25, 1), (35, 1), (40, 3)] {
            admitted.push((0..arrivals).filter(|_| exact.take(1, at)).count());
        }
        assert_eq!(admitted, [1, 2, 2, 0, 1, 2]);
        assert_eq!(exact.wait_for(1, 40), Duration::from_nanos(5));
    }

    #[test]
    #[should_panic(expected = "over-admission: 3 in 5..15")]
    fn a_span_that_holds_too_much_is_found() {
        assert_no_span_overfull(&[(14, 1), (5, 2), (15, 1)], 2, 10);
    }

    #[test]
    fn spans_are_half_open() {
        assert_no_span_overfull(&[(5, 2), (15, 2)], 2, 10);
    }
}
