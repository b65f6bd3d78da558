//! Quotas of every size, clocks that count from 1970, long outages: never fuller, and exact to a unit; an adjustable bucket after
//! any changes.

use super::at;
use std::time::Duration;
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, CarryOver, Clock, ManualClock,
    Moment, Nanos, PackedTokenBucket, Quota, RateLimitAt, ShardedTokenBucket, SlidingWindowLog, Snapshot, TokenBucket,
    WaitingTokenBucket,
};

/// 2023-11-14 in Unix time.
const UNIX: u64 = 1_700_000_000_000_000_000;

/// Numbers of any length in bits.
fn quota(random: &mut fastrand::Rng) -> Quota {
    let number = |random: &mut fastrand::Rng, bits| (random.u64(..) >> (64 - random.u32(1..=bits))).max(1);
    loop {
        let [tokens, period, burst] = [44, 62, 40].map(|bits| number(random, bits));
        if let Ok(quota) = Quota::try_new(tokens, Duration::from_nanos(period), burst) {
            return quota;
        }
    }
}

/// More than two units take, on a scale of 62 bits: some nanoseconds, or the part of a burst that the scale has no bits for.
fn two_units(quota: Quota) -> u64 {
    let fill = quota.period().as_nanos() * u128::from(quota.burst()) / u128::from(quota.tokens());
    4 + u64::try_from(fill >> 58).unwrap()
}

/// What a limiter that was restored may have less than the old one: so many tokens, or what it has so many nanoseconds later.
struct Slack {
    tokens: u64,
    nanos: u64,
}

/// A course of calls, an outage on another clock, and looks at both limiters after it.
fn course<L: RateLimitAt>(
    quota: Quota,
    random: &mut fastrand::Rng,
    slack: &Slack,
    old: &L,
    restored: impl FnOnce(&L, Moment, Moment) -> L,
) {
    // What it takes to fill up, or a period; a few years at most.
    let fill = quota.period().as_nanos() * u128::from(quota.burst()) / u128::from(quota.tokens());
    let span = u64::try_from(fill.max(quota.period().as_nanos()).clamp(4, 1 << 58)).unwrap();
    let mut now = [0, 1, UNIX][random.usize(..3)];
    for _ in 0..random.usize(..10) {
        now += random.u64(..=span / 4);
        let n = [1, old.max_cost(), old.available_at(Nanos(now)), random.u64(..=old.max_cost())][random.usize(..4)];
        let _ = old.try_acquire_n_at(n, Nanos(now));
    }
    let outage = if random.bool() { 0 } else { random.u64(..=span / 2) };
    let (origin, wall) = ([0, 5, UNIX, now][random.usize(..4)], random.u64(..UNIX));
    let new = restored(old, at(now, wall), at(origin, wall + outage));
    let mut passed = 0;
    for _ in 0..8 {
        let was = old.available_at(Nanos(now + outage + passed));
        let [is, later] = [0, slack.nanos].map(|later| new.available_at(Nanos(origin + passed + later)));
        assert!(is <= was, "{quota}: {is} in place of {was}, of {origin} for {now} after {outage} and {passed}");
        assert!(
            was <= later + slack.tokens,
            "{quota}: {later} for {was}, of {origin} for {now} after {outage} and {passed}"
        );
        passed += random.u64(..=span / 4);
    }
}

#[test]
fn quotas_of_every_size_are_restored_to_a_unit() {
    let mut random = fastrand::Rng::with_seed(1);
    /// A limiter that is restored in place.
    macro_rules! in_place {
        ($quota:expr, $slack:expr, $make:expr) => {
            course($quota, &mut random, &$slack, &$make, |old, saved, now| {
                let new = $make;
                let snapshot = Snapshot::from_bytes(&old.snapshot_at(saved).to_bytes()).unwrap();
                new.restore_at(&snapshot, now).unwrap();
                new
            })
        };
    }
    for _ in 0..1_500 {
        let quota = quota(&mut random);
        let unit = || Slack { tokens: 0, nanos: two_units(quota) };
        in_place!(quota, unit(), TokenBucket::with_clock(quota, ManualClock::new()));
        in_place!(quota, unit(), WaitingTokenBucket::with_clock(quota, Duration::MAX, ManualClock::new()));
        in_place!(quota, unit(), ShardedTokenBucket::with_clock(quota, ManualClock::new()));
        let adjustable = || AdjustableTokenBucket::try_with_clock(quota, ManualClock::new());
        if adjustable().is_ok() {
            in_place!(quota, unit(), adjustable().unwrap());
        }
        let packed = || PackedTokenBucket::try_with_clock(quota, ManualClock::new());
        if packed().is_ok() && u128::from(quota.tokens()) < quota.period().as_nanos() {
            in_place!(quota, Slack { tokens: 1, nanos: 0 }, packed().unwrap());
        }
        if quota.tokens() < 3_000 {
            let log = || SlidingWindowLog::with_clock(quota, ManualClock::new());
            course(quota, &mut random, &Slack { tokens: 0, nanos: 0 }, &log(), |old, saved, now| {
                let snapshot = Snapshot::from_bytes(&old.snapshot_at(saved).to_bytes()).unwrap();
                log().restored_at(&snapshot, now).unwrap()
            });
        }
    }
}

