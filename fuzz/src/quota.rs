//! Quotas: errors name the limit that they say; what is built counts time exactly.

use crate::input::{Number, Wish, read};
use arbitrary::Arbitrary;
use core::time::Duration;
use tollgate::{ManualClock, Nanos, Quota, QuotaError, TokenBucket};
use tollgate_testing::subject::{Kind, units_per_token};

#[derive(Arbitrary, Debug)]
struct Input {
    wish: Wish,
    start: Number,
    later: Number,
    cost: Number,
    initial: Number,
}

/// 120 years, which every limiter lasts.
const HORIZON: u64 = 43_830 * 86_400 * 1_000_000_000;

/// Quotas of every size, and the instants at which their tokens fall due.
///
/// # Panics
///
/// If an error names another limit than the one that holds, or if tokens or hints are off by a nanosecond.
pub fn quota(data: &[u8]) {
    let Some(input) = read::<Input>(data) else { return };
    errors_name_the_limit(input.wish);
    tokens_fall_due_exactly(&input, input.wish.granted());
}

fn errors_name_the_limit(wish: Wish) {
    let (tokens, period, burst) = (wish.tokens.get(), wish.period(), wish.burst.get());
    match Quota::try_new(tokens, period, burst) {
        Ok(quota) => assert_eq!((quota.tokens(), quota.period(), quota.burst()), (tokens, period, burst)),
        Err(QuotaError::ZeroTokens) => assert_eq!(tokens, 0),
        Err(QuotaError::ZeroBurst) => assert_eq!(burst, 0),
        Err(QuotaError::ZeroPeriod) => assert!(period.is_zero()),
        Err(QuotaError::PeriodTooLong { longest }) => {
            assert!(period > longest);
            assert!(Quota::try_new(1, longest, 1).is_ok());
            let longer = Quota::try_new(1, longest + Duration::from_nanos(1), 1);
            assert_eq!(longer, Err(QuotaError::PeriodTooLong { longest }));
        }
        Err(QuotaError::RateTooHigh { most, period }) => {
            assert!(tokens > most);
            assert!(Quota::try_new(most, period, 1).is_ok());
            assert_eq!(Quota::try_new(most + 1, period, 1), Err(QuotaError::RateTooHigh { most, period }));
        }
        Err(QuotaError::BurstTooLarge { largest }) => {
            assert!(burst > largest);
            assert!(Quota::try_new(tokens, period, largest).is_ok());
            let larger = Quota::try_new(tokens, period, largest + 1);
            assert_eq!(larger, Err(QuotaError::BurstTooLarge { largest }));
        }
        Err(other) => panic!("not for a quota to say: {other}"),
    }
}

/// A bucket's scale, from its definition: so many units to a token, or so many tokens to a unit.
struct Scale {
    quota: Quota,
    units_per_token: u64,
    tokens_per_unit: u64,
}

impl Scale {
    fn of(quota: Quota) -> Self {
        let tokens_per_unit = Kind::TokenBucket.tokens_per_unit(quota).expect("every quota fits the token bucket");
        Self { quota, units_per_token: units_per_token(quota), tokens_per_unit }
    }

    /// The units due at `now`: `floor(now * tokens * units / period)`, by schoolbook long division, a bit at a time.
    fn due(&self, now: u64) -> u128 {
        let (period, product) = (self.quota.period().as_nanos(), u128::from(self.quota.tokens()) * u128::from(now));
        let (mut quotient, mut rest) = (product / period, product % period);
        for _ in 0..self.units_per_token.trailing_zeros() {
            rest *= 2;
            quotient = quotient * 2 + u128::from(rest >= period);
            rest %= period;
        }
        quotient / u128::from(self.tokens_per_unit)
    }

    /// What of the last unit of a full bucket there is not, in tokens.
    fn missing(&self) -> u128 {
        let (burst, unit) = (u128::from(self.quota.burst()), u128::from(self.tokens_per_unit));
        burst.div_ceil(unit) * unit - burst
    }

    /// Units in `tokens`, rounded up, with what each call pays for besides.
    fn cost(&self, tokens: u64) -> u128 {
        if tokens == 0 {
            return 0;
        }
        let paid = u128::from(tokens) + self.missing();
        paid.div_ceil(self.tokens_per_unit.into()) * u128::from(self.units_per_token)
    }

    /// Whole tokens that `units` pay for; the burst at most.
    fn tokens(&self, units: u128) -> u64 {
        let all = self.cost(self.quota.burst());
        let tokens = units.min(all) * u128::from(self.tokens_per_unit) / u128::from(self.units_per_token);
        u64::try_from(tokens.saturating_sub(self.missing())).expect("at most the burst")
    }
}

fn tokens_fall_due_exactly(input: &Input, quota: Quota) {
    let scale = Scale::of(quota);
    let start = input.start.up_to(HORIZON);
    let later = start + input.later.up_to(HORIZON - start);
    let gained = scale.due(later) - scale.due(start);
    let clock = ManualClock::starting_at(Nanos(start));

    let bucket = TokenBucket::with_clock(quota, clock.clone());
    assert_eq!(bucket.try_acquire_up_to(u64::MAX), quota.burst());
    clock.set(Nanos(later));
    let available = scale.tokens(gained);
    assert_eq!(bucket.available(), available, "{quota:?}, drained at {start}, looked at at {later}");

    let cost = 1 + input.cost.up_to(quota.burst() - 1);
    match bucket.try_acquire_n(cost) {
        Ok(()) => assert!(cost <= available),
        Err(denied) => {
            assert!(cost > available);
            // Units that are due after the last instant of the scale never are.
            let in_time = scale.due(start) + scale.cost(cost) <= scale.due((1 << 62) - 1);
            assert_eq!(denied.retry_after().is_some(), in_time, "{cost} of {quota:?}");
            if let Some(wait) = denied.retry_after() {
                let at = Nanos(later).saturating_add(wait);
                assert!(at.0 > later);
                assert!(bucket.try_acquire_n_at(cost, Nanos(at.0 - 1)).is_err(), "{cost} of {quota:?} before {at:?}");
                assert!(bucket.try_acquire_n_at(cost, at).is_ok(), "{cost} of {quota:?} at {at:?}");
            }
        }
    }

    // Beyond the horizon there may be a last instant, but time never goes back and nothing panics.
    let before = bucket.available();
    clock.set(Nanos::MAX);
    assert!(bucket.available() >= before);

    let initial = input.initial.up_to(quota.burst());
    let clock = ManualClock::starting_at(Nanos(start));
    let bucket = TokenBucket::with_clock(quota, clock.clone()).with_initial(initial);
    let held = scale.cost(quota.burst()) - scale.cost(quota.burst() - initial);
    assert_eq!(bucket.available(), scale.tokens(held));
    assert!(bucket.available() <= initial && (scale.tokens_per_unit > 1 || bucket.available() == initial));
    clock.set(Nanos(later));
    assert_eq!(bucket.available(), scale.tokens(held + gained));
}
