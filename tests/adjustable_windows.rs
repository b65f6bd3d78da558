//! Windows whose quota changes while they are in use: nothing extra is admitted, and nothing is lost.

use core::fmt::Debug;
use core::time::Duration;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use tollgate::{
    AdjustError, AdjustableFixedWindow, AdjustableIntervalBucket, AdjustableSlidingWindowCounter, CarryOver, Clock,
    Denied, ManualClock, Nanos, Quota, RateLimitAt, WallClock,
};
use tollgate_testing::reference::{self, Model};

const SECOND: Duration = Duration::from_secs(1);
const NANO: Duration = Duration::from_nanos(1);

fn window(quota: Quota) -> (AdjustableFixedWindow<ManualClock>, ManualClock) {
    let clock = ManualClock::starting_at(Nanos::ZERO);
    (AdjustableFixedWindow::with_clock(quota, clock.clone()), clock)
}

fn counter(quota: Quota) -> (AdjustableSlidingWindowCounter<ManualClock>, ManualClock) {
    let clock = ManualClock::starting_at(Nanos::ZERO);
    (AdjustableSlidingWindowCounter::with_clock(quota, clock.clone()), clock)
}

/// Runs a scene on both kinds of windows.
macro_rules! both {
    ($scene:ident, $quota:expr) => {{
        let (limiter, clock) = window($quota);
        $scene(&limiter, &clock, |quota| limiter.set_quota(quota));
        let (limiter, clock) = counter($quota);
        $scene(&limiter, &clock, |quota| limiter.set_quota(quota));
    }};
}

type Set = Result<(), AdjustError>;

#[test]
fn ten_reloads_in_one_instant_admit_nothing_extra() {
    fn scene(limiter: &impl RateLimitAt, _: &ManualClock, set: impl Fn(Quota) -> Set) {
        let admitted: u64 = (0..=10)
            .map(|reload| {
                set(if reload % 2 == 0 { Quota::per_minute(60) } else { Quota::per_minute(40) }).unwrap();
                set(Quota::per_hour(50)).unwrap();
                set(Quota::per_minute(60)).unwrap();
                limiter.try_acquire_up_to(u64::MAX)
            })
            .sum();
        assert_eq!(admitted, 60);
    }
    both!(scene, Quota::per_minute(60));
}

#[test]
fn lowered_and_raised_in_one_instant_admits_nothing() {
    fn scene(limiter: &impl RateLimitAt, clock: &ManualClock, set: impl Fn(Quota) -> Set) {
        limiter.try_acquire_n(60).unwrap();
        set(Quota::per_minute(10)).unwrap();
        assert_eq!((limiter.available(), limiter.max_cost()), (0, 10));
        set(Quota::per_minute(60)).unwrap();
        assert_eq!(limiter.available(), 0);
        set(Quota::per_minute(70)).unwrap();
        assert_eq!(limiter.try_acquire_up_to(u64::MAX), 10);
        set(Quota::per_minute(5)).unwrap();
        set(Quota::per_minute(80)).unwrap();
        assert_eq!(limiter.try_acquire_up_to(u64::MAX), 10);
        clock.advance(120 * SECOND);
        assert_eq!(limiter.available(), 80);
    }
    both!(scene, Quota::per_minute(60));
}

