//! The keyed limiter at its edges: clocks far ahead, weak hashers, hints of a full table, initial levels.

use core::cell::Cell;
use core::hash::{BuildHasher, Hasher};
use core::time::Duration;
use std::hash::{BuildHasherDefault, DefaultHasher};
use tollgate::{Clock, Denied, KeyedLimiter, ManualClock, Nanos, Quota};

const SECOND: u64 = 1_000_000_000;

/// A number times a factor is its hash.
#[derive(Clone, Copy, Debug)]
struct Times {
    factor: u64,
    hash: u64,
}

impl BuildHasher for Times {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        *self
    }
}

impl Hasher for Times {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.hash = key.wrapping_mul(self.factor);
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}

type Limiter = KeyedLimiter<u64, BuildHasherDefault<DefaultHasher>, ManualClock>;

/// A limiter with the same hashes in every run.
fn limiter(quotas: impl Into<tollgate::keyed::Classes>, capacity: usize) -> Limiter {
    Limiter::with_hasher_and_clock(quotas, capacity, BuildHasherDefault::default(), ManualClock::new())
}

/// Those of many keys that are admitted a call at a reading, until as many as the smallest table holds are.
fn fill(limiter: &Limiter, class: usize, from: u64, secs: u64) -> Vec<u64> {
    let admitted = |key: &u64| limiter.class(class).try_acquire_n_at(key, 1, Nanos::from_secs(secs)).is_ok();
    let keys: Vec<u64> = (from..from + 1_000).filter(admitted).collect();
    assert_eq!(keys.len(), 15, "all slots of all lines");
    keys
}

#[test]
fn one_reading_far_ahead_does_not_hold_up_newcomers() {
    let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_hour(1), 1_000, ManualClock::new());
    assert!(limiter.try_acquire_n_at(&1, 1, Nanos::ZERO).is_ok());
    assert!(limiter.forget_at(&1, Nanos::from_secs(3_600)));
    assert_eq!(limiter.try_acquire_n_at(&3, 1, Nanos::from_secs(2)), Ok(()));
}

#[test]
fn two_readings_far_ahead_do_not_hold_up_newcomers() {
    let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_second(10), 1_000, ManualClock::new());
    assert!(limiter.try_acquire_n_at(&1, 1, Nanos::from_secs(1_000_000_000)).is_ok());
    assert!(limiter.forget_at(&1, Nanos::MAX));
    assert_eq!(limiter.try_acquire_n_at(&3, 1, Nanos::from_secs(2)), Ok(()));
}

/// What a clock far ahead takes from one key holds up that key, and the few that share its horizon.
#[test]
fn a_slot_taken_on_a_clock_far_ahead_holds_up_few_newcomers() {
    let limiter = limiter([Quota::per_second(10), Quota::per(1, Duration::from_secs(86_400))], 1);
    fill(&limiter, 1, 0, 0);
    assert!(limiter.try_acquire_n_at(&1_000, 1, Nanos::from_secs(86_400)).is_ok());
    let held_up = (2_000..3_000).filter(|key| limiter.status(key).retry_after != Some(Duration::ZERO)).count();
    assert!((1..100).contains(&held_up), "{held_up} of 1000 newcomers are held up");
}

/// A thread whose clock is far ahead makes a thousand calls, and each takes a slot. Then the others' newcomers still start
/// full wherever there is a slot.
#[test]
fn many_readings_far_ahead_hold_up_few_newcomers() {
    let limiter = limiter(Quota::per_minute(1), 10_000);
    for key in 0..3_000 {
        assert!(limiter.try_acquire_n_at(&key, 1, Nanos::ZERO).is_ok());
    }
    let ahead = Nanos::from_secs(1_000_000_000);
    for key in 10_000..10_100 {
        assert!(limiter.try_acquire_n_at(&key, 1, ahead).is_ok());
    }
    let refused = (20_000..21_000).filter(|key| limiter.try_acquire_n_at(key, 1, Nanos::from_secs(1)).is_err()).count();
    assert!(refused < 20, "{refused} of 1000 newcomers are refused");
}

/// A limiter whose first class starts full and whose second does not, so that to be forgotten gives a slot up.
fn forgetful(period: Duration, capacity: usize) -> Limiter {
    limiter([Quota::per(1, period), Quota::per(2, period)], capacity).with_initial(1)
}

