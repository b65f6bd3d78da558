//! Real threads on one line: nothing is spent twice, and nothing is lost but what was said to be.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::thread;
use tollgate::{Clock, ManualClock, MonotonicClock, Place, Quota, WaitingTokenBucket};
use tollgate_testing::trace::{Admission, first_violation};

const THREADS: u64 = 4;
const ROUNDS: u64 = if cfg!(miri) { 50 } else { 50_000 };

/// What a thread came to.
#[derive(Default)]
struct Tally {
    spent: Vec<Admission>,
    lost: u64,
}

/// Takes places and tokens, keeps a few places, and spends or gives back any of them. In the end it gives all back.
fn act<C: Clock>(bucket: &WaitingTokenBucket<C>, clock: &C, seed: u64, patience: Duration) -> Tally {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut tally, mut held) = (Tally::default(), Vec::<Place<&WaitingTokenBucket<C>>>::new());
    for _ in 0..ROUNDS {
        let n = random.u64(1..4);
        match random.u64(0..8) {
            0..3 => held.extend(bucket.reserve_within(n, patience)),
            3 => {
                let now = clock.now();
                tally.spent.extend(bucket.try_acquire_n_at(n, now).is_ok().then(|| Admission::new(n, now)));
            }
            4 if !held.is_empty() => {
                let place = held.swap_remove(random.usize(..held.len()));
                let admission = Admission::new(place.cost(), place.due());
                match place.spend() {
                    Ok(()) => tally.spent.push(admission),
                    Err(early) => held.push(early),
                }
            }
            _ if !held.is_empty() => {
                let place = held.swap_remove(random.usize(..held.len()));
                let cost = place.cost();
                tally.lost += cost - place.cancel();
            }
            _ => {}
        }
    }
    for place in held {
        let cost = place.cost();
        tally.lost += cost - place.cancel();
    }
    tally
}

/// While the clock stands still every token is known.
#[test]
fn on_a_clock_that_stands_still_every_token_is_accounted_for() {
    let burst = ROUNDS / 10;
    let clock = ManualClock::new();
    let bucket = WaitingTokenBucket::with_clock(Quota::per_hour(burst), Duration::MAX, clock.clone());
    let tallies = thread::scope(|scope| {
        let act = |seed| act(&bucket, &clock, seed, Duration::ZERO);
        let threads = (0..THREADS).map(|seed| scope.spawn(move || act(seed))).collect::<Vec<_>>();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let mut left = 0;
    while bucket.try_acquire().is_ok() {
        left += 1;
    }
    let spent: u64 = tallies.iter().flat_map(|tally| &tally.spent).map(|admission| admission.cost).sum();
    let lost: u64 = tallies.iter().map(|tally| tally.lost).sum();
    assert_eq!(spent + lost + left, burst, "{spent} spent, {lost} lost, {left} left");
    assert!(spent > burst / 10);
}

/// A handful of tokens goes from hand to hand through the pool, and never are more of them in hands than there are.
#[test]
fn a_handful_of_tokens_goes_from_hand_to_hand() {
    const BURST: u64 = 6;
    let bucket = WaitingTokenBucket::with_clock(Quota::per_hour(BURST), Duration::MAX, ManualClock::new());
    let in_hands = AtomicU64::new(0);
    let give_back = |place: Place<&WaitingTokenBucket<ManualClock>>| {
        in_hands.fetch_sub(1, Ordering::Relaxed);
        1 - place.cancel()
    };
    let act = |seed| {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut held, mut lost) = (Vec::new(), 0);
        for _ in 0..ROUNDS {
            if held.len() < 3
                && let Ok(place) = bucket.reserve_within(1, Duration::ZERO)
            {
                let before = in_hands.fetch_add(1, Ordering::Relaxed);
                assert!(before < BURST, "a token is in two hands");
                held.push(place);
            }
            if !held.is_empty() && random.bool() {
                lost += give_back(held.swap_remove(random.usize(..held.len())));
            }
        }
        lost + held.into_iter().map(give_back).sum::<u64>()
    };
    let lost: u64 = thread::scope(|scope| {
        let threads = (0..THREADS)
            .map(|seed| {
                scope.spawn({
                    let act = &act;
                    move || act(seed)
                })
            })
            .collect::<Vec<_>>();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let left = (0..=BURST).take_while(|_| bucket.try_acquire().is_ok()).count() as u64;
    assert_eq!(left + lost, BURST, "{left} left, {lost} lost");
}

/// In real time, whatever is spent keeps the bound at the instants of the places.
#[test]
fn in_real_time_the_bound_holds_at_the_instants_of_places() {
    let clock = MonotonicClock;
    // A token each microsecond: many threads meet at each.
    let quota = Quota::per(1, Duration::from_micros(1)).with_burst(8);
    let bucket = WaitingTokenBucket::with_clock(quota, Duration::from_micros(200), clock);
    let tallies = thread::scope(|scope| {
        let threads = (0..THREADS)
            .map(|seed| {
                let (bucket, clock) = (&bucket, &clock);
                scope.spawn(move || act(bucket, clock, seed, Duration::from_micros(50 * (seed + 1))))
            })
            .collect::<Vec<_>>();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let spent: Vec<_> = tallies.into_iter().flat_map(|tally| tally.spent).collect();
    assert!(!spent.is_empty());
    // A token's microsecond is a whole number of nanoseconds, but positions that were clamped need not be: a nanosecond's worth.
    let excess = first_violation(&spent, quota).map(|window| window.excess);
    assert!(excess.is_none_or(|excess| excess.is_less_than_one_in(500)), "{excess:?}");
}
