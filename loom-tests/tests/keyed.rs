//! The keyed limiter: one live bucket per key through insertion, reclamation and forgetting, under clocks that disagree.
//!
//! Each body runs over a transcription of the protocol ([`Table`]), over the transcription with one rule taken out, and
//! over [`KeyedLimiter`] itself.

use core::time::Duration;
use tollgate::{Nanos, Quota};
use tollgate_loom::keyed::{BURST, Real, Rules, Table, protocol, real};
use tollgate_loom::sync::Arc;
use tollgate_loom::{assert_bounded, explore, must_fail, race};

/// Keys: the one in question, and others that come in its way.
const K: u32 = 1;
const L: u32 = 2;
const M: u32 = 3;
const N: u32 = 4;

/// What a body needs of a keyed limiter.
trait Subject: Send + Sync + 'static {
    fn acquire(&self, key: u32, cost: u64, now: u64) -> bool;
    fn forget(&self, key: u32, now: u64);
    fn refund(&self, key: u32, n: u64);
}

/// Makes a subject in whose first slots these keys are open, each full at its instant.
type Make<T> = fn(&[(u32, u64)]) -> T;

impl<const SLOTS: usize> Subject for Table<SLOTS> {
    fn acquire(&self, key: u32, cost: u64, now: u64) -> bool {
        self.acquire(key, cost, now)
    }

    fn forget(&self, key: u32, now: u64) {
        self.forget(key, now);
    }

    fn refund(&self, key: u32, n: u64) {
        self.refund(key, n);
    }
}

impl Subject for Real {
    fn acquire(&self, key: u32, cost: u64, now: u64) -> bool {
        self.try_acquire_n_at(&key, cost, Nanos(now)).is_ok()
    }

    fn forget(&self, key: u32, now: u64) {
        self.forget_at(&key, Nanos(now));
    }

    fn refund(&self, key: u32, n: u64) {
        self.refund(&key, n);
    }
}

/// The symptom of a refusal that no order of the calls explains.
const UNEXPLAINED: &str = "a call was refused that its own bucket admits";

/// What was admitted: key, reading, cost.
type Log = Vec<(u32, u64, u64)>;

/// A caller, and what it saw admitted.
struct Caller<'a, T> {
    subject: &'a T,
    log: Log,
}

impl<'a, T: Subject> Caller<'a, T> {
    fn new(subject: &'a T) -> Self {
        Self { subject, log: Vec::new() }
    }

    fn acquire(&mut self, key: u32, cost: u64, now: u64) -> bool {
        let admitted = self.subject.acquire(key, cost, now);
        if admitted {
            self.log.push((key, now, cost));
        }
        admitted
    }
}

type Act<T> = fn(&mut Caller<'_, T>);

/// Lets callers loose on the same subject; returns what was admitted.
fn run<T: Subject, const N: usize>(subject: T, acts: [Act<T>; N]) -> (Arc<T>, Log) {
    let subject = Arc::new(subject);
    let logs = race(&subject, acts, |subject, act| {
        let mut caller = Caller::new(subject);
        act(&mut caller);
        caller.log
    });
    (subject, logs.concat())
}

/// Takes what is left at `now` of each key that anybody called for, and then checks every window of each: a charge that
/// went to another key, or a key with two buckets, shows as more than the bound.
fn audit<T: Subject>(subject: &T, mut log: Log, now: u64) {
    let mut auditor = Caller::new(subject);
    let called = |key: &u32| *key == K || log.iter().any(|entry| entry.0 == *key);
    let keys: Vec<u32> = [K, L, M].into_iter().filter(called).collect();
    for &key in &keys {
        while auditor.acquire(key, 1, now) {}
    }
    log.extend(auditor.log);
    for key in keys {
        let of_key: Vec<_> =
            log.iter().filter(|entry| entry.0 == key).map(|&(_, at, cost)| (Nanos(at), cost)).collect();
        assert_bounded(&of_key, Quota::per(1, Duration::from_nanos(1)).with_burst(BURST));
    }
}

/// The same key inserted by two callers at once.
fn inserted_twice<T: Subject>(make: Make<T>) {
    let act: Act<T> = |caller| {
        caller.acquire(K, BURST, 0);
    };
    let (subject, log) = run(make(&[]), [act; 2]);
    assert_eq!(log.len(), 1, "over-admission or a lost call: {log:?}");
    audit(&*subject, log, 0);
    audit(&*subject, vec![], 5);
}

/// The same key inserted by two callers at once, where other keys have recovered.
fn inserted_twice_on_idle_slots<T: Subject>(make: Make<T>) {
    let act: Act<T> = |caller| {
        caller.acquire(K, BURST, 4);
    };
    let (subject, log) = run(make(&[(L, 3), (M, 4)]), [act; 2]);
    assert_eq!(log.len(), 1, "over-admission or a lost call: {log:?}");
    audit(&*subject, log, 4);
}

/// The same key inserted by three callers at once; two of three calls fit in the burst.
fn inserted_three_times<T: Subject>(make: Make<T>) {
    let act: Act<T> = |caller| {
        caller.acquire(K, 2, 0);
    };
    let (subject, log) = run(make(&[]), [act; 3]);
    assert_eq!(log.len(), 1, "over-admission or a lost call: {log:?}");
    audit(&*subject, log, 0);
}

/// One caller inserts twice, and meets what the other has left half done. (Versions of slots that were given up may not be
/// ahead of the reading, where they would cost a token.)
fn inserted_once_and_twice<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 2, 9);
            caller.acquire(K, 1, 9);
        },
        |caller| {
            caller.acquire(K, 2, 9);
        },
    ];
    let (subject, log) = run(make(&[]), acts);
    let taken: u64 = log.iter().map(|entry| entry.2).sum();
    assert_eq!(taken, BURST, "over-admission or a lost call: {log:?}");
    audit(&*subject, log, 9);
}