/// One per second, reloaded each 900 ms: a window ends on time, whatever its length is called meanwhile.
#[test]
fn reloads_faster_than_windows_lose_no_window() {
    fn scene(limiter: &impl RateLimitAt, clock: &ManualClock, set: impl Fn(Quota) -> Set, quotas: [Quota; 2]) -> u64 {
        let mut admitted = 0;
        for step in 0..900_usize {
            if step % 9 == 0 {
                set(quotas[step / 9 % 2]).unwrap();
            }
            admitted += u64::from(limiter.try_acquire().is_ok());
            clock.advance(Duration::from_millis(100));
        }
        admitted
    }
    let one = Quota::per_second(1);
    for other in [one, Quota::per(1, 2 * SECOND), Quota::per(2, SECOND), Quota::per(1, Duration::from_millis(700))] {
        // 90 seconds, for half of which the other quota is in force; and the most that there can be, under the better of both.
        let per_second = |quota: Quota| quota.tokens() * 1_000 / u64::try_from(quota.period().as_millis()).unwrap();
        let shortest = u64::try_from(other.period().min(SECOND).as_millis()).unwrap();
        let (fair, most) = (45 + 45 * per_second(other), other.tokens() * (90_000 / shortest + 1));
        let (limiter, clock) = window(one);
        let admitted = scene(&limiter, &clock, |quota| limiter.set_quota(quota), [one, other]);
        assert!(admitted * 10 >= fair * 9 && admitted <= most, "{admitted} of {fair}, {other}");
        let (limiter, clock) = counter(one);
        let admitted = scene(&limiter, &clock, |quota| limiter.set_quota(quota), [one, other]);
        // A sliding counter of one admits one in two windows.
        assert!(admitted * 10 >= fair * 4 && admitted <= most, "{admitted} of {fair}, {other}");
    }
    let (limiter, clock) = window(one);
    assert_eq!(scene(&limiter, &clock, |quota| limiter.set_quota(quota), [one, one]), 90);
}

#[test]
fn a_change_in_the_middle_of_a_day_leaves_midnight_where_it_is() {
    let noon = Nanos::from_secs(20_000 * 86_400 + 43_200);
    let clock = ManualClock::starting_at(noon);
    let limiter = AdjustableFixedWindow::with_clock(Quota::per(100, Duration::from_secs(86_400)), clock.clone());
    limiter.try_acquire_n(70).unwrap();
    limiter.set_quota(Quota::per(80, Duration::from_secs(86_400))).unwrap();
    assert_eq!(limiter.available(), 10);
    assert_eq!(limiter.try_acquire_n(11).unwrap_err().retry_after(), Some(Duration::from_secs(43_200)));
    limiter.set_quota(Quota::per(90, Duration::from_secs(7 * 86_400))).unwrap();
    // 20,000 days after a Thursday it is a Monday; weeks of the clock begin on Thursdays.
    let until = 7 * 86_400 - (noon.0 / 1_000_000_000) % (7 * 86_400);
    assert_eq!(limiter.try_acquire_n(21).unwrap_err().retry_after(), Some(Duration::from_secs(until)));
    limiter.set_quota(Quota::per_hour(75)).unwrap();
    assert_eq!(limiter.status().remaining, 5);
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(limiter.available(), 75);
    // On the time of day itself.
    let wall = AdjustableFixedWindow::with_clock(Quota::per_hour(10), WallClock::UTC);
    wall.try_acquire_n_at(10, Nanos::from_secs(7_200)).unwrap();
    assert_eq!(wall.check_n_at(1, Nanos::from_secs(7_201)).unwrap_err().retry_after(), Some(3_599 * SECOND));
}

#[test]
fn a_clock_that_goes_back_gives_no_second_window() {
    fn scene(limiter: &impl RateLimitAt, clock: &ManualClock, set: impl Fn(Quota) -> Set) {
        clock.set(Nanos::from_secs(600));
        limiter.try_acquire_n(60).unwrap();
        clock.set(Nanos::from_secs(60));
        for quota in [Quota::per_minute(50), Quota::per_second(60), Quota::per_minute(60)] {
            set(quota).unwrap();
            assert_eq!(limiter.available(), 0, "{quota}");
        }
        clock.set(Nanos::from_secs(599));
        set(Quota::per_minute(61)).unwrap();
        assert_eq!(limiter.try_acquire_up_to(u64::MAX), 1);
        clock.set(Nanos::from_secs(720));
        assert_eq!(limiter.available(), 61);
    }
    both!(scene, Quota::per_minute(60));
}

#[test]
fn no_limit_and_no_admission_are_quotas_like_others() {
    fn scene(limiter: &impl RateLimitAt, clock: &ManualClock, set: impl Fn(Quota) -> Set) {
        limiter.try_acquire_n(6).unwrap();
        set(Quota::DENY_ALL).unwrap();
        assert_eq!(limiter.try_acquire(), Err(Denied::ExceedsBurst { cost: 1, max_cost: 0 }));
        assert_eq!((limiter.quota(), limiter.status().reset_after), (Quota::DENY_ALL, Duration::ZERO));
        clock.advance(100 * SECOND);
        limiter.refund(5);
        set(Quota::per_second(10)).unwrap();
        assert_eq!(limiter.available(), 4, "what was owed is still owed");
        set(Quota::UNLIMITED).unwrap();
        assert_eq!((limiter.try_acquire_n(u64::MAX), limiter.quota()), (Ok(()), Quota::UNLIMITED));
        assert_eq!(limiter.available(), u64::MAX);
        set(Quota::DENY_ALL).unwrap();
        set(Quota::per_second(10)).unwrap();
        assert_eq!(limiter.try_acquire_up_to(u64::MAX), 10);
    }
    both!(scene, Quota::per_second(10));
}

