use std::collections::BTreeMap;

use super::{Fraction, Model, period};
use tollgate::{Nanos, Quota};

/// The sliding window counter: the count of this window, plus the count of the one before in proportion to the part of
/// it that a window ending now would still cover, stays within `quota.tokens()`.
///
/// With `W` the period, `e` the time since this window began, both in nanoseconds, a cost of `n` is admitted when
/// `previous * (W - e) + (current + n) * W <= limit * W`: whole numbers, nothing rounded. Windows are counted from the
/// clock's origin. The burst of the quota has no meaning here. A reading in a window before the newest one charged
/// counts as the first instant of the newest one.
///
/// Source of the formula: Cloudflare 2017, "How we built rate limiting capable of scaling to millions of domains".
///
/// # Examples
///
/// ```
/// use tollgate_testing::reference::{Model, SlidingWindowCounter};
/// use tollgate::{Nanos, Quota};
///
/// let mut counter = SlidingWindowCounter::new(Quota::per(5, core::time::Duration::from_secs(30)));
/// assert!(counter.admit(5, Nanos::from_secs(10)));
/// // At 35 s five sixths of the window before still count: 4.17, and one more would be above 5.
/// assert!(!counter.would_admit(1, Nanos::from_secs(35)));
/// assert_eq!(counter.earliest(1, Nanos::from_secs(35)), Some(Nanos::from_secs(36)));
/// ```
#[derive(Clone, Debug)]
pub struct SlidingWindowCounter {
    quota: Quota,
    /// What was charged in each window that had anything charged.
    counts: BTreeMap<u64, u128>,
}

impl SlidingWindowCounter {
    /// A counter that has counted nothing.
    pub const fn new(quota: Quota) -> Self {
        Self { quota, counts: BTreeMap::new() }
    }

    fn newest(&self) -> u64 {
        self.counts.last_key_value().map_or(0, |(&window, _)| window)
    }

    /// The window that `now` counts in, and how far into it.
    fn place(&self, now: Nanos) -> (u64, u64) {
        let width = period(self.quota);
        let (window, elapsed) = (now.as_nanos() / width, now.as_nanos() % width);
        if window < self.newest() { (self.newest(), 0) } else { (window, elapsed) }
    }

    fn count(&self, window: u64) -> u128 {
        self.counts.get(&window).copied().unwrap_or(0)
    }
}

impl Model for SlidingWindowCounter {
    fn shortfall(&self, n: u64, now: Nanos) -> Fraction {
        if n == 0 || self.quota.is_unlimited() {
            return Fraction::ZERO;
        }
        let width = u128::from(period(self.quota));
        let (window, elapsed) = self.place(now);
        let previous = window.checked_sub(1).map_or(0, |before| self.count(before));
        let estimate = previous * (width - u128::from(elapsed)) + (self.count(window) + u128::from(n)) * width;
        Fraction::new(estimate.saturating_sub(u128::from(self.quota.tokens()) * width), width)
    }

    fn charge(&mut self, n: u64, now: Nanos) -> Fraction {
        let shortfall = self.shortfall(n, now);
        if n > 0 {
            *self.counts.entry(self.place(now).0).or_default() += u128::from(n);
        }
        shortfall
    }

    fn refund(&mut self, n: u64, taken: Nanos) {
        let window = taken.as_nanos() / period(self.quota);
        if let Some(count) = self.counts.get_mut(&window) {
            *count = count.saturating_sub(n.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_percent_into_the_next_window_one_percent_passes() {
        let mut counter = SlidingWindowCounter::new(Quota::per_second(100));
        assert!(counter.admit(100, Nanos::from_nanos(999_999_999)));
        assert_eq!(counter.available(Nanos::from_millis(1_000)), 0);
        assert_eq!(counter.available(Nanos::from_nanos(1_009_999_999)), 0);
        assert_eq!(counter.available(Nanos::from_millis(1_010)), 1);
        assert_eq!(counter.available(Nanos::from_millis(1_500)), 50);
        assert_eq!(counter.available(Nanos::from_millis(2_000)), 100);
    }

    #[test]
    fn only_the_window_just_before_counts() {
        let mut counter = SlidingWindowCounter::new(Quota::per_second(10));
        counter.charge(10, Nanos::ZERO);
        counter.refund(3, Nanos::from_secs(1));
        assert_eq!(counter.available(Nanos::from_secs(1)), 0, "nothing was taken in that window");
        counter.refund(3, Nanos::ZERO);
        assert_eq!(counter.available(Nanos::from_secs(1)), 3, "the window before still counts");
        counter.charge(3, Nanos::ZERO);
        counter.charge(4, Nanos::from_millis(1_900));
        assert_eq!(counter.available(Nanos::from_secs(2)), 6);
        assert_eq!(counter.available(Nanos::from_secs(3)), 10);
    }

    #[test]
    fn a_late_reading_is_the_start_of_the_newest_window() {
        let mut counter = SlidingWindowCounter::new(Quota::per_second(10));
        counter.charge(6, Nanos::from_millis(500));
        counter.charge(1, Nanos::from_millis(1_500));
        assert_eq!(counter.available(Nanos::from_millis(1_500)), 6);
        assert_eq!(counter.available(Nanos::ZERO), 3);
        counter.charge(3, Nanos::ZERO);
        assert_eq!(counter.available(Nanos::from_millis(1_500)), 3, "charged where it was counted");
    }

    #[test]
    fn a_forced_charge_tells_the_part_of_a_token_it_lacked() {
        let mut counter = SlidingWindowCounter::new(Quota::per(5, core::time::Duration::from_secs(30)));
        counter.charge(5, Nanos::ZERO);
        assert_eq!(counter.charge(1, Nanos::from_secs(35)).to_string(), "5000000000/30000000000");
        counter.refund(1, Nanos::from_secs(36));
        assert!(counter.charge(1, Nanos::from_secs(36)).is_zero());
    }
}