/// The same key inserted by two callers at once, and then another in the slot that the first had to give up.
fn inserted_twice_and_another<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, BURST, 9);
        },
        |caller| {
            caller.acquire(K, BURST, 9);
            caller.acquire(L, 1, 9);
        },
    ];
    let (subject, log) = run(make(&[]), acts);
    audit(&*subject, log, 9);
}

/// A key comes back at the moment at which another claims its slot.
fn insertion_against_a_hit<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 2, 3);
        },
        |caller| {
            caller.acquire(L, 2, 3);
        },
    ];
    let (subject, log) = run(make(&[(K, 3)]), acts);
    let admitted = log.len();
    audit(&*subject, log, 3);
    assert_eq!(admitted, 2, "a recovered key or a newcomer was refused, with a slot free");
}

/// A slow hit against another key's insertion in the same slot, and the key's own return elsewhere.
fn slow_hit_against_reclaim_and_return<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 2, 3);
        },
        |caller| {
            caller.acquire(L, 1, 3);
            caller.acquire(K, 1, 3);
        },
    ];
    let (subject, log) = run(make(&[(K, 3)]), acts);
    audit(&*subject, log, 3);
}

/// Panics unless a newcomer that was admitted has had exactly its burst in the end: a charge that went to it from another
/// key shows as less.
fn assert_no_stray_charge<T: Subject>(subject: &T, log: &Log, now: u64) {
    let mut auditor = Caller::new(subject);
    while auditor.acquire(L, 1, now) {}
    let taken: u64 = log.iter().chain(&auditor.log).filter(|entry| entry.0 == L).map(|entry| entry.2).sum();
    assert_eq!(taken, BURST, "a stray charge: {log:?}");
}

/// A slow hit against a refund of the same key and another key's insertion in the slot: the word that was to be charged
/// may come again, and belong to the other.
fn slow_hit_against_refund_and_reclaim<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 1, 3);
        },
        |caller| {
            caller.subject.refund(K, 1);
            caller.acquire(L, 1, 3);
        },
    ];
    let (subject, log) = run(make(&[(K, 4), (M, 20)]), acts);
    assert_no_stray_charge(&*subject, &log, 3);
    audit(&*subject, log.into_iter().filter(|entry| entry.0 == K).collect(), 3);
}

/// The same with a refund of more than any debt.
fn slow_hit_against_large_refund_and_reclaim<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 1, 6);
        },
        |caller| {
            caller.subject.refund(K, 5);
            caller.acquire(L, 2, 6);
        },
    ];
    let (subject, log) = run(make(&[(K, 8), (M, 20)]), acts);
    assert_no_stray_charge(&*subject, &log, 6);
}

/// A key that has spent its burst at 0 loses its slot on a fast clock, and comes back on a slow one.
fn two_clocks<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 2, 1);
        },
        |caller| {
            caller.acquire(L, 1, 3);
        },
    ];
    let (subject, mut log) = run(make(&[(K, 3)]), acts);
    log.push((K, 0, BURST));
    audit(&*subject, log, 1);
}

