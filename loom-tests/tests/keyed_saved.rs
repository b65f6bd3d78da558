//! A table that is saved while threads use it: no key is restored with more than it had when the scan began, nor in two places.
//!
//! Each body runs over the transcription of the protocol ([`Table`]), over one with a rule of the scan taken out, and over
//! [`KeyedLimiter`] itself, through the bytes of a snapshot.

use core::time::Duration;
use tollgate::{Debtor, Moment, Nanos, Quota};
use tollgate_loom::keyed::{BURST, Real, Rules, Table, empty, protocol, real};
use tollgate_loom::sync::Arc;
use tollgate_loom::{assert_bounded, explore, must_fail, race};

/// Keys: the one in question, one that takes its slot, and others that fill the table.
const K: u32 = 1;
const L: u32 = 2;
const M: u32 = 3;
const N: u32 = 4;

/// A table that can be saved.
trait Subject: Send + Sync + 'static {
    type Saved: Send + 'static;

    fn acquire(&self, key: u32, cost: u64, now: u64) -> bool;
    /// When a key is full again, as its next call at `now` would find it.
    fn full_at(&self, key: u32, now: u64) -> u64;
    fn save(&self, now: u64) -> Self::Saved;
    /// What is restored at the same instant; and in how many places a key is.
    fn restore(saved: Self::Saved, now: u64, key: u32) -> (Self, usize)
    where
        Self: Sized;
}

impl<const SLOTS: usize> Subject for Table<SLOTS> {
    type Saved = Self;

    fn acquire(&self, key: u32, cost: u64, now: u64) -> bool {
        self.acquire(key, cost, now)
    }

    fn full_at(&self, key: u32, now: u64) -> u64 {
        self.full_at(key, now)
    }

    fn save(&self, now: u64) -> Self {
        self.saved(now)
    }

    fn restore(saved: Self, _now: u64, key: u32) -> (Self, usize) {
        let places = saved.slots_of(key);
        (saved, places)
    }
}

impl Subject for Real {
    type Saved = Vec<u8>;

    fn acquire(&self, key: u32, cost: u64, now: u64) -> bool {
        self.try_acquire_n_at(&key, cost, Nanos(now)).is_ok()
    }

    fn full_at(&self, key: u32, now: u64) -> u64 {
        now + u64::try_from(self.status_at(&key, Nanos(now)).reset_after.as_nanos()).expect("soon")
    }

    fn save(&self, now: u64) -> Vec<u8> {
        self.to_bytes_at(Moment::new(Nanos(now), Nanos(0)))
    }

    fn restore(saved: Vec<u8>, now: u64, key: u32) -> (Self, usize) {
        let restored = empty().restored_from_bytes_at(&saved, Moment::new(Nanos(now), Nanos(0)));
        let restored = restored.expect("it was saved by such a table");
        let mut debtors = [Debtor { key: restored.fingerprint(&1), owes: Duration::ZERO }; 9];
        let found = restored.heaviest_at(&mut debtors, Nanos(now));
        let key = restored.fingerprint(&key);
        let places = debtors[..found].iter().filter(|debtor| debtor.key == key).count();
        (restored, places)
    }
}

/// What one of the threads does; one of them saves.
type Act<T> = Box<dyn FnOnce(&T) -> Option<<T as Subject>::Saved> + Send>;

const MIXED: &str = "a debt that the key never had";

/// Saves a table at 1, in which `K` spent its burst at 0, while another thread does what it does; restores it, and checks that
/// `K` has no more than its bound in all, and that what `L` owes is what it owed before or after.
fn saved_meanwhile<T: Subject>(subject: T, other: fn(&T)) {
    let acts: [Act<T>; 2] = [
        Box::new(|subject| Some(subject.save(1))),
        Box::new(move |subject| {
            other(subject);
            None
        }),
    ];
    let subject = Arc::new(subject);
    let saved = race(&subject, acts, |subject, act| act(subject));
    let saved = saved.into_iter().flatten().next().expect("one of them saves");
    let (restored, places) = T::restore(saved, 1, K);
    assert!(places <= 1, "over-admission: a key in {places} places");
    let (before, after, full_at) = (1, subject.full_at(L, 1), restored.full_at(L, 1));
    assert!(full_at == before || full_at == after, "{MIXED}: until {full_at}, neither {before} nor {after}");
    let mut log = vec![(Nanos(0), BURST)];
    for now in [1, 3] {
        while restored.acquire(K, 1, now) {
            log.push((Nanos(now), 1));
        }
    }
    assert_bounded(&log, Quota::per(1, Duration::from_nanos(1)).with_burst(BURST));
}

/// Its slot goes to another key, on a fast clock.
fn slot_lost_meanwhile<T: Subject>(make: fn(&[(u32, u64)]) -> T) {
    saved_meanwhile(make(&[(K, 3), (M, 20), (N, 20)]), |subject| {
        subject.acquire(L, 1, 3);
    });
}

/// And it comes back in another slot.
fn key_moved_meanwhile<T: Subject>(make: fn(&[(u32, u64)]) -> T) {
    saved_meanwhile(make(&[(K, 3), (M, 3), (N, 20)]), |subject| {
        subject.acquire(L, 1, 3);
        subject.acquire(K, 1, 3);
    });
}

/// It is charged.
fn charged_meanwhile<T: Subject>(make: fn(&[(u32, u64)]) -> T) {
    saved_meanwhile(make(&[(K, 3), (M, 20), (N, 20)]), |subject| {
        subject.acquire(K, 1, 1);
        subject.acquire(K, 1, 3);
    });
}

#[test]
fn the_transcription_passes() {
    explore("keyed saved, transcription, slot lost", Some(3), || slot_lost_meanwhile(protocol::<3>));
    explore("keyed saved, transcription, key moved", Some(2), || key_moved_meanwhile(protocol::<3>));
    explore("keyed saved, transcription, charged", Some(3), || charged_meanwhile(protocol::<3>));
}

#[test]
fn the_real_type_passes() {
    explore("keyed saved, slot lost", Some(2), || slot_lost_meanwhile(real));
    explore("keyed saved, key moved", Some(2), || key_moved_meanwhile(real));
    explore("keyed saved, charged", Some(2), || charged_meanwhile(real));
}

mod broken_twins {
    use super::*;

    macro_rules! fails {
        ($symptom:expr; $($name:ident: $rule:ident = $body:ident;)*) => {$(
            #[test]
            #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
            fn $name() {
                fn twin(open: &[(u32, u64)]) -> Table<3> {
                    Table::new(BURST, Rules { $rule: false, ..Rules::ALL }, open)
                }
                must_fail(concat!("keyed saved, ", stringify!($name)), Some(3), $symptom, || $body(twin));
            }
        )*};
    }

    fails! {
        "over-admission";
        another_reading_tells_debts: one_reading = charged_meanwhile;
        slots_not_acquired: scan_acquires = slot_lost_meanwhile;
        no_horizons: horizons_saved = slot_lost_meanwhile;
        horizons_before_the_slots: horizons_last = slot_lost_meanwhile;
        moved_keys_twice: moved_merged = key_moved_meanwhile;
    }

    fails! {
        MIXED;
        no_second_look: scanned_twice = slot_lost_meanwhile;
        unsettled_slots_count: unsettled_passed_over = slot_lost_meanwhile;
    }
}
