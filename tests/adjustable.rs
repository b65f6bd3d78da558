//! A quota that changes while it is in use: nothing extra is admitted, and nothing is lost.

use core::time::Duration;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;
use tollgate::{AdjustError, AdjustableTokenBucket, CarryOver, Denied, ManualClock, MonotonicClock, Nanos, Quota};

const SECOND: Duration = Duration::from_secs(1);

fn bucket(quota: Quota) -> (AdjustableTokenBucket<ManualClock>, ManualClock) {
    let clock = ManualClock::new();
    (AdjustableTokenBucket::with_clock(quota, clock.clone()), clock)
}

#[test]
fn a_limit_of_ten_that_becomes_five_after_three_admits_two_more() {
    let (bucket, clock) = bucket(Quota::per_hour(10));
    bucket.try_acquire_n(3).unwrap();
    bucket.set_quota(Quota::per_hour(5)).unwrap();
    assert_eq!((bucket.quota(), bucket.max_cost(), bucket.available()), (Quota::per_hour(5), 5, 2));
    assert_eq!(bucket.try_acquire_up_to(u64::MAX), 2);
    assert_eq!(bucket.try_acquire().unwrap_err().retry_after(), Some(Duration::from_secs(720)));
    clock.advance(Duration::from_secs(720));
    assert_eq!(bucket.try_acquire_up_to(u64::MAX), 1);
}

#[test]
fn more_is_owed_than_the_new_burst_and_is_paid_first() {
    let (bucket, clock) = bucket(Quota::per_second(10));
    bucket.try_acquire_n(10).unwrap();
    bucket.set_quota(Quota::per_second(1).with_burst(2)).unwrap();
    // Ten are missing from two: eight seconds until the first token is there.
    assert_eq!(bucket.status().retry_after, Some(9 * SECOND));
    assert_eq!(bucket.try_acquire_n(3), Err(Denied::ExceedsBurst { cost: 3, max_cost: 2 }));
    clock.set(Nanos::from_secs(9).saturating_sub(Duration::from_nanos(1)));
    assert_eq!(bucket.try_acquire_up_to(5), 0);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(bucket.try_acquire_up_to(5), 1);
}

#[test]
fn ten_reloads_in_one_instant_admit_nothing_extra() {
    let (bucket, _clock) = bucket(Quota::per_minute(60));
    let admitted: u64 = (0..=10)
        .map(|reload| {
            bucket.set_quota(if reload % 2 == 0 { Quota::per_minute(60) } else { Quota::per_minute(40) }).unwrap();
            bucket.set_quota(Quota::per_minute(60)).unwrap();
            bucket.try_acquire_up_to(u64::MAX)
        })
        .sum();
    assert_eq!(admitted, 60);
}

#[test]
fn reloads_faster_than_tokens_lose_no_token() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    bucket.try_acquire().unwrap();
    let mut admitted = 0;
    for _ in 0..100 {
        bucket.set_quota(Quota::per_second(1)).unwrap();
        let mut left = Duration::from_millis(900);
        while let Some(wait) = bucket.status().retry_after.filter(|wait| *wait <= left) {
            clock.advance(wait);
            left -= wait;
            bucket.try_acquire().unwrap();
            admitted += 1;
        }
        clock.advance(left);
    }
    // 90 seconds. Each change costs at most a unit, under 2 ns: the ninetieth token may be that late.
    assert!((89..=90).contains(&admitted), "{admitted}");
    clock.advance(Duration::from_nanos(200));
    assert_eq!(admitted + bucket.try_acquire_up_to(u64::MAX), 90);
}

#[test]
fn a_fraction_of_a_token_is_carried_to_any_rate() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    bucket.try_acquire().unwrap();
    clock.advance(Duration::from_millis(250));
    // A quarter has come; the other three come at four per second.
    bucket.set_quota(Quota::per_second(4).with_burst(1)).unwrap();
    let wait = bucket.try_acquire().unwrap_err().retry_after().unwrap();
    assert!(wait >= Duration::from_micros(187_500) && wait <= Duration::from_nanos(187_500_002), "{wait:?}");
}

