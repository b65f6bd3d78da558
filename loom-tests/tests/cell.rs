//! The single-word limiters: every algorithm through its public type, and the twins of the loop and of the arithmetic.

use core::time::Duration;
use tollgate::algorithm::{Algorithm, Gcra, Packed, SlidingCounter, Window};
use tollgate::{Clock, FixedWindow, ManualClock, Nanos, PackedTokenBucket, Quota, SlidingWindowCounter, TokenBucket};
use tollgate_loom::cell::{Bound, Loop, LoopRules, Op, OwnReading, Scene, Script, Textbook, TimeRules, looks};
use tollgate_loom::sync::{Arc, AtomicU64, Ordering};
use tollgate_loom::{assert_bounded, explore, must_fail, race};

/// Two each 16 ns, two at once: a bucket gains a token each 8 ns, a window is 16 ns long. Readings of 8, 24 and 40 ns
/// lie in three windows, and a bucket refills in full from each to the next.
const QUOTA: Quota = Quota::per(2, Duration::from_nanos(16));

use Op::{Look, Refund, Take, UpTo};

/// Threads on clocks that disagree: two on an old reading, one on a later one with a refill in between.
const STALE_BESIDE_LATE: [Script; 3] =
    [&[(Take(2), 8), (Take(1), 8)], &[(Take(1), 24), (Take(1), 24)], &[(Take(1), 16)]];
/// One thread's readings go back, the other's forward.
const BACKWARDS: [Script; 2] = [&[(Take(1), 24), (Take(2), 8), (Take(1), 24)], &[(Take(2), 8), (Take(1), 24)]];
/// More is asked for than there is, and somebody watches.
const SCARCE: [Script; 3] = [&[(Take(2), 8)], &[(Take(2), 8), (Look, 8)], &[(Take(1), 16), (Look, 16)]];
/// Tokens come back while others are taken, and once more than the limiter holds.
const REFUNDS: [Script; 3] = [&[(Take(2), 8), (Refund(1), 8)], &[(Take(1), 8)], &[(Take(1), 24), (Refund(3), 24)]];
/// Partial takes on three readings.
const PARTIAL: [Script; 3] = [&[(UpTo(2), 8), (UpTo(2), 8)], &[(UpTo(2), 24)], &[(UpTo(1), 16)]];

/// The scenes on one of the library's types.
macro_rules! scenes {
    ($name:ident: $limiter:ident, $algorithm:expr, $fresh:expr, $bound:expr) => {
        mod $name {
            use super::*;

            type Limiter = $limiter<OwnReading>;

            fn scene<const N: usize>(threads: [Script; N]) -> Scene<impl Algorithm, N> {
                Scene { algorithm: $algorithm, fresh: $fresh(&$algorithm), before: &[], threads, bound: $bound }
            }

            fn check<const N: usize>(what: &str, threads: [Script; N]) {
                let name = format!("{}, {what}", stringify!($limiter));
                explore(&name, Some(3), move || scene(threads).play(Limiter::with_clock(QUOTA, OwnReading)));
            }

            #[test]
            fn stale_beside_late() {
                check("stale readings beside later ones", STALE_BESIDE_LATE);
            }

            #[test]
            fn backwards() {
                check("a clock that goes back", BACKWARDS);
            }

            #[test]
            fn scarce() {
                check("more wanted than there is", SCARCE);
            }

            #[test]
            fn refunds() {
                check("refunds", REFUNDS);
            }

            #[test]
            fn partial() {
                check("partial takes", PARTIAL);
            }

            /// Denials beside each other, on an empty limiter and readings that go back.
            #[test]
            fn denials_leave_the_word_as_it_was() {
                explore(concat!(stringify!($limiter), ", denials"), Some(3), || {
                    let limiter = Arc::new(Limiter::with_clock(QUOTA, OwnReading));
                    limiter.try_acquire_n_at(2, Nanos(24)).unwrap();
                    let before = looks(&*limiter);
                    race(&limiter, [24, 16, 8], |limiter, at| {
                        assert!(limiter.try_acquire_n_at(2, Nanos(at)).is_err());
                        assert!(limiter.try_acquire_n_at(3, Nanos(at)).is_err());
                        assert!(limiter.try_acquire_n_at(0, Nanos(at)).is_ok());
                    });
                    assert_eq!(looks(&*limiter), before);
                });
            }

            /// The word is relaxed, and yet whoever knows of a call sees what it did.
            #[test]
            fn a_call_that_happens_after_another_sees_it() {
                explore(concat!(stringify!($limiter), ", happens after"), None, || {
                    let shared = Arc::new((Limiter::with_clock(QUOTA, OwnReading), AtomicU64::new(0)));
                    let threads: [fn(&(Limiter, AtomicU64)); 2] = [
                        |(limiter, done)| {
                            limiter.try_acquire_n_at(2, Nanos(8)).unwrap();
                            done.store(1, Ordering::Release);
                        },
                        |(limiter, done)| {
                            if done.load(Ordering::Acquire) == 1 {
                                assert!(limiter.try_acquire_n_at(1, Nanos(8)).is_err(), "both were taken before");
                            }
                        },
                    ];
                    race(&shared, threads, |shared, act| act(shared));
                });
            }

            /// One thread moves the clock that all read.
            #[test]
            fn a_ticking_clock() {
                explore(concat!(stringify!($limiter), ", a ticking clock"), Some(3), || {
                    let clock = ManualClock::starting_at(Nanos(8));
                    let limiter = Arc::new($limiter::with_clock(QUOTA, clock.clone()));
                    let admitted = race(&limiter, [0, 8, 16], move |limiter, by| {
                        if by > 0 {
                            clock.advance(Duration::from_nanos(by));
                        }
                        let takes = [1, 2].map(|n| (clock.now(), n));
                        takes.map(|(at, n)| limiter.try_acquire_n_at(n, at).is_ok().then_some((at, n)))
                    });
                    let admitted: Vec<_> = admitted.into_iter().flatten().flatten().collect();
                    $bound.check(&admitted, 0);
                });
            }
        }
    };
}

