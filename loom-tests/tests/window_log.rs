//! The sliding window log: the library's type and a transcription of it in every scene, and the transcription with each
//! rule taken away.

use core::time::Duration;
use tollgate::{ManualClock, Nanos, Quota, SlidingWindowLog};
use tollgate_loom::cell::{Op, OwnReading};
use tollgate_loom::sync::{Arc, AtomicU64, Ordering};
use tollgate_loom::window_log::{PERIOD, Rules, Scene, Stop, Twin, assert_no_span_overfull};
use tollgate_loom::{explore, must_fail, race};
use tollgate_testing::trace::Admission;

use Op::{Look, Take, UpTo};

fn log(limit: u64) -> SlidingWindowLog<OwnReading> {
    SlidingWindowLog::with_clock(Quota::per(limit, Duration::from_nanos(PERIOD)), OwnReading)
}

/// One slot: every admission is a lap.
const ONE_SLOT: Scene<2> =
    Scene { limit: 1, before: &[], threads: [&[(Take(1), 8), (Take(1), 24)], &[(Take(1), 24), (Take(1), 40)]] };
/// Singles race over two slots, and into the next lap.
const SINGLES: Scene<2> = Scene {
    limit: 2,
    before: &[(Take(1), 0)],
    threads: [&[(Take(1), 8), (Take(1), 24)], &[(Take(1), 16), (Take(1), 24)]],
};
/// Three threads want the last slot.
const THREE_SINGLES: Scene<3> =
    Scene { limit: 2, before: &[(Take(1), 0)], threads: [&[(Take(1), 8)], &[(Take(1), 8)], &[(Take(1), 16)]] };
/// Groups that fill the ring, singles beside them, twice round.
const WHOLE_GROUPS: Scene<2> =
    Scene { limit: 2, before: &[], threads: [&[(Take(2), 8), (Take(1), 24)], &[(Take(1), 8), (Take(2), 24)]] };
/// Groups that go over the end of the ring.
const ACROSS_THE_END: Scene<3> =
    Scene { limit: 3, before: &[(Take(2), 0)], threads: [&[(Take(2), 16)], &[(Take(2), 16)], &[(Take(1), 8)]] };
/// One thread's readings are old, the other's are not.
const STALE_BESIDE_LATE: Scene<2> = Scene {
    limit: 2,
    before: &[],
    threads: [&[(Take(1), 24), (Take(1), 8), (Take(1), 40)], &[(Take(1), 8), (Take(2), 24)]],
};
/// Partial takes.
const PARTS: Scene<2> =
    Scene { limit: 3, before: &[(Take(1), 0)], threads: [&[(UpTo(2), 8), (UpTo(3), 24)], &[(UpTo(3), 8)]] };
/// Somebody watches.
const WATCHED: Scene<2> =
    Scene { limit: 2, before: &[(Take(1), 0)], threads: [&[(Take(1), 8), (Take(2), 24)], &[(Look, 8), (Look, 24)]] };
/// Groups from each thread, one a period later: helpers are late.
const LATE_HELPERS: Scene<3> =
    Scene { limit: 2, before: &[], threads: [&[(Take(2), 8)], &[(Take(2), 24)], &[(Take(1), 8)]] };