#[test]
fn each_way_to_carry_over_is_what_it_says() {
    let ways = [CarryOver::Debt, CarryOver::Tokens, CarryOver::Scaled, CarryOver::Full, CarryOver::Empty];
    let left = |spent, old, new| {
        ways.map(|how| {
            let (bucket, _clock) = bucket(Quota::per_hour(old));
            bucket.try_acquire_n(spent).unwrap();
            bucket.set_quota_with(Quota::per_hour(new), how).unwrap();
            bucket.available()
        })
    };
    assert_eq!(left(7, 10, 20), [13, 3, 6, 20, 0]);
    assert_eq!(left(7, 10, 5), [0, 3, 1, 5, 0]);
    assert_eq!(left(0, 10, 5), [5, 5, 5, 5, 0]);
    assert_eq!(left(10, 10, 30), [20, 0, 0, 30, 0]);
}

#[test]
fn no_limit_and_no_admission_are_quotas_like_others() {
    let (bucket, clock) = bucket(Quota::per_second(10));
    bucket.try_acquire_n(6).unwrap();
    bucket.set_quota(Quota::DENY_ALL).unwrap();
    assert_eq!(bucket.try_acquire(), Err(Denied::ExceedsBurst { cost: 1, max_cost: 0 }));
    clock.advance(100 * SECOND);
    // What was owed is still owed: no time has passed for a bucket that nothing flows into.
    bucket.set_quota(Quota::per_second(10)).unwrap();
    assert_eq!(bucket.available(), 4);
    bucket.set_quota(Quota::UNLIMITED).unwrap();
    assert_eq!((bucket.try_acquire_n(u64::MAX), bucket.quota()), (Ok(()), Quota::UNLIMITED));
    bucket.set_quota(Quota::per_second(10)).unwrap();
    assert_eq!(bucket.try_acquire_up_to(u64::MAX), 10);
}

#[test]
fn a_refund_that_is_followed_by_changes_is_worth_what_it_was() {
    let (bucket, _clock) = bucket(Quota::per_hour(10));
    for _ in 0..100 {
        bucket.try_acquire_n(10).unwrap();
        bucket.refund(4);
        bucket.set_quota(Quota::per_hour(12)).unwrap();
        assert_eq!(bucket.available(), 6);
        bucket.refund(6);
        bucket.set_quota(Quota::per_hour(10)).unwrap();
        assert_eq!(bucket.available(), 10);
    }
}

/// Two cores whose clocks differ by a second change the quota in turn. What was paid by the later reading is not paid again.
#[test]
fn a_change_on_an_older_reading_pays_for_no_stretch_twice() {
    let (bucket, clock) = bucket(Quota::per_second(10));
    let (late, early) = (Nanos::from_secs(100), Nanos::from_secs(99));
    clock.set(late);
    bucket.try_acquire_n(10).unwrap();
    for rate in [20, 10, 20, 10] {
        let quota = Quota::per_second(rate).with_burst(10);
        bucket.set_quota(quota).unwrap();
        clock.set(early);
        bucket.set_quota(quota).unwrap();
        assert_eq!(bucket.available(), 0);
        clock.set(late);
        assert_eq!(bucket.available(), 0, "at {rate} a second");
    }
    clock.advance(SECOND);
    assert_eq!(bucket.available(), 10);
}

#[test]
fn what_does_not_fit_is_refused_and_the_old_quota_stays() {
    let (bucket, _clock) = bucket(Quota::per_second(10));
    bucket.try_acquire_n(3).unwrap();
    for quota in [Quota::per_second(100_000_000_000_000), Quota::per_second(1).with_burst(1 << 63)] {
        assert_eq!(bucket.set_quota(quota), Err(AdjustError::TooLarge));
        assert!(AdjustableTokenBucket::try_with_clock(quota, ManualClock::new()).is_err());
        assert_eq!((bucket.quota(), bucket.available()), (Quota::per_second(10), 7));
    }
    // Not once too often, either: a refused change gives its bank back.
    for _ in 0..10 {
        assert_eq!(bucket.set_quota(Quota::per_second(100_000_000_000_000)), Err(AdjustError::TooLarge));
    }
    bucket.set_quota(Quota::per_second(5)).unwrap();
}

