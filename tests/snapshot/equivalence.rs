//! Beside a limiter that was never stopped: after a restart on another clock, the restored one has as much at every instant,
//! or a unit less; and is never ahead of it in what it admits.

use super::at;
use proptest::prelude::*;
use std::time::Duration;
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, FixedWindow, ManualClock, Nanos,
    PackedTokenBucket, Quota, RateLimitAt, ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog, Snapshot,
    TokenBucket, WaitingTokenBucket,
};
use tollgate_testing::each_word;
use tollgate_testing::subject::Kind;

/// Reads back what was written, so that every case goes through the format.
fn through_bytes(snapshot: &Snapshot) -> Snapshot {
    Snapshot::from_bytes(&snapshot.to_bytes()).unwrap()
}

/// A history before the restart, the restart, and questions after it.
#[derive(Clone, Debug)]
struct Course {
    quota: Quota,
    /// Costs and the nanoseconds before them.
    calls: Vec<(u64, u64)>,
    /// How long the outage lasts.
    outage: u64,
    /// Where the new clock begins.
    origin: u64,
    /// Instants after the restart.
    later: Vec<u64>,
}

fn courses() -> impl Strategy<Value = Course> {
    let quota = (1..40_u64, 1..2_000_u64, 1..60_u64)
        .prop_map(|(tokens, period, burst)| Quota::per(tokens, Duration::from_nanos(period)).with_burst(burst));
    let times = || prop_oneof![0..50_u64, 0..3_000_u64];
    (
        quota,
        prop::collection::vec((0..20_u64, times()), 0..12),
        times(),
        0..5_000_u64,
        prop::collection::vec(times(), 1..12),
    )
        .prop_map(|(quota, calls, outage, origin, later)| Course { quota, calls, outage, origin, later })
}

/// Runs a course; `restore` makes the new limiter of the old one's state at a moment. Returns what either has at each later
/// instant, if nothing is taken; the old one went on meanwhile.
fn run<L: RateLimitAt>(
    course: &Course,
    old: &L,
    restore: impl FnOnce(&L, [tollgate::Moment; 2]) -> L,
) -> Vec<[u64; 2]> {
    let mut now = 0;
    for &(cost, before) in &course.calls {
        now += before;
        let _ = old.try_acquire_n_at(cost, Nanos(now));
    }
    let new = restore(old, [at(now, 1_000_000 + now), at(course.origin, 1_000_000 + now + course.outage)]);
    let (mut has, mut passed) = (vec![], 0);
    for &later in [0].iter().chain(&course.later) {
        passed += later;
        has.push([
            old.available_at(Nanos(now + course.outage + passed)),
            new.available_at(Nanos(course.origin + passed)),
        ]);
    }
    has
}

