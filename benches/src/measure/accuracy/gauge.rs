//! The sliding counter as a gauge of rates, beside the exact rate.

use tollgate::Nanos;

use super::traffic::WINDOW;
use tollgate_replay::judge::sliding_sum::SlidingSum;

/// Compares the counter's estimate of one key's rate with its true rate, both of everything that is asked for.
///
/// A limiter counts what it admits, so that two limiters that once decide differently have different histories from
/// then on and go on differing. A gauge has no such memory: how often it errs is the estimate's own error.
#[derive(Clone, Debug)]
pub(super) struct Gauge {
    exact: SlidingSum,
    index: u64,
    previous: u64,
    current: u64,
}

impl Gauge {
    pub(super) fn new() -> Self {
        Self { exact: SlidingSum::new(window()), index: 0, previous: 0, current: 0 }
    }

    /// Counts an arrival at `now`, and returns whether the estimated and the exact rate lie on different sides of the
    /// limit.
    pub(super) fn errs(&mut self, now: Nanos, limit: u64) -> bool {
        let (index, elapsed) = (now.as_nanos() / window(), now.as_nanos() % window());
        if index != self.index {
            self.previous = if index == self.index + 1 { self.current } else { 0 };
            self.current = 0;
            self.index = index;
        }
        self.current += 1;
        let weighed = u128::from(self.previous) * u128::from(window() - elapsed)
            + u128::from(self.current) * u128::from(window());
        let above = weighed > u128::from(limit) * u128::from(window());
        above != (self.exact.add(1, now.as_nanos()) > limit)
    }
}

fn window() -> u64 {
    Nanos::from(WINDOW).as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of some arrivals, at percents of a window, are judged wrongly.
    fn errors(limit: u64, at_percents: &[u64]) -> Vec<bool> {
        let mut gauge = Gauge::new();
        at_percents.iter().map(|&at| gauge.errs(Nanos::from_nanos(window() / 100 * at), limit)).collect()
    }

    #[test]
    fn it_errs_where_arrivals_are_packed() {
        // Two at the end of a window, two in the middle of the next: 2 x 0.5 + 1 is within 2, but three came within a
        // window.
        assert_eq!(errors(2, &[99, 99, 150, 150]), [false, false, true, false]);
        // Two at the start of a window, one early in the next: 2 x 0.9 + 1 is above 2, but those two have left.
        assert_eq!(errors(2, &[1, 1, 110]), [false, false, true]);
        // After a window of rest nothing is remembered.
        assert_eq!(errors(2, &[99, 99, 250, 250, 250]), [false; 5]);
    }
}
