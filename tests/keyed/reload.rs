//! The quota of a class that changes while it is in use: nothing extra is admitted, and nothing is lost.

use core::hash::BuildHasherDefault;
use core::time::Duration;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::hash::DefaultHasher;
use tollgate::keyed::Classes;
use tollgate::{AdjustError, Denied, KeyedError, KeyedLimiter, ManualClock, Moment, Nanos, Quota};

const SECOND: Duration = Duration::from_secs(1);

type Limiter = KeyedLimiter<u64, BuildHasherDefault<DefaultHasher>, ManualClock>;

fn limiter(quotas: impl Into<Classes>) -> (Limiter, ManualClock) {
    let clock = ManualClock::new();
    (Limiter::with_hasher_and_clock(quotas, 1_000, BuildHasherDefault::default(), clock.clone()), clock)
}

/// Takes one after the other as long as there are any.
fn drain(limiter: &Limiter, key: u64) -> u64 {
    (0..100_000).take_while(|_| limiter.try_acquire(&key).is_ok()).map(|_| 1).sum()
}

#[test]
fn a_limit_of_ten_that_becomes_five_after_three_admits_two_more() {
    let (limiter, clock) = limiter(Quota::per_hour(10));
    limiter.try_acquire_n(&1, 3).unwrap();
    limiter.set_quota(Quota::per_hour(5)).unwrap();
    assert_eq!((limiter.quota(), limiter.max_cost()), (Quota::per_hour(5), 5));
    assert_eq!([1, 2].map(|key| limiter.status(&key).remaining), [2, 5]);
    assert_eq!([1, 2].map(|key| drain(&limiter, key)), [2, 5]);
    let wait = limiter.try_acquire(&1).unwrap_err().retry_after().unwrap();
    assert_eq!(wait, Duration::from_secs(720));
    clock.advance(wait.saturating_sub(Duration::from_nanos(1)));
    assert_eq!(drain(&limiter, 1), 0);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(drain(&limiter, 1), 1);
}

#[test]
fn what_was_spent_at_an_hour_s_rate_takes_seconds_at_the_new_one() {
    let (limiter, clock) = limiter(Quota::per_hour(60));
    limiter.try_acquire_n(&1, 60).unwrap();
    limiter.set_quota(Quota::per_second(60)).unwrap();
    assert_eq!(limiter.status(&1).retry_after, Some(Duration::from_nanos(16_666_667)));
    clock.advance(SECOND / 2);
    assert_eq!(drain(&limiter, 1), 30);
    clock.advance(SECOND);
    // On the way back to time as it is a call may cost a nanosecond more, so that the sixtieth at once comes so much later.
    let at_once = drain(&limiter, 1);
    assert!((59..=60).contains(&at_once), "{at_once}");
    clock.advance(Duration::from_nanos(100));
    assert_eq!(at_once + drain(&limiter, 1), 60);
}

/// Two cores whose clocks differ by a second change the quota in turn. What was paid by the later reading is not paid again.
#[test]
fn a_change_on_an_older_reading_pays_for_no_stretch_twice() {
    let (limiter, clock) = limiter(Quota::per_second(10));
    let (late, early) = (Nanos::from_secs(100), Nanos::from_secs(99));
    clock.set(late);
    limiter.try_acquire_n(&1, 10).unwrap();
    for rate in [20, 10, 20, 10] {
        limiter.set_quota(Quota::per_second(rate).with_burst(10)).unwrap();
        clock.set(early);
        let _ = limiter.set_quota(Quota::per_second(rate + 1).with_burst(10));
        assert_eq!(limiter.status(&1).remaining, 0);
        clock.set(late);
        assert_eq!([1, 2].map(|key| limiter.status(&key).remaining), [0, 10], "at {rate} a second");
    }
}

