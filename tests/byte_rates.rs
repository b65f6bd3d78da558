//! Byte rates of today's networks, and of tomorrow's: taken as they are, strictly.

use core::time::Duration;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tollgate::{
    FixedWindow, IntervalBucket, KeyedLimiter, LeakyBucket, ManualClock, Nanos, PackedTokenBucket, Quota, QuotaError,
    RateLimitAt, ShardedTokenBucket, TokenBucket, WaitingTokenBucket,
};
use tollgate_testing::subject::{Kind, Pair};
use tollgate_testing::trace::{Admission, worst_window};

/// Bytes per second at 100 and 400 Gbit/s, 17.6 and 80 Tbit/s.
const RATES: [u64; 4] = [12_500_000_000, 50_000_000_000, 2_200_000_000_000, 10_000_000_000_000];

/// Tokens to a unit at each of them.
const UNITS: [u64; 4] = [4, 16, 1_024, 4_096];

/// A second's worth, on limiters that are told the time.
fn all(quota: Quota) -> [Box<dyn RateLimitAt>; 6] {
    let clock = ManualClock::new;
    [
        Box::new(TokenBucket::try_with_clock(quota, clock()).unwrap()),
        Box::new(LeakyBucket::try_with_clock(quota, clock()).unwrap()),
        Box::new(PackedTokenBucket::try_with_clock(quota, clock()).unwrap()),
        Box::new(FixedWindow::try_with_clock(quota, clock()).unwrap()),
        Box::new(IntervalBucket::try_with_clock(quota, clock()).unwrap()),
        Box::new(ShardedTokenBucket::try_with_shards_and_clock(quota, 2, clock()).unwrap()),
    ]
}

#[test]
fn every_bucket_takes_the_byte_rates_of_networks() {
    for rate in RATES {
        for limiter in all(Quota::per_second(rate)) {
            assert_eq!((limiter.quota().tokens(), limiter.quota().burst()), (rate, rate));
            let second = Nanos::from_secs(1_800_000_000);
            let full = limiter.max_cost();
            assert!(full > rate / 8 * 7 && full <= rate);
            assert!(limiter.try_acquire_n_at(full, second).is_ok(), "{rate}");
            let wait = limiter.try_acquire_n_at(full, second).unwrap_err().retry_after().unwrap();
            let most = Duration::from_secs(1) + Duration::from_nanos(1);
            assert!(wait > Duration::from_millis(875) && wait <= most, "{rate}: {wait:?}");
            assert!(limiter.try_acquire_n_at(full, Nanos::from_secs(1_800_000_001)).is_ok(), "{rate}");
        }
        assert!(
            WaitingTokenBucket::with_clock(Quota::per_second(rate), Duration::from_secs(1), ManualClock::new())
                .try_acquire()
                .is_ok()
        );
    }
}

/// Packets at line rate for a millisecond: as many bytes as the rate brings, to the rounding of each packet.
#[test]
fn packets_are_rounded_up_to_units_and_no_further() {
    for (rate, unit) in RATES.into_iter().zip(UNITS) {
        for packet in [64, 1_500, 9_000, 65_536_u64] {
            let burst = 16 * 65_536;
            let bucket = TokenBucket::with_clock(Quota::per_second(rate).with_burst(burst), ManualClock::new());
            let (mut run, rounded) = (Vec::new(), packet.div_ceil(unit) * unit);
            for now in 0..=100_000 {
                while bucket.try_acquire_n_at(packet, Nanos(now)).is_ok() {
                    run.push(Admission::new(packet, Nanos(now)));
                }
            }
            let admitted: u64 = run.iter().map(|packet| packet.cost).sum();
            let most = (burst + rate / 10_000) / rounded * packet;
            assert!(admitted <= most && admitted + 2 * packet >= most, "{rate} {packet}: {admitted} of {most}");
            if let Some(window) = worst_window(&run, bucket.quota()) {
                assert!(window.excess.numerator() < window.excess.denominator() * u128::from(unit), "{window}");
            }
        }
    }
}

