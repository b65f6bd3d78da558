use super::{Fraction, Model};
use tollgate::{Nanos, Quota};

/// A sliding window counter whose quota changes: both windows keep what they have counted, and the part of the present one that has
/// passed is the same before and after, rounded down to a nanosecond.
///
/// Without a limit nothing is counted, and where nothing is admitted nothing passes. What a window has counted beyond the limit of
/// a new quota cannot be given back, nor what was charged before it.
#[derive(Clone, Debug)]
pub struct AdjustableSlidingWindowCounter {
    quota: Quota,
    /// When the newest window began, which may be before the clock did.
    begun: i128,
    /// How long it lasts; and how much of it has passed, where nothing passes.
    width: i128,
    still: Option<i128>,
    /// What the window before has counted, and the newest; of each, what cannot be given back.
    counts: [u128; 2],
    firm: [u128; 2],
    /// The last change.
    changed: i128,
}

impl AdjustableSlidingWindowCounter {
    /// A counter that has counted nothing.
    pub fn new(quota: Quota) -> Self {
        let still = quota.is_deny_all().then_some(0);
        let width = length(quota);
        Self { quota, begun: 0, width, still, counts: [0; 2], firm: [0; 2], changed: 0 }
    }

    /// The quota becomes another at `now`.
    pub fn set_quota(&mut self, quota: Quota, now: Nanos) {
        if quota.tokens() == self.quota.tokens() && quota.period() == self.quota.period() {
            return;
        }
        self.roll(now);
        let at =
            if self.still.is_some() { i128::from(now.0) } else { i128::from(now.0).max(self.begun) }.max(self.changed);
        let elapsed = self.still.unwrap_or(at - self.begun);
        if self.quota.is_unlimited() || quota.is_unlimited() {
            self.counts = [0; 2];
        }
        let width = if quota.is_deny_all() { self.width } else { length(quota) };
        let elapsed = match (self.width, width) {
            (_, 0) => 0,
            (0, width) => at % width,
            (old, width) => elapsed * width / old,
        };
        self.quota = quota;
        (self.begun, self.width, self.changed) = (at - elapsed, width, at);
        self.still = quota.is_deny_all().then_some(elapsed);
        self.firm = self.counts.map(|count| count.saturating_sub(quota.tokens().into()));
    }

    /// Goes on to the window of `now`, if that is newer.
    fn roll(&mut self, now: Nanos) {
        while self.still.is_none() && self.width > 0 && i128::from(now.0) >= self.begun + self.width {
            if self.counts == [0; 2] {
                self.begun += (i128::from(now.0) - self.begun) / self.width * self.width;
            } else {
                self.begun += self.width;
            }
            (self.counts, self.firm) = ([self.counts[1], 0], [self.firm[1], 0]);
        }
    }
}

impl Model for AdjustableSlidingWindowCounter {
    fn shortfall(&self, n: u64, now: Nanos) -> Fraction {
        if n == 0 || self.quota.is_unlimited() {
            return Fraction::ZERO;
        }
        let mut then = self.clone();
        then.roll(now);
        let Ok(width) = u128::try_from(then.width.max(1)) else { unreachable!("no length is negative") };
        let elapsed = then.still.unwrap_or_else(|| (i128::from(now.0).max(then.changed) - then.begun).max(0));
        let left = width - u128::try_from(elapsed).unwrap_or(width).min(width);
        let estimate = then.counts[0] * left + (then.counts[1] + u128::from(n)) * width;
        Fraction::new(estimate.saturating_sub(u128::from(self.quota.tokens()) * width), width)
    }

    fn charge(&mut self, n: u64, now: Nanos) -> Fraction {
        let shortfall = self.shortfall(n, now);
        if n > 0 && !self.quota.is_unlimited() {
            self.roll(now);
            self.counts[1] += u128::from(n);
        }
        shortfall
    }

    fn refund(&mut self, n: u64, taken: Nanos) {
        let taken = i128::from(taken.0);
        if taken < self.changed
            || self.width == 0
            || taken >= self.begun + self.width
            || taken < self.begun - self.width
        {
            return;
        }
        let window = usize::from(taken >= self.begun);
        self.counts[window] = self.counts[window].saturating_sub(n.into()).max(self.firm[window]);
    }
}

/// How long a window lasts, in nanoseconds; 0 where there are none.
fn length(quota: Quota) -> i128 {
    quota.period().as_nanos().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn a_window_half_past_is_half_past_afterwards() {
        let mut counter = AdjustableSlidingWindowCounter::new(Quota::per_second(100));
        counter.charge(100, Nanos::ZERO);
        counter.set_quota(Quota::per(100, Duration::from_secs(10)), Nanos::from_millis(1_500));
        assert_eq!(counter.available(Nanos::from_millis(1_500)), 50);
        assert_eq!(counter.available(Nanos::from_millis(2_500)), 60);
        assert_eq!(counter.available(Nanos::from_millis(6_500)), 100);
    }
}
