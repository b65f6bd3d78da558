//! Clocks that step: how long limiters are shut, with and without the wrapper, and what a step admits.

use core::time::Duration;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use tollgate::{Clock, ManualClock, Nanos, Quota, Steady, Step, TokenBucket};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);
const BACK: Duration = Duration::from_millis(10);

fn steady(start: Nanos, forward: Duration) -> (Steady<ManualClock>, ManualClock) {
    let inner = ManualClock::starting_at(start);
    (Steady::new(inner.clone(), BACK, forward), inner)
}

#[test]
fn an_hour_ahead_for_one_call_shuts_a_bucket_for_an_hour_and_with_the_wrapper_not_at_all() {
    let inner = ManualClock::starting_at(Nanos::from_secs(1_000));
    let plain = TokenBucket::with_clock(Quota::per_second(10), inner.clone());
    let clock = Steady::new(inner.clone(), BACK, 2 * SECOND);
    let wrapped = TokenBucket::with_clock(Quota::per_second(10), &clock);
    assert!(plain.try_acquire_n(10).is_ok() && wrapped.try_acquire_n(10).is_ok());
    inner.advance(HOUR);
    assert_eq!((plain.try_acquire_up_to(99), wrapped.try_acquire_up_to(99)), (10, 10)); // two seconds' worth, capped
    inner.set(Nanos::from_secs(1_001));
    assert_eq!(plain.try_acquire().unwrap_err().retry_after(), Some(Duration::from_millis(3_599_100)));
    assert_eq!(wrapped.try_acquire().unwrap_err().retry_after(), Some(Duration::from_millis(100)));
    inner.advance(SECOND);
    assert_eq!((plain.try_acquire_up_to(99), wrapped.try_acquire_up_to(99)), (0, 10));
    assert_eq!(clock.steps(), 2);
    // How far from where it should have been: the latest reading.
    let Some(Step::Back(by)) = clock.last_step() else { panic!() };
    assert!(by > 3_598 * SECOND && by < HOUR, "{by:?}");
}

#[test]
fn a_counter_that_starts_again_goes_on_from_where_it_was() {
    let (clock, inner) = steady(Nanos::from_secs(86_400 * 100), 60 * SECOND);
    let before = clock.now();
    inner.set(Nanos::ZERO);
    assert_eq!((clock.now(), clock.steps()), (before, 1));
    for _ in 0..1_000 {
        inner.advance(SECOND);
        assert_eq!(clock.now().saturating_since(before), inner.now().saturating_since(Nanos::ZERO));
    }
    assert_eq!(clock.steps(), 1);
}

#[test]
fn what_is_within_the_stated_sizes_is_passed_on() {
    let (clock, inner) = steady(Nanos::from_secs(5), SECOND);
    assert_eq!((clock.now(), clock.last_step()), (inner.now(), None));
    for (millis, back) in [(5_500, 0), (5_496, 4), (6_400, 0), (6_397, 3), (7_390, 0)] {
        inner.set(Nanos::from_millis(millis));
        assert_eq!(clock.now(), inner.now(), "{back} ms back");
    }
    assert_eq!(clock.steps(), 0);
}

#[test]
fn a_long_pause_counts_as_the_longest_plausible_gap() {
    let (clock, inner) = steady(Nanos::from_secs(5), 60 * SECOND);
    let before = clock.now();
    inner.advance(HOUR);
    let gone = clock.now().saturating_since(before);
    assert!(gone <= 60 * SECOND && gone + BACK >= 60 * SECOND, "{gone:?}");
    assert_eq!((clock.steps(), clock.last_step()), (1, Some(Step::Forward(HOUR))));
    // Followed, where nothing is implausible.
    let (clock, inner) = steady(Nanos::from_secs(5), Duration::MAX);
    clock.now();
    inner.advance(1_000 * HOUR);
    assert_eq!((clock.now(), clock.steps()), (inner.now(), 0));
}

#[test]
fn the_first_reading_is_no_step_whatever_it_is() {
    for start in [0, 1, 1 << 40, 1_800_000_000_000_000_000, u64::MAX / 2] {
        let (clock, inner) = steady(Nanos(start), SECOND);
        assert_eq!(clock.now().0, start.max(1));
        inner.advance(SECOND / 2);
        assert_eq!((clock.now(), clock.steps()), (inner.now(), 0));
    }
}

