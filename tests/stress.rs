//! Real threads, exact counts. The clock is moved by hand, so nothing here depends on how fast the machine is.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Barrier;
use std::thread;
use tollgate::{Clock, ManualClock, Nanos, Quota};
use tollgate_testing::subject::{Kind, Subject};
use tollgate_testing::trace::{Admission, first_overfull_span, worst_window};

const THREADS: u64 = 4;

/// Runs `work` on all threads at once; returns what each returned.
fn together<T: Send>(work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let (start, work) = (&Barrier::new(usize::try_from(THREADS).unwrap()), &work);
    thread::scope(|scope| {
        let spawn = |thread| {
            scope.spawn(move || {
                start.wait();
                work(thread)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A limiter with room for `limit` and a clock that stands still.
fn standing_still(kind: Kind, limit: u64) -> Box<Subject> {
    kind.limiter(Quota::per_hour(limit), &ManualClock::starting_at(Nanos::from_secs(1_000_000))).unwrap()
}

#[test]
fn of_single_tokens_exactly_the_limit_passes() {
    for limit in [1, 2, 1_000, 20_000] {
        for kind in Kind::ALL {
            let limiter = standing_still(kind, limit);
            let passed = together(|_| (0..limit).filter(|_| limiter.try_acquire().is_ok()).count());
            assert_eq!(passed.iter().sum::<usize>() as u64, limit, "{kind:?}");
        }
    }
}

#[test]
fn of_mixed_costs_exactly_the_limit_passes() {
    for kind in Kind::ALL {
        let limiter = standing_still(kind, 30_011);
        let take_all = |thread| {
            let mut taken = 0;
            // The last of these takes whatever the larger ones could not.
            for cost in [7 + thread, 5, 2, 1] {
                while limiter.try_acquire_n(cost).is_ok() {
                    taken += cost;
                }
            }
            taken
        };
        assert_eq!(together(take_all).iter().sum::<u64>(), 30_011, "{kind:?}");
        assert_eq!(limiter.available(), 0);
    }
}

#[test]
fn of_partial_takes_exactly_the_limit_passes() {
    for kind in Kind::ALL {
        let limiter = standing_still(kind, 30_011);
        let take_all = |thread| {
            let mut taken = 0;
            while let more @ 1.. = limiter.try_acquire_up_to(7 + thread) {
                taken += more;
            }
            taken
        };
        assert_eq!(together(take_all).iter().sum::<u64>(), 30_011, "{kind:?}");
        assert_eq!(limiter.available(), 0);
    }
}

#[test]
fn with_refunds_no_more_than_the_limit_is_ever_held() {
    const LIMIT: u64 = 10;
    for kind in Kind::ALL.into_iter().filter(|kind| kind.takes_back(false)) {
        let limiter = standing_still(kind, LIMIT);
        // Counted after the acquisition and before the refund: at most what is really held.
        let held = AtomicU64::new(0);
        let passed = together(|thread| {
            let mut passed = 0;
            for turn in 0..5_000 {
                let cost = 1 + (turn + thread) % 4;
                if limiter.try_acquire_n(cost).is_ok() {
                    passed += 1;
                    assert!(held.fetch_add(cost, Ordering::SeqCst) + cost <= LIMIT, "{kind:?}");
                    held.fetch_sub(cost, Ordering::SeqCst);
                    limiter.refund(cost);
                }
            }
            passed
        });
        assert!(passed.iter().sum::<u64>() >= 5_000, "{kind:?}: refunds come back");
        assert_eq!(limiter.available(), LIMIT, "{kind:?}: all was given back, and not a token more");
    }
}

/// Threads take whatever there is while one of them moves the clock, never so far that a token is lost to a full bucket.
#[test]
fn over_time_exactly_what_falls_due_passes() {
    for kind in [Kind::TokenBucket, Kind::PackedTokenBucket, Kind::FixedWindow, Kind::SlidingWindowLog] {
        for (quota, step, ticks) in [
            (Quota::per(7, Duration::from_micros(1)), 1_000, 1_000_u64),
            (Quota::per(3, Duration::from_secs(9)), 9_000_000_000, 1_000),
        ] {
            let (clock, done) = (ManualClock::new(), AtomicBool::new(false));
            let limiter = kind.limiter(quota, &clock).unwrap();
            let passed = together(|thread| {
                let mut passed = 0;
                if thread == 0 {
                    for _ in 0..ticks {
                        while limiter.available() > 0 {
                            passed += u64::from(limiter.try_acquire().is_ok());
                        }
                        clock.advance(Duration::from_nanos(step));
                    }
                    done.store(true, Ordering::SeqCst);
                }
                while !done.load(Ordering::SeqCst) || limiter.available() > 0 {
                    passed += u64::from(limiter.try_acquire().is_ok());
                }
                passed
            });
            assert_eq!(passed.iter().sum::<u64>(), (ticks + 1) * quota.tokens(), "{kind:?} {quota:?}");
        }
    }
}

/// Each thread's clock is off by its own amount, and a thread may be held up between its reading and its call.
fn recorded(limiter: &Subject, clock: &ManualClock, step: u64, turns: u64) -> Vec<Admission> {
    let runs = together(|thread| {
        let mut run = Vec::new();
        for turn in 0..turns {
            let noise = (turn * THREADS + thread).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            if noise.is_multiple_of(3) {
                clock.advance(Duration::from_nanos(step * (noise % 5)));
            }
            let at = clock.now().saturating_sub(Duration::from_nanos(3 * thread * step));
            // Held up for a moment, or for a turn of the scheduler.
            match noise % 512 {
                0 => thread::yield_now(),
                1..32 => (0..noise % 1_000).for_each(|_| core::hint::spin_loop()),
                _ => {}
            }
            let cost = 1 + noise % 3;
            if limiter.try_acquire_n_at(cost, at).is_ok() {
                run.push(Admission::new(cost, at));
            }
        }
        run
    });
    runs.concat()
}

#[test]
fn skewed_and_stalled_threads_stay_within_the_bound_over_every_window() {
    for kind in Kind::BUCKETS {
        // The clock moves by about a tenth of a token per call, so most calls are refused, and now and then by far more.
        for (quota, step) in [
            (Quota::per_second(1_000).with_burst(20), 300_000),
            (Quota::per(3, Duration::from_nanos(70)).with_burst(5), 7),
            (Quota::per(1_000_003, Duration::from_secs(1)).with_burst(3), 299),
        ] {
            let clock = ManualClock::starting_at(Nanos::from_secs(5));
            let limiter = kind.limiter(quota, &clock).unwrap();
            let run = recorded(&*limiter, &clock, step, 10_000);
            if let Some(window) = worst_window(&run, quota) {
                assert!(kind.allows(window.excess, quota), "{kind:?} {quota:?}: {window}");
            }
            // And it was a run that pressed against the bound.
            let admitted: u64 = run.iter().map(|admission| admission.cost).sum();
            let due =
                u128::from(clock.now().0 - 5_000_000_000) * u128::from(quota.tokens()) / quota.period().as_nanos();
            assert!(u128::from(admitted) > due / 2, "{kind:?} {quota:?}: only {admitted} of {due}");
        }
    }
}

#[test]
fn skewed_and_stalled_threads_stay_within_the_limit_over_every_span_of_a_log() {
    for (limit, width, step) in [(20, 20_000, 300), (3, 70, 7), (1_000, 1_000_000, 300)] {
        let quota = Quota::per(limit, Duration::from_nanos(width));
        let clock = ManualClock::starting_at(Nanos::from_secs(5));
        let limiter = Kind::SlidingWindowLog.limiter(quota, &clock).unwrap();
        let run = recorded(&*limiter, &clock, step, 10_000);
        let overfull = first_overfull_span(&run, quota.period(), limit);
        assert!(overfull.is_none(), "{quota:?}: {}", overfull.unwrap());
        let admitted: u64 = run.iter().map(|admission| admission.cost).sum();
        let periods = (clock.now().0 - 5_000_000_000) / width;
        assert!(admitted > periods * limit / 4, "{quota:?}: only {admitted} in {periods} periods");
    }
}

#[test]
fn skewed_and_stalled_threads_get_no_more_than_the_limit_of_each_window() {
    for kind in [Kind::FixedWindow, Kind::SlidingWindowCounter] {
        let quota = Quota::per(20, Duration::from_micros(20));
        let clock = ManualClock::starting_at(Nanos::from_secs(5));
        let limiter = kind.limiter(quota, &clock).unwrap();
        let run = recorded(&*limiter, &clock, 300, 10_000);
        let window = |at: Nanos| at.as_nanos() / 20_000;
        let first = run.iter().map(|admission| window(admission.at)).min().unwrap();
        let windows = window(clock.now()) - first + 1;
        let admitted: u64 = run.iter().map(|admission| admission.cost).sum();
        assert!(admitted <= windows * 20, "{kind:?}: {admitted} in {windows} windows");
        assert!(admitted > windows * 5, "{kind:?}: only {admitted} in {windows} windows");
    }
}
