//! Handles: credits in plain memory.

use crate::{BATCH, MOST, QUOTA, bucket, drain};
use core::time::Duration;
use std::sync::Arc;
use std::thread;
use tollgate::{ManualClock, ShardedTokenBucket};

#[test]
fn a_handle_spends_what_it_holds_and_gives_back_the_rest() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    let handle = bucket.handle();
    assert_eq!((handle.credits(), handle.max_cost(), handle.quota()), (0, MOST, QUOTA));
    for taken in 1..=2 * BATCH {
        assert!(handle.try_acquire().is_ok());
        assert!(handle.credits() <= BATCH);
        assert_eq!(bucket.available() + handle.credits(), MOST - taken);
    }
    assert!(handle.try_acquire_n(20).is_ok()); // more than it holds: from the centre, with what there is room for
    assert!(handle.try_acquire().is_ok());
    assert_eq!((handle.credits(), bucket.available()), (BATCH - 1, MOST - 2 * BATCH - 20 - BATCH));
    assert!(handle.try_acquire_n(5).is_ok()); // its own
    let (held, left) = (handle.credits(), bucket.available());
    assert_eq!(held, BATCH - 6);
    assert_eq!(drain(&bucket), left); // out of everybody else's reach
    drop(handle);
    assert_eq!((bucket.available(), drain(&bucket)), (held, held));
    // The slot is there for the next handle, which takes over what is in it.
    clock.advance(Duration::from_secs(1));
    let first = bucket.handle();
    assert!(first.try_acquire().is_ok());
    drop(first);
    assert_eq!(bucket.handle().credits(), BATCH);
}

#[test]
fn a_handle_takes_its_costs_from_where_they_are() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    let handle = bucket.handle();
    assert_eq!(handle.try_acquire_n(0), Ok(()));
    assert_eq!(handle.try_acquire_n(MOST), Ok(())); // all that the centre has
    assert_eq!((handle.credits(), bucket.available()), (0, 0));
    assert_eq!(handle.try_acquire().unwrap_err().retry_after(), Some(Duration::from_millis(1)));
    clock.advance(Duration::from_millis(1 + BATCH));
    assert!(bucket.try_acquire().is_ok()); // fills a shard
    assert_eq!((handle.try_acquire_n(10), bucket.available()), (Ok(()), BATCH - 10)); // steals
    assert!(handle.try_acquire_n(BATCH).is_err());
    clock.advance(Duration::from_millis(4));
    assert!(handle.try_acquire().is_ok());
    assert_eq!((handle.credits(), bucket.available()), (3, BATCH - 10));
    assert_eq!(handle.try_acquire_up_to(2), 2);
    assert_eq!(handle.try_acquire_up_to(u64::MAX), 1 + BATCH - 10);
    assert_eq!((handle.credits(), bucket.available(), handle.try_acquire_up_to(1)), (0, 0, 0));
}

#[test]
fn more_handles_than_there_is_room_for_use_the_bucket() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    let mut handles: Vec<_> = (0..10).map(|_| bucket.handle()).collect();
    for handle in &handles {
        assert!(handle.try_acquire().is_ok() && handle.try_acquire_n(2).is_ok());
    }
    let held: Vec<_> = handles.iter().map(tollgate::Handle::credits).collect();
    assert!(held[..4].iter().all(|&held| held > 0) && held[4..].iter().all(|&held| held == 0), "{held:?}");
    assert_eq!(held.iter().sum::<u64>() + bucket.available(), MOST - 30);
    assert_eq!(handles[9].try_acquire_up_to(3), 3);
    // Room that is given back goes to whoever asks next.
    drop(handles.remove(2));
    let late = bucket.handle();
    assert!(late.try_acquire().is_ok() && late.credits() > 0);
    drop(handles);
    drop(late);
    assert_eq!(bucket.available(), drain(&bucket));
}

#[test]
fn a_handle_can_change_its_thread() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    let mut handle = bucket.handle();
    for taken in 1..=40 {
        handle = thread::scope(|scope| {
            let moved = scope.spawn(move || {
                assert!(handle.try_acquire().is_ok());
                handle
            });
            moved.join().unwrap()
        });
        assert_eq!(bucket.available() + handle.credits(), MOST - taken);
    }
    let left = bucket.available() + handle.credits();
    thread::scope(|scope| scope.spawn(move || drop(handle)).join().unwrap());
    assert_eq!((bucket.available(), drain(&bucket)), (left, left));
}

#[test]
fn a_leaked_handle_keeps_its_tokens_and_its_place() {
    let clock = ManualClock::new();
    let bucket = ShardedTokenBucket::with_shards_and_clock(QUOTA, 1, clock);
    let handle = bucket.handle();
    assert!(handle.try_acquire().is_ok());
    let held = handle.credits();
    core::mem::forget(handle);
    let next = bucket.handle();
    assert!(next.try_acquire().is_ok());
    assert_eq!((next.credits(), drain(&bucket)), (0, bucket.max_cost() - held - 2));
}

#[test]
fn an_owned_handle_outlives_whoever_made_it() {
    let clock = ManualClock::new();
    let bucket = Arc::new(bucket(&clock));
    let handle = bucket.handle_owned();
    let thread = thread::spawn(move || {
        assert!(handle.try_acquire().is_ok());
        (handle.credits(), handle)
    });
    let (held, handle) = thread.join().unwrap();
    assert_eq!((held, bucket.available()), (BATCH, MOST - 1 - BATCH));
    drop(handle);
    assert_eq!(bucket.available(), MOST - 1);
    // Its place is free again, and it may be the last to keep the bucket.
    let (last, lent) = (bucket.handle_owned(), Arc::downgrade(&bucket));
    assert_eq!(last.credits(), BATCH);
    drop(bucket);
    assert_eq!((last.max_cost(), last.try_acquire_up_to(u64::MAX)), (MOST, MOST - 1));
    drop(last);
    assert!(lent.upgrade().is_none());
}