/// Tokens in parts of `PARTS`: every period below divides it.
const PARTS: u128 = 210_000_000;

/// A bucket whose quota changes, in exact fractions: what is missing, and the time of day.
struct Exact {
    quota: Quota,
    /// What is missing from a full bucket, in parts; below 0 by what has flowed over since it was full.
    missing: i128,
    at: u64,
    /// From when the quota holds.
    since: u64,
    changes: u128,
}

impl Exact {
    fn per_nano(&self) -> u128 {
        u128::from(self.quota.tokens()) * PARTS / self.quota.period().as_nanos()
    }

    fn flow(&mut self, nanos: u64) {
        self.missing -= (self.per_nano() * u128::from(nanos)).cast_signed();
    }

    fn advance(&mut self, nanos: u64) {
        self.flow(nanos);
        self.at += nanos;
    }

    fn missing(&self) -> u128 {
        self.missing.max(0).cast_unsigned()
    }

    fn take(&mut self, tokens: u64) {
        self.missing = (self.missing() + u128::from(tokens) * PARTS).cast_signed();
    }

    /// The quota changes as of a reading so much older, but not than the last change. Returns what that brings at once.
    fn change(&mut self, quota: Quota, behind: u64) -> u128 {
        let since = self.since.max(self.at.saturating_sub(behind));
        let again = self.at - since;
        let old = self.per_nano();
        self.missing = (self.missing + (old * u128::from(again)).cast_signed()).max(0);
        self.quota = quota;
        self.flow(again);
        (self.since, self.changes) = (since, self.changes + 1);
        self.per_nano().saturating_sub(old) * u128::from(again)
    }

    /// By how much the bucket may differ: two nanoseconds' worth at the fastest rate, for each change and once.
    fn slack(&self) -> u128 {
        2 * 50 * PARTS / 1_000_000 * (self.changes + 1)
    }
}

#[derive(Clone, Debug)]
enum Op {
    Wait(u64),
    /// So many tokens, wholly or as far as there are.
    Take(u64, bool),
    /// So many tokens in this period, with this burst, by a thread whose reading is so much older.
    Set(u64, usize, u64, u64),
}

