//! A quota that changes under load.

use allocation_counter::{AllocationInfo, measure};
use fastrand::Rng;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;
use tollgate::{AdjustError, KeyedLimiter, ManualClock, MonotonicClock, Quota, SeededState};

/// Neither a change of quota nor what comes after it.
#[test]
fn a_quota_that_changes_takes_no_memory() {
    let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_second(10), 100, ManualClock::new());
    let allocated = measure(|| {
        for turn in 1..100 {
            limiter.set_quota(Quota::per_second(turn)).unwrap();
            assert!(limiter.try_acquire(&turn).is_ok());
            let _ = (limiter.status(&turn), limiter.live(), limiter.check_many(&[1, 2], &mut [Ok(()); 2]));
        }
    });
    assert_eq!(allocated, AllocationInfo::default());
}

/// Threads take while another changes the quota: what each key gets is within the larger burst and the faster rate.
#[test]
fn threads_that_change_the_quota_under_load_mint_nothing() {
    const KEYS: usize = 3;
    let quotas = [(20_000, 100), (50_000, 400), (3_000, 7), (49_999, 399)]
        .map(|(rate, burst)| Quota::per_second(rate).with_burst(burst));
    let limiter = KeyedLimiter::<u64, _, _>::with_hasher_and_clock(quotas[0], 100, SeededState::new(1), MonotonicClock);
    let (kept, stop) = ([const { AtomicU64::new(0) }; KEYS], AtomicBool::new(false));
    let started = Instant::now();
    thread::scope(|scope| {
        for seed in 0..3 {
            let (limiter, kept, stop) = (&limiter, &kept, &stop);
            scope.spawn(move || {
                let mut random = Rng::with_seed(seed);
                while !stop.load(Ordering::Relaxed) {
                    let (key, n) = (random.usize(..KEYS), random.u64(1..4));
                    if limiter.try_acquire_n(&(key as u64), n).is_ok() {
                        kept[key].fetch_add(n, Ordering::Relaxed);
                    }
                    if random.u8(..) == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
        let turns = super::turns(20_000);
        let mut changed = 0;
        for turn in 0..turns {
            let quota = quotas[usize::try_from(turn % 4).unwrap()];
            match limiter.set_quota(quota) {
                Ok(()) => changed += 1,
                Err(error) => assert_eq!(error, AdjustError::TooOften),
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(changed > turns / 2, "{changed} of {turns}");
    });
    let most = 400 + u64::try_from(started.elapsed().as_nanos() * 50_000 / 1_000_000_000).unwrap() + 1;
    for kept in kept.map(AtomicU64::into_inner) {
        assert!(kept > 0 && kept <= most, "{kept} admitted, at most {most}");
    }
}