/// A token takes less than a nanosecond before, or after.
#[test]
fn rates_of_many_tokens_in_a_nanosecond_come_and_go() {
    let (slow, fast) = (Quota::per_second(1_000).with_burst(4_000), Quota::per_second(12_500_000_000));
    for (first, then) in [(slow, fast), (fast, slow)] {
        let (limiter, clock) = limiter(first);
        limiter.try_acquire_n(&1, 1_000).unwrap();
        limiter.set_quota(then).unwrap();
        assert_eq!((limiter.quota(), limiter.max_cost()), (then, then.burst()));
        let left = limiter.status(&1).remaining;
        // A unit is sixteen tokens, of which a change may take one or give one.
        assert!(left.abs_diff(then.burst() - 1_000) <= 16, "{left}");
        assert_eq!(limiter.try_acquire_n(&2, then.burst()), Ok(()));
        clock.advance(Duration::from_hours(1));
        assert_eq!(limiter.try_acquire_n(&1, then.burst()), Ok(()));
    }
}

/// Whatever course words take, a key that has recovered and one that is new have the whole burst at once.
#[test]
fn a_full_burst_is_there_at_once_at_any_time_after_a_change() {
    for (first, then) in [(7, 60), (60, 7), (1, 3_600), (3_600, 1)] {
        let (limiter, clock) = limiter(Quota::per_minute(first).with_burst(5));
        limiter.try_acquire_n(&0, 5).unwrap();
        limiter.set_quota(Quota::per_minute(then).with_burst(9)).unwrap();
        for key in 1..100 {
            clock.advance(Duration::from_nanos(7_777_777_777));
            assert_eq!(limiter.try_acquire_n(&key, 9), Ok(()), "key {key}, {first} {then}");
            assert_eq!(limiter.status(&(key + 500)).remaining, 9);
        }
    }
}

#[test]
fn more_is_owed_than_the_new_burst_and_is_paid_first() {
    let (limiter, clock) = limiter(Quota::per_second(10));
    limiter.try_acquire_n(&1, 10).unwrap();
    limiter.set_quota(Quota::per_second(1).with_burst(2)).unwrap();
    // Ten are missing from two: eight seconds until nothing is, and one until the first token is there.
    assert_eq!(limiter.status(&1).retry_after, Some(9 * SECOND));
    assert_eq!(limiter.try_acquire_n(&1, 3), Err(Denied::ExceedsBurst { cost: 3, max_cost: 2 }));
    clock.set(Nanos::from_secs(9).saturating_sub(Duration::from_nanos(1)));
    assert_eq!(drain(&limiter, 1), 0);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(drain(&limiter, 1), 1);
}

#[test]
fn ten_reloads_in_one_instant_admit_nothing_extra() {
    let quotas = [60, 40, 600, 7, 61].map(Quota::per_minute);
    for other in quotas {
        let (limiter, _clock) = limiter(Quota::per_minute(60));
        let mut admitted = 0;
        for _ in 0..=10 {
            limiter.set_quota(other).unwrap();
            limiter.set_quota(Quota::per_minute(60)).unwrap();
            admitted += drain(&limiter, 1);
        }
        assert_eq!(admitted, 60, "beside {other:?}");
    }
}

#[test]
fn reloads_faster_than_tokens_lose_no_token() {
    for others in [[1, 1], [1, 2], [1, 3]] {
        let (limiter, clock) = limiter(Quota::per_second(1));
        limiter.try_acquire(&1).unwrap();
        let mut admitted = 0;
        // Some time at each of two bursts, at one rate.
        for burst in others.into_iter().cycle().take(100) {
            limiter.set_quota(Quota::per_second(1).with_burst(burst)).unwrap();
            let mut left = Duration::from_millis(900);
            while let Some(wait) = limiter.status(&1).retry_after.filter(|wait| *wait <= left) {
                clock.advance(wait);
                left -= wait;
                limiter.try_acquire(&1).unwrap();
                admitted += 1;
            }
            clock.advance(left);
        }
        let extra = others[1] - 1; // the burst in the end, less the one of the beginning
        assert_eq!(admitted + drain(&limiter, 1), 90 + extra, "{others:?}");
    }
}