/// A scene on the library's type and on the transcription.
macro_rules! scenes {
    ($($(#[$meta:meta])* $name:ident: $scene:expr, $bound:expr;)*) => {$(
        mod $name {
            use super::*;

            $(#[$meta])*
            #[test]
            fn library() {
                let name = concat!("SlidingWindowLog, ", stringify!($name));
                explore(name, $bound, || $scene.play(log($scene.limit)));
            }

            $(#[$meta])*
            #[test]
            fn transcription() {
                let name = concat!("transcription, ", stringify!($name));
                explore(name, $bound, || $scene.play(Twin::new($scene.limit, Rules::ALL)));
            }
        }
    )*};
}

scenes! {
    one_slot: ONE_SLOT, Some(4);
    singles: SINGLES, Some(4);
    three_singles: THREE_SINGLES, Some(3);
    whole_groups: WHOLE_GROUPS, Some(3);
    across_the_end: ACROSS_THE_END, Some(1);
    stale_beside_late: STALE_BESIDE_LATE, Some(3);
    parts: PARTS, Some(3);
    watched: WATCHED, Some(3);
    late_helpers: LATE_HELPERS, Some(1);
}

/// The transcription without a rule, in the scene that should show that it is missing.
fn twin_fails<const N: usize>(name: &str, rules: Rules, scene: Scene<N>, symptom: &str) {
    must_fail(name, Some(3), symptom, move || scene.play(Twin::new(scene.limit, rules)));
    // The scene is hard, but fair.
    explore(&format!("{name}, with the rule"), Some(2), move || scene.play(Twin::new(scene.limit, Rules::ALL)));
}

/// Declares tests of [`twin_fails`].
macro_rules! broken_twins {
    ($($(#[$meta:meta])* $name:ident: { $($rule:ident),+ }, limit $limit:literal, $before:expr, $threads:expr, $symptom:literal;)*) => {$(
        $(#[$meta])*
        #[test]
        #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
        fn $name() {
            let rules = Rules { $($rule: false,)+ ..Rules::ALL };
            let scene = Scene { limit: $limit, before: $before, threads: $threads };
            twin_fails(stringify!($name), rules, scene, $symptom);
        }
    )*};
}

broken_twins! {
    /// Two threads find the slot free, and both write it.
    without_rule_2_checked_then_written: { one_cas }, limit 1, &[],
        [&[(Take(1), 8)], &[(Take(1), 8)]], "over-admission";
    /// The head is read, the ring goes round, and the newest unit passes for the oldest.
    without_rule_3_not_looked_at_again: { look_again }, limit 2, &[],
        [&[(Take(1), 8), (Take(1), 16), (Take(1), 24)], &[(Take(1), 24)]], "no sequential order";
    /// The head is past a group that is half written, and a slot of the last lap is taken for one of this.
    without_rule_4_head_before_slots: { written_first }, limit 3, &[],
        [&[(Take(2), 8)], &[(Take(2), 8), (Take(1), 8)]], "no sequential order";
    /// An old reading is remembered as such, behind a newer one: the last of two slots is free, and the first is not.
    without_rule_5_not_clamped: { clamp }, limit 2, &[],
        [&[(Take(1), 24)], &[(Take(1), 8), (Take(2), 24)]], "over-admission";
    /// Two are wanted, and one is free.
    without_rule_6_first_slot_alone: { all_of_them }, limit 2, &[(Take(1), 0)],
        [&[(Take(1), 8)], &[(Take(2), 16)]], "over-admission";
    /// A late reading is decided as if it were the newest.
    without_rule_6_another_s_reading: { own_reading }, limit 2, &[(Take(2), 0)],
        [&[(Take(1), 16)], &[(Take(1), 8)], &[(Look, 8)]], "over-admission";
    /// A helper that is a lap late writes over what is there.
    without_rule_7_written_over: { grow }, limit 2, &[],
        [&[(Take(2), 8)], &[(Take(2), 24), (Take(2), 24)]], "no sequential order";
    /// A unit just admitted passes for the one it has replaced.
    without_rule_8_laps_alike: { lap }, limit 2, &[],
        [&[(Take(1), 8)], &[(Take(1), 8)]], "no sequential order";
    /// Another group's size is written into the record of one that is not written down yet.
    without_rule_9_record_given_back: { kept }, limit 3, &[],
        [&[(Take(2), 8)], &[(Take(3), 8)]], "no sequential order";
    /// A record is read late, when it already describes another group.
    without_rule_9_record_believed: { still_there }, limit 3, &[],
        [&[(Take(2), 8), (Take(3), 24)], &[(Take(1), 8)]], "no sequential order";
}

/// What the first thread does until it stops, and what the others do.
const STOPPED: [(&str, Scene<3>); 3] = [
    (
        "a group",
        Scene { limit: 2, before: &[], threads: [&[(Take(2), 8)], &[(Take(1), 8), (Take(1), 24)], &[(Take(2), 24)]] },
    ),
    (
        "a group of three",
        Scene { limit: 3, before: &[(Take(1), 0)], threads: [&[(Take(3), 16)], &[(Take(2), 16)], &[(Take(1), 8)]] },
    ),
    (
        "a single",
        Scene { limit: 1, before: &[], threads: [&[(Take(1), 8)], &[(Take(1), 24)], &[(Take(1), 24), (Look, 24)]] },
    ),
];

/// A thread that stops for ever, anywhere: the others come to their ends, and the call has happened or has not.
#[test]
fn nobody_waits_for_a_thread_that_has_stopped() {
    for (what, scene) in STOPPED {
        for stop in [Stop::Unclaimed, Stop::Claimed, Stop::Begun, Stop::Written] {
            explore(&format!("{what} stopped at {stop:?}"), Some(1), move || {
                scene.play_with_a_stopped_thread(Twin::new(scene.limit, Rules::ALL), stop);
            });
        }
    }
}

#[test]
fn without_rule_4_all_wait_for_a_thread_that_has_stopped() {
    let rules = Rules { help: false, ..Rules::ALL };
    let (what, scene) = STOPPED[0];
    must_fail(&format!("no help, {what}"), Some(2), "stuck", move || {
        scene.play_with_a_stopped_thread(Twin::new(scene.limit, rules), Stop::Claimed);
    });
}

/// Refusals beside each other leave the log as it was.
#[test]
fn refusals_leave_no_trace() {
    explore("SlidingWindowLog, refusals", Some(2), || {
        let log = Arc::new(log(2));
        log.try_acquire_n_at(2, Nanos(24)).unwrap();
        race(&log, [24, 16, 8], |log, at| {
            assert!(log.try_acquire_n_at(2, Nanos(at)).is_err());
            assert!(log.try_acquire_n_at(3, Nanos(at)).is_err());
            assert!(log.try_acquire_n_at(0, Nanos(at)).is_ok());
        });
        assert!(log.try_acquire_n_at(1, Nanos(39)).is_err());
        assert!(log.try_acquire_n_at(2, Nanos(40)).is_ok());
    });
}

/// Whoever knows of a call sees what it did.
#[test]
fn a_call_that_happens_after_another_sees_it() {
    explore("SlidingWindowLog, happens after", None, || {
        type Shared = (SlidingWindowLog<OwnReading>, AtomicU64);
        let shared: Arc<Shared> = Arc::new((log(2), AtomicU64::new(0)));
        let threads: [fn(&Shared); 2] = [
            |(log, done)| {
                log.try_acquire_n_at(2, Nanos(8)).unwrap();
                done.store(1, Ordering::Release);
            },
            |(log, done)| {
                if done.load(Ordering::Acquire) == 1 {
                    assert!(log.try_acquire_n_at(1, Nanos(8)).is_err(), "both were taken before");
                }
            },
        ];
        race(&shared, threads, |shared, act| act(shared));
    });
}

/// One thread moves the clock that all read.
#[test]
fn a_ticking_clock() {
    explore("SlidingWindowLog, a ticking clock", Some(2), || {
        let clock = ManualClock::starting_at(Nanos(8));
        let log = SlidingWindowLog::with_clock(Quota::per(2, Duration::from_nanos(PERIOD)), clock.clone());
        let admitted = race(&Arc::new(log), [0, 16], move |log, by| {
            if by > 0 {
                clock.advance(Duration::from_nanos(by));
            }
            let takes = [1, 2].map(|n| (tollgate::Clock::now(&clock).0, n));
            takes.map(|(at, n)| log.try_acquire_n_at(n, Nanos(at)).is_ok().then_some(Admission::new(n, Nanos(at))))
        });
        let admitted: Vec<_> = admitted.into_iter().flatten().flatten().collect();
        assert_no_span_overfull(&admitted, 2);
    });
}

/// What is admitted on one reading beside a call of `forgive` is twice the limit at most.
#[test]
fn forgiving_once_admits_the_limit_once_more() {
    for n in [1, 2] {
        explore(&format!("SlidingWindowLog, forgiven beside takes of {n}"), Some(3), move || {
            let log = Arc::new(log(2));
            let take = move |log: &SlidingWindowLog<_>| u64::from(log.try_acquire_n_at(n, Nanos(8)).is_ok()) * n;
            let before = take(&log);
            let beside = race(&log, [true, false], move |log, forgives| {
                if forgives {
                    log.forgive();
                    return 0;
                }
                take(log) + take(log)
            });
            let afterwards = take(&log) + take(&log) + take(&log);
            let all = before + beside[1] + afterwards;
            assert!(all <= 4, "over-admission: {all}");
            assert_eq!(log.available_at(Nanos(9 + PERIOD)), 2);
        });
    }
}

/// Whether a log refuses a cost of `n`: until 16, when the unit of instant 0 is free again, or until 24, when a group of instant 8 is.
fn refuses(log: &SlidingWindowLog<OwnReading>, n: u64) -> bool {
    let Err(denied) = log.check_n_at(n, Nanos(8)) else { return false };
    let wait = Duration::from_nanos(if n == 1 { 8 } else { 16 });
    assert_eq!(denied.retry_after(), Some(wait), "a cost of {n}");
    true
}

/// A look beside a group in the making finds all of it or nothing, says when it ends, and never forgets it again.
#[test]
fn a_look_beside_a_group() {
    explore("SlidingWindowLog, a look beside a group", Some(3), || {
        let log = Arc::new(log(3));
        log.try_acquire_n_at(1, Nanos(0)).unwrap();
        race(&log, [true, false], |log, takes| {
            if takes {
                return log.try_acquire_n_at(2, Nanos(8)).unwrap();
            }
            let looks = [1, 2, 2, 1].map(|n| refuses(log, n));
            assert!(looks.is_sorted(), "a group is forgotten: {looks:?}");
        });
        assert!(refuses(&log, 1) && refuses(&log, 2));
    });
}