/// There is a slot, and the horizon alone refuses: exactly until the key's last life would have been full.
#[test]
fn the_horizon_alone_refuses_and_says_until_when() {
    let (limiter, minute) = (forgetful(Duration::from_mins(1), 100), Nanos::from_secs(60));
    let at = |now| limiter.try_acquire_n_at(&1, 1, now);
    assert_eq!(at(Nanos::ZERO), Ok(()));
    assert!(limiter.forget_at(&1, minute));
    for now in [Nanos::ZERO, Nanos::from_secs(1), Nanos(minute.0 - 1)] {
        assert_eq!(limiter.live_at(now), 0, "no slot is in debt");
        let Err(Denied::TryAfter(hint)) = at(now) else { panic!("not held up at {now:?}") };
        assert_eq!(Nanos(now.0 + u64::try_from(hint.retry_after().as_nanos()).unwrap()), minute);
        let status = limiter.status_at(&1, now);
        assert_eq!((status.remaining, status.retry_after), (0, Some(hint.retry_after())));
    }
    assert_eq!(at(minute), Ok(()));
}

/// The same far reading, where to be forgotten does give a slot up.
#[test]
fn a_key_forgotten_far_ahead_holds_up_few_newcomers() {
    let limiter = forgetful(Duration::from_hours(1), 1_000);
    let at = |key, secs| limiter.try_acquire_n_at(&key, 1, Nanos::from_secs(secs));
    assert!(at(1, 0).is_ok() && limiter.forget_at(&1, Nanos::from_secs(3_600)));
    let refused: Vec<Denied> = (2..1_002).filter_map(|key| at(key, 2).err()).collect();
    assert!((1..100).contains(&refused.len()), "{} of 1000 newcomers are held up", refused.len());
    assert!(refused.iter().all(|denied| matches!(denied, Denied::TryAfter(_))), "the table is not full");
}

/// However far a clock was ahead that took slots: newcomers find as many slots as before it.
#[test]
fn a_horizon_ahead_of_the_reading_does_not_fill_the_table_early() {
    let count = |disturbed: bool| {
        let limiter = limiter(Quota::per_minute(1), 100);
        let at = |key, secs| limiter.try_acquire_n_at(&key, 1, Nanos::from_secs(secs)).is_ok();
        if disturbed {
            assert!(at(1, 0) && limiter.forget_at(&1, Nanos::from_secs(60)));
        }
        (1_000..1_120).filter(|&key| at(key, 1)).count()
    };
    assert_eq!(count(true), count(false));
}

/// Numbers as they are and multiplied, and of which only the upper half differs.
#[test]
fn keys_that_differ_in_their_upper_halves_are_within_time() {
    for factor in [1, 0x517C_C1B7_2722_0A95, 0x9E37_79B9_7F4A_7C15, 0x0000_0001_0000_0001] {
        for shift in [0, 16, 24, 32, 40, 48, 52] {
            let hasher = Times { factor, hash: 0 };
            let limiter =
                KeyedLimiter::<u64, _, _>::with_hasher_and_clock(Quota::per_hour(1), 1_000, hasher, ManualClock::new());
            let calls = (0..1_000_u64).map(|key| limiter.try_acquire(&(key << shift)));
            let refused: Vec<Denied> = calls.filter_map(Result::err).collect();
            let full = refused.iter().filter(|denied| matches!(denied, Denied::TableFull(_))).count();
            assert_eq!(refused.len(), full, "factor {factor:#x}, shifted by {shift}: keys share a bucket");
            assert!(full <= 2, "factor {factor:#x}, shifted by {shift}: {full} find no slot in a table for all");
        }
    }
}

