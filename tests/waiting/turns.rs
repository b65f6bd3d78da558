//! One caller's places, one after the other.

use std::time::Duration;
use tollgate::{Clock, Denied, KeyedLimiter, ManualClock, Nanos, Quota, ShardedTokenBucket, Turns, WaitingTokenBucket};

const MILLI: Duration = Duration::from_millis(1);
const THOUSAND: Quota = Quota::per_second(1_000).with_burst(1);

fn bucket(quota: Quota) -> (WaitingTokenBucket<ManualClock>, ManualClock) {
    let clock = ManualClock::new();
    (WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), clock.clone()), clock)
}

/// Takes `count` tokens one after the other, oversleeping by `late` whenever it sleeps; returns when the last was due.
fn take(turns: &mut Turns<&WaitingTokenBucket<ManualClock>>, clock: &ManualClock, count: u64, late: Duration) -> Nanos {
    let mut due = Nanos::ZERO;
    for _ in 0..count {
        let place = turns.reserve(1).unwrap();
        due = place.due();
        if !place.delay().is_zero() {
            clock.set(due.saturating_add(late));
        }
        place.spend().unwrap();
    }
    due
}

#[test]
fn a_caller_that_oversleeps_within_its_slack_loses_nothing() {
    for late in [Duration::ZERO, Duration::from_nanos(1), MILLI / 2, MILLI, Duration::from_micros(4_999), 5 * MILLI] {
        let (bucket, clock) = bucket(THOUSAND);
        let mut turns = bucket.turns(5 * MILLI);
        assert_eq!(take(&mut turns, &clock, 10_001, late), Nanos::from_secs(10), "{late:?}");
    }
}

/// What turns are for: without slack, a wake-up that is late by more than a token's time costs the rest of it.
#[test]
fn without_slack_it_is_a_plain_reservation() {
    let (bucket, clock) = bucket(THOUSAND);
    let mut turns = bucket.turns(Duration::ZERO);
    assert_eq!(take(&mut turns, &clock, 1_001, MILLI / 2), Nanos::from_secs(1));
    let (bucket, clock) = self::bucket(THOUSAND);
    let mut turns = bucket.turns(Duration::ZERO);
    assert_eq!(take(&mut turns, &clock, 1_001, MILLI * 3 / 2), Nanos::from_millis(1_250));
}

#[test]
fn no_more_is_caught_up_than_the_slack() {
    let (bucket, clock) = bucket(THOUSAND);
    let mut turns = bucket.turns(5 * MILLI);
    turns.reserve(1).unwrap().spend().unwrap();
    clock.advance(Duration::from_secs(60));
    let due: Vec<_> =
        (0..7).map(|_| turns.reserve(1).unwrap()).map(|place| (place.due(), place.spend().is_ok())).collect();
    let now = clock.now().as_nanos() / 1_000_000;
    let expected = [(-5, true), (-4, true), (-3, true), (-2, true), (-1, true), (0, true), (1, false)];
    assert_eq!(due, expected.map(|(millis, is_due)| (Nanos::from_millis(now.strict_add_signed(millis)), is_due)));
}

/// Whoever else stands in line has been there before, and what was handed out stays so.
#[test]
fn nothing_is_taken_from_others() {
    let (bucket, clock) = bucket(THOUSAND);
    let mut turns = bucket.turns(10 * MILLI);
    turns.reserve(1).unwrap().spend().unwrap();
    clock.advance(5 * MILLI);
    bucket.try_acquire().unwrap();
    // What fell due before that is gone: the word stands beyond it.
    assert_eq!(turns.reserve(1).unwrap().due(), Nanos::from_millis(6));
}

