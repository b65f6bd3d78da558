//! Waiting for several limits: a place in each line, or none.

use super::stress::together;
use core::time::Duration;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed};
use tollgate::{
    Denied, KeyedLimiter, LimitSet, Line, ManualClock, Nanos, Places, Quota, RateLimit, ShardedTokenBucket,
    WaitingTokenBucket,
};
use tollgate_testing::reference;

const MINUTE: Duration = Duration::from_secs(60);

fn line(quota: Quota, clock: &ManualClock) -> WaitingTokenBucket<ManualClock> {
    WaitingTokenBucket::with_clock(quota, MINUTE, clock.clone())
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Forward(u64),
    Reserve([u64; 3], Option<u64>),
    GiveBack(usize),
    Spend(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0_u64..40).prop_map(Step::Forward),
        5 => ([0_u64..4, 0..5, 0..3], prop::option::of(0_u64..60)).prop_map(|(n, patience)| Step::Reserve(n, patience)),
        2 => any::<usize>().prop_map(Step::GiveBack),
        1 => any::<usize>().prop_map(Step::Spend),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(0x7011_6a7e),
        ..ProptestConfig::default()
    })]

    /// Without races: each place is the model's, all or none are had, and those who refuse are named.
    #[test]
    fn a_set_of_lines_is_its_models_together(
        rates in [(1_u64..4, 1_u64..5), (1_u64..4, 1_u64..5), (1_u64..4, 1_u64..5)],
        longest in [0_u64..80, 0..80, 0..80],
        steps in steps(),
    ) {
        let clock = ManualClock::new();
        // Units of the scale are whole nanoseconds and tenths of a second hold whole numbers of them.
        let quotas = rates.map(|(n, burst)| Quota::per(n, Duration::from_millis(100 * n)).with_burst(burst));
        let tenths = |tenths: u64| Duration::from_millis(100 * tenths);
        let both = |limit: usize| {
            let (quota, longest) = (quotas[limit], tenths(longest[limit]));
            (WaitingTokenBucket::with_clock(quota, longest, clock.clone()), reference::Line::new(quota, longest))
        };
        let [(a, one), (b, two), (c, three)] = [both(0), both(1), both(2)];
        let (set, mut models) = (LimitSet::with_clock([a, b, c], clock.clone()), [one, two, three]);
        let (mut held, mut now) = (Vec::new(), Nanos::ZERO);
        for step in steps {
            match step {
                Step::Forward(by) => {
                    now = now.saturating_add(tenths(by));
                    clock.set(now);
                }
                Step::Reserve(costs, patience) => {
                    let max_wait = patience.map_or(Duration::MAX, tenths);
                    let reserve = |limit: usize| (costs[limit] > 0).then(|| models[limit].clone().reserve(costs[limit], max_wait, now));
                    let expected = [0, 1, 2].map(reserve);
                    let refusing: Vec<_> = (0..3).filter(|&limit| matches!(expected[limit], Some(Err(_)))).collect();
                    match set.reserve_n_within(costs, max_wait) {
                        Ok(places) => {
                            prop_assert!(refusing.is_empty(), "{:?} would refuse", refusing);
                            let mine = [0, 1, 2].map(|limit| {
                                (costs[limit] > 0).then(|| models[limit].reserve(costs[limit], max_wait, now).unwrap())
                            });
                            let due = mine.map(|place| place.map_or(now, |place| place.due));
                            prop_assert_eq!(places.each().each_ref().map(tollgate::Place::due), due);
                            prop_assert_eq!(places.due(), due.into_iter().max().unwrap());
                            held.push((places, mine));
                        }
                        Err(denied) => {
                            prop_assert_eq!(denied.limits().collect::<Vec<_>>(), refusing);
                            prop_assert!(!denied.is_late());
                        }
                    }
                }
                Step::GiveBack(which) if !held.is_empty() => {
                    let (places, mine) = held.swap_remove(which % held.len());
                    let mut expected = [0; 3];
                    for limit in (0..3).rev() {
                        expected[limit] = mine[limit].map_or(0, |place| models[limit].give_back(place, now));
                    }
                    prop_assert_eq!(places.cancel(), expected);
                }
                Step::Spend(which) if !held.is_empty() => {
                    let (places, mine) = held.swap_remove(which % held.len());
                    let due = places.due();
                    match places.spend() {
                        Ok(()) => prop_assert!(due <= now),
                        Err(early) => {
                            prop_assert!(due > now && early.delay() == due.saturating_since(now));
                            held.push((early, mine));
                        }
                    }
                }
                Step::GiveBack(_) | Step::Spend(_) => {}
            }
            for (limit, model) in set.limits().iter().zip(&models) {
                prop_assert_eq!(limit.available(), model.available(now));
            }
        }
    }
}

