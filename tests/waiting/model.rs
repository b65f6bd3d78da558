//! Against the model with a list of intervals: places taken, spent and given back in every order that chance finds.

use core::time::Duration;
use proptest::prelude::*;
use tollgate::{Nanos, Quota};
use tollgate_testing::waiting::{Waiters, exact};

/// A step, in terms of the line's own measures.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Eighths of the time of one token, and a few nanoseconds.
    Forward(u64, u64),
    Back(u64),
    Reserve {
        n: u64,
        patience: Option<u64>,
    },
    Take(u64),
    TakeUpTo(u64),
    Spend(usize),
    GiveBack(usize, bool),
    Look,
}

fn follow(waiters: &mut Waiters, step: Step) {
    let period = u64::try_from(waiters.quota.period().as_nanos()).unwrap();
    let eighths = |eighths: u64| {
        u64::try_from(u128::from(eighths) * u128::from(period) / u128::from(8 * waiters.quota.tokens())).unwrap()
    };
    let held = waiters.held();
    match step {
        Step::Forward(by, nanos) => waiters.set(Nanos(waiters.now().0 + eighths(by) + nanos)),
        Step::Back(by) => waiters.set(Nanos(waiters.now().0.saturating_sub(eighths(by)))),
        Step::Reserve { n, patience } => {
            waiters.reserve(n, patience.map_or(Duration::MAX, |by| Duration::from_nanos(eighths(by))));
        }
        Step::Take(n) => waiters.take(n),
        Step::TakeUpTo(n) => waiters.take_up_to(n),
        Step::Spend(which) if held > 0 => waiters.spend(which % held),
        Step::GiveBack(which, in_words) if held > 0 => waiters.give_back(which % held, in_words),
        Step::Look => waiters.look(),
        Step::Spend(_) | Step::GiveBack(..) => {}
    }
}

fn steps(burst: u64) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0_u64..40, 0_u64..3).prop_map(|(by, nanos)| Step::Forward(by, nanos)),
        1 => (0_u64..20).prop_map(Step::Back),
        6 => (1..=burst + 1, prop::option::of(0_u64..100)).prop_map(|(n, patience)| Step::Reserve { n, patience }),
        2 => (1..=burst + 1).prop_map(Step::Take),
        1 => (0..=burst + 1).prop_map(Step::TakeUpTo),
        2 => any::<usize>().prop_map(Step::Spend),
        4 => any::<(usize, bool)>().prop_map(|(which, in_words)| Step::GiveBack(which, in_words)),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 1..60)
}

/// Rates from three tokens in two nanoseconds to one in a quarter of an hour.
fn exact_quotas() -> impl Strategy<Value = Quota> {
    (1_u64..=3, 0_u32..4, 0_u32..40, 1_u64..=9)
        .prop_map(|(tokens, doublings, halvings, burst)| exact(tokens, doublings.min(halvings), halvings.max(1), burst))
}

fn any_quotas() -> impl Strategy<Value = Quota> {
    (1_u64..2_000, 1_u64..5_000_000_000, 1_u64..=9)
        .prop_map(|(tokens, period, burst)| Quota::try_new(tokens, Duration::from_nanos(period), burst).unwrap())
}

fn longest() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(Duration::MAX), (0_u64..1 << 20).prop_map(Duration::from_nanos)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_line_answers_as_its_model_does(
        (quota, steps) in exact_quotas().prop_flat_map(|quota| (Just(quota), steps(quota.burst()))),
        longest in longest(),
    ) {
        let mut waiters = Waiters::new(quota, longest, true);
        for step in steps {
            follow(&mut waiters, step);
        }
        waiters.finish();
    }

    #[test]
    fn whatever_the_rate_the_bound_holds(
        (quota, steps) in any_quotas().prop_flat_map(|quota| (Just(quota), steps(quota.burst()))),
        longest in longest(),
    ) {
        let mut waiters = Waiters::new(quota, longest, false);
        for step in steps {
            follow(&mut waiters, step);
        }
        waiters.finish();
    }
}

/// Long runs in which places are given back in random orders: more steps than a property test would make.
#[test]
fn a_million_places_given_back_in_random_orders() {
    for seed in 0..64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let quota = exact(random.u64(1..=3), 0, random.u32(0..30), random.u64(1..=5));
        let mut waiters = Waiters::new(quota, Duration::MAX, true);
        for _ in 0..2_000 {
            // A crowd comes, and most of it leaves again in any order.
            for _ in 0..random.u64(1..20) {
                follow(&mut waiters, Step::Reserve { n: random.u64(1..=quota.burst()), patience: None });
            }
            while waiters.held() > 0 && random.u64(0..16) > 0 {
                let which = random.usize(..);
                let spend = random.u64(0..8) == 0;
                follow(&mut waiters, if spend { Step::Spend(which) } else { Step::GiveBack(which, random.bool()) });
            }
            follow(&mut waiters, Step::Forward(random.u64(0..30), random.u64(0..2)));
            if random.u64(0..8) == 0 {
                follow(&mut waiters, Step::Look);
            }
        }
        waiters.finish();
    }
}