#[test]
fn an_adjustable_bucket_is_restored_after_any_changes() {
    let mut random = fastrand::Rng::with_seed(2);
    let quota = |random: &mut fastrand::Rng| {
        let period = Duration::from_nanos(random.u64(1_000..1_000_000));
        Quota::per(random.u64(1..50), period).with_burst(random.u64(1..100))
    };
    for _ in 0..2_000 {
        let clock = ManualClock::starting_at(Nanos(random.u64(..1 << 40)));
        let old = AdjustableTokenBucket::with_clock(quota(&mut random), clock.clone());
        for _ in 0..random.usize(1..6) {
            clock.advance(Duration::from_nanos(random.u64(..100_000)));
            let _ = old.try_acquire_n(random.u64(..=old.max_cost()));
            let ways = [CarryOver::Debt, CarryOver::Tokens, CarryOver::Scaled, CarryOver::Full, CarryOver::Empty];
            old.set_quota_with(quota(&mut random), ways[random.usize(..ways.len())]).unwrap();
        }
        let (now, outage, origin) = (clock.now().0, random.u64(..1_000_000), random.u64(..1 << 50));
        let snapshot = Snapshot::from_bytes(&old.snapshot_at(at(now, 7)).to_bytes()).unwrap();
        let new = AdjustableTokenBucket::with_clock(snapshot.quota(), ManualClock::new());
        new.restore_at(&snapshot, at(origin, 7 + outage)).unwrap();
        let mut passed = 0;
        for _ in 0..10 {
            let was = old.available_at(Nanos(now + outage + passed));
            let [is, later] = [0, 4].map(|later| new.available_at(Nanos(origin + passed + later)));
            assert!(is <= was && was <= later, "{is}, then {later}, in place of {was}");
            passed += random.u64(..100_000);
        }
    }
}

/// Windows of any history; a fixed one is on a clock whose windows begin alike.
#[test]
fn adjustable_windows_are_restored_after_any_changes() {
    let mut random = fastrand::Rng::with_seed(3);
    macro_rules! course {
        ($limiter:ident, $aligned:expr) => {
            for _ in 0..2_000 {
                let period = random.u64(10..1_000) * 1_000;
                let quota = |random: &mut fastrand::Rng| match random.u32(..20) {
                    0 => Quota::UNLIMITED,
                    1 => Quota::DENY_ALL,
                    _ => Quota::per(random.u64(1..50), Duration::from_nanos(random.u64(10..1_000) * 1_000)),
                };
                let clock = ManualClock::starting_at(Nanos(random.u64(..1 << 40)));
                let old = $limiter::with_clock(quota(&mut random), clock.clone());
                for turn in (0..random.usize(1..6)).rev() {
                    clock.advance(Duration::from_nanos(random.u64(..100_000)));
                    old.try_acquire_up_to(random.u64(..60));
                    let ways =
                        [CarryOver::Debt, CarryOver::Debt, CarryOver::Tokens, CarryOver::Scaled, CarryOver::Empty];
                    let last = Quota::per(random.u64(1..50), Duration::from_nanos(period));
                    let next = if turn == 0 { last } else { quota(&mut random) };
                    old.set_quota_with(next, ways[random.usize(..ways.len())]).unwrap();
                    old.try_acquire_up_to(random.u64(..20));
                }
                // Now and then the clock is behind where it was.
                let now = clock.now().0.saturating_sub(random.u64(..50_000) * random.u64(..2));
                let (outage, origin) = (random.u64(..1_000_000), random.u64(..1 << 50));
                let origin = if $aligned { origin / period * period + (now + outage) % period } else { origin };
                let snapshot = Snapshot::from_bytes(&old.snapshot_at(at(now, 7)).to_bytes()).unwrap();
                let new = $limiter::with_clock(snapshot.quota(), ManualClock::new());
                new.restore_at(&snapshot, at(origin, 7 + outage)).unwrap();
                let mut passed = 0;
                for _ in 0..10 {
                    let [was, is] =
                        [old.available_at(Nanos(now + outage + passed)), new.available_at(Nanos(origin + passed))];
                    assert_eq!(is, was, "{} of {origin} for {now} after {outage} and {passed}", old.quota());
                    passed += random.u64(..100_000);
                }
            }
        };
    }
    course!(AdjustableFixedWindow, true);
    course!(AdjustableSlidingWindowCounter, false);
}
