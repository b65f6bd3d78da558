//! Tables of keys.

use super::at;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tollgate::{Denied, KeyedLimiter, ManualClock, Nanos, Quota, SeededState};

type Table = KeyedLimiter<u64, SeededState, ManualClock>;

fn table(quota: Quota, capacity: usize) -> Table {
    KeyedLimiter::with_hasher_and_clock(quota, capacity, SeededState::new(77), ManualClock::new())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    /// Beside the old table, which goes on: the new one has as much for every key at every instant, or a token less where a unit
    /// begins at another instant; and to the nanosecond where it does not.
    #[test]
    fn every_key_is_what_it_would_be(
        tokens in 1..12_u64, period in 12..5_000_u64, burst in 1..20_u64,
        calls in prop::collection::vec((0..30_u64, 0..9_u64, 0..400_u64), 0..60),
        outage in 0..3_000_u64, origin in 0..9_000_u64, later in prop::collection::vec(0..500_u64, 1..6),
    ) {
        let quota = Quota::per(tokens, Duration::from_nanos(period)).with_burst(burst);
        let (old, mut now) = (table(quota, 40), 0);
        for &(key, cost, before) in &calls {
            now += before;
            let _ = old.try_acquire_n_at(&key, cost, Nanos(now));
        }
        let bytes = old.to_bytes_at(at(now, 500));
        let new = table(quota, 40).restored_from_bytes_at(&bytes, at(origin, 500 + outage)).unwrap();
        let mut passed = 0;
        for later in [0].into_iter().chain(later) {
            passed += later;
            for key in 0..30 {
                let [was, is] = [old.status_at(&key, Nanos(now + outage + passed)), new.status_at(&key, Nanos(origin + passed))];
                if period % tokens == 0 {
                    prop_assert_eq!(was, is);
                } else {
                    prop_assert!(is.remaining <= was.remaining && was.remaining <= is.remaining + 1);
                    let [was, is] = [was, is].map(|status| status.reset_after.as_nanos());
                    prop_assert!(was <= is && is <= was + 2, "{was} {is}");
                }
            }
        }
        prop_assert_eq!(old.live_at(Nanos(now + outage)), new.live_at(Nanos(origin)));
    }
}

/// Where a token is hardly longer than a unit, and every part of one shows: all short courses there are.
#[test]
fn no_key_is_fuller_where_units_begin_at_other_instants() {
    for (tokens, period) in [(7, 12), (5, 9), (2, 3), (3, 5), (4, 7), (9, 10)] {
        let quota = Quota::per(tokens, Duration::from_nanos(period)).with_burst(6);
        // The other class leaves instants at which no token of this one falls due.
        let quotas = [quota, Quota::per(1, Duration::from_nanos(1)).with_burst(6)];
        let make = || Table::with_hasher_and_clock(quotas, 1, SeededState::new(77), ManualClock::new());
        let courses =
            (0..period).flat_map(|stop| (0..3).flat_map(move |o| [0, 1].map(move |class| (stop, o, 6 - o, class))));
        for (stop, outage, cost, class) in courses {
            let old = make();
            assert!(old.class(class).try_acquire_n_at(&1, cost, Nanos(stop)).is_ok());
            let bytes = old.to_bytes_at(at(stop, 0));
            for origin in 0..period {
                let new = make().restored_from_bytes_at(&bytes, at(origin, outage)).unwrap();
                for passed in 0..2 * period {
                    let was = old.status_at(&1, Nanos(stop + outage + passed)).remaining;
                    let is = new.status_at(&1, Nanos(origin + passed)).remaining;
                    assert!(
                        is <= was && was <= is + 3,
                        "{tokens}/{period} {stop} {outage} {origin} {passed}: {was} {is}"
                    );
                }
            }
        }
    }
}

#[test]
fn keys_in_no_debt_are_not_saved_and_none_in_debt_is_lost() {
    let old = table(Quota::per_second(1), 50_000);
    for key in 0..50_000 {
        let now = Nanos(if key % 2 == 0 { 0 } else { 1_000_000_000 });
        assert!(old.try_acquire_at(&key, now).is_ok());
    }
    let bytes = old.to_bytes_at(at(1_000_000_000, 0));
    assert_eq!(bytes.len(), 48 + 24 + 25_000 * 16 + 4 * 25_000_usize.div_ceil(256) + 4 + 8);
    let new = table(Quota::per_second(1), 50_000).restored_from_bytes_at(&bytes, at(0, 0)).unwrap();
    assert_eq!(new.live_at(Nanos(0)), 25_000);
    for key in 0..50_000 {
        assert_eq!(new.try_acquire_at(&key, Nanos(0)).is_ok(), key % 2 == 0);
    }
}

