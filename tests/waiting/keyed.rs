//! Places by key, on the word of the key's bucket.

use core::time::Duration;
use std::thread;
use tollgate::{Clock, Denied, KeyedLimiter, KeyedPlace, ManualClock, Nanos, Place, Quota};

type Limiter = KeyedLimiter<u64, std::hash::RandomState, ManualClock>;

fn limiter(quota: Quota) -> (Limiter, ManualClock) {
    let clock = ManualClock::new();
    (KeyedLimiter::with_clock(quota, 1_000, clock.clone()), clock)
}

/// V1 with no place kept: D is due at 3 s.
#[test]
fn v1_by_key_a_place_from_the_middle_is_lost() {
    let (limiter, clock) = limiter(Quota::per_second(1));
    assert!(limiter.try_acquire(&7).is_ok());
    let [b, c] = [(); 2].map(|()| limiter.reserve(&7, 1).unwrap());
    assert_eq!([b.due(), c.due()], [Nanos::from_secs(1), Nanos::from_secs(2)]);
    clock.advance(Duration::from_millis(500));
    assert_eq!(b.cancel(), 0);
    let d = limiter.reserve(&7, 1).unwrap();
    assert_eq!(d.due(), Nanos::from_secs(3));
    // Nobody else's line has moved.
    assert_eq!(limiter.reserve(&8, 1).unwrap().due(), Nanos::from_millis(500));
    let Err(d) = d.spend() else { panic!("it is not due yet") };
    clock.set(Nanos::from_secs(3));
    assert!(c.spend().is_ok() && d.spend().is_ok() && limiter.try_acquire(&7).is_err());
}

/// V2: from the end, all come back.
#[test]
fn v2_by_key_all_places_come_back_from_the_end() {
    for quota in [Quota::per_second(10).with_burst(4), Quota::per_second(3).with_burst(4)] {
        let (limiter, clock) = limiter(quota);
        clock.set(Nanos::from_secs(7));
        let mut places = [1, 4, 2].map(|n| Some(limiter.reserve(&1, n).unwrap()));
        assert_eq!(limiter.status(&1).remaining, 0);
        for (i, n) in [(2, 2), (1, 4), (0, 1)] {
            assert_eq!(places[i].take().map(Place::cancel), Some(n));
        }
        assert_eq!(limiter.status(&1).remaining, 4);
        assert_eq!(limiter.reserve(&1, 4).unwrap().due(), Nanos::from_secs(7));
    }
}

/// V3 and V5 by key.
#[test]
fn what_cannot_be_in_time_is_refused_at_once() {
    for tokens in [1, 3] {
        let (limiter, clock) = limiter(Quota::per_second(tokens).with_burst(2));
        limiter.try_acquire_n(&1, 2).unwrap();
        let wait = Duration::from_nanos(1_000_000_000_u64.div_ceil(tokens));
        let before = limiter.status(&1);
        let patience = wait.checked_sub(Duration::from_nanos(1)).unwrap();
        let Err(Denied::WouldExceedDeadline(hint)) = limiter.reserve_within(&1, 1, patience) else {
            panic!("too late")
        };
        assert_eq!((hint.due(), hint.retry_after()), (Nanos::from(wait), Duration::from_nanos(1)));
        assert_eq!(limiter.status(&1), before);
        assert_eq!(limiter.acquire_blocking_timeout(&1, 3, wait), Err(Denied::ExceedsBurst { cost: 3, max_cost: 2 }));
        clock.advance(Duration::from_nanos(1));
        assert_eq!(limiter.reserve_within(&1, 1, patience).unwrap().due(), Nanos::from(wait));
        limiter.reserve(&2, 2).unwrap().spend().unwrap();
    }
}