const PERIODS: [u64; 4] = [1_000_000, 3_000_000, 7_000_000, 10_000_000];

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let behind = prop_oneof![2 => Just(0), 1 => 0..3_000_000_u64];
    let op = prop_oneof![
        3 => (0..3_000_000_u64).prop_map(Op::Wait),
        5 => (1..40_u64, any::<bool>()).prop_map(|(n, whole)| Op::Take(n, whole)),
        2 => (1..50_u64, 0..PERIODS.len(), 1..60_u64, behind).prop_map(|(n, period, burst, behind)| Op::Set(n, period, burst, behind)),
    ];
    prop::collection::vec(op, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(500)
    })]

    #[test]
    fn it_follows_the_exact_bucket_and_keeps_the_bound_over_every_window(ops in ops()) {
        let first = Quota::per(10, Duration::from_millis(1));
        let (bucket, clock) = bucket(first);
        let mut exact = Exact { quota: first, missing: 0, at: 0, since: 0, changes: 0 };
        // Admissions as (instant, tokens, parts brought by then), and the bursts in force from which instant on.
        let (mut run, mut brought, mut bursts) = (Vec::<(u64, u64, u128)>::new(), 0_u128, vec![(0_u64, first.burst())]);
        for op in ops {
            match op {
                Op::Wait(nanos) => {
                    clock.advance(Duration::from_nanos(nanos));
                    brought += exact.per_nano() * u128::from(nanos);
                    exact.advance(nanos);
                }
                Op::Set(n, period, burst, behind) => {
                    let quota = Quota::per(n, Duration::from_nanos(PERIODS[period])).with_burst(burst);
                    clock.set(Nanos(exact.at.saturating_sub(behind)));
                    bucket.set_quota(quota).unwrap();
                    clock.set(Nanos(exact.at));
                    prop_assert_eq!(bucket.quota(), quota);
                    brought += exact.change(quota, behind);
                    bursts.push((exact.at, burst));
                }
                Op::Take(wanted, whole) => {
                    let taken = if !whole {
                        bucket.try_acquire_up_to(wanted)
                    } else if bucket.try_acquire_n(wanted).is_ok() {
                        wanted
                    } else {
                        0
                    };
                    let room = (u128::from(exact.quota.burst()) * PARTS).saturating_sub(exact.missing());
                    prop_assert!(u128::from(taken) * PARTS <= room + exact.slack(), "{} taken of {}", taken, room);
                    let could = room.saturating_sub(exact.slack()) / PARTS;
                    let least = if !whole || u128::from(wanted) <= could { u128::from(wanted).min(could) } else { 0 };
                    prop_assert!(u128::from(taken) >= least, "{} taken, {} could be", taken, least);
                    if taken > 0 {
                        exact.take(taken);
                        run.push((exact.at, taken, brought));
                    }
                }
            }
        }
        for (i, &(from, _, before)) in run.iter().enumerate() {
            let mut within = 0;
            for &(to, taken, after) in &run[i..] {
                within += taken;
                let begun = bursts.iter().rposition(|&(since, _)| since < from).unwrap_or(0);
                let largest = bursts[begun..].iter().filter(|&&(since, _)| since <= to).map(|&(_, burst)| burst).max();
                let bound = u128::from(largest.unwrap()) * PARTS + (after - before) + exact.slack();
                prop_assert!(u128::from(within) * PARTS <= bound, "{} in {}..={}", within, from, to);
            }
        }
    }
}

/// Threads take and give back while others change the quota: what is kept is within the larger burst and the faster rate.
#[test]
fn threads_that_change_the_quota_under_load_mint_nothing() {
    let (slow, fast) = (Quota::per_second(20_000).with_burst(100), Quota::per_second(50_000).with_burst(400));
    let bucket = AdjustableTokenBucket::with_clock(slow, MonotonicClock);
    let (kept, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let started = Instant::now();
    thread::scope(|scope| {
        for seed in 0..3 {
            let (bucket, kept, stop) = (&bucket, &kept, &stop);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                while !stop.load(Ordering::Relaxed) {
                    if bucket.try_acquire_n(random.u64(1..4)).is_ok() {
                        // Counted as at least one each: a lower bound of what was taken.
                        kept.fetch_add(1, Ordering::Relaxed);
                    }
                    if random.u8(..) == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
        for quota in [fast, slow, fast, slow, Quota::per_second(30_000).with_burst(7)].into_iter().cycle().take(20_000)
        {
            while bucket.set_quota(quota) == Err(AdjustError::Contended) {}
        }
        stop.store(true, Ordering::Relaxed);
    });
    let most = 400 + u64::try_from(started.elapsed().as_nanos() * 50_000 / 1_000_000_000).unwrap() + 1;
    let kept = kept.into_inner();
    assert!(kept > 0 && kept <= most, "{kept} admitted, at most {most}");
}

#[test]
fn an_older_reading_than_the_change_counts_as_the_change() {
    let (bucket, clock) = bucket(Quota::per_second(10));
    clock.set(Nanos::from_secs(100));
    bucket.try_acquire_n(10).unwrap();
    bucket.set_quota(Quota::per_second(1_000).with_burst(20)).unwrap();
    assert!(bucket.try_acquire_n_at(11, Nanos::from_secs(50)).unwrap_err().retry_after().unwrap() > 50 * SECOND);
    assert_eq!(bucket.try_acquire_n_at(10, Nanos::from_secs(50)), Ok(()));
    assert!(bucket.try_acquire_n_at(1, Nanos::from_secs(100)).is_err());
}