/// V3, V5: whoever cannot be in time is told at once, by whom and until when, and has taken nothing.
#[test]
fn v3_who_would_be_late_is_refused_at_once_by_all_who_are_too_long() {
    let clock = ManualClock::new();
    let second = Quota::per_second(1);
    let set =
        LimitSet::with_clock([second, Quota::per_minute(1), second].map(|quota| line(quota, &clock)), clock.clone());
    assert!(set.try_acquire_n([1, 1, 0]).is_ok());
    let denied = set.reserve_n_within([1, 1, 1], Duration::from_millis(500)).unwrap_err();
    assert_eq!((denied.limits().collect::<Vec<_>>(), denied.longest(), denied.is_late()), (vec![0, 1], 1, false));
    assert!(matches!(denied.denied(), Denied::WouldExceedDeadline(hint) if hint.due() == Nanos::from_secs(60)));
    assert_eq!(denied.retry_after(), Some(Duration::from_millis(59_500)));
    assert!(set.acquire_blocking_timeout([1, 1, 1], Duration::from_millis(500)).is_err());
    assert_eq!(set.limits().each_ref().map(RateLimit::available), [0, 0, 1]);
    let full = set.reserve_n([1, 1, 1]).unwrap();
    assert!(matches!(set.reserve_n([0, 1, 0]).unwrap_err().denied(), Denied::LineFull(_)));
    assert!(matches!(set.reserve_n([2, 0, 0]).unwrap_err().denied(), Denied::ExceedsBurst { cost: 2, max_cost: 1 }));
    drop(full);
    assert_eq!(set.limits().each_ref().map(RateLimit::available), [0, 0, 1]);
}

/// V2, V6: places of several lines come back, whichever way they are left and in whatever order.
#[test]
fn v2_all_places_come_back() {
    let clock = ManualClock::new();
    let set =
        LimitSet::with_clock([Quota::per_second(1), Quota::per_second(2)].map(|quota| line(quota, &clock)), &clock);
    let places = [(); 4].map(|()| set.reserve_n([1, 2]).unwrap());
    assert_eq!(places.each_ref().map(Places::due), [0, 1, 2, 3].map(Nanos::from_secs));
    let [a, b, c, d] = places;
    assert_eq!((c.cancel(), a.cancel()), ([1, 2], [1, 2]));
    drop((b, d));
    assert_eq!(set.limits().each_ref().map(RateLimit::available), [1, 2]);
}

/// A limit for all, one for each client, and one that many cores share, in one set.
#[test]
fn lines_of_several_kinds() {
    let clock = ManualClock::new();
    let all = line(Quota::per_second(1), &clock);
    let clients = KeyedLimiter::<str>::with_clock(Quota::per_minute(6).with_burst(1), 10, clock.clone());
    let shared = ShardedTokenBucket::with_clock(Quota::per_second(1_000), clock.clone());
    let reserve = |client| {
        let lines: [&dyn Line<Clock = ManualClock>; 3] = [&clients.line(client), &all, &shared];
        // The places point to the set, and the set to the line of the client: ask while both are there.
        LimitSet::with_clock(lines, &clock).reserve_n([1, 1, 10]).map(|places| {
            let due = places.due();
            assert!(places.spend_at(due).is_ok());
            due.as_nanos() / 1_000_000_000
        })
    };
    assert_eq!(["alice", "bob", "alice", "bob"].map(|client| reserve(client).unwrap()), [0, 1, 10, 10]);
}

