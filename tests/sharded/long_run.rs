//! In the long run every token that falls due is admitted, be it by one thread or by many: the bound is reached.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use std::thread;
use tollgate::{Clock, DefaultClock, Handle, ManualClock, Nanos, Quota, ShardedTokenBucket};

/// 1,000,003 per second: no whole number of nanoseconds each. A batch is 39 tokens.
const QUOTA: Quota = Quota::per_second(1_000_003).with_burst(10_000);

/// Tokens that fall due in `nanos`.
fn due(quota: Quota, nanos: u64) -> u64 {
    u64::try_from(u128::from(quota.tokens()) * u128::from(nanos) / quota.period().as_nanos()).unwrap()
}

/// Takes `costs` in turn until one is denied; returns how many tokens those were.
fn saturate(costs: &[u64], mut take: impl FnMut(u64) -> bool) -> u64 {
    let mut taken = 0;
    for &cost in costs.iter().cycle() {
        if !take(cost) {
            break;
        }
        taken += cost;
    }
    taken
}

#[test]
fn one_busy_thread_gets_every_token_to_the_nanosecond() {
    for handle in [false, true] {
        let clock = ManualClock::new();
        let bucket = ShardedTokenBucket::with_clock(QUOTA, clock.clone());
        let handle = handle.then(|| bucket.handle());
        let take = |n| match &handle {
            Some(handle) => handle.try_acquire_n(n).is_ok(),
            None => bucket.try_acquire_n(n).is_ok(),
        };
        let mut admitted = saturate(&[1], take);
        assert_eq!(admitted, bucket.max_cost());
        for tick in 1..=10_000 {
            clock.set(Nanos(tick * 97_003)); // about 97 tokens
            admitted += saturate(&[1], take);
            assert_eq!(admitted, bucket.max_cost() + due(QUOTA, tick * 97_003));
        }
    }
}

#[test]
fn larger_costs_leave_some_behind_once_and_no_more() {
    let clock = ManualClock::new();
    let bucket = ShardedTokenBucket::with_clock(QUOTA, clock.clone());
    let handle = bucket.handle();
    let mut admitted = 0;
    let ticks = 50_000;
    let mut most_left = 0;
    for tick in 1..=ticks {
        admitted += saturate(&[3, 1, 7, 40], |n| bucket.try_acquire_n(n).is_ok());
        admitted += saturate(&[2, 50], |n| handle.try_acquire_n(n).is_ok());
        let left = bucket.available() + handle.credits();
        assert_eq!(admitted + left, bucket.max_cost() + due(QUOTA, (tick - 1) * 97_003));
        most_left = left.max(most_left);
        clock.set(Nanos(tick * 97_003));
    }
    // Pieces in one shard and one handle, and what is short of a cost in the centre.
    assert!(most_left < 2 * 39 + 50, "{most_left} left");
    assert!(admitted.abs_diff(due(QUOTA, (ticks - 1) * 97_003)) <= bucket.max_cost());
    assert!(bucket.max_cost() < due(QUOTA, ticks * 97_003) / 100);
}

/// After an idle period the centre is full, and slots are as they were left: what was kept back for credits is missed
/// each time, and no more than that.
#[test]
fn bursts_after_idle_periods_are_short_of_the_reserve_each_time() {
    for (quota, shards) in [(Quota::per_second(136), 1), (Quota::per_second(1_000), 4)] {
        let clock = ManualClock::new();
        let bucket = ShardedTokenBucket::with_shards_and_clock(quota, shards, clock.clone());
        let reserve = quota.burst() - bucket.max_cost();
        assert!(reserve <= quota.burst() / 8);
        let mut admitted = 0;
        for period in 1..=1_000 {
            admitted += saturate(&[1], |n| bucket.try_acquire_n(n).is_ok());
            // A token bucket would have had its whole burst.
            assert_eq!(admitted, period * (quota.burst() - reserve));
            clock.advance(Duration::from_secs(1));
        }
        // The period in which demand is always there has no such loss.
        for tick in 1..=1_000 {
            clock.advance(Duration::from_millis(100));
            let taken = saturate(&[1], |n| bucket.try_acquire_n(n).is_ok());
            let full = if tick == 1 { bucket.max_cost() } else { 0 };
            assert!(taken.abs_diff(full.max(quota.tokens() / 10)) <= 1, "{taken} in tick {tick}");
        }
    }
}

