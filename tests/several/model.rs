//! Without races, a set is the conjunction of its limits' definitions.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed};
use std::time::Duration;
use tollgate::{KeyedLimiter, LimitSet, ManualClock, Nanos, Quota, RateLimitAt, WaitingTokenBucket};
use tollgate_testing::subject::Kind;

/// All instants are whole steps, and tokens come after whole steps: so a limiter that counts in units decides as one that
/// counts in fractions. The packed bucket counts tokens: there, one comes each step.
const STEP: Duration = Duration::from_millis(100);

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(0x7011_6a7e),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_set_admits_what_all_its_models_would_and_names_those_who_would_not(
        limits in [(1_u32..6, 1_u32..9, 1_u64..9), (1_u32..6, 1_u32..2, 1_u64..9), (1_u32..6, 1_u32..9, 1_u64..9),
            (1_u32..6, 1_u32..9, 1_u64..9), (1_u32..6, 1_u32..9, 1_u64..9), (1_u32..6, 1_u32..9, 1_u64..9)],
        calls in prop::collection::vec((0_u32..4, [0_u64..4, 0..4, 0..4, 0..4, 0..4, 0..4]), 1..120),
    ) {
        let clock = ManualClock::new();
        let quotas = limits.map(|(tokens, steps, burst)| Quota::per(tokens.into(), STEP * steps * tokens).with_burst(burst));
        let kinds = [
            Kind::TokenBucket, Kind::PackedTokenBucket, Kind::FixedWindow, Kind::SlidingWindowCounter,
            Kind::TokenBucket, Kind::SlidingWindowLog,
        ];
        let waiting = WaitingTokenBucket::with_clock(quotas[0], Duration::ZERO, clock.clone());
        let keyed = KeyedLimiter::<u64>::with_clock(quotas[4], 10, clock.clone());
        let (packed, fixed, counter, log) = (
            tollgate::PackedTokenBucket::with_clock(quotas[1], clock.clone()),
            tollgate::FixedWindow::with_clock(quotas[2], clock.clone()),
            tollgate::SlidingWindowCounter::with_clock(quotas[3], clock.clone()),
            tollgate::SlidingWindowLog::with_clock(quotas[5], clock.clone()),
        );
        let set: [&dyn RateLimitAt; 6] = [&waiting, &packed, &fixed, &counter, &keyed.line(&7), &log];
        let set = LimitSet::try_with_clock(set, clock.clone()).unwrap();
        let mut models: Vec<_> = kinds.iter().zip(quotas).map(|(kind, quota)| kind.model(quota)).collect();
        let mut now = Nanos::ZERO;
        for (steps, costs) in calls {
            now = now.saturating_add(STEP * steps);
            let refusing: Vec<usize> =
                (0..6).filter(|&limit| !models[limit].would_admit(costs[limit], now)).collect();
            let told = set.try_acquire_n_at(costs, now);
            match told {
                Ok(()) => {
                    prop_assert!(refusing.is_empty(), "{refusing:?} would refuse");
                    for (model, cost) in models.iter_mut().zip(costs) {
                        model.charge(cost, now);
                    }
                }
                Err(denied) => {
                    prop_assert_eq!(denied.limits().collect::<Vec<_>>(), refusing.clone());
                    prop_assert!(!denied.is_late() && denied.spent().count() == 0);
                    let capacities = kinds.iter().zip(quotas).map(|(kind, quota)| kind.capacity(quota));
                    let never = capacities.zip(costs).any(|(capacity, cost)| cost > capacity);
                    let due = refusing.iter().map(|&limit| models[limit].earliest(costs[limit], now)).max().flatten();
                    let wait = due.filter(|_| !never).map(|due| due.saturating_since(now));
                    prop_assert_eq!(denied.retry_after(), wait);
                }
            }
        }
    }
}
