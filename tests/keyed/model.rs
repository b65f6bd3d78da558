//! The keyed limiter against a map of exact buckets, one for each key.

use core::hash::BuildHasherDefault;
use core::time::Duration;
use proptest::prelude::*;
use std::collections::HashMap;
use std::hash::DefaultHasher;
use tollgate::{Denied, KeyedLimiter, ManualClock, Nanos, Quota};

type Limiter = KeyedLimiter<u64, BuildHasherDefault<DefaultHasher>, ManualClock>;

/// A token bucket in whole fractions: tokens are counted in parts of `1 / period`, so nothing is ever rounded; but where
/// one takes less than a nanosecond, grains of `grain` tokens are counted, and costs are rounded up to whole ones.
#[derive(Clone, Copy, Debug)]
struct Exact {
    /// In grains.
    quota: Quota,
    grain: u64,
    /// The part of the last grain that there is not, which every call pays for.
    missing: u64,
    parts: i128,
    seen: Nanos,
}

impl Exact {
    fn new(quota: Quota) -> Self {
        let (tokens, period) = (quota.tokens(), u64::try_from(quota.period().as_nanos()).expect("at most 2^62"));
        let grain = (0..64).map(|bits| 1 << bits).find(|grain| period * grain >= tokens).expect("one is large enough");
        let missing = quota.burst().next_multiple_of(grain) - quota.burst();
        let burst = quota.burst().div_ceil(grain);
        let quota = Quota::try_new(tokens, Duration::from_nanos(period * grain), burst).expect("modest numbers");
        Self { quota, grain, missing, parts: Self::full(quota), seen: Nanos::ZERO }
    }

    fn period(quota: Quota) -> i128 {
        i128::try_from(quota.period().as_nanos()).expect("at most 2^62")
    }

    /// What `n` tokens cost, in parts.
    fn cost(&self, n: u64) -> i128 {
        let grains = if n == 0 { 0 } else { (n + self.missing).div_ceil(self.grain) };
        i128::from(grains) * Self::period(self.quota)
    }

    fn full(quota: Quota) -> i128 {
        i128::from(quota.burst()) * Self::period(quota)
    }

    fn advance(&mut self, now: Nanos) {
        if now > self.seen {
            let due = i128::from(now.0 - self.seen.0) * i128::from(self.quota.tokens());
            (self.parts, self.seen) = ((self.parts + due).min(Self::full(self.quota)), now);
        }
    }

    /// What a call may come to: admitted only, refused only, or either, because it is short of less than one unit of the
    /// limiter's scale.
    fn allowed(&self, n: u64) -> (bool, bool) {
        let (cost, period) = (self.cost(n), Self::period(self.quota));
        // There are floor(period / tokens) units in a token; none is needed where that divides.
        let tokens = i128::from(self.quota.tokens());
        let slack = if period % tokens == 0 { 0 } else { period / (period / tokens) };
        (self.parts + slack >= cost, self.parts < cost)
    }

    fn take(&mut self, n: u64) {
        self.parts -= self.cost(n);
    }

    fn give_back(&mut self, n: u64) {
        self.parts = (self.parts + i128::from(n / self.grain) * Self::period(self.quota)).min(Self::full(self.quota));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Advance(u64),
    Acquire(u64, u64),
    Many(Vec<u64>),
    Forget(u64),
    Refund(u64, u64),
    Forgive(u64),
    Status(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..40u32, any::<u64>()).prop_map(|(bits, x)| Step::Advance(x >> (63 - bits))),
        (0..12u64, 1..6u64).prop_map(|(key, n)| Step::Acquire(key, n)),
        prop::collection::vec(0..12u64, 0..40).prop_map(Step::Many),
        (0..12u64).prop_map(Step::Forget),
        (0..12u64, 1..6u64).prop_map(|(key, n)| Step::Refund(key, n)),
        (0..12u64).prop_map(Step::Forgive),
        (0..12u64).prop_map(Step::Status),
    ];
    prop::collection::vec(step, 1..150)
}

