//! The keyed limiter under many threads: exact counts, and every key's bound.

mod reload;
mod reports;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tollgate::{Clock, Denied, KeyedLimiter, ManualClock, Nanos, Quota};

type Hasher = BuildHasherDefault<DefaultHasher>;
type Limiter = KeyedLimiter<u64, Hasher, ManualClock>;

/// Fewer turns where the compiler has not optimized.
const fn turns(release: u64) -> u64 {
    if cfg!(miri) {
        release / 10_000
    } else if cfg!(debug_assertions) {
        release / 20
    } else {
        release
    }
}

/// Two threads insert the same keys at the same moments; returns how many calls were admitted for each key.
///
/// Each thread waits for the other before each key, but not for long: a thread that is not running must not hold up the
/// test.
fn race_to_insert(limiter: &Limiter, keys: std::ops::Range<u64>, now: Nanos) -> Vec<u8> {
    let reached = [AtomicU64::new(0), AtomicU64::new(0)];
    let run = |me: usize| {
        let attempt = |key: u64| {
            reached[me].store(key, Ordering::Relaxed);
            let mut patience = 2_000;
            while reached[1 - me].load(Ordering::Relaxed) < key && patience > 0 {
                patience -= 1;
                spin_loop();
            }
            u8::from(limiter.try_acquire_n_at(&key, 3, now).is_ok())
        };
        keys.clone().map(attempt).collect::<Vec<u8>>()
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| run(1));
        let mine = run(0);
        let others = other.join().expect("no panic");
        mine.iter().zip(others).map(|(a, b)| a + b).collect()
    })
}

/// Each key has three tokens, and either caller takes all of them: exactly one is admitted. The table has twice as many
/// slots as keys come in a round, so from the third round on all slots belong to keys that have just recovered.
#[test]
fn two_threads_insert_the_same_key_a_million_times() {
    let each = turns(250_000);
    // The same hashes in every run: among so many random ones, two keys may happen to be one to the table.
    let hasher = Hasher::default();
    let capacity = usize::try_from(each).expect("fits");
    let limiter = Limiter::with_hasher_and_clock(Quota::per_second(3), capacity, hasher, ManualClock::new());
    for round in 0..4 {
        let keys = 1 + round * each..1 + (round + 1) * each;
        let counts = race_to_insert(&limiter, keys.clone(), Nanos::from_secs(round));
        assert!(counts.iter().all(|&count| count == 1), "a key was admitted twice, or refused by both");
        assert_eq!(limiter_live_at(&limiter, keys, Nanos::from_secs(round)), counts.len());
    }
}

/// How many keys owe all they have.
fn limiter_live_at(limiter: &Limiter, keys: std::ops::Range<u64>, now: Nanos) -> usize {
    keys.filter(|key| matches!(limiter.try_acquire_n_at(key, 1, now), Err(Denied::TryAfter(_)))).count()
}

/// Time stands still: each key gives exactly its burst, whoever asks and in whatever pieces.
#[test]
fn many_threads_take_exactly_the_burst_of_each_key() {
    const KEYS: u64 = 15; // as many as the smallest table has slots
    let quota = Quota::per_hour(1).with_burst(turns(200_000));
    let limiter = KeyedLimiter::<u64>::with_clock(quota, 1, ManualClock::new());
    let totals: Vec<HashMap<u64, u64>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u64)
            .map(|thread| {
                let limiter = &limiter;
                scope.spawn(move || {
                    let mut taken = HashMap::new();
                    for turn in 0..turns(1_500_000) {
                        let (key, n) = ((turn * 7 + thread) % KEYS, 1 + turn % 3);
                        if limiter.try_acquire_n(&key, n).is_ok() {
                            *taken.entry(key).or_default() += n;
                        }
                    }
                    for key in 0..KEYS {
                        while limiter.try_acquire(&key).is_ok() {
                            *taken.entry(key).or_default() += 1;
                        }
                    }
                    taken
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    for key in 0..KEYS {
        let total: u64 = totals.iter().filter_map(|taken| taken.get(&key)).sum();
        assert_eq!(total, quota.burst(), "key {key}");
    }
}

/// Panics if in any window of the log more was admitted than burst and rate allow: a bucket that is filled and drained
/// in the order of the readings must never be short.
fn assert_bounded(key: u64, mut log: Vec<(Nanos, u64)>, quota: Quota) {
    log.sort_unstable();
    let period = i128::try_from(quota.period().as_nanos()).expect("short");
    let full = i128::from(quota.burst()) * period;
    let (mut parts, mut seen) = (full, Nanos::ZERO);
    for (now, n) in log {
        parts = (parts + i128::from(now.0 - seen.0) * i128::from(quota.tokens())).min(full) - i128::from(n) * period;
        seen = now;
        assert!(parts >= 0, "key {key}: over-admission by {}/{period} tokens at {now:?}", -parts);
    }
}

/// Four threads, twice as many keys as slots, a clock that everybody moves and two threads whose reading of it is late:
/// slots change hands all the time, keys are forgotten and come back, and no key's bound is broken in any window.
#[test]
fn slots_change_hands_and_no_bound_is_broken() {
    const KEYS: u64 = 30;
    const LATE: u64 = 400;
    let quota = Quota::per(1, Duration::from_nanos(50)).with_burst(4);
    let clock = ManualClock::starting_at(Nanos(LATE));
    let limiter = KeyedLimiter::<u64>::with_clock(quota, 1, clock.clone());
    let logs: Vec<Vec<(u64, Nanos, u64)>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u64)
            .map(|thread| {
                let (limiter, clock) = (&limiter, clock.clone());
                scope.spawn(move || {
                    let mut log = Vec::new();
                    let mut random = fastrand::Rng::with_seed(thread);
                    for turn in 0..turns(1_000_000) {
                        if turn % 4 == 0 {
                            clock.advance(Duration::from_nanos(random.u64(..20)));
                        }
                        let (key, n) = (random.u64(..KEYS), random.u64(1..=4));
                        let now = Nanos(clock.now().0 - if thread < 2 { random.u64(..256) } else { 0 });
                        if turn % 16 == 7 {
                            limiter.forget_at(&key, now);
                        } else if limiter.try_acquire_n_at(&key, n, now).is_ok() {
                            log.push((key, now, n));
                        }
                    }
                    log
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut by_key: HashMap<u64, Vec<(Nanos, u64)>> = HashMap::new();
    for (key, now, n) in logs.into_iter().flatten() {
        by_key.entry(key).or_default().push((now, n));
    }
    assert_eq!(by_key.len(), usize::try_from(KEYS).expect("few"), "a key was never admitted");
    for (key, log) in by_key {
        assert_bounded(key, log, quota);
    }
}

/// Batches, single calls and statuses at once, of one key: nothing is lost.
#[test]
fn batches_and_single_calls_count_together() {
    let burst = turns(400_000);
    let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_minute(1).with_burst(burst), 10, ManualClock::new());
    let total = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut decisions = [Ok(()); 16];
                // PROGRESS: ends when the bucket is empty.
                loop {
                    let taken = limiter.check_many(&[5; 16], &mut decisions);
                    total.fetch_add(taken as u64, Ordering::Relaxed);
                    if taken == 0 {
                        break;
                    }
                }
            });
            scope.spawn(|| {
                while limiter.try_acquire(&5).is_ok() {
                    total.fetch_add(1, Ordering::Relaxed);
                    assert!(limiter.status(&5).remaining < burst);
                }
            });
        }
    });
    assert_eq!(total.into_inner(), burst);
}