#[test]
fn a_fraction_of_a_token_is_carried_to_any_rate() {
    let (limiter, clock) = limiter(Quota::per_second(1));
    limiter.try_acquire(&1).unwrap();
    clock.advance(Duration::from_millis(250));
    // A quarter has come; the other three come at four per second.
    limiter.set_quota(Quota::per_second(4).with_burst(1)).unwrap();
    let wait = limiter.try_acquire(&1).unwrap_err().retry_after().unwrap();
    assert!(wait >= Duration::from_micros(187_500) && wait <= Duration::from_nanos(187_500_002), "{wait:?}");
    clock.advance(wait);
    limiter.try_acquire(&1).unwrap();
    limiter.set_quota(Quota::per_second(1)).unwrap();
    let wait = limiter.status(&1).retry_after.unwrap();
    assert!(wait <= SECOND && SECOND.abs_diff(wait) < Duration::from_nanos(5), "{wait:?}");
}

#[test]
fn no_limit_and_no_admission_are_quotas_like_others() {
    let (limiter, clock) = limiter(Quota::per_second(10));
    limiter.try_acquire_n(&1, 6).unwrap();
    limiter.set_quota(Quota::DENY_ALL).unwrap();
    assert_eq!(limiter.try_acquire(&1), Err(Denied::ExceedsBurst { cost: 1, max_cost: 0 }));
    assert_eq!((limiter.quota(), limiter.status(&1).remaining), (Quota::DENY_ALL, 0));
    clock.advance(100 * SECOND);
    // What was owed is still owed: no time has passed for a bucket that nothing flows into.
    limiter.set_quota(Quota::DENY_ALL).unwrap();
    limiter.set_quota(Quota::per_second(5).with_burst(10)).unwrap();
    assert_eq!([1, 2].map(|key| limiter.status(&key).remaining), [4, 10]);
    limiter.set_quota(Quota::UNLIMITED).unwrap();
    assert_eq!((limiter.try_acquire_n(&1, u64::MAX), limiter.quota()), (Ok(()), Quota::UNLIMITED));
    limiter.set_quota(Quota::per_second(10)).unwrap();
    clock.advance(SECOND);
    assert_eq!(drain(&limiter, 1), 10);
}

/// From and to quotas under which nothing has to be looked up.
#[test]
fn a_limiter_that_is_built_without_a_limit_can_get_one() {
    for first in [Quota::UNLIMITED, Quota::DENY_ALL] {
        let (limiter, clock) = limiter(first);
        assert_eq!(limiter.try_acquire(&1).is_ok(), first.is_unlimited());
        limiter.set_quota(Quota::per_second(3)).unwrap();
        assert_eq!(drain(&limiter, 1), 3);
        assert_eq!(limiter.try_acquire_n(&1, 4), Err(Denied::ExceedsBurst { cost: 4, max_cost: 3 }));
        assert_eq!(limiter.try_acquire_n(&1, 0), Ok(()));
        limiter.set_quota(first).unwrap();
        clock.advance(SECOND);
        assert_eq!(limiter.try_acquire(&1).is_ok(), first.is_unlimited());
    }
}

#[test]
fn the_other_classes_stay_as_they_are() {
    let (limiter, clock) = limiter([Quota::per_second(10), Quota::per_second(20)]);
    limiter.class(0).try_acquire_n(&1, 10).unwrap();
    limiter.class(1).try_acquire_n(&2, 10).unwrap();
    limiter.class(1).set_quota(Quota::per_second(1).with_burst(15)).unwrap();
    assert_eq!([limiter.class(0), limiter.class(1)].map(|class| class.quota().burst()), [10, 15]);
    assert_eq!((limiter.class(0).status(&1).remaining, limiter.class(1).status(&2).remaining), (0, 5));
    clock.advance(SECOND);
    assert_eq!((limiter.class(0).status(&1).remaining, limiter.class(1).status(&2).remaining), (10, 6));
}