scenes!(token_bucket: TokenBucket, Gcra::new(QUOTA), |_| 0, Bound::AnyWindow(QUOTA));
scenes!(packed: PackedTokenBucket, Packed::try_new(QUOTA).unwrap(), full, Bound::AnyWindow(QUOTA));
scenes!(fixed_window: FixedWindow, Window::try_new(QUOTA).unwrap(), |_| 0, Bound::AlignedWindows(QUOTA));
scenes!(sliding_counter: SlidingWindowCounter, SlidingCounter::try_new(QUOTA).unwrap(), |_| 0, Bound::AlignedWindows(QUOTA));

fn full(packed: &Packed) -> u64 {
    packed.fresh()
}

/// A twin of the loop over each algorithm, in the scene that should show the missing rule.
fn twin_fails(name: &str, rules: LoopRules, threads: [Script; 2]) {
    fn scene<A>(algorithm: A, fresh: u64, threads: [Script; 2]) -> Scene<A, 2> {
        Scene { algorithm, fresh, before: &[], threads, bound: Bound::AlignedWindows(QUOTA) }
    }
    fn fails<A: Algorithm + Copy + Send + Sync + 'static>(name: &str, rules: LoopRules, scene: Scene<A, 2>) {
        let twin = move |rules| move || scene.play(Loop::new(scene.algorithm, scene.fresh, rules));
        explore(&format!("{name}, all rules"), None, twin(LoopRules::ALL));
        must_fail(name, None, "no sequential order", twin(rules));
    }
    fails(&format!("{name}, token bucket"), rules, scene(Gcra::new(QUOTA), 0, threads));
    let packed = Packed::try_new(QUOTA).unwrap();
    fails(&format!("{name}, packed"), rules, scene(packed, full(&packed), threads));
    fails(&format!("{name}, window"), rules, scene(Window::try_new(QUOTA).unwrap(), 0, threads));
    fails(&format!("{name}, counter"), rules, scene(SlidingCounter::try_new(QUOTA).unwrap(), 0, threads));
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn without_rule_1_load_and_store_are_split() {
    twin_fails("without rule 1", LoopRules { atomic: false, ..LoopRules::ALL }, [&[(Take(1), 8)], &[(Take(1), 8)]]);
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn without_rule_2_the_old_decision_is_written() {
    twin_fails("without rule 2", LoopRules { current: false, ..LoopRules::ALL }, [&[(Take(1), 8)], &[(Take(1), 8)]]);
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn without_rule_3_the_limit_is_not_checked_again() {
    twin_fails("without rule 3", LoopRules { checked: false, ..LoopRules::ALL }, [&[(Take(2), 8)], &[(Take(2), 8)]]);
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn without_rule_4_a_denial_undoes_an_admission() {
    const THREADS: [Script; 2] = [&[(Take(1), 8), (Take(2), 8)], &[(Take(1), 8)]];
    twin_fails("without rule 4", LoopRules { silent: false, ..LoopRules::ALL }, THREADS);
}

/// Tokens and readings of each thread, on the textbook's bucket.
type Takes = &'static [(u64, u64)];

/// Two at once; an old reading, one in the middle, a late one with a refill in between.
fn three_readings(rules: TimeRules) {
    textbook(2, rules, [&[(2, 8), (1, 8)], &[(1, 24), (1, 24)], &[(1, 16)]]);
}

/// Four at once; a reading that is a token's worth late, again and again, beside a later one.
fn to_and_fro(rules: TimeRules) {
    textbook(4, rules, [&[(1, 24), (1, 24), (2, 24)], &[(1, 16), (1, 16)]]);
}

fn textbook<const N: usize>(burst: u64, rules: TimeRules, threads: [Takes; N]) {
    let bucket = Arc::new(Textbook::new(burst, rules));
    let admitted = race(&bucket, threads, |bucket, takes| {
        let took = |&&(n, at): &&(u64, u64)| bucket.try_acquire_n_at(n, Nanos(at));
        takes.iter().filter(took).map(|&(n, at)| (Nanos(at), n)).collect::<Vec<_>>()
    });
    assert_bounded(&admitted.concat(), QUOTA.with_burst(burst));
}

#[test]
fn the_textbook_with_all_rules_keeps_the_bound() {
    explore("textbook, all rules, three readings", Some(3), || three_readings(TimeRules::ALL));
    explore("textbook, all rules, to and fro", None, || to_and_fro(TimeRules::ALL));
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn without_rule_5_time_goes_back_and_refills_twice() {
    let rules = TimeRules { forward: false, ..TimeRules::ALL };
    must_fail("textbook without rule 5", None, "over-admission", move || to_and_fro(rules));
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn without_rule_6_a_late_reading_refills_the_bucket() {
    let rules = TimeRules { saturating: false, ..TimeRules::ALL };
    must_fail("textbook without rule 6", Some(3), "over-admission", move || three_readings(rules));
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn without_rule_7_time_passes_twice() {
    let rules = TimeRules { anew: false, ..TimeRules::ALL };
    must_fail("textbook without rule 7", Some(3), "over-admission", move || three_readings(rules));
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn without_rule_8_a_late_reading_spends_what_fell_due_after_it() {
    let rules = TimeRules { strict: false, ..TimeRules::ALL };
    must_fail("textbook without rule 8", Some(3), "over-admission", move || three_readings(rules));
}
