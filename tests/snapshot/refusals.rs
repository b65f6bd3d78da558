//! What is not restored, and why.

use super::{SECOND, at};
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, FixedWindow, KeyedLimiter,
    ManualClock, Nanos, Quota, SeededState, ShardedTokenBucket, SlidingWindowLog, Snapshot, SnapshotError, TokenBucket,
};

#[test]
fn another_kind_or_quota_is_named() {
    let quota = Quota::per_second(10);
    let bucket = TokenBucket::with_clock(quota, ManualClock::new());
    let snapshot = bucket.snapshot_at(at(0, 0));
    let window = FixedWindow::with_clock(quota, ManualClock::new());
    assert_eq!(window.restore_at(&snapshot, at(0, 0)), Err(SnapshotError::Kind { saved: "TokenBucket" }));
    let log = SlidingWindowLog::with_clock(quota, ManualClock::new());
    assert!(matches!(log.restored_at(&snapshot, at(0, 0)), Err(SnapshotError::Kind { .. })));
    let other = TokenBucket::with_clock(quota.with_burst(11), ManualClock::new());
    assert_eq!(other.restore_at(&snapshot, at(0, 0)), Err(SnapshotError::Quota { saved: quota }));
    assert_eq!(SnapshotError::Quota { saved: quota }.to_string(), "the snapshot is of another quota: 10/s");
}

/// A reload that changes the limit, too: restore under the saved quota, then change it.
#[test]
fn a_changed_limit_is_restored_and_then_changed() {
    let before = AdjustableTokenBucket::with_clock(Quota::per_hour(100), ManualClock::new());
    assert!(before.try_acquire_n(90).is_ok());
    let snapshot = before.snapshot_at(at(0, 0));
    let after = AdjustableTokenBucket::with_clock(snapshot.quota(), ManualClock::new());
    after.restore_at(&snapshot, at(5, 5)).unwrap();
    after.set_quota(Quota::per_hour(120)).unwrap();
    assert_eq!(after.available_at(Nanos(5)), 30); // 90 of 120 are spent
}

/// What is owed beyond the limit goes along.
#[test]
fn windows_that_owe_more_than_their_limit_still_do_after_a_restart() {
    macro_rules! check {
        ($limiter:ident) => {
            for lowered in [Quota::per_hour(100), Quota::per_hour(10), Quota::DENY_ALL] {
                let before = $limiter::with_clock(Quota::per_hour(100), ManualClock::new());
                assert!(before.try_acquire_n_at(90, Nanos(5)).is_ok());
                before.set_quota(lowered).unwrap();
                let snapshot = Snapshot::from_bytes(&before.snapshot_at(at(5, 0)).to_bytes()).unwrap();
                let after = $limiter::with_clock(snapshot.quota(), ManualClock::new());
                after.restore_at(&snapshot, at(7, 5)).unwrap();
                assert_eq!(after.restore_at(&snapshot, at(7, 5)), Err(SnapshotError::InUse));
                after.set_quota(Quota::per_hour(120)).unwrap();
                assert_eq!(after.available_at(Nanos(7)), 30, "{lowered}");
            }
        };
    }
    check!(AdjustableFixedWindow);
    check!(AdjustableSlidingWindowCounter);
}

#[test]
fn a_limiter_in_use_is_left_alone() {
    let quota = Quota::per_hour(1_000);
    let bucket = TokenBucket::with_clock(quota, ManualClock::new());
    let full = bucket.snapshot_at(at(0, 0));
    assert!(bucket.try_acquire_n(5).is_ok());
    assert_eq!(bucket.restore_at(&full, at(0, 0)), Err(SnapshotError::InUse));
    assert_eq!(bucket.available(), 995);
    let sharded = ShardedTokenBucket::with_clock(quota, ManualClock::new());
    let full = sharded.snapshot_at(at(0, 0));
    assert!(sharded.try_acquire().is_ok());
    assert_eq!(sharded.restore_at(&full, at(0, 0)), Err(SnapshotError::InUse));
    sharded.forgive(); // the central word is fresh again, and credits are about
    assert_eq!(sharded.restore_at(&full, at(0, 0)), Err(SnapshotError::InUse));
    let adjustable = AdjustableTokenBucket::with_clock(quota, ManualClock::new());
    let full = adjustable.snapshot_at(at(0, 0));
    adjustable.set_quota(quota).unwrap();
    assert_eq!(adjustable.restore_at(&full, at(0, 0)), Err(SnapshotError::InUse));
    let log = SlidingWindowLog::with_clock(Quota::per_hour(10), ManualClock::new());
    let full = log.snapshot_at(at(0, 0));
    assert!(log.try_acquire().is_ok());
    assert!(matches!(log.restored_at(&full, at(0, 0)), Err(SnapshotError::InUse)));
}

#[test]
fn limits_without_state_are_restored_as_they_are() {
    for quota in [Quota::UNLIMITED, Quota::DENY_ALL] {
        let (old, new) =
            (TokenBucket::with_clock(quota, ManualClock::new()), TokenBucket::with_clock(quota, ManualClock::new()));
        let snapshot = Snapshot::from_bytes(&old.snapshot_at(at(3, 3)).to_bytes()).unwrap();
        new.restore_at(&snapshot, at(0, 0)).unwrap();
        assert_eq!(new.available(), quota.burst());
        let log = SlidingWindowLog::with_clock(quota, ManualClock::new());
        assert!(
            log.restored_at(&SlidingWindowLog::with_clock(quota, ManualClock::new()).snapshot_at(at(3, 3)), at(0, 0))
                .is_ok()
        );
    }
}

#[test]
fn a_table_wants_the_same_hasher_capacity_and_classes() {
    let make = |quotas: &[Quota], capacity, seed| {
        KeyedLimiter::<u64, _, _>::with_hasher_and_clock(quotas, capacity, SeededState::new(seed), ManualClock::new())
    };
    let quota = Quota::per(1, SECOND);
    let old = make(&[quota], 100, 1);
    assert!(old.try_acquire(&5).is_ok());
    let bytes = old.to_bytes_at(at(0, 0));
    let restore = |new: KeyedLimiter<u64, _, _>| new.restored_from_bytes_at(&bytes, at(0, 0)).map(|_| ());
    assert_eq!(restore(make(&[quota], 100, 1)), Ok(()));
    assert_eq!(restore(make(&[quota], 100, 2)), Err(SnapshotError::Hasher));
    assert_eq!(restore(make(&[quota], 200, 1)), Err(SnapshotError::Capacity { saved: 40, wanted: 80 }));
    assert_eq!(restore(make(&[quota, quota], 100, 1)), Err(SnapshotError::Classes { saved: 1 }));
    assert_eq!(restore(make(&[quota.with_burst(2)], 100, 1)), Err(SnapshotError::Quota { saved: quota }));
    assert_eq!(restore(make(&[quota], 100, 1).sharing_when_full(quota)), Err(SnapshotError::Classes { saved: 1 }));
    let used = make(&[quota], 100, 1);
    assert!(used.try_acquire(&5).is_ok());
    assert_eq!(restore(used), Err(SnapshotError::InUse));
    let kind = Snapshot::from_bytes(&bytes).unwrap_err();
    assert_eq!(kind, SnapshotError::Kind { saved: "KeyedLimiter" });
    // And the standard library's seeds are another in every limiter.
    let random = || KeyedLimiter::<u64, _, _>::with_clock(quota, 100, ManualClock::new());
    let bytes = random().to_bytes_at(at(0, 0));
    assert!(matches!(random().restored_from_bytes_at(&bytes, at(0, 0)), Err(SnapshotError::Hasher)));
}
