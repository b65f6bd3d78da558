//! Precision and rounding.

use core::time::Duration;
use proptest::prelude::*;
use tollgate::{Nanos, Quota};
use tollgate_testing::subject::{Kind, Pair};

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;

fn quota(tokens: u64, nanos: u64, burst: u64) -> Quota {
    Quota::try_new(tokens, Duration::from_nanos(nanos), burst).unwrap()
}

/// The bucket algorithms on `quota`; the packed one with as much of the burst as its word has room for.
fn buckets(quota: Quota) -> impl Iterator<Item = Pair> {
    Kind::BUCKETS.into_iter().map(move |kind| match Pair::new(kind, quota) {
        Ok(pair) => pair,
        Err(tollgate::BuildError::LimitTooLarge { largest }) => Pair::new(kind, quota.with_burst(largest)).unwrap(),
        Err(error) => panic!("{error}"),
    })
}

#[test]
fn a_rest_of_twice_the_fill_time_gives_the_burst_and_no_more() {
    for (quota, rest) in [
        (quota(5, SECOND, 5), 2 * SECOND),
        (quota(3, SECOND, 7), 5 * SECOND),
        (quota(1_000_003, SECOND, 1_000), SECOND),
        (quota(7, DAY, 1), 2 * DAY),
    ] {
        for mut pair in buckets(quota) {
            let burst = pair.limiter.max_cost();
            for _ in 0..10 {
                for _ in 0..burst {
                    assert!(pair.acquire(1).is_ok(), "{:?} {quota:?}", pair.kind);
                }
                assert!(pair.acquire(1).is_err(), "{:?} {quota:?}", pair.kind);
                pair.advance(Duration::from_nanos(rest));
            }
        }
    }
}

#[test]
fn batches_pass_at_each_instant_they_are_due() {
    for (quota, step) in [
        (quota(1_200, 60 * SECOND, 5), 250 * MILLI),
        (quota(30, SECOND, 3), 100 * MILLI),
        (quota(7, 7 * SECOND, 4), 4 * SECOND),
        (quota(1 << 20, 1 << 30, 1 << 10), 1 << 20),
    ] {
        for mut pair in buckets(quota) {
            for _ in 0..1_000 {
                assert!(pair.acquire(quota.burst()).is_ok(), "{:?} {quota:?}", pair.kind);
                assert!(pair.acquire(1).is_err(), "{:?} {quota:?}", pair.kind);
                pair.advance(Duration::from_nanos(step));
            }
        }
    }
}

#[test]
fn a_million_tokens_taken_as_they_fall_due_take_their_exact_time() {
    for kind in Kind::BUCKETS {
        for (tokens, period, count) in
            [(3, SECOND, 1_000_000_u64), (7, SECOND, 50_000), (1_000_003, SECOND, 50_000), (11, 7 * DAY, 1_000)]
        {
            for burst in [1, 2] {
                let clock = tollgate::ManualClock::new();
                let limiter = kind.limiter(quota(tokens, period, burst), &clock).unwrap();
                limiter.try_acquire_n_at(burst, Nanos::ZERO).unwrap();
                let mut now = Nanos::ZERO;
                for _ in 0..count {
                    let denied = limiter.try_acquire_n_at(1, now).unwrap_err();
                    now = now.saturating_add(denied.retry_after().unwrap());
                    limiter.try_acquire_n_at(1, now).unwrap();
                }
                let exact = (u128::from(count) * u128::from(period)).div_ceil(tokens.into());
                let late = u128::from(now.as_nanos()) - exact;
                // A bucket of one is full, and gains nothing, from when its token is due to the next whole nanosecond.
                let most = if burst == 1 { count.into() } else { 0 };
                assert!(late <= most, "{kind:?} {tokens} per {period}, burst {burst}: {late} ns late");
            }
        }
    }
}

#[test]
fn hundreds_of_millions_per_second_are_what_they_say() {
    const MEGA: u64 = 1_000_000;
    for rate in [30 * MEGA, 300 * MEGA, 600 * MEGA, 700 * MEGA, 2_000 * MEGA] {
        for pair in buckets(quota(rate, SECOND, 1_000)) {
            let burst = pair.limiter.max_cost();
            if burst < rate / 1_000 / MEGA {
                continue; // no room in a packed word for what falls due in a nanosecond
            }
            let mut admitted = 0;
            for now in 0..=MILLI {
                pair.clock.set(Nanos(now));
                admitted += pair.limiter.try_acquire_up_to(u64::MAX);
            }
            assert_eq!(admitted, burst + rate / 1_000, "{:?} {rate}", pair.kind);
        }
    }
}

