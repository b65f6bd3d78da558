use super::{Fraction, Model, period};
use tollgate::{Nanos, Quota};

/// The fixed window, which is also the interval bucket: at most `quota.tokens()` in each window of one period, windows
/// counted from the clock's origin.
///
/// The burst of the quota has no meaning here. A reading in a window before the newest one charged counts in the newest
/// one.
///
/// Bound: the limit within each window, twice the limit in a span of one period that lies across two windows.
///
/// # Examples
///
/// ```
/// use tollgate_testing::reference::{FixedWindow, Model};
/// use tollgate::{Nanos, Quota};
///
/// let mut bucket = FixedWindow::new(Quota::per(10, core::time::Duration::from_millis(200)));
/// let taken = [4, 4, 4, 4].map(|n| bucket.admit_up_to(n, Nanos::from_millis(150)));
/// assert_eq!(taken, [4, 4, 2, 0]);
/// assert_eq!(bucket.earliest(1, Nanos::from_millis(150)), Some(Nanos::from_millis(200)));
/// ```
#[derive(Clone, Debug)]
pub struct FixedWindow {
    quota: Quota,
    /// The newest window charged, and what was charged in it.
    window: u64,
    count: u128,
}

impl FixedWindow {
    /// A window in which nothing has been charged.
    pub const fn new(quota: Quota) -> Self {
        Self { quota, window: 0, count: 0 }
    }

    fn window_at(&self, now: Nanos) -> u64 {
        (now.as_nanos() / period(self.quota)).max(self.window)
    }

    /// What has been charged in the window of `now`.
    fn count_at(&self, now: Nanos) -> u128 {
        if self.window_at(now) == self.window { self.count } else { 0 }
    }
}

impl Model for FixedWindow {
    fn shortfall(&self, n: u64, now: Nanos) -> Fraction {
        if n == 0 || self.quota.is_unlimited() {
            return Fraction::ZERO;
        }
        let wanted = self.count_at(now) + u128::from(n);
        Fraction::new(wanted.saturating_sub(self.quota.tokens().into()), 1)
    }

    fn charge(&mut self, n: u64, now: Nanos) -> Fraction {
        let shortfall = self.shortfall(n, now);
        if n > 0 {
            self.count = self.count_at(now) + u128::from(n);
            self.window = self.window_at(now);
        }
        shortfall
    }

    fn refund(&mut self, n: u64, taken: Nanos) {
        if taken.as_nanos() / period(self.quota) == self.window {
            self.count = self.count.saturating_sub(n.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_window_has_its_own_count() {
        let mut window = FixedWindow::new(Quota::per_second(100));
        assert!(window.admit(100, Nanos::from_nanos(999_999_999)));
        assert!(!window.would_admit(1, Nanos::from_nanos(999_999_999)));
        assert!(window.admit(100, Nanos::from_secs(1)));
        assert_eq!(window.earliest(1, Nanos::from_secs(1)), Some(Nanos::from_secs(2)));
        assert_eq!(window.earliest(101, Nanos::from_secs(1)), None);
    }

    #[test]
    fn a_late_reading_counts_in_the_newest_window() {
        let mut window = FixedWindow::new(Quota::per_second(3));
        window.charge(2, Nanos::from_secs(5));
        assert_eq!(window.available(Nanos::ZERO), 1);
        assert!(window.admit(1, Nanos::ZERO) && !window.would_admit(1, Nanos::from_secs(5)));
    }

    #[test]
    fn a_refund_never_goes_below_nothing() {
        let mut window = FixedWindow::new(Quota::per_second(3));
        window.charge(2, Nanos::ZERO);
        window.refund(1, Nanos::from_secs(1));
        assert_eq!(window.available(Nanos::ZERO), 1, "nothing was taken in that window");
        window.refund(5, Nanos::ZERO);
        assert_eq!(window.available(Nanos::ZERO), 3);
        window.charge(2, Nanos::from_secs(7));
        window.refund(2, Nanos::from_secs(6));
        assert_eq!(window.available(Nanos::from_secs(7)), 1, "that window is past");
        window.refund(2, Nanos::from_secs(7));
        assert_eq!(window.charge(7, Nanos::ZERO).to_string(), "4/1");
    }
}
