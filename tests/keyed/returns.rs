//! What a keyed limiter gives back: refunds, debts that are lifted; and what newcomers share when there is no slot.

use core::time::Duration;
use std::hash::{BuildHasherDefault, DefaultHasher};
use tollgate::{Denied, KeyedLimiter, KeyedRateLimit, ManualClock, Nanos, Quota};

type Limiter = KeyedLimiter<u64, BuildHasherDefault<DefaultHasher>, ManualClock>;

fn limiter(quotas: impl Into<tollgate::keyed::Classes>, capacity: usize, clock: &ManualClock) -> Limiter {
    Limiter::with_hasher_and_clock(quotas, capacity, BuildHasherDefault::default(), clock.clone())
}

#[test]
fn what_is_given_back_can_be_taken_again() {
    for quota in [Quota::per_hour(10), Quota::per_second(3).with_burst(10), Quota::per(7, Duration::from_nanos(11))] {
        let clock = ManualClock::starting_at(Nanos::from_secs(100));
        let limiter = limiter(quota, 10, &clock);
        let burst = quota.burst();
        assert!(limiter.try_acquire_n(&1, burst).is_ok());
        for n in 1..=burst {
            limiter.refund(&1, n);
            assert_eq!(limiter.status(&1).remaining, n, "{quota:?}");
            assert!(limiter.try_acquire_n(&1, n).is_ok() && limiter.try_acquire(&1).is_err(), "{quota:?}");
        }
        limiter.refund(&1, burst + 5);
        assert_eq!(limiter.status(&1).remaining, burst, "no more than the burst");
        limiter.refund(&1, u64::MAX);
        limiter.refund(&2, 5);
        assert_eq!((limiter.status(&1).remaining, limiter.status(&2).remaining), (burst, burst));
        assert!(limiter.try_acquire_n(&1, burst).is_ok() && limiter.try_acquire(&1).is_err());
    }
}

/// However often: nothing is lost and nothing is made.
#[test]
fn a_thousand_refunds_in_a_row_are_exact() {
    let clock = ManualClock::new();
    let limiter = limiter(Quota::per_second(100), 10, &clock);
    assert!(limiter.try_acquire_n(&1, 50).is_ok());
    for turn in 0..1_000 {
        assert!(limiter.try_acquire_n(&1, 50).is_ok(), "turn {turn}");
        assert!(limiter.try_acquire(&1).is_err(), "turn {turn}");
        limiter.refund(&1, 20);
        limiter.refund(&1, 30);
        if turn % 10 == 0 {
            clock.advance(Duration::from_millis(100));
            assert!(limiter.try_acquire_n(&1, 10).is_ok(), "turn {turn}");
        }
    }
    assert_eq!(limiter.status(&1).remaining, 50);
}

#[test]
fn unlimited_and_deny_all_have_nothing_to_give_back() {
    let limiter = limiter([Quota::UNLIMITED, Quota::DENY_ALL, Quota::per_hour(3)], 10, &ManualClock::new());
    assert!(limiter.class(2).try_acquire_n(&1, 3).is_ok());
    limiter.refund(&1, 3);
    limiter.class(1).refund(&1, 3);
    assert_eq!(limiter.class(2).status(&1).remaining, 0);
    limiter.class(2).refund(&1, 1);
    assert_eq!(limiter.class(2).status(&1).remaining, 1);
}

#[test]
fn a_debt_that_is_lifted_is_gone() {
    let clock = ManualClock::starting_at(Nanos::from_secs(1_000));
    let limiter = limiter(Quota::per_hour(10), 10, &clock);
    for _ in 0..3 {
        assert!(limiter.try_acquire_n(&1, 10).is_ok());
        assert!(limiter.try_acquire(&1).is_err());
        assert!(!limiter.forget(&1), "that is no way out of debt");
        assert!(limiter.forgive(&1));
        assert_eq!(limiter.status(&1).remaining, 10);
    }
    assert!(limiter.forgive(&2), "nobody knows it");
}

/// A day's debt by a clock that was a year ahead for one call: the way out for the customer that it hit.
#[test]
fn a_debt_from_a_clock_far_ahead_can_be_lifted() {
    let clock = ManualClock::new();
    let limiter = limiter(Quota::per(1, Duration::from_secs(86_400)), 100, &clock);
    assert!(limiter.try_acquire_n_at(&1, 1, Nanos::from_secs(31_557_600)).is_ok());
    assert!(limiter.try_acquire(&1).is_err());
    assert!(limiter.forgive(&1));
    assert!(limiter.try_acquire(&1).is_ok());
}

/// A slot whose key was given tokens back goes to another later than others, but it does.
#[test]
fn slots_of_keys_that_got_tokens_back_are_reused() {
    let clock = ManualClock::new();
    let limiter = limiter(Quota::per_second(1), 1, &clock);
    let fill = |from: u64| (from..from + 100).filter(|key| limiter.try_acquire(key).is_ok()).collect::<Vec<u64>>();
    let known = fill(0);
    assert_eq!(known.len(), 15);
    assert!(known.iter().all(|key| limiter.forgive(key)));
    assert_eq!((limiter.live(), fill(1_000).len()), (0, 0), "a word that has shrunk must not come again");
    clock.set(Nanos::from_secs(3));
    assert_eq!(known.iter().filter(|key| limiter.try_acquire(key).is_ok()).count(), 15, "they have kept them");
    clock.set(Nanos::from_secs(8));
    assert_eq!(fill(2_000).len(), 15, "a second of debt, as long once more, and what a mark is rounded by");
}