/// What newcomers share is saved as well; and so is what holds newcomers up after a clock that was ahead.
#[test]
fn shared_tokens_and_horizons_go_along() {
    let make = || table(Quota::per_hour(1), 1).sharing_when_full(Quota::per_hour(3));
    let old = make();
    let admitted = (0..1_000).filter(|key| old.try_acquire_at(key, Nanos(0)).is_ok()).count();
    assert_eq!(admitted, old.live_at(Nanos(0)) + 3);
    let new = make().restored_from_bytes_at(&old.to_bytes_at(at(0, 0)), at(5, 0)).unwrap();
    assert_eq!((0..1_000).filter(|key| new.try_acquire_at(key, Nanos(5)).is_ok()).count(), 0);

    // A reading an hour ahead takes the slots of keys that are in debt by all others.
    let quota = Quota::per_hour(1);
    let old = table(quota, 1);
    let known: Vec<_> = (0..1_000).filter(|key| old.try_acquire_at(key, Nanos(0)).is_ok()).collect();
    let ahead = Nanos::from_secs(3_600);
    let strangers = (1_000..2_000).filter(|key| old.try_acquire_at(key, ahead).is_ok()).count();
    assert_eq!(strangers, known.len());
    let bytes = old.to_bytes_at(at(0, 0));
    let records = (bytes.len() - 48 - 24 - 2 * 4 - 8) / 16;
    assert!(records > known.len(), "a horizon for each part of the keys that have left");
    let new = table(quota, 1).restored_from_bytes_at(&bytes, at(0, 0)).unwrap();
    assert_eq!(new.to_bytes_at(at(0, 0)), bytes);
    for key in &known {
        assert!(old.try_acquire_at(key, Nanos(0)).is_err() && new.try_acquire_at(key, Nanos(0)).is_err());
        assert!(matches!(new.try_acquire_at(key, Nanos(1)), Err(Denied::TableFull(_) | Denied::TryAfter(_))));
    }
}

#[test]
fn refunds_and_classes_survive() {
    let make = || {
        let quotas = [Quota::per_hour(10), Quota::per_hour(100)];
        Table::with_hasher_and_clock(quotas, 100, SeededState::new(1), ManualClock::new())
    };
    let old = make();
    assert!(old.try_acquire_n(&1, 8).is_ok());
    old.refund(&1, 3);
    assert!(old.class(1).try_acquire_n(&2, 60).is_ok());
    let new = make().restored_from_bytes_at(&old.to_bytes_at(at(0, 0)), at(0, 0)).unwrap();
    assert_eq!([new.status(&1).remaining, new.class(1).status(&2).remaining], [5, 40]);
    new.refund(&1, 5);
    assert_eq!(new.status(&1).remaining, 10);
}

