//! Quotas: errors name the limit that they say; what is built counts time exactly.

use crate::input::{Number, Wish, read};
use arbitrary::Arbitrary;
use core::time::Duration;
use tollgate::{ManualClock, Nanos, Quota, QuotaError, TokenBucket};
use tollgate_testing::subject::units_per_token;

#[derive(Arbitrary, Debug)]
struct Input {
    wish: Wish,
    start: Number,
    later: Number,
    cost: Number,
    initial: Number,
}

/// 50 years, which every quota lasts.
const HORIZON: u64 = 18_263 * 86_400 * 1_000_000_000;

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

/// `floor(now * tokens * units / period)`, by schoolbook long division, a bit at a time.
fn due(quota: Quota, units: u64, now: u64) -> u128 {
    let (period, product) = (quota.period().as_nanos(), u128::from(quota.tokens()) * u128::from(now));
    let (mut quotient, mut rest) = (product / period, product % period);
    for _ in 0..units.trailing_zeros() {
        rest *= 2;
        quotient = quotient * 2 + u128::from(rest >= period);
        rest %= period;
    }
    quotient
}

fn tokens_fall_due_exactly(input: &Input, quota: Quota) {
    let units = units_per_token(quota);
    let start = input.start.up_to(HORIZON);
    let later = start + input.later.up_to(HORIZON - start);
    let clock = ManualClock::starting_at(Nanos(start));

    let bucket = TokenBucket::with_clock(quota, clock.clone());
    assert_eq!(bucket.try_acquire_up_to(u64::MAX), quota.burst());
    let left = |at: u64| u64::try_from((due(quota, units, at) - due(quota, units, start)) / u128::from(units)).ok();
    clock.set(Nanos(later));
    let available = left(later).map_or(quota.burst(), |tokens| tokens.min(quota.burst()));
    assert_eq!(bucket.available(), available, "{quota:?}, drained at {start}, looked at at {later}");

    let cost = 1 + input.cost.up_to(quota.burst() - 1);
    match bucket.try_acquire_n(cost) {
        Ok(()) => assert!(cost <= available),
        Err(denied) => {
            assert!(cost > available);
            let wait = denied.retry_after().expect("within the burst");
            let at = Nanos(later).saturating_add(wait);
            assert!(at.0 > later);
            if at.0 <= HORIZON {
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
    assert_eq!(bucket.available(), initial);
    clock.set(Nanos(later));
    let gained = left(later).unwrap_or(u64::MAX);
    assert_eq!(bucket.available(), initial.saturating_add(gained).min(quota.burst()));
}