#[test]
fn fractions_of_the_estimate_are_kept() {
    let (counter, clock) = counter(Quota::per_second(3));
    counter.try_acquire_n(3).unwrap();
    clock.set(Nanos::from_millis(1_500));
    // One and a half are owed, and half a window is past.
    counter.set_quota(Quota::per(3, 4 * SECOND)).unwrap();
    assert_eq!(counter.available(), 1);
    // The other half token in a sixth of a period.
    let wait = counter.try_acquire_n(2).unwrap_err().retry_after().unwrap();
    assert_eq!(wait, Duration::from_nanos(666_666_667));
    clock.advance(wait.checked_sub(NANO).unwrap());
    assert!(counter.try_acquire_n(2).is_err());
    clock.advance(NANO);
    assert!(counter.try_acquire_n(2).is_ok());
}

#[test]
fn windows_stay_where_they_are_while_the_period_stays() {
    let (counter, clock) = counter(Quota::per_second(100));
    counter.try_acquire_n(100).unwrap();
    for step in 0..10 {
        counter.set_quota(Quota::per_second(100 + step % 2)).unwrap();
        clock.advance(Duration::from_millis(137));
    }
    clock.set(Nanos::from_nanos(1_499_999_999));
    counter.set_quota(Quota::per_second(100)).unwrap();
    assert_eq!(counter.available(), 49);
    clock.advance(NANO);
    assert_eq!(counter.available(), 50);
}

#[test]
fn each_way_to_carry_over_is_what_it_says() {
    let ways = [CarryOver::Debt, CarryOver::Tokens, CarryOver::Scaled, CarryOver::Full, CarryOver::Empty];
    macro_rules! left {
        ($make:ident, $spent:expr, $old:expr, $new:expr) => {
            ways.map(|how| {
                let (limiter, _clock) = $make(Quota::per_hour($old));
                limiter.try_acquire_n($spent).unwrap();
                limiter.set_quota_with(Quota::per_hour($new), how).unwrap();
                limiter.available()
            })
        };
    }
    for [spent, old, new] in [[7, 10, 20], [7, 10, 5], [0, 10, 5], [10, 10, 30]] {
        let expected = match (spent, new) {
            (7, 20) => [13, 3, 6, 20, 0],
            (7, _) => [0, 3, 1, 5, 0],
            (0, _) => [5, 5, 5, 5, 0],
            _ => [20, 0, 0, 30, 0],
        };
        assert_eq!(left!(window, spent, old, new), expected);
        assert_eq!(left!(counter, spent, old, new), expected);
    }
}

/// Of a sliding counter in the middle of a window: what is there is what the sentence says, or less than a token below.
#[test]
fn what_two_windows_count_is_carried_over_as_it_says() {
    for (new, elapsed) in [(5, 1), (5, 50), (9, 13), (10, 50), (30, 99), (3, 0), (1, 98)] {
        let quota = Quota::per(10, Duration::from_micros(100));
        let standing = || {
            let (counter, clock) = counter(quota);
            counter.try_acquire_n(9).unwrap();
            clock.set(Nanos::from_micros(100 + elapsed));
            counter.try_acquire_up_to(3);
            (counter, clock)
        };
        let there = standing().0.available();
        let left = |how| {
            let (counter, _clock) = standing();
            counter.set_quota_with(Quota::per(new, Duration::from_micros(100)), how).unwrap();
            counter.available()
        };
        let tokens = left(CarryOver::Tokens);
        assert!(tokens == there.min(new) || tokens + 1 == there.min(new), "{tokens} of {there} under {new}");
        let scaled = left(CarryOver::Scaled);
        assert!(scaled <= (there + 1) * new / 10 && scaled + 2 >= there * new / 10, "{scaled} of {there} under {new}");
        assert_eq!((left(CarryOver::Full), left(CarryOver::Empty)), (new, 0));
    }
}

