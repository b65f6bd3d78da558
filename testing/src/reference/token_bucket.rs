use super::{Fraction, Model, period};
use tollgate::{Nanos, Quota};

/// The token bucket as its definition reads: a level that rises evenly with time up to the burst and falls by each
/// cost.
///
/// The level is counted in parts of a token, one part being `1 / period in nanoseconds`, so a nanosecond adds exactly
/// `quota.tokens()` parts and nothing is ever rounded. It is also the leaky bucket used as a meter: see
/// [`TokenBucket::level`].
///
/// The level may go below zero through [`Model::charge`]; [`TokenBucket::shortfall`] says by how much a cost would take
/// it there.
///
/// Bound: with [`Model::admit`] alone, for any readings `s <= t`, the costs admitted with readings from `s` to `t` come
/// to at most `burst + tokens * (t - s) / period`. Turner 1986, "New directions in communications (or which way to the
/// information age?)".
///
/// # Examples
///
/// ```
/// use tollgate_testing::reference::{Model, TokenBucket};
/// use tollgate::{Nanos, Quota};
///
/// let mut bucket = TokenBucket::new(Quota::per_second(3).with_burst(1));
/// assert!(bucket.admit(1, Nanos::ZERO));
/// // A third of a second is no whole number of nanoseconds: the token is there at the first one after it.
/// assert!(!bucket.would_admit(1, Nanos::from_nanos(333_333_333)));
/// assert!(bucket.would_admit(1, Nanos::from_nanos(333_333_334)));
/// // Forced a nanosecond before that, the model was short by one part in a thousand million.
/// assert_eq!(bucket.charge(1, Nanos::from_nanos(333_333_333)).to_string(), "1/1000000000");
/// ```
#[derive(Clone, Debug)]
pub struct TokenBucket {
    quota: Quota,
    /// Parts at the instant `at` of the last change. Never above the burst; below zero when forced.
    parts: i128,
    at: u64,
}

impl TokenBucket {
    /// A bucket that is full, and has been for ever.
    pub fn new(quota: Quota) -> Self {
        Self::holding(quota.burst(), quota, Nanos::ZERO)
    }

    /// A bucket that holds `tokens` at the instant `at`, the burst at most.
    pub fn holding(tokens: u64, quota: Quota, at: Nanos) -> Self {
        let parts = parts(tokens.min(quota.burst()), quota);
        Self { quota, parts, at: at.as_nanos() }
    }

    /// The bucket seen from the other side, as a meter that leaks: how full it is at `now`, in tokens, a begun token
    /// counted whole.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate_testing::reference::{Model, TokenBucket};
    /// use tollgate::{Nanos, Quota};
    ///
    /// let mut meter = TokenBucket::new(Quota::per_second(2).with_burst(10));
    /// meter.charge(4, Nanos::ZERO);
    /// assert_eq!(meter.level(Nanos::ZERO), 4);
    /// assert_eq!(meter.level(Nanos::from_millis(499)), 4);
    /// assert_eq!(meter.level(Nanos::from_millis(500)), 3);
    /// ```
    pub fn level(&self, now: Nanos) -> u64 {
        self.quota.burst() - self.available(now)
    }

    /// The parts there are at `now`. Below zero at a late reading when more was charged since than there was then.
    fn parts_at(&self, now: Nanos) -> i128 {
        let (rate, now) = (u128::from(self.quota.tokens()), now.as_nanos());
        if now >= self.at {
            let room = parts(self.quota.burst(), self.quota).abs_diff(self.parts);
            let gained = rate * u128::from(now - self.at);
            self.parts.saturating_add_unsigned(gained.min(room))
        } else {
            // Late: what was gained between `now` and `at` was not there yet.
            self.parts.saturating_sub_unsigned(rate * u128::from(self.at - now))
        }
    }
}

impl Model for TokenBucket {
    fn shortfall(&self, n: u64, now: Nanos) -> Fraction {
        let left = self.parts_at(now).saturating_sub(parts(n, self.quota));
        if n == 0 || left >= 0 || self.quota.is_unlimited() {
            Fraction::ZERO
        } else {
            Fraction::new(left.unsigned_abs(), period(self.quota).into())
        }
    }

    fn charge(&mut self, n: u64, now: Nanos) -> Fraction {
        let shortfall = self.shortfall(n, now);
        if n > 0 && !self.quota.is_unlimited() {
            self.parts = self.parts_at(now).saturating_sub(parts(n, self.quota));
            self.at = now.as_nanos();
        }
        shortfall
    }

    fn refund(&mut self, n: u64, now: Nanos) {
        let (there, full) = (self.parts_at(now), parts(self.quota.burst(), self.quota));
        if there < full {
            self.parts = there.saturating_add(parts(n, self.quota)).min(full);
            self.at = now.as_nanos();
        }
    }
}