/// Takes tokens one at a time until `stop`, and counts itself in once it has had one; returns how many.
fn hammer<C: Clock>(
    bucket: &ShardedTokenBucket<C>,
    handle: Option<&Handle<'_, C>>,
    stop: &AtomicBool,
    served: &AtomicU64,
) -> u64 {
    let mut admitted = 0;
    while !stop.load(Relaxed) {
        // Some at a time, or one thread could take all that falls due in each tick, and others starve.
        let mut turn = 0..100;
        let mut take = |n| {
            turn.next().is_some() && handle.map_or_else(|| bucket.try_acquire_n(n), |own| own.try_acquire_n(n)).is_ok()
        };
        let taken = saturate(&[1], &mut take);
        if admitted == 0 && taken > 0 {
            served.fetch_add(1, Relaxed);
        }
        admitted += taken;
        thread::yield_now();
    }
    admitted
}

#[test]
fn eight_threads_get_every_token_together() {
    for handles in [0, 1, 8] {
        let clock = ManualClock::new();
        let bucket = ShardedTokenBucket::with_clock(QUOTA, clock.clone());
        let mut admitted = saturate(&[1], |n| bucket.try_acquire_n(n).is_ok());
        let (stop, served) = (AtomicBool::new(false), AtomicU64::new(0));
        let mut now = 0;
        admitted += thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|id| {
                    let (bucket, stop, served) = (&bucket, &stop, &served);
                    scope.spawn(move || {
                        let handle = (id < handles).then(|| bucket.handle());
                        hammer(bucket, handle.as_ref(), stop, served)
                    })
                })
                .collect();
            while now < 500_000_000 || served.load(Relaxed) < 8 {
                // Never so much that the centre is full: what falls due then is lost, by any bucket.
                if bucket.available() < bucket.max_cost() / 2 {
                    now += 3_997_003; // about 4,000 tokens
                    clock.set(Nanos(now));
                } else {
                    thread::yield_now();
                }
            }
            stop.store(true, Relaxed);
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
        });
        admitted += saturate(&[1], |n| bucket.try_acquire_n(n).is_ok());
        assert_eq!(admitted, bucket.max_cost() + due(QUOTA, now), "{handles} handles");
    }
}

/// Makes `act` until it takes no longer than `short`; returns the readings around the last time, and all that was taken.
fn at_an_instant(clock: &impl Clock, short: u64, act: impl Fn() -> u64) -> (Nanos, Nanos, u64) {
    let mut taken = 0;
    loop {
        let before = clock.now();
        taken += act();
        let after = clock.now();
        if after.0 - before.0 <= short {
            return (before, after, taken);
        }
    }
}

/// What `threads` saturating threads are admitted in real time: within 0.1 % of what falls due between two readings of
/// the clock, one when the bucket was first empty and one when it was last.
fn reaches_the_rate_in_real_time(threads: u64, handles: u64) {
    // The burst takes ten seconds to fall due, which is longer than threads go without a core.
    let quota = Quota::per_second(200_000).with_burst(2_000_000);
    let clock = DefaultClock;
    // Small batches, so that there are refills although the centre is all but empty.
    let bucket = ShardedTokenBucket::with_sizes(quota, 16, 16, 16, clock);
    let short = 50_000;
    let drain = || {
        let taken = bucket.try_acquire_up_to(u64::MAX);
        taken + saturate(&[1], |n| bucket.try_acquire_n(n).is_ok())
    };
    let (began, _, _) = at_an_instant(&clock, short, drain);
    let (stop, served) = (AtomicBool::new(false), AtomicU64::new(0));
    let admitted = AtomicU64::new(0);
    thread::scope(|scope| {
        for id in 0..threads {
            let (bucket, stop, served, admitted) = (&bucket, &stop, &served, &admitted);
            scope.spawn(move || {
                let handle = (id < handles).then(|| bucket.handle());
                admitted.fetch_add(hammer(bucket, handle.as_ref(), stop, served), Relaxed);
            });
        }
        thread::sleep(Duration::from_millis(400));
        stop.store(true, Relaxed);
    });
    let (ended, _, rest) = at_an_instant(&clock, short, drain);
    let (admitted, due) = (admitted.into_inner() + rest, due(quota, ended.0 - began.0));
    println!("{admitted} admitted where {due} fell due, {rest} of them in the end");
    assert!(due >= 80_000);
    assert!(admitted.abs_diff(due) <= due / 1_000, "{admitted} admitted where {due} fell due");
}

#[test]
fn one_thread_reaches_the_rate_in_real_time() {
    reaches_the_rate_in_real_time(1, 0);
    reaches_the_rate_in_real_time(1, 1);
}

#[test]
fn eight_threads_reach_the_rate_in_real_time() {
    reaches_the_rate_in_real_time(8, 0);
    reaches_the_rate_in_real_time(8, 8);
}