/// By readings of the clock, in any span of time: the burst, and what falls due in the span and in the slack.
#[test]
fn the_bound_is_that_of_the_limiter_and_the_slack() {
    const BURST: u64 = 3;
    const SLACK: u64 = 4;
    let mut most = 0;
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (bucket, clock) = bucket(THOUSAND.with_burst(BURST));
        let slack = [0, SLACK / 2, SLACK].map(|slack| u32::try_from(slack).unwrap() * MILLI);
        let mut callers = slack.map(|slack| bucket.turns(slack));
        let mut admitted = Vec::new();
        for _ in 0..400 {
            let caller = &mut callers[random.usize(..3)];
            match random.u64(0..4) {
                0 => clock.advance(Duration::from_micros(random.u64(..6_000))),
                1 => {
                    if bucket.try_acquire().is_ok() {
                        admitted.push((clock.now(), 1));
                    }
                }
                2 => drop(caller.reserve_within(1, Duration::ZERO)),
                _ => {
                    let n = random.u64(1..=2);
                    let Ok(place) = caller.reserve_within(n, Duration::ZERO) else { continue };
                    place.spend().expect("it was due at once");
                    admitted.push((clock.now(), n));
                }
            }
        }
        for (first, &(start, _)) in admitted.iter().enumerate() {
            let mut sum = 0;
            for &(at, n) in &admitted[first..] {
                sum += n;
                let span = at.saturating_since(start).as_nanos();
                let bound = BURST + SLACK + u64::try_from(span / 1_000_000).unwrap();
                assert!(sum <= bound, "{sum} within {span} ns, seed {seed}");
                most = most.max((sum + BURST + SLACK).saturating_sub(bound));
            }
        }
    }
    assert!(most > BURST, "the slack is never used");
}

#[test]
fn a_refusal_takes_nothing_and_a_place_given_back_is_the_next_ones() {
    let (bucket, clock) = bucket(THOUSAND);
    let mut turns = bucket.turns(5 * MILLI);
    turns.reserve(1).unwrap().spend().unwrap();
    assert!(matches!(turns.reserve_within(1, MILLI / 2), Err(Denied::WouldExceedDeadline(_))));
    assert!(matches!(turns.reserve(2), Err(Denied::ExceedsBurst { .. })));
    assert_eq!(turns.reserve(1).unwrap().due(), Nanos::from_millis(1));
    let again = turns.reserve(1).unwrap();
    assert_eq!(again.due(), Nanos::from_millis(1), "dropped, and reserved again");
    assert!(again.spend().is_err(), "the last one's instant is still to come, and no reading of the clock");
    // Patience counts from now, not from the last place.
    clock.set(Nanos::from_millis(3));
    for due in 1..=3 {
        let place = turns.reserve_within(1, Duration::ZERO).unwrap();
        assert_eq!(place.due(), Nanos::from_millis(due));
        place.spend().unwrap();
    }
    assert!(turns.reserve_within(1, Duration::from_nanos(999_999)).is_err());
    assert!(turns.reserve_within(1, MILLI).is_ok());
}

/// Places are in order, and none counts at an instant before the first was asked for.
#[test]
fn the_next_is_due_no_earlier_than_the_last() {
    let (bucket, clock) = bucket(THOUSAND.with_burst(3));
    clock.set(Nanos::from_millis(10));
    let mut turns = bucket.turns(5 * MILLI);
    let places = [(); 5].map(|()| turns.reserve(1).unwrap());
    assert_eq!(places.map(|place| place.due()), [10, 10, 10, 11, 12].map(Nanos::from_millis));
}

#[test]
fn every_line_has_turns() {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::<str>::with_clock(THOUSAND, 100, clock.clone());
    let sharded = ShardedTokenBucket::with_clock(THOUSAND, clock.clone());
    let mut alice = limiter.turns("alice", 5 * MILLI);
    let mut central = Turns::new(&sharded, 5 * MILLI);
    for millis in 0..1_000 {
        let (key, word) = (alice.reserve(1).unwrap(), central.reserve(1).unwrap());
        assert_eq!([key.due(), word.due()], [Nanos::from_millis(millis); 2]);
        if !key.delay().is_zero() {
            clock.set(key.due().saturating_add(3 * MILLI));
        }
        key.spend().unwrap();
        word.spend().unwrap();
    }
}

#[test]
fn a_thread_blocks_for_its_turns() {
    let bucket = WaitingTokenBucket::new(THOUSAND, Duration::from_secs(60));
    let start = std::time::Instant::now();
    let mut turns = bucket.turns(Duration::from_secs(60));
    for _ in 0..21 {
        turns.acquire_blocking(1).unwrap();
    }
    assert!(start.elapsed() >= 20 * MILLI);
}