#[test]
fn a_window_takes_back_what_it_has_counted_and_nothing_else() {
    let (limiter, clock) = window(Quota::per_minute(10));
    let first = clock.now();
    limiter.try_acquire_n(5).unwrap();
    clock.advance(60 * SECOND);
    let second = clock.now();
    limiter.try_acquire_n(5).unwrap();
    limiter.set_quota(Quota::per_hour(10)).unwrap();
    // The hour counts what the second minute has, and not what the first has.
    limiter.refund_at(5, first);
    assert_eq!(limiter.available(), 5);
    limiter.refund_at(2, second);
    assert_eq!(limiter.available(), 7);
    // By receipt: of this quota, whoever has called since; of the one before, no longer.
    let taken = limiter.take_n_at(3, clock.now()).unwrap();
    limiter.try_acquire().unwrap();
    assert!(limiter.give_back(taken));
    assert_eq!(limiter.available(), 6);
    let taken = limiter.take_n_at(3, clock.now()).unwrap();
    limiter.set_quota(Quota::per_hour(11)).unwrap();
    assert!(!limiter.give_back(taken));
    assert_eq!(limiter.available(), 4);
    // What stands beyond a limit is not minted anew.
    limiter.set_quota(Quota::per_hour(3)).unwrap();
    limiter.refund(100);
    limiter.set_quota(Quota::per_hour(11)).unwrap();
    assert_eq!(limiter.available(), 7);
}

#[test]
fn what_does_not_fit_is_refused_and_the_old_quota_stays() {
    fn scene(limiter: &impl RateLimitAt, _: &ManualClock, set: impl Fn(Quota) -> Set) {
        limiter.try_acquire_n(3).unwrap();
        for _ in 0..10 {
            assert_eq!(set(Quota::per_second(1 << 31)), Err(AdjustError::TooLarge));
            assert_eq!((limiter.quota(), limiter.available()), (Quota::per_second(10), 7));
        }
        set(Quota::per_second(5)).unwrap();
        assert_eq!(limiter.available(), 2);
    }
    both!(scene, Quota::per_second(10));
    let large = |quota| AdjustableIntervalBucket::try_with_clock(quota, ManualClock::new()).is_err();
    assert!(large(Quota::per_second(1 << 30)) && !large(Quota::per_second((1 << 30) - 1)));
    assert!(large(Quota::per_minute(1 << 36)) && !large(Quota::per_minute((1 << 36) - 1)));
    let large = |quota| AdjustableSlidingWindowCounter::try_with_clock(quota, ManualClock::new()).is_err();
    assert!(large(Quota::per_second(1 << 15)) && !large(Quota::per_second((1 << 15) - 1)));
    assert!(large(Quota::per_minute(1 << 18)) && !large(Quota::per_minute((1 << 18) - 1)));
}

/// Each change takes a part of the word's life. The last that there is room for leaves room for all that its quota promises.
#[test]
fn a_change_that_would_end_the_limiters_life_is_refused() {
    let year = |tokens| Quota::per(tokens, Duration::from_secs(365 * 86_400));
    let (limiter, _clock) = window(year(1 << 54));
    for change in 0..1_000 {
        limiter.try_acquire_n(limiter.max_cost()).unwrap();
        limiter.refund(u64::MAX);
        let (quota, next) = (limiter.quota(), year((1 << 54) - 1 - change % 2));
        if limiter.set_quota(next).is_err() {
            assert_eq!(limiter.set_quota(next), Err(AdjustError::TooLarge));
            assert_eq!((limiter.quota(), limiter.available()), (quota, quota.tokens()));
            assert!(change > 100, "{change}");
            return;
        }
    }
    unreachable!("no life lasts for ever");
}

#[derive(Clone, Debug)]
enum Op {
    /// So many nanoseconds pass.
    Wait(u64),
    /// So many tokens, wholly or as far as there are, on a reading so much older.
    Take(u64, bool, u64),
    /// So many tokens of the take before the last that many.
    Refund(u64, usize),
    Set(u64, usize),
    Unlimited,
    DenyAll,
}

