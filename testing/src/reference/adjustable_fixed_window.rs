use super::{Fraction, Model, period};
use tollgate::{Nanos, Quota};

/// A fixed window whose quota changes: what the running window has counted counts in the window of the new quota that holds the
/// instant of the change.
///
/// Windows are counted from the clock's origin, before and after. Without a limit nothing is counted, and where nothing is admitted
/// no window ends. What is counted beyond the limit of a new quota cannot be given back.
#[derive(Clone, Debug)]
pub struct AdjustableFixedWindow {
    quota: Quota,
    /// When the newest window began, and what it has counted; of that, what cannot be given back.
    begun: u64,
    count: u128,
    firm: u128,
    /// From which instant on it has counted.
    counted_from: u64,
}

impl AdjustableFixedWindow {
    /// A window in which nothing has been charged.
    pub const fn new(quota: Quota) -> Self {
        Self { quota, begun: 0, count: 0, firm: 0, counted_from: 0 }
    }

    /// The quota becomes another at `now`.
    pub fn set_quota(&mut self, quota: Quota, now: Nanos) {
        if quota.tokens() == self.quota.tokens() && quota.period() == self.quota.period() {
            return;
        }
        self.roll(now);
        let at = now.as_nanos().max(self.begun);
        if self.quota.is_unlimited() || quota.is_unlimited() {
            (self.count, self.counted_from) = (0, at);
        }
        self.quota = quota;
        self.begun = if quota.period().is_zero() { at } else { at - at % period(quota) };
        self.firm = self.count.saturating_sub(quota.tokens().into());
        self.counted_from = self.counted_from.max(self.begun);
    }

    /// Goes on to the window of `now`, if that is newer.
    fn roll(&mut self, now: Nanos) {
        let now = now.as_nanos();
        if !self.quota.period().is_zero() && now >= self.begun + period(self.quota) {
            self.begun = now - now % period(self.quota);
            (self.count, self.firm, self.counted_from) = (0, 0, self.begun);
        }
    }
}

impl Model for AdjustableFixedWindow {
    fn shortfall(&self, n: u64, now: Nanos) -> Fraction {
        if n == 0 || self.quota.is_unlimited() {
            return Fraction::ZERO;
        }
        let mut then = self.clone();
        then.roll(now);
        Fraction::new((then.count + u128::from(n)).saturating_sub(self.quota.tokens().into()), 1)
    }

    fn charge(&mut self, n: u64, now: Nanos) -> Fraction {
        let shortfall = self.shortfall(n, now);
        if n > 0 && !self.quota.is_unlimited() {
            self.roll(now);
            self.count += u128::from(n);
        }
        shortfall
    }

    fn refund(&mut self, n: u64, taken: Nanos) {
        let taken = taken.as_nanos();
        let lasts = self.quota.period().is_zero() || taken < self.begun + period(self.quota);
        if taken >= self.counted_from.max(self.begun) && lasts {
            self.count = self.count.saturating_sub(n.into()).max(self.firm);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_counts_in_the_longer_window_and_the_shorter() {
        let mut window = AdjustableFixedWindow::new(Quota::per_minute(60));
        window.charge(60, Nanos::from_secs(61));
        window.set_quota(Quota::per_hour(100), Nanos::from_secs(62));
        assert_eq!(window.available(Nanos::from_secs(119)), 40);
        assert_eq!(window.earliest(41, Nanos::from_secs(119)), Some(Nanos::from_secs(3_600)));
        window.set_quota(Quota::per_second(10), Nanos::from_secs(119));
        assert_eq!(window.earliest(1, Nanos::from_secs(119)), Some(Nanos::from_secs(120)));
    }
}