/// A key of a table, too: costs rounded up to units, the whole burst, every window within the bound.
#[test]
fn keys_take_the_byte_rates_of_networks() {
    for rate in RATES {
        let quota = Quota::per_second(rate);
        let unit = 1_u64 << (64 - ((rate - 1) / 1_000_000_000).leading_zeros());
        for burst in [1, 1_499, unit, unit + 1, rate, 1 << 60] {
            let keys = KeyedLimiter::<u64>::with_clock(quota.with_burst(burst), 9, ManualClock::new());
            assert_eq!((keys.status_at(&1, Nanos::ZERO).remaining, keys.class(0).max_cost()), (burst, burst));
            assert!(keys.try_acquire_n_at(&1, burst, Nanos::ZERO).is_ok());
            assert_eq!(keys.status_at(&1, Nanos::ZERO).remaining, 0);
            assert!(keys.try_acquire_n_at(&1, 1, Nanos::ZERO).is_err());
            for n in [burst, burst / 2, 1].into_iter().filter(|&n| n > 0) {
                let before = keys.status_at(&2, Nanos::ZERO).remaining;
                assert!(keys.try_acquire_n_at(&2, n, Nanos::ZERO).is_ok());
                keys.refund(&2, n / 3);
                keys.refund(&2, n - n / 3);
                assert!(keys.status_at(&2, Nanos::ZERO).remaining <= before, "{n} of {burst} at {rate}");
                keys.forgive_at(&2, Nanos::ZERO);
            }
        }
        for packet in [64, 1_500, 65_536_u64] {
            let (burst, start) = (16 * 65_536, 1_800_000_000_000_000_000);
            let keys = KeyedLimiter::<u64>::with_clock(quota.with_burst(burst), 9, ManualClock::new());
            let (mut run, rounded) = (Vec::new(), packet.div_ceil(unit) * unit);
            for now in start..=start + 100_000 {
                while keys.try_acquire_n_at(&7, packet, Nanos(now)).is_ok() {
                    run.push(Admission::new(packet, Nanos(now)));
                }
            }
            let admitted: u64 = run.iter().map(|packet| packet.cost).sum();
            let most = (burst + rate / 10_000) / rounded * packet;
            assert!(
                admitted <= most + packet && admitted + 2 * packet >= most,
                "{rate} {packet}: {admitted} of {most}"
            );
            if let Some(window) = worst_window(&run, keys.quota()) {
                assert!(window.excess.numerator() < window.excess.denominator() * u128::from(unit), "{window}");
            }
        }
    }
}

/// However calls and refunds are divided, nothing is minted by rounding.
#[test]
fn a_refund_gives_back_no_more_than_was_paid() {
    for (rate, unit) in RATES.into_iter().zip(UNITS) {
        let quota = Quota::per_second(rate).with_burst(10 * unit + 1);
        let bucket = TokenBucket::with_clock(quota, ManualClock::new());
        for n in [1, unit - 1, unit, unit + 1, 5 * unit + 3] {
            let before = bucket.available();
            assert!(bucket.try_acquire_n(n).is_ok());
            let (third, rest) = (n / 3, n - n / 3);
            bucket.refund(third);
            bucket.refund(rest);
            assert!(bucket.available() <= before, "{n} at {rate}");
            bucket.forgive();
        }
        // Whole units come back whole.
        assert!(bucket.try_acquire_n(10 * unit + 1).is_ok());
        bucket.refund(4 * unit);
        assert_eq!(bucket.available(), 3 * unit + 1, "but for the part that each call pays for");
    }
}

#[test]
fn the_whole_burst_is_there_whatever_it_is() {
    for rate in RATES {
        for burst in [1, 2, 1_499, 4_095, 4_096, 4_097, 1 << 40, u64::MAX] {
            let bucket = TokenBucket::with_clock(Quota::per_second(rate).with_burst(burst), ManualClock::new());
            assert_eq!((bucket.available(), bucket.max_cost(), bucket.quota().burst()), (burst, burst, burst));
            assert!(bucket.try_acquire_n(burst).is_ok());
            assert_eq!(bucket.available(), 0);
        }
    }
}