const PERIODS: [u64; 5] = [100_000, 300_000, 700_000, 1_050_000, 2_100_000];

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let late = || prop_oneof![4 => Just(0_u64), 1 => 0..1_500_000_u64];
    let op = prop_oneof![
        6 => (0..400_000_u64).prop_map(Op::Wait),
        2 => (0..3_000_000_u64).prop_map(Op::Wait),
        10 => (0..25_u64, any::<bool>(), late()).prop_map(|(n, whole, late)| Op::Take(n, whole, late)),
        2 => (0..12_u64, 0..5_usize).prop_map(|(n, which)| Op::Refund(n, which)),
        4 => (1..40_u64, 0..PERIODS.len()).prop_map(|(n, period)| Op::Set(n, period)),
        1 => Just(Op::Unlimited),
        1 => Just(Op::DenyAll),
    ];
    prop::collection::vec(op, 1..120)
}

/// A run of admissions with what was in force, to judge it by its bound alone.
#[derive(Default)]
struct Run {
    admitted: Vec<(u64, u64)>,
    /// Quotas and since when.
    quotas: Vec<(u64, Quota)>,
}

/// Plays the operations on a limiter and its model, which must agree in everything. Returns the run.
fn play<L: RateLimitAt + Debug, M: Model>(
    ops: &[Op],
    limiter: &L,
    clock: &ManualClock,
    model: &mut M,
    set: impl Fn(Quota) -> Set,
    set_model: impl Fn(&mut M, Quota, Nanos),
    first: Quota,
) -> Result<Run, TestCaseError> {
    let mut run = Run { quotas: vec![(0, first)], ..Run::default() };
    let mut readings = vec![];
    for op in ops {
        let now = clock.now();
        match *op {
            Op::Wait(nanos) => clock.advance(Duration::from_nanos(nanos)),
            Op::Set(..) | Op::Unlimited | Op::DenyAll => {
                let quota = match *op {
                    Op::Set(n, period) => Quota::per(n, Duration::from_nanos(PERIODS[period])),
                    Op::Unlimited => Quota::UNLIMITED,
                    _ => Quota::DENY_ALL,
                };
                prop_assert_eq!(set(quota), Ok(()));
                set_model(model, quota, now);
                prop_assert_eq!(limiter.quota(), quota);
                run.quotas.push((now.0, quota));
            }
            Op::Take(wanted, whole, late) => {
                let now = Nanos(now.0.saturating_sub(late));
                let limit = limiter.max_cost();
                prop_assert_eq!(limiter.available_at(now), model.available(now).min(limit), "at {}", now.0);
                if wanted <= limit {
                    let due = match limiter.check_n_at(wanted, now) {
                        Ok(()) => Some(now),
                        Err(denied) => denied.retry_after().map(|wait| now.saturating_add(wait)),
                    };
                    prop_assert_eq!(due, model.earliest(wanted, now), "{} at {}", wanted, now.0);
                }
                let status = limiter.status_at(now);
                if status.limit > 0 {
                    let full = model.earliest(status.limit, now).map(|full| full.saturating_since(now));
                    // All is there, though a part of a token may still be on its way.
                    prop_assert!(full <= Some(status.reset_after), "{:?} {:?}", full, status);
                }
                let taken = if !whole {
                    limiter.try_acquire_up_to_at(wanted, now)
                } else if limiter.try_acquire_n_at(wanted, now).is_ok() {
                    wanted
                } else {
                    0
                };
                prop_assert!(model.charge(taken, now).is_zero());
                if taken > 0 {
                    readings.push(now);
                    run.admitted.push((clock.now().0, taken));
                }
            }
            Op::Refund(n, which) => {
                if let Some(&taken) = readings.iter().rev().nth(which) {
                    limiter.refund_at(n, taken);
                    model.refund(n, taken);
                    prop_assert_eq!(limiter.available_at(now), model.available(now).min(limiter.max_cost()));
                }
            }
        }
    }
    Ok(run)
}

fn forward_and_limited(ops: &[Op]) -> bool {
    ops.iter().all(|op| !matches!(op, Op::Take(_, _, 1..) | Op::Refund(..) | Op::Unlimited))
}

