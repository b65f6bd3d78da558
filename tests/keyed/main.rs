//! The keyed limiter, seen from outside: one caller at a time.

mod extremes;
mod model;
mod reload;
mod returns;

use core::hash::{BuildHasher, Hasher};
use core::time::Duration;
use tollgate::keyed::{Class, Classes};
use tollgate::{Clock, Denied, KeyedError, KeyedLimiter, ManualClock, Nanos, Quota};

const SECOND: Duration = Duration::from_secs(1);

/// A number is its own hash: the worst hasher there is, and a predictable one.
#[derive(Clone, Copy, Debug, Default)]
struct AsIs(u64);

impl BuildHasher for AsIs {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        *self
    }
}

impl Hasher for AsIs {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn predictable(
    quota: impl Into<Classes>,
    capacity: usize,
    clock: &ManualClock,
) -> KeyedLimiter<u64, AsIs, ManualClock> {
    KeyedLimiter::with_hasher_and_clock(quota, capacity, AsIs::default(), clock.clone())
}

/// How many of `n` calls of cost 1 are admitted.
fn admitted<S: BuildHasher, C: Clock>(limiter: &KeyedLimiter<u64, S, C>, key: u64, n: u64) -> u64 {
    (0..n).map(|_| u64::from(limiter.try_acquire(&key).is_ok())).sum()
}

#[test]
fn keys_have_buckets_of_their_own() {
    let clock = ManualClock::new();
    let limiter = predictable(Quota::per_second(5), 100, &clock);
    for key in 0..100 {
        assert_eq!(admitted(&limiter, key, 10), 5, "key {key}");
    }
    assert_eq!(limiter.live(), 100);
    clock.advance(Duration::from_millis(400));
    for key in 0..100 {
        assert_eq!(admitted(&limiter, key, 10), 2, "key {key}");
    }
    clock.advance(SECOND);
    assert_eq!(limiter.live(), 0);
}

#[test]
fn lookups_borrow() {
    let limiter = KeyedLimiter::<String>::new(Quota::per_hour(1), 10);
    assert!(limiter.try_acquire("a").is_ok());
    assert!(limiter.try_acquire(&String::from("a")).is_err());
    let bytes = KeyedLimiter::<Vec<u8>>::new(Quota::per_hour(1), 10);
    assert!(bytes.try_acquire(&b"a"[..]).is_ok());
    let pairs = KeyedLimiter::<(u32, &str)>::new(Quota::per_hour(1), 10);
    assert!(pairs.try_acquire(&(1, "a")).is_ok());
}

#[test]
fn hints_are_exact() {
    for quota in
        [Quota::per_second(5), Quota::per_second(3), Quota::per(7, Duration::from_nanos(11)), Quota::per_hour(1)]
    {
        let clock = ManualClock::starting_at(Nanos::from_secs(1_000));
        let limiter = predictable(quota, 10, &clock);
        assert!(limiter.try_acquire_n(&1, quota.burst()).is_ok());
        for cost in 1..=quota.burst() {
            let hint = limiter.try_acquire_n(&1, cost).unwrap_err().retry_after().expect("not never");
            let due = clock.now().saturating_add(hint);
            assert!(limiter.try_acquire_n_at(&1, cost, Nanos(due.0 - 1)).is_err(), "{quota:?} {cost}");
            assert!(limiter.try_acquire_n_at(&1, cost, due).is_ok(), "{quota:?} {cost}");
            clock.set(due);
        }
    }
}

#[test]
fn costs_that_can_never_be_admitted_leave_no_trace() {
    let limiter = predictable(Quota::per_second(5), 10, &ManualClock::new());
    for cost in [6, 7, 1 << 40, u64::MAX] {
        assert_eq!(limiter.try_acquire_n(&1, cost), Err(Denied::ExceedsBurst { cost, max_cost: 5 }));
    }
    assert!(limiter.try_acquire_n(&1, 0).is_ok());
    assert_eq!(limiter.live(), 0);
    assert!(limiter.try_acquire_n(&1, 5).is_ok());
    assert!(limiter.try_acquire_n(&1, 0).is_ok());
}

#[test]
fn unlimited_and_deny_all_need_no_table() {
    let limiter = predictable([Quota::UNLIMITED, Quota::DENY_ALL], 10, &ManualClock::new());
    let mut decisions = [Ok(()); 3];
    assert!(limiter.try_acquire_n(&1, u64::MAX).is_ok());
    assert_eq!(limiter.check_many(&[1, 2, 3], &mut decisions), 3);
    assert_eq!(limiter.status(&1).remaining, u64::MAX);
    let none = limiter.class(1);
    assert_eq!(none.try_acquire(&1), Err(Denied::ExceedsBurst { cost: 1, max_cost: 0 }));
    assert_eq!(none.check_many(&[1, 2, 3], &mut decisions), 0);
    assert!(decisions.iter().all(Result::is_err));
    assert_eq!((none.status(&1).remaining, none.status(&1).retry_after), (0, None));
    assert_eq!(limiter.live(), 0);
}

#[test]
fn status_agrees_with_what_is_admitted() {
    for quota in [Quota::per_second(5), Quota::per_second(3), Quota::per_second(7).with_burst(20)] {
        let clock = ManualClock::starting_at(Nanos::from_secs(5));
        let limiter = predictable(quota, 10, &clock);
        for step in 0..200 {
            let status = limiter.status(&1);
            assert_eq!(status.limit, quota.burst());
            assert!(status.remaining <= quota.burst());
            assert_eq!(status.retry_after == Some(Duration::ZERO), status.remaining > 0);
            let later = clock.now().saturating_add(status.reset_after);
            if step % 3 == 0 {
                assert_eq!(admitted(&limiter, 1, 100), status.remaining, "step {step}");
            } else if step % 7 == 0 {
                clock.set(later);
                assert_eq!(limiter.status(&1).remaining, quota.burst());
                assert_eq!(limiter.status(&1).reset_after, Duration::ZERO);
            }
            clock.advance(Duration::from_nanos(41_234_567));
        }
    }
}

#[test]
fn a_full_table_says_when_there_is_room() {
    let clock = ManualClock::starting_at(Nanos::from_secs(1));
    let limiter = predictable(Quota::per_second(1).with_burst(100), 1, &clock);
    // Fifteen slots, with one debt shorter than the others.
    let mut keys = 0..;
    let taken: Vec<u64> =
        keys.by_ref().take_while(|&key| limiter.try_acquire_n(&key, if key == 7 { 3 } else { 50 }).is_ok()).collect();
    assert_eq!(taken.len(), 15);
    assert_eq!((limiter.live(), limiter.fill()), (15, 1.0));

    let Err(Denied::TableFull(hint)) = limiter.try_acquire(&99) else { panic!("there is no room") };
    assert_eq!(hint.retry_after(), 3 * SECOND);
    assert_eq!(limiter.status(&99).remaining, 100); // what it would have
    for key in taken {
        assert_eq!(limiter.status(&key).remaining, if key == 7 { 97 } else { 50 }, "key {key}");
    }
    clock.set(Nanos(hint.due().0 - 1));
    assert_eq!(limiter.try_acquire(&99), Err(Denied::TableFull(hint_at(&limiter))));
    clock.set(hint.due());
    assert!(limiter.try_acquire_n(&99, 100).is_ok()); // in the very slot, and with a full burst
    assert!(matches!(limiter.try_acquire(&7), Err(Denied::TableFull(_))));
}

/// The hint of a table that is full at present.
fn hint_at(limiter: &KeyedLimiter<u64, AsIs, ManualClock>) -> tollgate::Hint {
    match limiter.try_acquire(&98) {
        Err(Denied::TableFull(hint)) => hint,
        other => panic!("there is no room: {other:?}"),
    }
}

#[test]
fn forgetting_is_no_way_out_of_debt() {
    let clock = ManualClock::new();
    let limiter = predictable(Quota::per_second(1), 10, &clock);
    assert!(limiter.forget(&1)); // nobody knows it
    assert!(limiter.try_acquire(&1).is_ok());
    assert!(!limiter.forget(&1));
    assert!(limiter.try_acquire(&1).is_err());
    clock.advance(SECOND.checked_sub(Duration::from_nanos(1)).unwrap());
    assert!(!limiter.forget(&1));
    clock.advance(Duration::from_nanos(1));
    assert!(limiter.forget(&1));
    assert_eq!(admitted(&limiter, 1, 3), 1);

    // And neither is being forgotten on a clock that is ahead.
    assert!(limiter.forget_at(&1, Nanos::from_secs(2)));
    assert_eq!(admitted(&limiter, 1, 3), 0);
    clock.advance(SECOND);
    assert_eq!(admitted(&limiter, 1, 3), 1);
}

#[test]
fn a_key_that_lost_its_slot_on_a_fast_clock_has_not_lost_its_debt() {
    let clock = ManualClock::new();
    let limiter = predictable(Quota::per_second(1).with_burst(100), 1, &clock);
    for key in 0..15 {
        assert!(limiter.try_acquire_n(&key, 100).is_ok());
    }
    // A clock that is 100 s ahead reads all of them as recovered, and gives their slots to others for a moment.
    let ahead = Nanos::from_secs(100);
    for key in 100..115 {
        assert!(limiter.try_acquire_n_at(&key, 1, ahead).is_ok());
    }
    for key in 100..115 {
        assert!(limiter.forget_at(&key, Nanos::from_secs(101)));
    }
    for key in 0..15 {
        assert!(limiter.try_acquire(&key).is_err(), "key {key}");
    }
    clock.set(Nanos::from_secs(102));
    for key in 0..15 {
        assert!(limiter.try_acquire_n(&key, 100).is_ok(), "key {key}");
    }
}

#[test]
fn an_older_reading_mints_nothing() {
    let clock = ManualClock::starting_at(Nanos::from_secs(100));
    let limiter = predictable(Quota::per_second(10), 10, &clock);
    assert_eq!(admitted(&limiter, 1, 20), 10);
    for behind in [0, 1, 1_600, 99_999] {
        clock.set(Nanos::from_millis(100_000 - behind));
        assert_eq!(admitted(&limiter, 1, 20), 0);
    }
}

#[test]
fn aliases_share_a_bucket() {
    let clock = ManualClock::new();
    let limiter = predictable(Quota::per_second(5), 100, &clock);
    // Hashes are multiplied by an odd number, and the product's upper half goes into its lower one: bits 2 to 31 are the
    // fingerprint. The inverse of that number leads to a key whose product is bit 32, which comes down as bit 0, unused.
    let golden = 0x9E37_79B9_7F4A_7C15_u64;
    let inverse = (0..6).fold(golden, |x, _| x.wrapping_mul(2_u64.wrapping_sub(golden.wrapping_mul(x))));
    let twin = inverse << 32;
    assert_eq!(admitted(&limiter, 0, 3), 3);
    assert_eq!(admitted(&limiter, twin, 5), 2);
    assert_eq!(admitted(&limiter, 0, 5), 0);
}

#[test]
fn a_class_is_chosen_per_call() {
    let clock = ManualClock::new();
    let limiter = predictable([Quota::per_minute(60).with_burst(10), Quota::per_second(100)], 10, &clock);
    let (free, paid) = (limiter.class(0), limiter.class(1));
    assert_eq!((free.quota().burst(), paid.max_cost()), (10, 100));
    assert!(free.try_acquire_n(&1, 11).is_err());
    assert!(paid.try_acquire_n(&2, 100).is_ok());
    // The same key in another class: 1 s of debt is one token of the free class, and a hundred of the paid.
    assert_eq!(free.status(&2).remaining, 9);
    assert!(free.try_acquire_n(&2, 9).is_ok());
    assert_eq!(paid.status(&2).remaining, 0);
    assert!(paid.try_acquire(&2).is_err());
    assert!(limiter.get_class(2).is_none());
}

#[test]
#[should_panic(expected = "there is no class 1")]
fn a_class_that_does_not_exist() {
    let _: Class<'_, str, _, _> = KeyedLimiter::<str>::new(Quota::per_second(1), 1).class(1);
}

#[test]
fn batches_decide_as_single_calls_do() {
    let clock = ManualClock::new();
    let quota = Quota::per_second(3);
    let (batched, single) = (predictable(quota, 50, &clock), predictable(quota, 50, &clock));
    for round in 0..50_u64 {
        let keys: Vec<u64> = (0..37).map(|i| (i * i + round) % 29).collect();
        let mut decisions = [Ok(()); 37];
        let count = batched.check_many(&keys, &mut decisions);
        for (key, decision) in keys.iter().zip(decisions) {
            assert_eq!(decision, single.try_acquire(key), "round {round}, key {key}");
        }
        assert_eq!(count, decisions.iter().filter(|decision| decision.is_ok()).count());
        clock.advance(Duration::from_millis(100));
    }
}

#[test]
fn batches_stop_at_the_shorter_side() {
    let limiter = predictable(Quota::per_hour(1), 100, &ManualClock::new());
    let keys: Vec<u64> = (0..40).collect();
    let mut few = [Ok(()); 20];
    assert_eq!(limiter.check_many(&keys, &mut few), 20);
    assert_eq!(limiter.live(), 20);
    let mut many = [Err(Denied::ExceedsBurst { cost: 1, max_cost: 0 }); 60];
    assert_eq!(limiter.check_many(&keys, &mut many), 20);
    assert_eq!(limiter.live(), 40);
    assert!(many[40..].iter().all(|decision| matches!(decision, Err(Denied::ExceedsBurst { .. }))));
    assert_eq!(limiter.check_many(&[], &mut many), 0);
    assert_eq!(limiter.check_many(&keys, &mut []), 0);
}

/// Whatever is decided, and whether or not a key has to be looked up for it.
#[test]
fn a_batch_takes_no_more_keys_than_it_decides() {
    for quota in [Quota::per_hour(1), Quota::UNLIMITED, Quota::DENY_ALL] {
        let limiter = predictable(quota, 100, &ManualClock::new());
        let mut keys = [1, 2, 3].iter().filter(|_| true); // does not know how many it has
        limiter.check_many(keys.by_ref(), &mut [Ok(()); 2]);
        assert_eq!(keys.next(), Some(&3), "{quota:?}");
    }
}

#[test]
fn what_cannot_be_built_is_named() {
    let build = |classes: Classes, capacity| KeyedLimiter::<str>::try_new(classes, capacity).map(drop);
    let fine = Quota::per_second(1);
    assert_eq!(build(fine.into(), 0), Err(KeyedError::ZeroCapacity));
    assert_eq!(build(vec![].into(), 1), Err(KeyedError::NoQuota));
    let Err(KeyedError::CapacityTooLarge { largest }) = build(fine.into(), usize::MAX) else { panic!("absurd") };
    assert!(matches!(build(fine.into(), largest + 1), Err(KeyedError::CapacityTooLarge { .. })));
    assert!(matches!(
        build([fine, Quota::per(1 << 63, Duration::from_nanos(1 << 61)).with_burst(1)].into(), 1),
        Err(KeyedError::RateTooHigh { most: 0x4000_0000_0000_0000, .. })
    ));
    assert!(matches!(build(fine.with_burst(1 << 40).into(), 1), Err(KeyedError::BurstTooLong { .. })));
    let short = KeyedLimiter::<str>::new([Quota::per_second(5), Quota::per_second(50)], 1).try_with_initial(51);
    assert_eq!(short.map(drop), Err(KeyedError::InitialTooLarge { largest: 50 }));
}

#[test]
#[should_panic(expected = "a keyed limiter needs a capacity of at least one key")]
fn a_slip_at_construction_panics_with_its_name() {
    let _ = KeyedLimiter::<str>::new(Quota::per_second(1), 0);
}

#[test]
fn the_memory_is_what_the_documentation_says() {
    for capacity in [1_000_usize, 12_345, 1_000_000] {
        let limiter = KeyedLimiter::<u64>::new(Quota::per_second(1), capacity);
        #[allow(clippy::cast_precision_loss)] // small numbers
        let per_key = limiter.bytes() as f64 / capacity as f64;
        assert!((25.6..26.0).contains(&per_key), "{per_key} bytes per key of {capacity}");
    }
}

/// While it fills, and while keys come and go.
#[test]
fn a_table_at_its_capacity_refuses_next_to_nobody() {
    const CAPACITY: u64 = 200_000;
    let clock = ManualClock::new();
    let limiter = predictable(Quota::per_hour(1), 200_000, &clock);
    let mut refused = 0;
    for key in 0..2 * CAPACITY {
        clock.advance(SECOND * 3_600 / 200_000);
        refused += u64::from(limiter.try_acquire(&key).is_err());
    }
    assert!(refused <= 2, "{refused} of 400000");
    assert_eq!(limiter.live() as u64, CAPACITY - refused);
    assert!((0.4..0.6).contains(&limiter.fill()), "{}", limiter.fill());
}

#[test]
fn the_type_is_for_sharing() {
    fn shared<T: Send + Sync>() {}
    shared::<KeyedLimiter<std::rc::Rc<str>>>(); // no key is ever kept
    assert_eq!(
        format!("{:?}", KeyedLimiter::<str>::new(Quota::per_second(1), 1)).split(' ').next(),
        Some("KeyedLimiter")
    );
}

#[test]
fn errors_say_which_limit_was_broken() {
    let messages = [
        (KeyedError::ZeroCapacity, "a capacity of at least one key"),
        (KeyedError::CapacityTooLarge { largest: 7 }, "at most 7 keys"),
        (KeyedError::OutOfMemory { bytes: 8 }, "8 bytes"),
        (KeyedError::NoQuota, "at least one quota"),
        (KeyedError::RateTooHigh { most: 9, period: SECOND }, "at most 9 tokens per 1s"),
        (KeyedError::BurstTooLong { longest: SECOND * 31_557_600 * 50 }, "at most 50 years"),
        (KeyedError::InitialTooLarge { largest: 10 }, "at most 10"),
    ];
    for (error, part) in messages {
        let message = error.to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_limiter_knows_what_it_was_built_for() {
    let quotas = [Quota::per_second(5), Quota::per_minute(7).with_burst(70)];
    let limiter = KeyedLimiter::<u64>::try_new(&quotas[..], 1_000).unwrap();
    assert_eq!((limiter.quota(), limiter.max_cost()), (quotas[0], 5));
    for (number, quota) in quotas.into_iter().enumerate() {
        let class = limiter.class(number);
        assert_eq!((class.quota(), class.max_cost()), (quota, quota.burst()));
    }
    assert!(limiter.capacity() >= 1_000 && limiter.bytes() >= 25 * limiter.capacity());
    let clock = ManualClock::new();
    let on_a_clock =
        KeyedLimiter::<u64, _, _>::try_with_hasher_and_clock(quotas[0], 1, AsIs::default(), clock).unwrap();
    assert_eq!(on_a_clock.quota(), quotas[0]);
}