#[test]
fn polling_never_loses_time() {
    const PERIODS: u64 = 20;
    // The packed bucket is polled more slowly, to save the time.
    for (period, step, slowly) in [(60 * SECOND, 119_000, 10), (3_600 * SECOND, 7_100_000, 10), (SECOND, 10_007, 1)] {
        for kind in Kind::BUCKETS {
            let step = if kind == Kind::TokenBucket { step } else { step * slowly };
            // A burst of two, so that the bucket is never full while it is polled.
            let limiter = kind.limiter(quota(1, period, 2), &tollgate::ManualClock::new()).unwrap();
            let (mut admitted, mut now) = (0, 0);
            while now < PERIODS * period + step {
                admitted += u64::from(limiter.try_acquire_n_at(1, Nanos(now)).is_ok());
                now += step;
            }
            assert_eq!(admitted, PERIODS + 2, "{kind:?} one per {period} polled every {step}");
        }
    }
}

#[test]
fn one_per_month_is_exact_to_the_nanosecond() {
    for period in [DAY, 7 * DAY, 30 * DAY, 365 * DAY, 7 * DAY + 1] {
        for mut pair in buckets(quota(1, period, 1)) {
            // A full packed bucket knows the time by whole tokens only, so it starts on one.
            let starts = if pair.kind == Kind::TokenBucket { [0, 1, 86_399_999_999_999] } else { [0, 0, 0] };
            for start in starts {
                pair.set(Nanos(pair.now().0.next_multiple_of(period) + start));
                assert!(pair.acquire(1).is_ok());
                let start = pair.now();
                pair.set(Nanos(start.0 + period - 1));
                assert!(pair.acquire(1).is_err(), "{:?} one per {period} from {start:?}", pair.kind);
                pair.set(Nanos(start.0 + period));
                assert!(pair.acquire(1).is_ok(), "{:?} one per {period} from {start:?}", pair.kind);
                pair.advance(Duration::from_nanos(3 * period));
            }
        }
    }
}

#[test]
fn the_rate_is_kept_to_the_token_at_the_exact_instants() {
    for (rate, burst, seconds) in [(100, 10, 1_000), (250, 1, 100), (1_000_000, 500, 1)] {
        for pair in buckets(quota(rate, SECOND, burst)) {
            let mut admitted = 0;
            for tick in 0..=rate * seconds {
                let now = Nanos(tick * (SECOND / rate));
                while pair.limiter.try_acquire_n_at(1, now).is_ok() {
                    admitted += 1;
                }
            }
            assert_eq!(admitted, burst + rate * seconds, "{:?} {rate}", pair.kind);
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn what_has_accrued_is_the_exact_whole_number(
        (tokens, period) in (1_u64..1 << 32, 1_u64..1 << 62)
            .prop_filter("coprime", |&(n, p)| gcd(n, p) == 1)
            .prop_filter("less than 2^62 tokens in a century", |&(n, p)| n / p < 1),
        instants in prop::collection::vec(0..100 * 365 * DAY, 1..20),
    ) {
        let exact = |t: u64| u64::try_from(u128::from(tokens) * u128::from(t) / u128::from(period)).unwrap();
        // A burst that a century does not fill: what is there is what has accrued.
        let mut saved = Pair::new(Kind::TokenBucket, quota(tokens, period, exact(100 * 365 * DAY) + 1)).unwrap();
        let mut instants = instants;
        instants.sort_unstable();
        prop_assert!(saved.acquire(saved.quota.burst()).is_ok());
        for &t in &instants {
            saved.set(Nanos(t));
            prop_assert_eq!(saved.limiter.available(), exact(t));
        }
        // And the same when it is taken away as it comes.
        let mut taken = 0;
        for &t in &instants {
            saved.set(Nanos(t));
            taken += saved.up_to(u64::MAX);
            prop_assert_eq!(taken, exact(t));
        }
    }
}

#[test]
fn a_hint_is_refused_a_nanosecond_before_and_admitted_at_it() {
    for quota in [
        quota(5, SECOND, 5),
        quota(3, SECOND, 3),
        quota(700_000_000, SECOND, 90),
        quota(2_000_000_011, SECOND, 5),
        quota(2, 3, 7),
        quota(1_009, 30 * DAY, 12),
        quota(13, 999_999_999_989, 1_000),
    ] {
        for kind in Kind::ALL {
            let Ok(mut pair) = Pair::new(kind, quota) else {
                assert_ne!(kind, Kind::TokenBucket, "holds any quota");
                continue;
            };
            let (capacity, period) = (kind.capacity(quota), Nanos::from(quota.period()).0);
            for wait in [0, 1, period / 3, period - 1, period * 5 / 3] {
                for cost in [1, capacity.div_ceil(2), capacity] {
                    pair.advance(Duration::from_nanos(wait));
                    pair.up_to(u64::MAX);
                    let denied = pair.acquire(cost).unwrap_err();
                    pair.wait_for(cost, denied.retry_after().unwrap());
                }
            }
        }
    }
}