impl Run {
    /// Panics if somewhere more was admitted than `most` times the largest limit in force, where `most` is told from when to when
    /// under which quotas.
    fn keeps(&self, most: impl Fn(&[(u64, u64, Quota)]) -> u64) -> Result<(), TestCaseError> {
        for (i, &(from, _)) in self.admitted.iter().enumerate() {
            let mut within = 0;
            for &(to, taken) in &self.admitted[i..] {
                within += taken;
                let ends = self.quotas.iter().skip(1).map(|&(at, _)| at).chain([u64::MAX]);
                let stretches: Vec<_> = self
                    .quotas
                    .iter()
                    .zip(ends)
                    .map(|(&(at, quota), end)| (at.max(from), end.min(to), quota))
                    .filter(|(begin, end, _)| begin <= end)
                    .collect();
                let largest = stretches.iter().map(|(_, _, quota)| quota.tokens()).max().unwrap();
                prop_assert!(within <= largest * most(&stretches), "{within} in {from}..={to}");
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(1_000)
    })]

    #[test]
    fn a_fixed_window_follows_the_exact_one_and_keeps_the_bound(ops in ops()) {
        let first = Quota::per(10, Duration::from_micros(300));
        let (limiter, clock) = window(first);
        let mut model = reference::AdjustableFixedWindow::new(first);
        let set_model = reference::AdjustableFixedWindow::set_quota;
        let run = play(&ops, &limiter, &clock, &mut model, |quota| limiter.set_quota(quota), set_model, first)?;
        if forward_and_limited(&ops) {
            // As many limits as windows end, each of the quota in force, and one.
            run.keeps(|stretches| {
                let ends = |&(begin, end, quota): &(u64, u64, Quota)| match u64::try_from(quota.period().as_nanos()) {
                    Ok(period @ 1..) => end / period - begin / period,
                    _ => 0,
                };
                stretches.iter().map(ends).sum::<u64>() + 1
            })?;
        }
    }

    #[test]
    fn a_sliding_counter_follows_the_exact_one_and_keeps_the_bound(ops in ops()) {
        let first = Quota::per(10, Duration::from_micros(300));
        let (limiter, clock) = counter(first);
        let mut model = reference::AdjustableSlidingWindowCounter::new(first);
        let set_model = reference::AdjustableSlidingWindowCounter::set_quota;
        let run = play(&ops, &limiter, &clock, &mut model, |quota| limiter.set_quota(quota), set_model, first)?;
        if forward_and_limited(&ops) {
            // As many limits as periods are over, and the two in which it begins and ends: in parts of a period that are whole numbers of all.
            run.keeps(|stretches| {
                let parts = |&(begin, end, quota): &(u64, u64, Quota)| match u64::try_from(quota.period().as_nanos()) {
                    Ok(period @ 1..) => (end - begin) * 2_100_000 / period,
                    _ => 0,
                };
                stretches.iter().map(parts).sum::<u64>() / 2_100_000 + 2
            })?;
        }
    }
}

/// Threads take while others change the quota, at one instant: in all, no more than the largest limit.
#[test]
fn threads_that_change_the_quota_under_load_mint_nothing() {
    fn scene<L: RateLimitAt + Sync>(limiter: &L, _: &ManualClock, set: impl Fn(Quota) -> Set + Sync) {
        let (admitted, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for seed in 0..3 {
                let (admitted, stop) = (&admitted, &stop);
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    while !stop.load(Ordering::Relaxed) {
                        let n = random.u64(1..4);
                        if limiter.try_acquire_n(n).is_ok() {
                            admitted.fetch_add(n, Ordering::Relaxed);
                        }
                    }
                });
            }
            for tokens in [1_000, 50, 20_000, 7, 30_000].into_iter().cycle().take(20_000) {
                let quota = Quota::per(tokens, Duration::from_secs(tokens % 7 + 1));
                while set(quota) == Err(AdjustError::Contended) {}
            }
            set(Quota::per_second(30_000)).unwrap();
            stop.store(true, Ordering::Relaxed);
        });
        let admitted = admitted.into_inner() + limiter.try_acquire_up_to(u64::MAX);
        assert_eq!(admitted, 30_000);
    }
    both!(scene, Quota::per_second(1_000));
}