#[test]
fn what_is_faster_than_any_network_is_an_error_that_names_the_limit() {
    let second = Duration::from_secs(1);
    let Err(error @ QuotaError::RateTooHigh { most, .. }) = Quota::try_new(u64::MAX, second, 1) else { panic!() };
    assert!(most > 260_000_000_000_000 && error.to_string().contains(&most.to_string()), "{error}");
    assert!(Quota::try_new(most, second, 1).is_ok() && Quota::try_new(most + 1, second, 1).is_err());
}

/// Rates of 2 to 2^16 tokens per nanosecond, with bursts from one token up.
fn fast() -> impl Strategy<Value = Quota> {
    (1..16_u32, 1..1_000_u64, any::<u64>(), 0..40_u32).prop_map(|(bits, period, x, shift)| {
        let tokens = ((1 << bits) + (x >> 48) % (1 << bits)) * period + x % period;
        Quota::try_new(tokens, Duration::from_nanos(period), ((x >> 24) >> shift).max(1)).unwrap()
    })
}

/// Steps of a few nanoseconds, and costs in 16ths of the capacity, and a few tokens more.
type Steps = Vec<(u8, u8, u8, u8)>;

fn follow(kind: Kind, quota: Quota, steps: &Steps) {
    let Ok(mut pair) = Pair::new(kind, quota) else { return };
    for &(what, nanos, part, more) in steps {
        pair.set(Nanos(pair.now().0.saturating_add(nanos.into())));
        let cost = kind.capacity(quota) / 16 * u64::from(part % 18) + u64::from(more % 9);
        match what % 8 {
            0 => drop(pair.up_to(cost)),
            1 => pair.refund(cost),
            2 => pair.look(),
            3 => pair.set(Nanos(pair.now().0.saturating_sub(u64::from(nanos) * 2))),
            _ => drop(pair.acquire(cost)),
        }
    }
    pair.look();
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::with_cases(600)
    })]

    #[test]
    fn at_high_rates_the_token_bucket_follows_a_model_that_counts_units(
        quota in fast(), steps in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..60),
    ) {
        follow(Kind::TokenBucket, quota, &steps);
    }

    #[test]
    fn at_high_rates_the_fixed_window_is_a_model_that_counts_units(
        quota in fast(), steps in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..60),
    ) {
        follow(Kind::FixedWindow, quota, &steps);
    }

    #[test]
    fn at_high_rates_the_packed_bucket_follows_a_model_that_counts_units(
        quota in fast(), steps in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..60),
    ) {
        // A late refund shows later in it than in the model, whatever the units.
        let steps: Steps = steps.into_iter().filter(|step| step.0 % 8 != 1).collect();
        follow(Kind::PackedTokenBucket, quota, &steps);
    }

    /// The bound in tokens, whatever is asked for.
    #[test]
    fn at_high_rates_every_window_keeps_the_bound_to_a_unit(
        quota in fast(), steps in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..60),
    ) {
        let (bucket, mut run, mut now) = (TokenBucket::with_clock(quota, ManualClock::new()), Vec::new(), 0);
        for (what, nanos, part, more) in steps {
            now += u64::from(nanos % 6);
            let at = Nanos(if what % 4 == 0 { now.saturating_sub(u64::from(part)) } else { now });
            let cost = quota.burst() / 16 * u64::from(part % 18) + u64::from(more % 9);
            if bucket.try_acquire_n_at(cost, at).is_ok() {
                run.push(Admission::new(cost, at));
            }
        }
        let unit = u128::from(Kind::TokenBucket.tokens_per_unit(quota).unwrap());
        if let Some(window) = worst_window(&run, quota) {
            prop_assert!(window.excess.numerator() < window.excess.denominator() * unit, "{quota:?}: {window}");
        }
    }
}