/// What happens to the inner clock before the next reading.
#[derive(Clone, Debug)]
enum Event {
    /// Time goes on, in milliseconds.
    Pass(u64),
    /// It is set ahead or back, in milliseconds.
    Set(i64),
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::with_cases(2_000)
    })]

    /// By the true time: an output never falls behind an earlier one by more than `back`, and all outputs together gain no
    /// more than the time that has passed and `forward` for each time that the clock was set.
    #[test]
    fn outputs_keep_to_the_true_time_but_for_the_stated_size_of_each_step(
        start in 0..10_000_000_u64,
        events in prop::collection::vec(
            prop_oneof![4 => (0..900_u64).prop_map(Event::Pass), 1 => (-5_000_000..5_000_000_i64).prop_map(Event::Set),
                1 => (-30..30_i64).prop_map(Event::Set)],
            1..60,
        ),
    ) {
        let (clock, inner) = steady(Nanos::from_millis(start), SECOND);
        let (first, mut latest) = (clock.now(), clock.now());
        let (mut passed, mut set) = (Duration::ZERO, 0);
        for event in events {
            match event {
                Event::Pass(millis) => {
                    passed += Duration::from_millis(millis);
                    inner.advance(Duration::from_millis(millis));
                }
                Event::Set(millis) => {
                    inner.set(Nanos(inner.now().0.saturating_add_signed(millis * 1_000_000)));
                    set += 1;
                }
            }
            let now = clock.now();
            prop_assert!(latest.saturating_since(now) <= BACK, "{now:?} after {latest:?}");
            latest = latest.max(now);
            let most = passed + SECOND * set;
            prop_assert!(latest.saturating_since(first) <= most, "{latest:?}, {most:?} after {first:?}");
            prop_assert!(clock.steps() <= 2 * u64::from(set), "{} of {set}", clock.steps());
        }
        if set == 0 {
            prop_assert_eq!((latest, clock.steps()), (inner.now().max(Nanos(1)), 0));
        }
    }
}

/// A clock that holds its reader up, now and then, between the reading and the return.
struct Held(ManualClock);

impl Clock for Held {
    fn now(&self) -> Nanos {
        let now = self.0.now();
        if now.0.is_multiple_of(7) {
            thread::yield_now();
        }
        now
    }
}

#[test]
fn threads_that_are_held_up_after_their_readings_are_no_steps() {
    let inner = ManualClock::starting_at(Nanos::from_secs(1));
    // A tick is a quarter of the slack: a thread is soon behind the others by more than that.
    let clock = Steady::new(Held(inner.clone()), Duration::from_nanos(80), Duration::MAX);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    inner.advance(Duration::from_nanos(10));
                    assert!(clock.now() <= inner.now());
                }
            });
        }
    });
    assert_eq!((clock.steps(), clock.now()), (0, inner.now()));
}

#[test]
fn each_step_is_noticed_once_whichever_threads_read() {
    let inner = ManualClock::starting_at(Nanos::from_secs(1_000));
    let clock = Steady::new(Held(inner.clone()), BACK, 10 * SECOND);
    clock.now();
    let (rounds, running, latest) = (200, AtomicBool::new(true), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while running.load(Ordering::Relaxed) {
                    // Nobody's output falls behind what was seen before it by more than `back`.
                    let before = latest.load(Ordering::Acquire);
                    let now = clock.now().0;
                    assert!(now + Nanos::from(BACK).0 >= before, "{now} after {before}");
                    latest.fetch_max(now, Ordering::Release);
                }
            });
        }
        for round in 1..=rounds {
            // Ahead by an hour, or back: both are steps. Whoever reads first takes it, and nobody a second time.
            inner.set(if round % 2 == 0 { Nanos::from_secs(1_000) } else { Nanos::from_secs(4_600) });
            while clock.steps() < round {
                thread::yield_now();
            }
        }
        running.store(false, Ordering::Relaxed);
    });
    assert_eq!(clock.steps(), rounds);
}
