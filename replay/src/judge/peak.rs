//! The fullest window of a stream.

use super::sliding_sum::SlidingSum;

/// Slices of a long window: many enough to place a peak, few enough to bound memory at 1 MiB.
const SLICES: u64 = 60_000;

/// The longest window that is not sliced, in nanoseconds: a log in milliseconds has no more instants in it than slices.
const EXACT: u64 = SLICES * 1_000_000;

/// To what times are rounded down in windows of this length, both in nanoseconds.
pub(super) const fn grain(window: u64) -> u64 {
    if window <= EXACT { 1 } else { window / SLICES }
}

/// The most that came within any `window` nanoseconds, and when.
///
/// Exact for windows of up to a minute. In longer ones times are rounded down to a 60,000th of the window, so that
/// memory stays bounded however dense the stream; what is found is then never more than came, and exact too if the
/// log's resolution is no finer than that.
#[derive(Clone, Debug)]
pub struct Peak {
    recent: SlidingSum,
    grain: u64,
    most: u64,
    at: u64,
}

impl Peak {
    /// Of windows of this many nanoseconds.
    pub fn new(window: u64) -> Self {
        // A window of whole grains: rounding both of its ends down then never makes it longer.
        let grain = grain(window);
        Self { recent: SlidingSum::new(window / grain * grain), grain, most: 0, at: 0 }
    }

    /// Adds an amount at `now`, in nanoseconds.
    pub fn add(&mut self, amount: u64, now: u64) {
        let sum = self.recent.add(amount, now - now % self.grain);
        if sum > self.most {
            self.most = sum;
            self.at = now;
        }
    }

    /// The most in any window, in tokens.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The end of the first window that held the most, in nanoseconds.
    pub fn at(&self) -> u64 {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn peak(window: u64, arrivals: &[(u64, u64)]) -> (u64, u64) {
        let mut peak = Peak::new(window);
        for &(at, amount) in arrivals {
            peak.add(amount, at);
        }
        (peak.most(), peak.at())
    }

    #[test]
    fn the_fullest_window() {
        assert_eq!(peak(10 * S, &[]), (0, 0));
        assert_eq!(peak(10 * S, &[(0, 1), (9 * S, 2), (10 * S, 1), (30 * S, 3)]), (3, 9 * S));
        assert_eq!(peak(10 * S, &[(0, 1), (10 * S - 1, 2), (10 * S, 4)]), (6, 10 * S));
        assert_eq!(peak(60 * S, &[(1, 1), (60 * S, 1)]), (2, 60 * S));
    }

    /// Two arrivals a whole window apart are never in one window, and two that are a little closer always are, whatever
    /// the grain.
    #[test]
    fn long_windows() {
        for window in [60 * S, 61 * S, 3_600 * S, 86_400 * S, 86_400 * S + 7] {
            for start in [0, 1, 999_999_937, 12_345_678_901] {
                let apart = |gap| peak(window, &[(start, 1), (start + gap, 1)]).0;
                assert_eq!((apart(window), apart(window - window / SLICES - SLICES)), (1, 2), "{window} {start}");
            }
        }
    }
}