#[test]
fn newcomers_share_a_bucket_while_the_table_is_full() {
    let clock = ManualClock::new();
    let limiter = limiter(Quota::per_hour(100), 1, &clock).sharing_when_full(Quota::per_second(2).with_burst(4));
    let known: Vec<u64> = (0..15).filter(|key| limiter.try_acquire_n(key, 50).is_ok()).collect();
    assert_eq!((known.len(), limiter.live()), (15, 15));

    // Four at once for all that are new, two a second from then on, whoever asks first.
    assert_eq!((1_000..2_000).filter(|key| limiter.try_acquire(key).is_ok()).count(), 4);
    let Err(Denied::TableFull(hint)) = limiter.try_acquire(&5_000) else { panic!("there is no room") };
    assert_eq!(hint.retry_after(), Duration::from_millis(500));
    clock.set(Nanos(hint.due().0 - 1));
    assert!(limiter.try_acquire(&5_000).is_err());
    clock.set(hint.due());
    assert_eq!(limiter.try_acquire(&5_000), Ok(()));

    // Costs count; what the shared bucket can never give waits for a slot.
    clock.set(Nanos::from_secs(100));
    assert!(limiter.try_acquire_n(&5_001, 3).is_ok() && limiter.try_acquire_n(&5_002, 2).is_err());
    let Err(Denied::TableFull(hint)) = limiter.try_acquire_n(&5_003, 5) else { panic!("there is no room") };
    assert_eq!(hint.due(), Nanos::from_secs(1_800));

    // Keys in debt are as they were, and a newcomer has a bucket of its own as soon as there is a slot.
    assert!(known.iter().all(|key| limiter.try_acquire_n(key, 50).is_ok() || limiter.status(key).remaining >= 50));
    clock.set(Nanos::from_secs(3_600 + 1_800));
    assert!(limiter.try_acquire_n(&6_000, 100).is_ok());
    assert!(matches!(limiter.try_acquire(&6_000), Err(Denied::TryAfter(_))));
}

#[test]
fn a_batch_has_a_cost_for_each_key() {
    let clock = ManualClock::new();
    let quotas = [Quota::per_second(3), Quota::UNLIMITED, Quota::DENY_ALL];
    let (batched, single) = (limiter(quotas, 50, &clock), limiter(quotas, 50, &clock));
    for round in 0..50_u64 {
        for class in 0..3 {
            let calls: Vec<(u64, u64)> = (0..37).map(|i| ((i * i + round) % 29, (i + round) % 5)).collect();
            let mut decisions = [Ok(()); 37];
            let pairs = || calls.iter().map(|(key, n)| (key, *n));
            let admitted = if round % 2 == 0 {
                batched.class(class).try_acquire_many(pairs(), &mut decisions)
            } else {
                batched.class(class).try_acquire_many_at(pairs(), &mut decisions, Nanos::from_millis(round * 100))
            };
            for (&(key, n), decision) in calls.iter().zip(decisions) {
                assert_eq!(decision, single.class(class).try_acquire_n(&key, n), "round {round}, {n} of key {key}");
            }
            assert_eq!(admitted, decisions.iter().filter(|decision| decision.is_ok()).count());
        }
        clock.advance(Duration::from_millis(100));
    }
}

#[test]
fn every_reading_can_be_given() {
    let limiter = limiter(Quota::per_second(2), 10, &ManualClock::starting_at(Nanos::MAX));
    let at = Nanos::from_millis;
    assert!(limiter.try_acquire_at(&1, at(0)).is_ok() && limiter.class(0).try_acquire_at(&1, at(0)).is_ok());
    assert!(limiter.try_acquire_at(&1, at(499)).is_err() && limiter.try_acquire_at(&1, at(500)).is_ok());
    assert_eq!((limiter.status_at(&1, at(500)).remaining, limiter.class(0).status_at(&1, at(1_000)).remaining), (0, 1));
    assert_eq!((limiter.live_at(at(500)), limiter.live_at(at(1_500))), (1, 0));
    assert!(limiter.fill_at(at(500)) > 0.0 && limiter.fill_at(at(1_500)) < f64::MIN_POSITIVE);
    assert!(!limiter.forget_at(&1, at(1_499)) && limiter.forget_at(&1, at(1_500)));
    assert!(limiter.forgive_at(&1, at(600)) && limiter.try_acquire_n_at(&1, 2, at(600)).is_ok());
    assert_eq!(limiter.try_acquire_many_at([(&1, 1), (&2, 2)], &mut [Ok(()); 2], at(600)), 1);
}

/// A layer that is written once takes a limiter, a class of it, or whatever points to one.
#[test]
fn limiters_and_their_classes_are_one_trait() {
    fn layer(limiter: &dyn KeyedRateLimit<u64>) -> (u64, bool) {
        let admitted = (0..10).filter(|_| limiter.try_acquire(&1).is_ok()).count() as u64;
        limiter.refund(&1, 1);
        assert_eq!((limiter.status(&1).remaining, limiter.quota().burst()), (1, admitted));
        (admitted, limiter.forget(&1))
    }
    let clock = ManualClock::new();
    let make = || limiter([Quota::per_second(2), Quota::per_second(5)], 10, &clock);
    assert_eq!(layer(&make()), (2, false));
    assert_eq!(layer(&Box::new(make())), (2, false));
    assert_eq!(layer(&make().class(1)), (5, false));
    let by_name = KeyedLimiter::<String>::new(Quota::per_hour(1), 10);
    let borrowed: &dyn KeyedRateLimit<str> = &by_name;
    assert!(borrowed.try_acquire("a").is_ok() && by_name.try_acquire("a").is_err());
}