/// A key that has spent its burst at 0 is forgotten on a fast clock, and comes back on a slow one.
fn forgotten_on_a_fast_clock<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 2, 1);
        },
        |caller| caller.subject.forget(K, 3),
    ];
    let (subject, mut log) = run(make(&[(K, 3)]), acts);
    log.push((K, 0, BURST));
    audit(&*subject, log, 1);
}

/// A key is inserted, spends its burst and is forgotten on a fast clock, all while another caller inserts it.
fn inserted_and_forgotten_meanwhile<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 2, 1);
        },
        |caller| {
            caller.acquire(K, BURST, 0);
            caller.subject.forget(K, 4);
        },
    ];
    let (subject, log) = run(make(&[]), acts);
    audit(&*subject, log, 1);
}

/// A key is forgotten at the moment at which it comes back.
fn forget_against_a_hit<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 2, 3);
            caller.acquire(K, 1, 3);
        },
        |caller| caller.subject.forget(K, 3),
    ];
    let (subject, log) = run(make(&[(K, 3), (M, 9)]), acts);
    let admitted = log.len();
    audit(&*subject, log, 3);
    assert_eq!(admitted, 2, "a recovered key was refused");
}

/// A newcomer on a slow clock is refused, gives its slot up again, and another key takes it, while a caller on the right
/// clock was about to open it.
fn refused_newcomer_against_a_helper<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 1, 5);
        },
        |caller| {
            caller.acquire(K, BURST, 0);
            caller.acquire(L, 1, 5);
        },
    ];
    let subject = make(&[(M, 3)]);
    subject.forget(M, 3); // raises the horizon
    let (subject, log) = run(subject, acts);
    audit(&*subject, log, 5);
}

/// A newcomer is opened, charged, forgotten, and followed by another key, all within one instant, while a caller was
/// about to open it. (In the real table, `N` keeps the third slot; the other two are free at 3 and at 4.)
fn forgotten_newcomer_against_a_helper<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.acquire(K, 2, 3);
        },
        |caller| {
            caller.acquire(K, 1, 3);
            caller.subject.forget(K, 4);
            caller.acquire(M, 1, 4);
        },
    ];
    let (subject, log) = run(make(&[(M, 3), (L, 4), (N, 20)]), acts);
    audit(&*subject, log, 4);
}

/// A key is called for three times, at one reading, while a caller on a fast clock claims a second slot for it in vain:
/// the slot of a key that is in debt by the slow clock. (In the real table, `M` keeps the third slot.)
fn refusal_against_a_claim_given_up<T: Subject>(make: Make<T>) {
    let acts: [fn(&T) -> Vec<bool>; 2] =
        [|subject| vec![subject.acquire(K, 1, 9)], |subject| (0..3).map(|_| subject.acquire(K, 1, 4)).collect()];
    let subject = make(&[(L, 9), (K, 1), (M, 20)]);
    subject.forget(K, 1);
    let [_, slow] = race(&Arc::new(subject), acts, |subject, act| act(subject));
    // The fast caller's charge explains a refusal, but then no call of the same cost and reading fits after it.
    let explained = slow.is_sorted_by(|earlier, later| earlier >= later);
    assert!(explained, "{UNEXPLAINED}: {slow:?}");
}

/// A newcomer is opened, and then its horizon rises, while another caller was about to open it. (There is a slot to spare,
/// for one that is being left is nobody's yet.)
fn refusal_against_a_newcomer<T: Subject>(make: Make<T>) {
    let acts: [fn(&T) -> bool; 2] = [
        |subject| subject.acquire(K, 1, 4),
        |subject| {
            let admitted = subject.acquire(K, 1, 4);
            subject.forget(M, 9);
            admitted
        },
    ];
    let admitted = race(&Arc::new(make(&[(M, 9)])), acts, |subject, act| act(subject));
    assert_eq!(admitted, [true; 2], "{UNEXPLAINED}");
}

mod transcription {
    use super::*;

    macro_rules! passes {
        ($($name:ident($slots:literal, $bound:expr);)*) => {$(
            #[test]
            fn $name() {
                explore(concat!("keyed, transcription, ", stringify!($name)), $bound, || super::$name(protocol::<$slots>));
            }
        )*};
    }