/// Of every class alike, once what was owed has drained and as much time has passed again.
#[test]
fn a_word_means_the_same_in_every_class_after_a_while() {
    let quotas = [Quota::per_second(10), Quota::per_minute(10)];
    for (first, then) in [(0, 1), (1, 0)] {
        let (limiter, clock) = limiter([quotas[first], quotas[0].with_burst(1)]);
        limiter.try_acquire_n(&1, 10).unwrap();
        limiter.set_quota(quotas[then]).unwrap();
        clock.advance(Duration::from_mins(10));
        assert_eq!(limiter.live(), 0);
        limiter.try_acquire_n(&1, 10).unwrap();
        let owed = limiter.status(&1).reset_after;
        assert_eq!(limiter.class(1).status(&1).reset_after, owed);
        limiter.set_quota(quotas[first]).unwrap();
        clock.advance(Duration::from_mins(10));
        assert!(limiter.forget(&1) && limiter.class(1).try_acquire(&1).is_ok());
    }
}

#[test]
fn refunds_after_a_change_are_worth_what_they_were() {
    for (first, then) in [(10, 12), (12, 10), (10, 1_000)] {
        let (limiter, _clock) = limiter(Quota::per_hour(first).with_burst(10));
        limiter.try_acquire_n(&1, 10).unwrap();
        limiter.set_quota(Quota::per_hour(then).with_burst(10)).unwrap();
        limiter.refund(&1, 4);
        assert_eq!(drain(&limiter, 1), 4);
        limiter.refund(&1, 10);
        assert_eq!(limiter.status(&1).remaining, 10);
        assert!(limiter.forgive(&1) && limiter.live() == 0);
    }
}

/// Slots are kept for as long as debts could last when the limiter was built, and no longer.
#[test]
fn no_more_comes_back_at_once_than_the_largest_burst_at_first() {
    for (first, comes_back) in [(1, 1..5), (50, 50..51)] {
        let (limiter, _clock) = limiter(Quota::per_second(1).with_burst(first));
        limiter.set_quota(Quota::per_second(1).with_burst(100)).unwrap();
        limiter.try_acquire_n(&1, 60).unwrap();
        limiter.refund(&1, 50);
        let back = limiter.status(&1).remaining - 40;
        assert!(comes_back.contains(&back), "{back} of 50, built with a burst of {first}");
        assert!(limiter.forgive(&1), "which frees the slot where it cannot be lowered");
        assert_eq!(drain(&limiter, 1), 100);
    }
}

#[test]
fn what_does_not_fit_is_refused_and_the_old_quota_stays() {
    let (limiter, _clock) = limiter(Quota::per_second(10));
    limiter.try_acquire_n(&1, 3).unwrap();
    let decades = Duration::from_hours(24 * 365 * 30);
    let long = Quota::per(1, decades).with_burst(2);
    for _ in 0..10 {
        assert!(matches!(limiter.set_quota(long), Err(AdjustError::Keyed(KeyedError::BurstTooLong { .. }))));
        assert_eq!(limiter.set_quota(Quota::per(1, decades)), Err(AdjustError::TooFarApart));
    }
    assert_eq!((limiter.quota(), limiter.status(&1).remaining), (Quota::per_second(10), 7));
    limiter.set_quota(Quota::per_second(5)).unwrap();
    assert_eq!(limiter.status(&1).remaining, 2);
}

#[test]
fn an_older_reading_than_the_change_counts_as_the_change() {
    let (limiter, clock) = limiter(Quota::per_second(10));
    clock.set(Nanos::from_secs(100));
    limiter.try_acquire_n(&1, 10).unwrap();
    limiter.set_quota(Quota::per_second(1_000).with_burst(20)).unwrap();
    let early = Nanos::from_secs(50);
    assert!(limiter.try_acquire_n_at(&1, 11, early).unwrap_err().retry_after().unwrap() > 50 * SECOND);
    assert_eq!(limiter.try_acquire_n_at(&1, 10, early), Ok(()));
    assert!(limiter.try_acquire_n_at(&1, 1, Nanos::from_secs(100)).is_err());
}