/// The hint of a full table is when there is room: the call is decided then, and not a nanosecond earlier.
#[test]
fn a_full_table_says_when_there_is_room() {
    for initial in [1, 0] {
        let limiter = limiter(Quota::per_second(1), 1).with_initial(initial);
        let at = |key, now| limiter.try_acquire_n_at(&key, 1, now);
        let mut newcomers = (0..100).map(|key| at(key, Nanos::ZERO)).filter(|decision| {
            let full = matches!(decision, Err(Denied::TableFull(_)));
            assert!(full || decision.is_ok() == (initial == 1), "{decision:?}");
            !full
        });
        assert_eq!(newcomers.by_ref().count(), 15);
        let Err(Denied::TableFull(hint)) = at(1_000, Nanos::ZERO) else { panic!("there is no room") };
        assert_eq!(hint.due(), Nanos(SECOND));
        assert!(matches!(at(1_000, Nanos(SECOND - 1)), Err(Denied::TableFull(_))));
        match at(1_000, hint.due()) {
            Ok(()) => assert_eq!(initial, 1),
            Err(Denied::TryAfter(later)) => {
                // Its bucket fills from now on, and what it is told comes true.
                assert_eq!((initial, later.due()), (0, Nanos(2 * SECOND)));
                assert!(at(1_000, Nanos(2 * SECOND - 1)).is_err());
                assert_eq!(at(1_000, Nanos(2 * SECOND)), Ok(()));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Newcomers that are refused on an older reading leave nothing behind by which others would have less.
#[test]
fn refusals_on_an_older_reading_cost_nobody_anything() {
    let limiter = limiter(Quota::per(1, Duration::from_nanos(10)), 1);
    let at = |key, now| limiter.try_acquire_n_at(&key, 1, Nanos(now));
    assert_eq!((0..1_000).filter(|&key| at(key, 1_000).is_ok()).count(), 15);
    assert_eq!((0..1_000).filter(|key| limiter.forget_at(key, Nanos(1_010))).count(), 1_000);
    for key in 1_000..2_000 {
        assert!(at(key, 0).is_err());
    }
    for now in [1_010, 1_020, 1_030] {
        assert_eq!(at(5_000, now), Ok(()), "at {now}");
    }
}

/// Refusals where slots are nobody's, and the horizon alone refuses.
#[test]
fn refusals_by_the_horizon_do_not_move_slots_on() {
    let limiter = forgetful(Duration::from_nanos(10), 1);
    let at = |key, now| limiter.try_acquire_n_at(&key, 1, Nanos(now));
    let known: Vec<u64> = (0..1_000).filter(|&key| at(key, 1_000).is_ok()).collect();
    assert_eq!(known.len(), 15);
    assert!(known.iter().all(|key| limiter.forget_at(key, Nanos(1_010))));
    for turn in 0..1_000 {
        assert!(matches!(at(known[turn % 15], 0), Err(Denied::TryAfter(_))), "turn {turn}");
    }
    for now in [1_010, 1_020, 1_030] {
        assert!(known.iter().all(|&key| at(key, now).is_ok()), "at {now}");
    }
}

/// At the last instants that a table counts, with the shortest debts: nothing wraps.
#[test]
fn refusals_at_the_last_instant_do_not_wrap() {
    let limiter = limiter(Quota::per(1, Duration::from_nanos(1)), 1);
    let at = |key, now| limiter.try_acquire_n_at(&key, 1, now);
    let known: Vec<u64> = (0..100).filter(|&key| at(key, Nanos::MAX).is_ok()).collect();
    assert_eq!(known.len(), 15);
    assert!(known.iter().all(|key| !limiter.forget_at(key, Nanos::MAX)), "all later instants count as the last");
    for key in 0..1_000 {
        assert!(at(key, Nanos::MAX).is_err() && at(key, Nanos::ZERO).is_err(), "key {key}");
    }
}

/// A call that can never be admitted leaves no trace; any other call of a key that nobody knows starts its bucket.
#[test]
fn a_call_above_the_burst_does_not_start_a_key() {
    let limiter = limiter(Quota::per_hour(50), 100).with_initial(5);
    let at = |n, secs| limiter.try_acquire_n_at(&1, n, Nanos::from_secs(secs));
    assert_eq!(at(51, 0), Err(Denied::ExceedsBurst { cost: 51, max_cost: 50 }));
    assert!(at(6, 3_600).is_err(), "the key is new at this instant, and has 5");
    assert!(at(6, 3_672).is_ok(), "and one more from then on");
}

/// The initial level is that of the class of a key's first call; from then on, its debt is a time in every class.
#[test]
fn an_initial_level_is_that_of_the_class_of_the_first_call() {
    let limiter = limiter([Quota::per_second(5), Quota::per_second(800)], 100).with_initial(100);
    let remaining = |class, key| limiter.class(class).status(&key).remaining;
    assert_eq!((remaining(0, 1), remaining(1, 1)), (5, 100), "nobody knows the key");
    assert!(limiter.class(0).try_acquire(&1).is_ok());
    assert_eq!((remaining(0, 1), remaining(1, 1)), (4, 640), "a fifth of a second in debt");
    assert!(limiter.class(1).try_acquire(&2).is_ok());
    assert_eq!((remaining(0, 2), remaining(1, 2)), (0, 99));
}

/// Counts its readings, each a second after the last.
#[derive(Debug, Default)]
struct Counting(Cell<u64>);

impl Clock for Counting {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + 1);
        Nanos::from_secs(self.0.get())
    }
}

#[test]
fn a_batch_of_any_size_reads_the_clock_once() {
    let clock = Counting::default();
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let limiter = KeyedLimiter::<u64, _, _>::with_hasher_and_clock(Quota::per_hour(1), 1_000, hasher, &clock);
    let keys: Vec<u64> = (0..500).collect();
    assert_eq!(limiter.check_many(&keys, &mut vec![Ok(()); 500]), 500);
    assert_eq!(clock.0.get(), 1);
    assert_eq!(limiter.check_many(&[], &mut vec![Ok(()); 500]), 0);
    assert_eq!(clock.0.get(), 1);
}
