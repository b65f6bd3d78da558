use std::collections::VecDeque;

use super::{Fraction, Model, period};
use tollgate::{Nanos, Quota};

/// The sliding window log: every admission is remembered, and those of the last period stay within `quota.tokens()`.
///
/// An admission at `t` counts against readings up to, but not including, `t + period`. The burst of the quota has no
/// meaning here. A reading before the newest one charged is decided for itself, with all that was charged since still
/// counting, and is remembered as the newest one: it may be refused, and it never adds room.
///
/// Bound: no half-open span of one period ever holds more than the limit, in whatever order the readings come.
///
/// # Examples
///
/// ```
/// use tollgate_testing::reference::{Model, SlidingWindowLog};
/// use tollgate::{Nanos, Quota};
///
/// let mut log = SlidingWindowLog::new(Quota::per(5, core::time::Duration::from_secs(30)));
/// let arrivals = [(0, 1), (5, 2), (15, 2), (25, 1), (35, 1), (40, 3)];
/// let admitted = arrivals.map(|(at, n)| log.admit_up_to(n, Nanos::from_secs(at)));
/// assert_eq!(admitted, [1, 2, 2, 0, 1, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct SlidingWindowLog {
    quota: Quota,
    /// The reading and cost of each admission, oldest first.
    log: VecDeque<(u64, u64)>,
    newest: u64,
}

impl SlidingWindowLog {
    /// An empty log.
    pub const fn new(quota: Quota) -> Self {
        Self { quota, log: VecDeque::new(), newest: 0 }
    }

    /// What the admissions that still count at `now` come to.
    fn count_at(&self, now: Nanos) -> u128 {
        let gone = |at: u64| now.as_nanos().saturating_sub(at) >= period(self.quota);
        self.log.iter().rev().take_while(|(at, _)| !gone(*at)).map(|&(_, cost)| u128::from(cost)).sum()
    }
}

impl Model for SlidingWindowLog {
    fn shortfall(&self, n: u64, now: Nanos) -> Fraction {
        if n == 0 || self.quota.is_unlimited() {
            return Fraction::ZERO;
        }
        let wanted = self.count_at(now) + u128::from(n);
        Fraction::new(wanted.saturating_sub(self.quota.tokens().into()), 1)
    }

    fn charge(&mut self, n: u64, now: Nanos) -> Fraction {
        let shortfall = self.shortfall(n, now);
        if n > 0 && !self.quota.is_unlimited() {
            self.newest = self.newest.max(now.as_nanos());
            self.log.push_back((self.newest, n));
        }
        shortfall
    }

    /// Takes back the newest admissions, as far as they still count at `now`.
    fn refund(&mut self, n: u64, now: Nanos) {
        let mut left = n;
        for (at, cost) in self.log.iter_mut().rev() {
            if now.as_nanos().saturating_sub(*at) < period(self.quota) {
                let back = left.min(*cost);
                *cost -= back;
                left -= back;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Admission, first_overfull_span};
    use core::time::Duration;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        /// The log by its bound alone: admit whatever leaves every span within the limit.
        #[test]
        fn a_log_admits_exactly_what_its_bound_allows(
            limit in 1_u64..9, width in 2_u64..20, arrivals in prop::collection::vec((0_u64..9, 1_u64..5), 1..40),
        ) {
            let width = Duration::from_nanos(width);
            let mut log = SlidingWindowLog::new(Quota::per(limit, width));
            let (mut run, mut now) = (Vec::new(), 0);
            for (step, cost) in arrivals {
                now += step;
                let at = Nanos::from_nanos(now);
                run.push(Admission::new(cost, at));
                let allowed = first_overfull_span(&run, width, limit).is_none();
                prop_assert_eq!(log.admit(cost, at), allowed);
                if !allowed {
                    run.pop();
                }
            }
        }

        /// Readings in any order: what passes keeps the bound over every span of readings.
        #[test]
        fn late_readings_add_no_room(
            limit in 1_u64..9, width in 2_u64..20, arrivals in prop::collection::vec((0_u64..60, 1_u64..5), 1..60),
        ) {
            let width = Duration::from_nanos(width);
            let mut log = SlidingWindowLog::new(Quota::per(limit, width));
            let mut run = Vec::new();
            for (at, cost) in arrivals {
                let at = Nanos::from_nanos(at);
                if log.admit(cost, at) {
                    run.push(Admission::new(cost, at));
                }
            }
            prop_assert!(first_overfull_span(&run, width, limit).is_none());
        }
    }

    #[test]
    fn a_late_reading_is_decided_for_itself_and_remembered_as_the_newest() {
        let mut log = SlidingWindowLog::new(Quota::per_second(3));
        log.charge(1, Nanos::from_secs(1));
        log.charge(1, Nanos::from_secs(3));
        assert_eq!(log.available(Nanos::from_secs(3)), 2);
        assert_eq!(log.available(Nanos::from_millis(2_000)), 2);
        assert_eq!(log.available(Nanos::from_millis(1_999)), 1, "both count");
        log.charge(1, Nanos::from_millis(1_999));
        assert_eq!(log.earliest(3, Nanos::from_secs(2)), Some(Nanos::from_secs(4)));
    }

    #[test]
    fn a_refund_takes_the_newest_back() {
        let mut log = SlidingWindowLog::new(Quota::per_second(5));
        log.charge(3, Nanos::ZERO);
        log.charge(2, Nanos::from_millis(500));
        log.refund(3, Nanos::from_millis(999));
        assert_eq!(log.available(Nanos::from_millis(999)), 3);
        assert_eq!(log.available(Nanos::from_secs(1)), 5);
        log.refund(1, Nanos::from_secs(1));
        assert_eq!(log.available(Nanos::from_millis(999)), 3, "those were past");
        log.refund(9, Nanos::from_millis(999));
        assert_eq!(log.available(Nanos::from_millis(999)), 5);
    }
}