/// As `run`, for a limiter that is restored in place.
macro_rules! run_in_place {
    ($course:expr, $make:expr) => {
        run($course, &$make, |old, [saved, now]| {
            let new = $make;
            new.restore_at(&through_bytes(&old.snapshot_at(saved)), now).unwrap();
            new
        })
    };
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) })]

    #[test]
    fn a_token_bucket_is_what_it_would_be(course in courses()) {
        let unit = Kind::TokenBucket.tokens_per_unit(course.quota).unwrap();
        for [old, new] in run_in_place!(&course, TokenBucket::with_clock(course.quota, ManualClock::new())) {
            prop_assert!(new <= old && old <= new + unit, "{old} {new}");
        }
        let longest = Duration::from_secs(1);
        for [old, new] in run_in_place!(&course, WaitingTokenBucket::with_clock(course.quota, longest, ManualClock::new())) {
            prop_assert!(new <= old && old <= new + unit, "{old} {new}");
        }
    }

    #[test]
    fn an_adjustable_bucket_is_what_it_would_be(course in courses()) {
        prop_assume!(course.quota.tokens() < u64::try_from(course.quota.period().as_nanos()).unwrap());
        for [old, new] in run_in_place!(&course, AdjustableTokenBucket::with_clock(course.quota, ManualClock::new())) {
            prop_assert!(new <= old && old <= new + 1, "{old} {new}");
        }
    }

    #[test]
    fn a_packed_bucket_is_what_it_would_be_to_a_token(course in courses()) {
        let make = || PackedTokenBucket::try_with_clock(course.quota, ManualClock::new());
        prop_assume!(make().is_ok());
        let unit = Kind::PackedTokenBucket.tokens_per_unit(course.quota).unwrap();
        for [old, new] in run_in_place!(&course, make().unwrap()) {
            prop_assert!(new <= old && old <= new + unit, "{old} {new}");
        }
    }

    /// Where windows begin at other instants, the restored one may be short for a period, but never ahead: as long as nothing
    /// has begun anew that the old one had not.
    #[test]
    fn none_is_ahead_of_what_it_would_be(course in courses()) {
        macro_rules! check {
            ($($limiter:ident),*) => {$(
                let make = || tollgate::$limiter::try_with_clock(course.quota, ManualClock::new());
                if make().is_ok() {
                    for [old, new] in run_in_place!(&course, make().unwrap()) {
                        prop_assert!(new <= old, "{}: {old} {new}", stringify!($limiter));
                    }
                }
            )*};
        }
        each_word!(check, AdjustableFixedWindow);
    }

    /// The windows of an adjustable counter go on wherever they are.
    #[test]
    fn an_adjustable_counter_is_what_it_would_be(course in courses()) {
        let slower = Quota::per(course.quota.tokens(), course.quota.period() * 1_000);
        let times = |times: &[u64]| times.iter().map(|time| time * 1_000).collect();
        let calls = course.calls.iter().map(|&(cost, before)| (cost, before * 1_000)).collect();
        let course = Course { quota: slower, calls, outage: course.outage * 1_000, later: times(&course.later), ..course };
        let make = || AdjustableSlidingWindowCounter::try_with_clock(course.quota, ManualClock::new());
        prop_assume!(make().is_ok());
        for [old, new] in run_in_place!(&course, make().unwrap()) {
            prop_assert_eq!(old, new);
        }
    }

    /// On a clock whose windows begin at the same instants, they are the same.
    #[test]
    fn windows_are_what_they_would_be_where_they_begin_alike(course in courses()) {
        let period = u64::try_from(course.quota.period().as_nanos()).unwrap();
        let now: u64 = course.calls.iter().map(|(_, before)| before).sum::<u64>() + course.outage;
        let course = Course { origin: now % period + 3 * period, ..course };
        for [old, new] in run_in_place!(&course, FixedWindow::with_clock(course.quota, ManualClock::new())) {
            prop_assert_eq!(old, new);
        }
        prop_assume!(AdjustableFixedWindow::try_with_clock(course.quota, ManualClock::new()).is_ok());
        for [old, new] in run_in_place!(&course, AdjustableFixedWindow::with_clock(course.quota, ManualClock::new())) {
            prop_assert_eq!(old, new);
        }
        prop_assume!(SlidingWindowCounter::try_with_clock(course.quota, ManualClock::new()).is_ok());
        for [old, new] in run_in_place!(&course, SlidingWindowCounter::with_clock(course.quota, ManualClock::new())) {
            prop_assert_eq!(old, new);
        }
    }

    #[test]
    fn a_log_is_what_it_would_be(course in courses()) {
        let make = || SlidingWindowLog::with_clock(course.quota, ManualClock::new());
        let has = run(&course, &make(), |old, [saved, now]| {
            let new = make().restored_at(&through_bytes(&old.snapshot_at(saved)), now).unwrap();
            // And once more, on the clock of that.
            make().restored_at(&through_bytes(&new.snapshot_at(now)), now).unwrap()
        });
        for [old, new] in has {
            prop_assert_eq!(old, new);
        }
    }

    /// Credits in shards are counted, and go to the central word; also where the burst is divided otherwise.
    #[test]
    fn a_sharded_bucket_counts_its_credits(
        calls in prop::collection::vec((1..900_u64, 0..40_u64), 0..30), outage in 0..2_000_u64, shards in 0..4_u32,
    ) {
        let quota = Quota::per(700, Duration::from_micros(1)).with_burst(20_000);
        let clock = ManualClock::new();
        let old = ShardedTokenBucket::with_shards_and_clock(quota, 4, clock.clone());
        for &(cost, before) in &calls {
            clock.advance(Duration::from_nanos(before));
            let _ = old.try_acquire_n(cost);
        }
        let now = tollgate::Clock::now(&clock).0;
        let snapshot = through_bytes(&old.snapshot_at(at(now, 50)));
        clock.advance(Duration::from_nanos(outage));
        let new = ShardedTokenBucket::with_shards_and_clock(quota, 1 << shards, ManualClock::new());
        new.restore_at(&snapshot, at(0, 50 + outage)).unwrap();
        // What the old one has, but no more than the new one's central word can hold.
        let has = old.available().min(new.max_cost());
        let same = new.max_cost() == old.max_cost();
        prop_assert!(new.available() <= old.available());
        prop_assert!(new.available() + 2 >= has.min(old.max_cost()), "{} {has} {same}", new.available());
    }
}

/// To the unit, which is far less than a token: at every instant around each token's the two agree, or the new one is a
/// nanosecond late.
#[test]
fn a_token_comes_at_its_instant_or_a_nanosecond_later() {
    let quota = Quota::per(7, Duration::from_nanos(1_000_003)).with_burst(7);
    for (stop, outage, origin) in
        [(5, 17, 0), (99_999, 1, 3_333_331), (1, 0, 1), (400_000, 123_456, 86_400_000_000_000)]
    {
        let old = TokenBucket::with_clock(quota, ManualClock::new());
        assert!(old.try_acquire_n_at(7, Nanos(stop)).is_ok());
        let new = TokenBucket::with_clock(quota, ManualClock::new());
        new.restore_at(&old.snapshot_at(at(stop, 9)), at(origin, 9 + outage)).unwrap();
        for tokens in 1..=7_u64 {
            // The first instant at which the old one has so many.
            let has = |passed: u64| old.available_at(Nanos(stop + outage + passed)) >= tokens;
            let (mut low, mut high) = (0, 2_000_000);
            while low < high {
                let middle = u64::midpoint(low, high);
                (low, high) = if has(middle) { (low, middle) } else { (middle + 1, high) };
            }
            let new_has = |passed: u64| new.available_at(Nanos(origin + passed)) >= tokens;
            assert!(low == 0 || !new_has(low - 1), "{tokens} tokens too early");
            assert!(new_has(low + 1), "{tokens} tokens too late");
        }
    }
}

/// As people will try it.
#[test]
fn time_between_processes_counts() {
    let quota = Quota::per_second(1).with_burst(10);
    let old = TokenBucket::with_clock(quota, ManualClock::new());
    assert!(old.try_acquire_n_at(9, Nanos::from_secs(1_000)).is_ok());
    let snapshot = old.snapshot_at(at(1_000_500_000_000, 77));
    for (wall, has) in [(77, 1), (77 + 499_999_999, 1), (77 + 500_000_000, 2), (0, 1), (77 + 20_000_000_000, 10)] {
        let new = TokenBucket::with_clock(quota, ManualClock::new());
        new.restore_at(&snapshot, at(0, wall)).unwrap();
        assert_eq!(new.available_at(Nanos::ZERO), has, "at {wall}");
    }
}