/// `tokens` in parts. Exact: a period is at most 2^62 ns.
fn parts(tokens: u64, quota: Quota) -> i128 {
    i128::from(tokens) * i128::from(period(quota))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Admission, first_violation};
    use core::time::Duration;
    use proptest::prelude::*;

    fn quotas() -> impl Strategy<Value = Quota> {
        let parts = (1_u64..5, 1_u64..12, 1_u64..9);
        parts.prop_map(|(n, period, burst)| Quota::try_new(n, Duration::from_nanos(period), burst).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        /// The bucket by its bound alone: admit whatever leaves every window within it.
        #[test]
        fn a_bucket_admits_exactly_what_its_bound_allows(
            quota in quotas(), arrivals in prop::collection::vec((0_u64..9, 1_u64..5), 1..40),
        ) {
            let mut bucket = TokenBucket::new(quota);
            let (mut run, mut now) = (Vec::new(), 0);
            for (step, cost) in arrivals {
                now += step;
                let at = Nanos::from_nanos(now);
                run.push(Admission::new(cost, at));
                let allowed = first_violation(&run, quota).is_none();
                prop_assert_eq!(bucket.admit(cost, at), allowed);
                if !allowed {
                    run.pop();
                }
            }
        }

        /// Readings in any order: what passes keeps the bound over every window of readings.
        #[test]
        fn late_readings_mint_nothing(
            quota in quotas(), arrivals in prop::collection::vec((0_u64..60, 1_u64..5), 1..60),
        ) {
            let mut bucket = TokenBucket::new(quota);
            let mut run = Vec::new();
            for (at, cost) in arrivals {
                let at = Nanos::from_nanos(at);
                if bucket.admit(cost, at) {
                    run.push(Admission::new(cost, at));
                }
            }
            prop_assert!(first_violation(&run, quota).is_none());
        }
    }

    #[test]
    fn a_late_reading_sees_the_bucket_as_it_stood() {
        let quota = Quota::per(1, Duration::from_nanos(1)).with_burst(10);
        let mut bucket = TokenBucket::new(quota);
        assert!(bucket.admit(1, Nanos::from_nanos(10)));
        assert_eq!(bucket.available(Nanos::from_nanos(10)), 9);
        assert_eq!(bucket.available(Nanos::from_nanos(5)), 4, "five of the nine came after 5 ns");
        assert_eq!(bucket.available(Nanos::ZERO), 0);
        assert_eq!(bucket.earliest(2, Nanos::ZERO), Some(Nanos::from_nanos(3)));
    }

    #[test]
    fn a_refund_fills_up_to_the_burst() {
        let mut bucket = TokenBucket::new(Quota::per_second(5));
        bucket.charge(3, Nanos::ZERO);
        bucket.refund(2, Nanos::ZERO);
        assert_eq!(bucket.available(Nanos::ZERO), 4);
        bucket.refund(u64::MAX, Nanos::ZERO);
        assert_eq!(bucket.available(Nanos::ZERO), 5);
    }

    #[test]
    fn a_forced_charge_is_owed_for() {
        let mut bucket = TokenBucket::holding(2, Quota::per_second(1).with_burst(5), Nanos::ZERO);
        assert_eq!(bucket.charge(4, Nanos::ZERO).to_string(), "2000000000/1000000000");
        assert_eq!(bucket.available(Nanos::from_secs(2)), 0);
        assert_eq!(bucket.earliest(1, Nanos::ZERO), Some(Nanos::from_secs(3)));
    }

    #[test]
    fn the_extremes_are_exact() {
        let century = Duration::from_nanos(1 << 62);
        let mut bucket = TokenBucket::new(Quota::try_new(1, century, u64::MAX - 1).unwrap());
        assert!(!bucket.would_admit(u64::MAX, Nanos::MAX));
        assert!(bucket.admit(u64::MAX - 1, Nanos::from_nanos(7)));
        assert_eq!(bucket.earliest(1, Nanos::ZERO), Some(Nanos::from_nanos((1 << 62) + 7)));
        assert_eq!(bucket.earliest(4, Nanos::ZERO), None, "beyond the end of time");
    }

    #[test]
    fn no_limit_and_no_tokens() {
        let mut all = TokenBucket::new(Quota::UNLIMITED);
        assert!(all.admit(u64::MAX, Nanos::ZERO) && all.admit(u64::MAX, Nanos::ZERO));
        let mut none = TokenBucket::new(Quota::DENY_ALL);
        assert!(none.admit(0, Nanos::ZERO) && !none.admit(1, Nanos::MAX));
        assert_eq!((all.available(Nanos::ZERO), none.available(Nanos::MAX)), (u64::MAX, 0));
    }
}