/// Three classes, refunds, keys forgiven and forgotten, newcomers who share, clocks that go back: no key of any class is ever fuller.
/// Where the clock did not go back, none is poorer, but for the rounding of paces that are not whole.
#[test]
fn whatever_was_done_to_keys_none_comes_out_fuller() {
    let mut random = fastrand::Rng::with_seed(5);
    for round in 0..100 {
        let quota = |random: &mut fastrand::Rng| {
            Quota::per(random.u64(1..20), Duration::from_nanos(random.u64(20..100_000))).with_burst(random.u64(1..30))
        };
        let quotas = [(); 3].map(|()| quota(&mut random));
        let whole = quotas.iter().all(|quota| quota.period().as_nanos().is_multiple_of(quota.tokens().into()));
        let longest =
            quotas.map(|quota| quota.period().as_nanos() * u128::from(quota.burst()) / u128::from(quota.tokens()));
        let longest = u64::try_from(longest.into_iter().max().unwrap()).unwrap();
        let (capacity, shared, goes_back) = (random.usize(1..40), quota(&mut random), random.bool());
        let make = || {
            let (hasher, clock) = (SeededState::new(round), ManualClock::new());
            Table::with_hasher_and_clock(quotas, capacity, hasher, clock).sharing_when_full(shared)
        };
        let (old, mut now) = (make(), [0, 1_700_000_000_000_000_000][random.usize(..2)]);
        for _ in 0..random.usize(..200) {
            match random.u32(..10) {
                0 if goes_back => now -= random.u64(..=longest).min(now),
                0 | 1 => now += random.u64(..=longest),
                _ => now += random.u64(..=longest / 50),
            }
            let (key, class) = (random.u64(..60), old.class(random.usize(..3)));
            match random.u32(..12) {
                0 => class.refund(&key, random.u64(..5)),
                1 => drop(old.forgive_at(&key, Nanos(now))),
                2 => drop(old.forget_at(&key, Nanos(now))),
                _ => drop(class.try_acquire_n_at(&key, random.u64(..=class.max_cost()), Nanos(now))),
            }
        }
        let (outage, origin) = (random.u64(..=longest) * random.u64(..2), [0, 7, now][random.usize(..3)]);
        let new = make().restored_from_bytes_at(&old.to_bytes_at(at(now, 99)), at(origin, 99 + outage)).unwrap();
        for passed in [0, 1, longest / 7, longest / 2] {
            for (key, class) in (0..60).flat_map(|key| [0, 1, 2].map(|class| (key, class))) {
                let was = old.class(class).status_at(&key, Nanos(now + outage + passed)).remaining;
                let has = |later| new.class(class).status_at(&key, Nanos(origin + passed + later)).remaining;
                assert!(has(0) <= was, "round {round}, key {key}: fuller");
                assert!(goes_back || was <= has(if whole { 0 } else { 4 }), "round {round}, key {key}: poorer");
            }
        }
    }
}

/// The quotas stand before the keys in a snapshot: when one is changed in between, what is owed is still as many tokens.
#[test]
fn a_quota_that_changes_while_the_table_is_saved_gives_no_key_anything() {
    let [slow, fast] = [Quota::per_minute(60), Quota::per_second(60)];
    for (first, then) in [(slow, fast), (fast, slow), (slow, slow.with_burst(90)), (slow, fast.with_burst(600))] {
        for charged_then in [false, true] {
            let old = table(first, 100);
            assert!(old.try_acquire_n(&1, 50).is_ok());
            let mut bytes = Vec::new();
            let put = |part: &[u8]| {
                bytes.extend_from_slice(part);
                if bytes.len() == 48 + 24 {
                    old.set_quota(then).unwrap();
                    assert!(!charged_then || old.try_acquire_n(&2, then.burst()).is_ok());
                }
                Ok::<_, std::convert::Infallible>(())
            };
            let Ok(keys) = old.save_with(put, at(0, 0));
            assert_eq!(keys, if charged_then { 2 } else { 1 });
            let new = table(first, 100).restored_from_bytes_at(&bytes, at(0, 0)).unwrap();
            // To a unit, of either rate.
            for (key, owes) in [(1, 50), (2, then.burst() * u64::from(charged_then))] {
                let full =
                    Duration::from_nanos(owes * u64::try_from(first.period().as_nanos()).unwrap() / first.tokens());
                let more = new.status(&key).reset_after.abs_diff(full);
                assert!(more < Duration::from_micros(1), "key {key}, {first:?} {then:?}: {more:?}");
            }
        }
    }
}

/// Threads charge, refund and come anew while the table is saved: no key is restored with more than it had when the call began,
/// nor with less than it has when it ends.
#[test]
fn a_table_in_use_is_saved_as_it_was_at_some_instant() {
    const KEYS: u64 = 400;
    let quota = Quota::per(1, Duration::from_nanos(1)).with_burst(u64::from(u32::MAX));
    let limiter = table(quota, 500);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..2_u64 {
            let (limiter, stop) = (&limiter, &stop);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(thread);
                while !stop.load(Ordering::Relaxed) {
                    let key = random.u64(..KEYS);
                    assert!(limiter.try_acquire_n_at(&key, random.u64(1..50), Nanos(0)).is_ok());
                }
            });
        }
        for _ in 0..200 {
            let owes = |limiter: &Table| -> Vec<_> {
                (0..KEYS).map(|key| u64::from(u32::MAX) - limiter.status_at(&key, Nanos(0)).remaining).collect()
            };
            let before = owes(&limiter);
            let bytes = limiter.to_bytes_at(at(0, 0));
            let after = owes(&limiter);
            let restored = owes(&table(quota, 500).restored_from_bytes_at(&bytes, at(0, 0)).unwrap());
            for ((before, after), restored) in before.iter().zip(&after).zip(&restored) {
                assert!(before <= restored && restored <= after, "{before} {restored} {after}");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}