    passes! {
        inserted_twice(2, Some(3));
        inserted_twice_on_idle_slots(2, Some(3));
        inserted_twice_and_another(2, Some(3));
        inserted_three_times(2, Some(1));
        inserted_once_and_twice(2, Some(3));
        insertion_against_a_hit(2, Some(3));
        slow_hit_against_reclaim_and_return(2, Some(3));
        slow_hit_against_refund_and_reclaim(3, Some(3));
        slow_hit_against_large_refund_and_reclaim(3, Some(3));
        inserted_and_forgotten_meanwhile(2, Some(3));
        two_clocks(2, Some(3));
        forgotten_on_a_fast_clock(2, None);
        forget_against_a_hit(3, None);
        refused_newcomer_against_a_helper(2, Some(3));
        forgotten_newcomer_against_a_helper(2, Some(3));
        refusal_against_a_claim_given_up(4, Some(2));
        refusal_against_a_newcomer(4, Some(3));
    }
}

mod real_type {
    use super::*;

    macro_rules! passes {
        ($($name:ident($bound:expr);)*) => {$(
            #[test]
            fn $name() {
                explore(concat!("keyed, ", stringify!($name)), $bound, || super::$name(real));
            }
        )*};
    }

    passes! {
        inserted_twice(Some(3));
        inserted_twice_on_idle_slots(Some(3));
        inserted_twice_and_another(Some(2));
        inserted_three_times(Some(1));
        inserted_once_and_twice(Some(3));
        insertion_against_a_hit(Some(3));
        slow_hit_against_reclaim_and_return(Some(2));
        slow_hit_against_refund_and_reclaim(Some(2));
        slow_hit_against_large_refund_and_reclaim(Some(2));
        inserted_and_forgotten_meanwhile(Some(2));
        two_clocks(Some(3));
        forgotten_on_a_fast_clock(Some(3));
        forget_against_a_hit(Some(3));
        refused_newcomer_against_a_helper(Some(2));
        forgotten_newcomer_against_a_helper(Some(2));
        refusal_against_a_claim_given_up(Some(2));
        refusal_against_a_newcomer(Some(2));
    }
}

mod broken_twins {
    use super::*;

    macro_rules! fails {
        ($symptom:expr, $slots:literal; $($name:ident: $rule:ident = $($body:ident)|*;)*) => {$(
            #[test]
            #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
            fn $name() {
                fn twin(open: &[(u32, u64)]) -> Table<$slots> {
                    Table::new(BURST, Rules { $rule: false, ..Rules::ALL }, open)
                }
                $(must_fail(
                    concat!("keyed, ", stringify!($name), ", ", stringify!($body)),
                    Some(3),
                    $symptom,
                    || $body(twin),
                );)*
            }
        )*};
    }

    fails! {
        "over-admission", 2;
        no_rescan: rescan = inserted_twice | inserted_twice_on_idle_slots;
        no_fence: fence = inserted_twice;
        higher_does_not_give_way: give_way = inserted_twice;
        lower_does_not_abort_the_higher: abort_higher = inserted_twice;
        no_claimed_phase: claimed_phase = insertion_against_a_hit;
        no_second_tag_load: second_tag_load = slow_hit_against_reclaim_and_return;
        no_horizon: horizon = two_clocks | forgotten_on_a_fast_clock;
        horizon_after_the_claim: horizon_before_claim = two_clocks;
        claim_neither_acquires_nor_releases: acquire_release_claim = two_clocks;
        horizon_read_before_the_rescan: horizon_after_rescan = inserted_and_forgotten_meanwhile;
        leaving_does_not_advance: leaving_advances = inserted_twice_and_another;
        leaver_keeps_the_tag: leaving_untags = inserted_twice;
        newcomers_horizon_is_raised: horizon_of_the_leaver = two_clocks;
        helper_opens_blindly: helper_settles = inserted_once_and_twice;
    }

    fails! {
        "a stray charge", 3;
        lowered_slot_is_not_held: lowered_held = slow_hit_against_refund_and_reclaim;
        lowered_below_the_mark: lowered_to_mark = slow_hit_against_large_refund_and_reclaim;
    }

    fails! {
        UNEXPLAINED, 4;
        refusal_not_rechecked: refusal_rechecked = refusal_against_a_claim_given_up;
    }

    fails! {
        UNEXPLAINED, 4;
        helper_refusal_not_rechecked: helper_refusal_rechecked = refusal_against_a_newcomer;
        horizon_after_the_look: horizon_before_look = refusal_against_a_newcomer;
    }
}