#[test]
fn a_place_that_has_drained_gives_nothing_back() {
    let (limiter, clock) = limiter(Quota::per_second(1).with_burst(4));
    let place = limiter.reserve(&1, 4).unwrap();
    clock.set(Nanos::from_secs(2));
    assert_eq!((place.cancel(), limiter.status(&1).remaining), (2, 4));
    let place = limiter.reserve(&1, 4).unwrap();
    clock.set(Nanos::from_secs(6));
    assert_eq!((place.cancel(), limiter.status(&1).remaining), (0, 4));
}

/// One key's line is one number: the instant at which its bucket is full again.
#[test]
fn a_line_by_key_is_one_number() {
    const TOKEN: u64 = 8;
    const BURST: u64 = 5;
    let (limiter, clock) = limiter(Quota::per(1, Duration::from_nanos(TOKEN)).with_burst(BURST));
    let mut random = fastrand::Rng::with_seed(11);
    let mut full_at = 0_u64;
    let mut held: Vec<(KeyedPlace<'_, _, _, _>, u64)> = Vec::new();
    for _ in 0..100_000 {
        let now = clock.now().0;
        match random.u64(0..8) {
            0..3 => {
                let (n, wait) = (random.u64(1..=BURST), random.u64(0..200));
                let next = full_at.max(now) + n * TOKEN;
                let expected =
                    (next <= now + wait + BURST * TOKEN).then(|| next.saturating_sub(BURST * TOKEN).max(now));
                let place = limiter.reserve_within(&1, n, Duration::from_nanos(wait)).ok();
                assert_eq!(place.as_ref().map(|place| place.due().0), expected);
                if let Some(place) = place {
                    full_at = next;
                    held.push((place, next));
                }
            }
            3 if !held.is_empty() => {
                let (place, end) = held.swap_remove(random.usize(..held.len()));
                let n = place.cost();
                // From the end; and only a burst of them, one after the other, is sure to come back.
                let back = place.cancel();
                if end == full_at && end > now {
                    assert_eq!(back, (end - (end - n * TOKEN).max(now)) / TOKEN);
                    full_at -= n * TOKEN;
                } else {
                    assert_eq!(back, 0);
                }
            }
            4 | 5 if !held.is_empty() => {
                let which = random.usize(..held.len());
                let (place, end) = held.swap_remove(which);
                let due = place.due();
                match place.spend() {
                    Ok(()) => assert!(due.0 <= now),
                    Err(early) => held.push((early, end)),
                }
            }
            6 => {
                let next = full_at.max(now) + TOKEN;
                let admitted = limiter.try_acquire(&1).is_ok();
                assert_eq!(admitted, next <= now + BURST * TOKEN);
                if admitted {
                    full_at = next;
                }
            }
            _ => clock.advance(Duration::from_nanos(random.u64(0..40))),
        }
    }
    for (place, _) in held {
        core::mem::forget(place);
    }
}

/// While the clock stands still, what is spent, left and lost is the burst of each key.
#[test]
fn threads_on_the_lines_of_a_few_keys() {
    const BURST: u64 = 500;
    const KEYS: usize = 3;
    let (limiter, _clock) = limiter(Quota::per_hour(BURST));
    let act = |seed| {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut gone, mut held) = ([0; KEYS], Vec::new());
        for _ in 0..20_000 {
            let key = random.usize(..KEYS);
            if random.bool() {
                held.extend(
                    limiter.reserve_within(&(key as u64), random.u64(1..4), Duration::ZERO).map(|place| (key, place)),
                );
            } else if let Some((key, place)) = held.pop() {
                let cost = place.cost();
                let spent = random.u64(0..50) == 0;
                let back = if spent { place.spend().map(|()| 0).unwrap() } else { place.cancel() };
                gone[key] += cost - back;
            }
        }
        for (key, place) in held {
            gone[key] += place.cost();
            place.spend().unwrap();
        }
        gone
    };
    let tallies: Vec<_> = thread::scope(|scope| {
        let act = &act;
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || act(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for key in 0..KEYS {
        let gone: u64 = tallies.iter().map(|gone| gone[key]).sum();
        assert_eq!(gone + limiter.status(&(key as u64)).remaining, BURST, "key {key}");
    }
}