#[test]
fn many_calls_at_once_are_decided_under_one_quota() {
    let (limiter, _clock) = limiter(Quota::per_hour(3));
    limiter.set_quota(Quota::per_hour(5)).unwrap();
    let keys: Vec<u64> = (0..40).map(|call| call % 4).collect();
    let mut decisions = vec![Ok(()); keys.len()];
    assert_eq!(limiter.check_many(&keys, &mut decisions), 20);
}

#[test]
fn new_keys_start_with_the_same_tokens_after_a_change() {
    let (limiter, _clock) = limiter(Quota::per_hour(3));
    let limiter = limiter.with_initial(2);
    limiter.set_quota(Quota::per_hour(50)).unwrap();
    assert_eq!(drain(&limiter, 1), 2);
    limiter.set_quota(Quota::per_hour(1)).unwrap();
    assert_eq!([1, 2].map(|key| drain(&limiter, key)), [0, 1]);
    // And where they are chosen after it.
    let limiter = limiter.with_initial(0);
    assert_eq!((drain(&limiter, 3), limiter.quota()), (0, Quota::per_hour(1)));
}

/// While words are read at two rates: what is saved is what every class would say.
#[test]
fn what_is_saved_soon_after_a_change_is_no_fuller_when_it_is_restored() {
    for (first, then) in [(10, 100), (100, 10)] {
        let (limiter, clock) = limiter(Quota::per_hour(first).with_burst(10));
        limiter.try_acquire_n(&1, 9).unwrap();
        limiter.set_quota(Quota::per_hour(then).with_burst(10)).unwrap();
        limiter.try_acquire_n(&2, 4).unwrap();
        let owes = |limiter: &Limiter| [1, 2].map(|key| limiter.status(&key).reset_after);
        let (before, now) = (owes(&limiter), Moment::new(Nanos::ZERO, Nanos::ZERO));
        let (restored, _) = self::limiter(Quota::per_hour(then).with_burst(10));
        let restored = restored.restored_from_bytes_at(&limiter.to_bytes_at(now), now).unwrap();
        assert_eq!((owes(&restored), restored.live()), (before, limiter.live()));
        // Nor where the limiter that takes it up was changed itself.
        let (changed, _) = self::limiter(Quota::per_hour(7));
        changed.set_quota(Quota::per_hour(then).with_burst(10)).unwrap();
        let restored = changed.restored_from_bytes_at(&limiter.to_bytes_at(now), now).unwrap();
        for (after, before) in owes(&restored).into_iter().zip(before) {
            assert!(after >= before && after.abs_diff(before) < Duration::from_nanos(50), "{after:?} {before:?}");
        }
        clock.advance(SECOND);
        let now = Moment::new(Nanos::from_secs(1), Nanos::ZERO);
        assert!(!limiter.to_bytes_at(now).is_empty());
    }
}

/// Tokens in parts of `PARTS`: every period below divides it.
const PARTS: u128 = 210_000_000;

/// A bucket whose quota changes, in exact fractions and with no position: what is missing.
#[derive(Clone, Copy, Debug)]
struct Exact {
    quota: Quota,
    missing: u128,
}

impl Exact {
    fn per_nano(quota: Quota) -> u128 {
        u128::from(quota.tokens()) * PARTS / quota.period().as_nanos()
    }

    fn wait(&mut self, nanos: u64) {
        self.missing = self.missing.saturating_sub(Self::per_nano(self.quota) * u128::from(nanos));
    }

    fn room(&self) -> u128 {
        (u128::from(self.quota.burst()) * PARTS).saturating_sub(self.missing)
    }
}

#[derive(Clone, Debug)]
enum Op {
    Wait(u64),
    Take(u64, u64),
    Refund(u64, u64),
    Set(u64, usize, u64),
}

