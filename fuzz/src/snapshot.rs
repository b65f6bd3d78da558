//! The reader of snapshots: any bytes at all, with a checksum that is right, so that what is behind it is reached.

use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, KeyedLimiter, ManualClock, Moment,
    Nanos, Quota, RateLimitAt, SeededState, ShardedTokenBucket, SlidingWindowLog, Snapshot, SnapshotError,
};
use tollgate_testing::each_word;

/// A log of more units than this would take much memory.
const LONGEST_LOG: u64 = 10_000;

/// Restores any bytes as a snapshot, of every kind, and uses what comes out: reads, admits, saves and restores again.
///
/// The first byte says whether it is one of keys, the next sixteen are the moment at which it is restored.
///
/// # Panics
///
/// If a reader or a restored limiter does; if a limiter has more than it can hold; if what it saves is not read again; or if
/// an error leaves a trace.
pub fn snapshot(data: &[u8]) {
    let Some((&[kind], data)) = data.split_first_chunk() else { return };
    let Some((reading, data)) = data.split_first_chunk() else { return };
    let Some((wall, data)) = data.split_first_chunk() else { return };
    let now = Moment::new(Nanos(u64::from_le_bytes(*reading)), Nanos(u64::from_le_bytes(*wall)));
    // As they are, too: next to no bytes have the right checksum.
    assert!(Snapshot::from_bytes(data).is_err() || data.len() > 8);
    if kind % 2 == 1 { keyed(data, now) } else { unkeyed(&with_checksum(data.to_vec()), now) }
}

fn unkeyed(bytes: &[u8], now: Moment) {
    let Ok(snapshot) = Snapshot::from_bytes(bytes) else { return };
    assert_eq!(snapshot.to_bytes(), bytes, "what is read is written alike");
    let quota = snapshot.quota();
    /// Restores in place, and uses it.
    macro_rules! try_on {
        ($make:expr) => {
            if let (Ok(limiter), Ok(again)) = ($make, $make) {
                let before = limiter.available_at(now.reading);
                match limiter.restore_at(&snapshot, now) {
                    Ok(()) => {
                        again.restore_at(&limiter.snapshot_at(now), now).expect("what was restored can be saved");
                        let left = [limiter.available_at(now.reading), again.available_at(now.reading)];
                        assert_eq!(left[0], left[1], "saved and restored at once");
                        use_it(&limiter, now.reading);
                        use_it(&again, now.reading);
                    }
                    Err(_) => assert_eq!(limiter.available_at(now.reading), before, "half restored"),
                }
            }
        };
    }
    macro_rules! try_each {
        ($($limiter:ident),*) => {$( try_on!(tollgate::$limiter::try_with_clock(quota, ManualClock::new())); )*};
    }
    each_word!(try_each);
    try_on!(AdjustableTokenBucket::try_with_clock(quota, ManualClock::new()));
    try_on!(AdjustableFixedWindow::try_with_clock(quota, ManualClock::new()));
    try_on!(AdjustableSlidingWindowCounter::try_with_clock(quota, ManualClock::new()));
    try_on!(ShardedTokenBucket::try_with_shards_and_clock(quota, 2, ManualClock::new()));
    if quota.tokens() <= LONGEST_LOG {
        let make = || SlidingWindowLog::with_clock(quota, ManualClock::new());
        if let Ok(log) = make().restored_at(&snapshot, now) {
            let again = make().restored_at(&log.snapshot_at(now), now).expect("what was restored can be saved");
            assert_eq!(log.available_at(now.reading), again.available_at(now.reading));
            use_it(&log, now.reading);
        }
    }
}

/// Calls of all sizes, at instants near and far.
fn use_it(limiter: &impl RateLimitAt, now: Nanos) {
    for later in [0, 1, 1_000_000_000, 1 << 40, 1 << 62] {
        for now in [Nanos(now.0.saturating_sub(later)), Nanos(now.0.saturating_add(later))] {
            let available = limiter.available_at(now);
            assert!(available <= limiter.max_cost(), "{available} of {}", limiter.max_cost());
            let _ = (limiter.status_at(now), limiter.try_acquire_n_at(1, now), limiter.try_acquire_up_to_at(3, now));
            limiter.refund_at(1, now);
            let _ = limiter.try_acquire_n_at(limiter.max_cost(), now).map_err(|denied| denied.retry_after());
        }
    }
}

fn keyed(data: &[u8], now: Moment) {
    let quotas = [Quota::per_second(10), Quota::per(3, core::time::Duration::from_secs(100)).with_burst(50)];
    let make = || {
        KeyedLimiter::<u64, _, _>::with_hasher_and_clock(quotas, 20, SeededState::new(1), ManualClock::new())
            .sharing_when_full(Quota::per_second(1))
    };
    // The frame of a table of that size, and what is in it from the input.
    let mut bytes = make().to_bytes_at(Moment::new(Nanos(1 << 40), Nanos(1 << 50)));
    bytes.truncate(48 + 3 * 24);
    bytes.extend_from_slice(data);
    let bytes = with_checksum(bytes);
    let limiter = match make().restored_from_bytes_at(&bytes, now) {
        Ok(limiter) => limiter,
        Err(SnapshotError::Truncated | SnapshotError::Corrupt | SnapshotError::OutOfRange) => return,
        Err(error) => panic!("{error}"),
    };
    let saved = limiter.to_bytes_at(now);
    let again = make().restored_from_bytes_at(&saved, now).expect("what was restored can be saved");
    assert_eq!(limiter.live_at(now.reading), again.live_at(now.reading));
    for key in 0..60 {
        assert_eq!(limiter.status_at(&key, now.reading), again.status_at(&key, now.reading));
    }
    for later in [0, 1_000_000_000, 1 << 40, 1 << 62] {
        let now = Nanos(now.reading.0.saturating_add(later));
        for key in 0..60 {
            let class = limiter.class(usize::from(key % 3 == 0));
            let _ = class.try_acquire_n_at(&key, key % 7, now).map_err(|denied| denied.retry_after());
            class.refund(&key, 1);
            assert!(class.status_at(&key, now).remaining <= class.max_cost());
            let _ = (limiter.forget_at(&key, now), limiter.forgive_at(&(key + 1), now));
        }
    }
}

/// CRC-64/XZ, a bit at a time.
fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut rest = u64::MAX;
    for &byte in &bytes {
        rest ^= u64::from(byte);
        for _ in 0..8 {
            rest = if rest & 1 == 1 { rest >> 1 ^ 0xC96C_5795_D787_0F42 } else { rest >> 1 };
        }
    }
    bytes.extend((!rest).to_le_bytes());
    bytes
}
