//! Every algorithm against its reference model, over the whole range of quotas, costs and times.
//!
//! The cases are the same in every run: the generator starts from a fixed seed.

mod strategies;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed};
use strategies::{Step, fitted, quotas, schedules};
use tollgate::{Nanos, Quota};
use tollgate_testing::subject::{Kind, Pair};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(0x7011_6a7e),
        ..ProptestConfig::default()
    }
}

/// Takes each step on both sides; the pair compares the answers.
fn follow(kind: Kind, quota: Quota, steps: &[Step]) {
    let mut pair = fitted(kind, quota);
    for step in steps {
        step.take(&mut pair);
    }
    pair.look();
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn limiters_follow_their_models(quota in quotas(), steps in schedules(0)) {
        for kind in Kind::ALL {
            follow(kind, quota, &steps);
        }
    }

    #[test]
    fn limiters_follow_their_models_when_the_clock_jumps_back(quota in quotas(), steps in schedules(2)) {
        for kind in Kind::ALL {
            follow(kind, quota, &steps);
        }
    }

    #[test]
    fn limiters_that_start_at_a_chosen_level_follow_their_models(
        quota in quotas(), steps in schedules(0), part in 0..=8_u64, at in 0..1_u64 << 58,
    ) {
        for kind in Kind::ALL {
            let quota = fitted(kind, quota).quota;
            let tokens = kind.capacity(quota).div_ceil(8).saturating_mul(part);
            let mut pair = Pair::holding(tokens, kind, quota, Nanos(at)).unwrap();
            pair.look();
            for step in &steps {
                step.take(&mut pair);
            }
        }
    }
}