const PERIODS: [u64; 4] = [1_000_000, 3_000_000, 7_000_000, 10_000_000];
const KEYS: usize = 3;

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => (0..3_000_000_u64).prop_map(Op::Wait),
        5 => (0..KEYS, 1..40_u64).prop_map(|(key, n)| Op::Take(key as u64, n)),
        1 => (0..KEYS, 1..5_u64).prop_map(|(key, n)| Op::Refund(key as u64, n)),
        2 => (1..50_u64, 0..PERIODS.len(), 1..60_u64).prop_map(|(n, period, burst)| Op::Set(n, period, burst)),
    ];
    prop::collection::vec(op, 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(1_000)
    })]

    /// Two nanoseconds' worth at the fastest rate for each change, against the limit or for it; and against the key, where a step down
    /// is on its way, one for each call.
    #[test]
    fn every_key_follows_its_exact_bucket_and_keeps_the_bound_over_every_window(ops in ops()) {
        const UNIT: u128 = 2 * 50 * PARTS / 1_000_000;
        let first = Quota::per(10, Duration::from_millis(1));
        let (limiter, clock) = limiter(first);
        let mut exact = [Exact { quota: first, missing: 0 }; KEYS];
        // Admissions as (key, instant, tokens, parts brought by then), and the bursts in force from which instant on.
        let (mut run, mut brought, mut bursts) = (Vec::<(u64, u64, u64, u128)>::new(), 0_u128, vec![(0_u64, first.burst())]);
        let (mut now, mut changes, mut calls) = (0_u64, 1_u128, 0_u128);
        for op in ops {
            match op {
                Op::Wait(nanos) => {
                    clock.advance(Duration::from_nanos(nanos));
                    now += nanos;
                    brought += Exact::per_nano(exact[0].quota) * u128::from(nanos);
                    for bucket in &mut exact {
                        bucket.wait(nanos);
                    }
                }
                Op::Set(n, period, burst) => {
                    let quota = Quota::per(n, Duration::from_nanos(PERIODS[period])).with_burst(burst);
                    match limiter.set_quota(quota) {
                        Ok(()) => {}
                        Err(AdjustError::TooOften) => continue,
                        other => prop_assert_eq!(other, Ok(())),
                    }
                    prop_assert_eq!(limiter.quota(), quota);
                    for bucket in &mut exact {
                        bucket.quota = quota;
                    }
                    changes += 1;
                    bursts.push((now, burst));
                }
                Op::Refund(key, n) => {
                    calls += 1;
                    limiter.refund(&key, n);
                    let bucket = &mut exact[usize::try_from(key).unwrap()];
                    bucket.missing = bucket.missing.saturating_sub(u128::from(n) * PARTS);
                    // What was given back may be taken again: windows of this key begin anew.
                    run.retain(|&(other, ..)| other != key);
                }
                Op::Take(key, n) => {
                    calls += 1;
                    let bucket = &mut exact[usize::try_from(key).unwrap()];
                    let (room, cost) = (bucket.room(), u128::from(n) * PARTS);
                    let remaining = limiter.status(&key).remaining;
                    prop_assert!(u128::from(remaining) * PARTS <= room + UNIT * changes, "{remaining} of {room}");
                    if let Err(denied) = limiter.try_acquire_n(&key, n) {
                        prop_assert!(
                            cost + UNIT * (changes + calls) > room, "{} of {}: {:?}", cost, room, denied.retry_after()
                        );
                        continue;
                    }
                    prop_assert!(cost <= room + UNIT * changes, "{} of {}", cost, room);
                    bucket.missing += cost;
                    run.push((key, now, n, brought));
                }
            }
        }
        for (i, &(key, from, _, before)) in run.iter().enumerate() {
            let mut within = 0;
            for &(_, to, n, after) in run[i..].iter().filter(|&&(other, ..)| other == key) {
                within += n;
                let begun = bursts.iter().rposition(|&(since, _)| since < from).unwrap_or(0);
                let largest = bursts[begun..].iter().filter(|&&(since, _)| since <= to).map(|&(_, burst)| burst).max();
                let bound = u128::from(largest.unwrap()) * PARTS + (after - before) + UNIT * changes;
                prop_assert!(u128::from(within) * PARTS <= bound, "{} in {}..={}", within, from, to);
            }
        }
    }
}
