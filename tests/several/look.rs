//! A look says what a call would be told.

use super::{Limiter, limiters};
use std::sync::Arc;
use std::time::Duration;
use tollgate::{Denied, KeyedLimiter, ManualClock, Nanos, Quota, RateLimit, RateLimitAt, SlidingWindowLog};

fn all(quota: Quota, clock: &ManualClock) -> Vec<(&'static str, Limiter)> {
    let mut all = limiters(quota, clock);
    all.push(("sliding log", Box::new(SlidingWindowLog::with_clock(quota, clock.clone()))));
    all
}

/// Two of each limiter are kept alike: one is looked at and then called, the other only called.
#[test]
fn a_look_says_what_the_call_then_says_and_changes_nothing() {
    let mut random = fastrand::Rng::with_seed(15);
    for quota in [Quota::per_second(3), Quota::per(7, Duration::from_millis(300)).with_burst(5), Quota::per_second(400)]
    {
        let clock = ManualClock::new();
        for ((name, looked_at), (_, other)) in all(quota, &clock).into_iter().zip(all(quota, &clock)) {
            let (mut now, mut refused) = (Nanos::from_secs(50), 0);
            for _ in 0..2_000 {
                now = match random.u32(..8) {
                    0 => now.saturating_sub(quota.period() / random.u32(1..20)),
                    1..4 => now.saturating_add(quota.period() / random.u32(1..20)),
                    _ => now,
                };
                let most = looked_at.max_cost();
                let n = match random.u32(..8) {
                    0 => 0,
                    1 => most,
                    2 => most + 1,
                    _ => random.u64(1..=most.div_ceil(3)),
                };
                let look = looked_at.check_n_at(n, now);
                assert_eq!(look, looked_at.try_acquire_n_at(n, now), "{name}, a cost of {n} at {now:?}");
                assert_eq!(look, other.try_acquire_n_at(n, now), "{name}: the look has changed something");
                refused += u32::from(look.is_err());
            }
            assert!((200..1_800).contains(&refused), "{name}: {refused} refused");
        }
    }
}

#[test]
fn a_look_at_places_given_back_counts_them() {
    use tollgate::WaitingTokenBucket;
    let quota = Quota::per_second(1).with_burst(4);
    let bucket = WaitingTokenBucket::with_clock(quota, Duration::from_secs(9), ManualClock::new());
    let at = Nanos::ZERO;
    let places = [2, 1, 1, 2].map(|n| bucket.reserve_at(n, at).unwrap());
    assert!(bucket.check_n_at(1, at).is_err());
    let [first, _second, third, _fourth] = places;
    first.cancel_at(at);
    third.cancel_at(at);
    for (n, now, free) in [(1, 0, true), (2, 0, true), (3, 0, false), (2, 1, false), (1, 1, true)] {
        let now = Nanos::from_secs(now);
        assert_eq!(bucket.check_n_at(n, now).is_ok(), free, "{n} at {now:?}");
    }
    // Of what is not due yet, the hint is when it is.
    let Err(Denied::TryAfter(hint)) = bucket.check_n_at(3, at) else { panic!("three in a row there are not") };
    assert_eq!(bucket.try_acquire_n_at(3, at), Err(Denied::TryAfter(hint)));
}

#[test]
fn a_key_that_starts_with_less_is_admitted_in_the_end_though_it_is_looked_at_first() {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::<str>::with_clock(Quota::per_second(1).with_burst(2), 10, clock).with_initial(0);
    let alice = limiter.line("alice");
    let admitted: Vec<_> = (0..4)
        .map(|second| {
            let now = Nanos::from_secs(second);
            alice.check_n_at(1, now).and_then(|()| alice.try_acquire_n_at(1, now)).is_ok()
        })
        .collect();
    assert_eq!(admitted, [false, true, true, true]);
}

#[test]
fn a_line_of_a_key_is_the_limiter_for_that_key() {
    let limiter = Arc::new(KeyedLimiter::<str>::with_clock(
        [Quota::per_second(4), Quota::per_second(8)],
        10,
        ManualClock::starting_at(Nanos::from_secs(1)),
    ));
    let (alice, owned, paid) =
        (limiter.line("alice"), limiter.clone().line_owned("alice"), limiter.class(1).line("bob"));
    assert!(limiter.try_acquire("alice").is_ok());
    assert_eq!((alice.available(), owned.available(), paid.available()), (3, 3, 8));
    assert!(owned.try_acquire_n(2).is_ok());
    assert_eq!(limiter.status("alice"), alice.status());
    assert_eq!(alice.try_acquire_n_with_status(2), limiter.try_acquire_n_with_status("alice", 2));
    alice.refund(1);
    assert_eq!((owned.try_acquire_up_to(9), limiter.status("alice").remaining), (2, 0));
    assert_eq!((alice.max_cost(), paid.max_cost(), paid.quota()), (4, 8, Quota::per_second(8)));
    assert!(matches!(paid.try_acquire_n(9), Err(Denied::ExceedsBurst { cost: 9, max_cost: 8 })));
}

#[test]
fn a_key_for_which_there_is_no_slot_takes_nothing_and_is_not_asked_for_ever() {
    let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_hour(1), 1, ManualClock::new());
    let lines: Vec<_> = (0..100).map(|key| limiter.line(&key)).collect();
    let full = lines.iter().find(|line| line.try_acquire_n_at(1, Nanos::ZERO).is_err()).expect("15 slots");
    assert!(matches!(full.try_acquire_n_at(1, Nanos::ZERO), Err(Denied::TableFull(_))));
    assert_eq!(full.try_acquire_up_to_at(1, Nanos::ZERO), 0);
}