/// Two places in one line that has no pool: the last comes back first, whether they are dropped or cancelled or never were to be had.
#[test]
fn two_places_in_one_line_both_come_back() {
    let clock = ManualClock::new();
    let clients = KeyedLimiter::<str>::with_clock(Quota::per_second(1).with_burst(4), 10, clock.clone());
    let shared = ShardedTokenBucket::with_clock(Quota::per_hour(9), clock.clone());
    let all = clients.line("alice");
    let lines: [&dyn Line<Clock = ManualClock>; 4] = [&all, &shared, &all, &shared];
    let set = LimitSet::with_clock(lines, &clock);
    let left = || (all.available(), shared.available());
    let full = left();
    drop(set.reserve_n([1, 2, 2, 3]).unwrap());
    assert_eq!(left(), full, "dropped");
    assert_eq!(set.reserve_n([1, 2, 2, 3]).unwrap().cancel(), [1, 2, 2, 3]);
    assert_eq!(left(), full, "cancelled");
    // Each is due by then, and both together are not.
    let denied = set.reserve_n_within([3, 1, 3, 1], Duration::from_secs(1)).unwrap_err();
    assert!(denied.is_late() && denied.limits().eq([2]) && denied.spent().count() == 0, "{denied:?}");
    assert_eq!(left(), full, "refused late");
}

/// What costs nothing is not said to stay spent.
#[test]
fn a_key_without_a_limit_has_nothing_to_give_back() {
    let clock = ManualClock::new();
    let clients = KeyedLimiter::<str>::with_clock(Quota::UNLIMITED, 10, clock.clone());
    let full = KeyedLimiter::<u64>::with_clock(Quota::per_hour(1), 1, clock.clone());
    let stranger = (0..1_000).find(|key| full.try_acquire(key).is_err()).unwrap();
    let alice = clients.line("alice");
    let lines: [&dyn Line<Clock = ManualClock>; 2] = [&alice, &full.line(&stranger)];
    let denied = LimitSet::with_clock(lines, &clock).reserve_n([5, 1]).unwrap_err();
    assert!(denied.is_late() && matches!(denied.denied(), Denied::TableFull(_)));
    assert_eq!((denied.limits().collect::<Vec<_>>(), denied.spent().count()), (vec![1], 0));
    assert_eq!(clients.reserve("alice", 5).unwrap().cancel(), 5);
}

#[test]
fn a_thread_waits_for_the_last_of_its_places() {
    let slow = WaitingTokenBucket::new(Quota::per_second(1_000).with_burst(1), MINUTE);
    let fast = WaitingTokenBucket::new(Quota::per_second(4_000).with_burst(4), MINUTE);
    let set = LimitSet::new([&slow, &fast]);
    let start = std::time::Instant::now();
    for _ in 0..6 {
        set.acquire_blocking([1, 1]).unwrap();
    }
    set.acquire_blocking_by([1, 1], start + MINUTE).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(6));
    let places = set.reserve_n([1, 1]).unwrap();
    assert!(places.due() >= places.each()[1].due());
    places.wait();
}

/// Threads that take places, spend some, and are refused late: every token is spent, there, or said to be.
#[test]
fn every_token_of_a_place_is_accounted_for() {
    let clock = ManualClock::new();
    let (mut late, mut all_spent) = (0, 0);
    for round in 0..200 {
        let one = WaitingTokenBucket::with_clock(Quota::per_hour(60), Duration::ZERO, clock.clone());
        let other = WaitingTokenBucket::with_clock(Quota::per_hour(20), Duration::ZERO, clock.clone());
        let set = LimitSet::with_clock([&one, &other], &clock);
        let tallies = together(|seed| {
            let mut random = fastrand::Rng::with_seed(round * 4 + seed as u64);
            let (mut late, mut spent) = (0, [0_u64; 2]);
            for _ in 0..20 {
                match set.reserve_n([1, 1]) {
                    Ok(places) if random.u32(..4) > 0 => {
                        assert!(places.spend().is_ok());
                        spent = spent.map(|spent| spent + 1);
                    }
                    Ok(places) => {
                        let back = places.cancel();
                        spent = std::array::from_fn(|limit| spent[limit] + 1 - back[limit]);
                    }
                    Err(denied) => {
                        late += u64::from(denied.is_late());
                        denied.spent().for_each(|limit| spent[limit] += 1);
                    }
                }
            }
            (late, spent)
        });
        late += tallies.iter().map(|(late, _)| late).sum::<u64>();
        let spent: [u64; 2] = std::array::from_fn(|limit| tallies.iter().map(|(_, spent)| spent[limit]).sum());
        all_spent += spent[0];
        let left = [&one, &other].map(|limit| (0..60).filter(|_| limit.try_acquire().is_ok()).count() as u64);
        assert_eq!([left[0] + spent[0], left[1] + spent[1]], [60, 20], "round {round}");
    }
    println!("{late} refused late; {all_spent} spent");
}