fn quotas() -> impl Strategy<Value = Quota> {
    let usual = (1..30u64, 0..40u32, any::<u64>(), 5..40u64).prop_map(|(tokens, bits, x, burst)| {
        let period = Duration::from_nanos((x >> (63 - bits)).max(tokens));
        Quota::try_new(tokens, period, burst).expect("modest numbers")
    });
    // More than a token in a nanosecond.
    let fast = (2..5_000u64, 1..40u64, 5..40u64).prop_map(|(tokens, period, burst)| {
        Quota::try_new(tokens.max(period), Duration::from_nanos(period), burst).expect("modest numbers")
    });
    prop_oneof![3 => usual, 1 => fast]
}

/// One call in both worlds.
fn compare(decision: Result<(), Denied>, model: &mut Exact, n: u64, now: Nanos) -> Result<(), TestCaseError> {
    model.advance(now);
    let (may_admit, may_refuse) = model.allowed(n);
    match decision {
        Ok(()) => {
            prop_assert!(may_admit, "admitted too much: {n} at {now:?}, {model:?}");
            model.take(n);
        }
        Err(Denied::TryAfter(hint)) => {
            prop_assert!(may_refuse, "refused what was there: {n} at {now:?}, {model:?}");
            let mut then = *model;
            then.advance(hint.due());
            prop_assert!(then.allowed(n).0, "the hint is too early: {hint:?}, {model:?}");
            let mut before = *model;
            before.advance(Nanos(hint.due().0 - 1));
            prop_assert!(before.allowed(n).1, "the hint is too late: {hint:?}, {model:?}");
        }
        Err(other) => prop_assert!(false, "{other:?}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The error stays below one unit however long the run: the model follows every decision and is never reset. The
    /// table has room for all keys, though they are forgotten and inserted again.
    #[test]
    fn every_key_is_exact(quota in quotas(), steps in steps()) {
        let clock = ManualClock::new();
        let limiter = Limiter::with_hasher_and_clock(quota, 12, BuildHasherDefault::default(), clock.clone());
        let mut models: HashMap<u64, Exact> = HashMap::new();
        let mut now = Nanos::ZERO;
        for step in steps {
            match step {
                Step::Advance(by) => {
                    now = now.saturating_add(Duration::from_nanos(by));
                    clock.set(now);
                }
                Step::Acquire(key, n) => {
                    let model = models.entry(key).or_insert(Exact::new(quota));
                    compare(limiter.try_acquire_n(&key, n), model, n, now)?;
                }
                Step::Many(keys) => {
                    let mut decisions = vec![Ok(()); keys.len()];
                    limiter.check_many(&keys, &mut decisions);
                    for (key, decision) in keys.iter().zip(decisions) {
                        compare(decision, models.entry(*key).or_insert(Exact::new(quota)), 1, now)?;
                    }
                }
                Step::Forget(key) => {
                    let model = models.entry(key).or_insert(Exact::new(quota));
                    model.advance(now);
                    let forgotten = limiter.forget(&key);
                    prop_assert!(!forgotten || model.allowed(quota.burst()).0, "forgotten in debt: {model:?}");
                }
                Step::Refund(key, n) => {
                    let model = models.entry(key).or_insert(Exact::new(quota));
                    model.advance(now);
                    limiter.refund(&key, n);
                    model.give_back(n);
                }
                Step::Forgive(key) => {
                    let model = models.entry(key).or_insert(Exact::new(quota));
                    model.advance(now);
                    prop_assert!(limiter.forgive(&key));
                    *model = Exact { parts: Exact::full(model.quota), ..*model };
                }
                Step::Status(key) => {
                    let model = models.entry(key).or_insert(Exact::new(quota));
                    model.advance(now);
                    let remaining = limiter.status(&key).remaining;
                    prop_assert!(model.allowed(remaining).0 && model.allowed(remaining + 1).1, "{remaining}, {model:?}");
                }
            }
        }
    }

    /// More keys than slots, on two clocks that disagree: whatever is refused for want of a slot, what is admitted keeps
    /// every key's bound.
    #[test]
    fn no_key_is_over_admitted_in_a_crowd(
        (tokens, period, burst) in (1..5u64, 5..1_000u64, 5..20u64),
        periods_apart in 0..40u64,
        calls in prop::collection::vec((0..25u64, 1..6u64, any::<bool>(), 0..1_000u64), 1..600),
    ) {
        let quota = Quota::try_new(tokens, Duration::from_nanos(period), burst).expect("modest numbers");
        let skew = periods_apart * period;
        let limiter = Limiter::with_hasher_and_clock(quota, 1, BuildHasherDefault::default(), ManualClock::new());
        let mut admitted: HashMap<u64, Vec<(Nanos, u64)>> = HashMap::new();
        let mut time = Nanos(skew);
        for (key, n, behind, by) in calls {
            time = time.saturating_add(Duration::from_nanos(by * period / 1_000));
            let now = if behind { Nanos(time.0 - skew) } else { time };
            if limiter.try_acquire_n_at(&key, n, now).is_ok() {
                admitted.entry(key).or_default().push((now, n));
            }
        }
        for (key, mut calls) in admitted {
            // Every window keeps the bound if a bucket that is filled and drained in the order of the readings does.
            calls.sort_unstable();
            let mut model = Exact::new(quota);
            for &(now, n) in &calls {
                model.advance(now);
                prop_assert!(model.allowed(n).0, "key {key} admitted too much at {now:?}: {calls:?}");
                model.take(n);
            }
        }
    }

    /// The same crowd, in which keys are forgiven now and then, and given tokens back: between two times that a key is
    /// forgiven it keeps its bound, for what it was admitted less what it gave back of that.
    #[test]
    fn no_key_is_over_admitted_in_a_crowd_that_is_given_tokens_back(
        (tokens, period, burst) in (1..5u64, 5..1_000u64, 5..20u64),
        periods_apart in 0..40u64,
        calls in prop::collection::vec((0..25u64, 1..6u64, any::<bool>(), 0..2_000u64, 0..10u8), 1..600),
    ) {
        let quota = Quota::try_new(tokens, Duration::from_nanos(period), burst).expect("modest numbers");
        let skew = periods_apart * period;
        let limiter = Limiter::with_hasher_and_clock(quota, 1, BuildHasherDefault::default(), ManualClock::new());
        let mut lives: HashMap<u64, Vec<Vec<(Nanos, u64)>>> = HashMap::new();
        let mut time = Nanos(skew);
        for (key, n, behind, by, what) in calls {
            // A slot whose word was lowered is kept for seconds: long pauses, so that it does change hands.
            let pause = if what == 9 { 4_000_000_000 } else { by * period / 1_000 };
            time = time.saturating_add(Duration::from_nanos(pause));
            let now = if behind { Nanos(time.0 - skew) } else { time };
            let lives = lives.entry(key).or_insert_with(|| vec![Vec::new()]);
            let life = lives.last_mut().expect("one at least");
            match what {
                0 => {
                    limiter.forgive_at(&key, now);
                    lives.push(Vec::new());
                }
                1 | 2 => {
                    let mut back = n.min(life.iter().map(|&(_, n)| n).sum());
                    limiter.refund(&key, back);
                    while back > 0 && let Some((_, last)) = life.last_mut() {
                        let part = back.min(*last);
                        (*last, back) = (*last - part, back - part);
                        if *last == 0 {
                            life.pop();
                        }
                    }
                }
                _ if limiter.try_acquire_n_at(&key, n, now).is_ok() => life.push((now, n)),
                _ => {}
            }
        }
        for (key, life) in lives.into_iter().flat_map(|(key, lives)| lives.into_iter().map(move |life| (key, life))) {
            let mut calls = life;
            calls.sort_unstable();
            let mut model = Exact::new(quota);
            for &(now, n) in &calls {
                model.advance(now);
                prop_assert!(model.allowed(n).0, "key {key} admitted too much at {now:?}: {calls:?}");
                model.take(n);
            }
        }
    }
}
