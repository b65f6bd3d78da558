//! The sharded token bucket and its handles, call by call: what each method of the interface does, at its limits too;
//! and what is admitted in the long run.

mod handles;
mod long_run;
mod quiet;
mod sizes;

use core::time::Duration;
use tollgate::{Clock, Denied, ManualClock, Nanos, Quota, RateLimit, ShardedTokenBucket, Status};
use tollgate_testing::reference::{Model, TokenBucket as Reference};
use tollgate_testing::trace::{Admission, first_violation};

type Bucket = ShardedTokenBucket<ManualClock>;

/// A token each millisecond, a thousand at once; four shards and four handles of 15 credits.
const QUOTA: Quota = Quota::per_second(1_000);
const BATCH: u64 = 15;
const RESERVE: u64 = 8 * BATCH + 1;
const MOST: u64 = 1_000 - RESERVE;

fn bucket(clock: &ManualClock) -> Bucket {
    ShardedTokenBucket::with_shards_and_clock(QUOTA, 4, clock.clone())
}

/// Takes one token at a time until there are none; returns how many.
fn drain(bucket: &Bucket) -> u64 {
    (0..QUOTA.burst()).take_while(|_| bucket.try_acquire().is_ok()).count() as u64
}

/// Takes two tokens, and leaves two slots with a batch of credits each: this thread's shard, and one of those for handles.
fn fill_two_slots(bucket: &Bucket) {
    assert!(bucket.try_acquire().is_ok());
    assert!(bucket.handle().try_acquire().is_ok());
}

/// As [`fill_two_slots`], with what there is.
fn fill_two_slots_if_possible(bucket: &Bucket) {
    let _ = bucket.try_acquire();
    let _ = bucket.handle().try_acquire();
}

#[test]
fn a_fresh_bucket_has_all_but_what_is_kept_back_for_credits() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    assert_eq!((bucket.shards(), bucket.quota(), bucket.max_cost()), (4, QUOTA, MOST));
    assert_eq!(bucket.available(), MOST);
    assert_eq!((drain(&bucket), bucket.available()), (MOST, 0));
    clock.advance(Duration::from_millis(7));
    assert_eq!((bucket.available(), drain(&bucket)), (7, 7));
}

#[test]
fn credits_and_a_full_centre_together_are_less_than_the_burst() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    fill_two_slots(&bucket);
    let handles = [(); 4].map(|()| bucket.handle());
    for handle in &handles {
        while handle.credits() < BATCH {
            assert!(handle.try_acquire().is_ok());
        }
    }
    clock.advance(Duration::from_secs(10));
    assert_eq!(bucket.available(), MOST + BATCH);
    drop(handles);
    assert_eq!(bucket.available(), MOST + 5 * BATCH);
    assert!(bucket.available() < QUOTA.burst());
    assert_eq!(drain(&bucket), MOST + 5 * BATCH);
}

#[test]
fn a_cost_is_taken_whole_or_not_at_all() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    assert_eq!(bucket.try_acquire_n(0), Ok(()));
    assert_eq!(bucket.try_acquire_n(MOST), Ok(()));
    assert_eq!(bucket.try_acquire_n(0), Ok(()));
    clock.advance(Duration::from_millis(4));
    let denied = bucket.try_acquire_n(5).unwrap_err();
    assert_eq!((denied.retry_after(), bucket.available()), (Some(Duration::from_millis(1)), 4));
    assert_eq!(bucket.try_acquire_n(4), Ok(()));
    assert_eq!(bucket.available(), 0);
}

#[test]
fn a_shard_holds_a_batch_at_most() {
    let bucket = bucket(&ManualClock::new());
    // The last is more than the shard has: it comes from the centre, and the shard is as full as before.
    for (cost, left) in [(1, BATCH), (5, BATCH - 5), (BATCH - 4, BATCH), (BATCH + 1, BATCH)] {
        assert!(bucket.try_acquire_n(cost).is_ok());
        let centre = bucket.available() - left;
        assert_eq!(bucket.try_acquire_n_at(centre, Nanos::ZERO), Ok(()));
        assert_eq!(bucket.available(), left, "after {cost}");
        bucket.refund(centre);
    }
}

#[test]
fn a_few_tokens_stay_in_the_centre_where_everybody_gets_at_them() {
    // A batch is 3906 credits.
    let quota = Quota::per_second(1_000_000);
    for (tokens, shared) in [(300, true), (600, false)] {
        let bucket = ShardedTokenBucket::with_shards_and_clock(quota, 16, ManualClock::new()).with_initial(tokens);
        assert_eq!((bucket.try_acquire(), bucket.available()), (Ok(()), tokens - 1));
        assert_eq!(bucket.try_acquire_n_at(1, Nanos::ZERO).is_ok(), shared, "{tokens} tokens");
    }
}

#[test]
fn hints_are_exact() {
    let clock = ManualClock::new();
    let quota = Quota::per(3, Duration::from_millis(7)).with_burst(1_000);
    let bucket = ShardedTokenBucket::with_shards_and_clock(quota, 4, clock.clone());
    drain(&bucket);
    let mut taken = 0;
    for cost in [1, 2, 100, bucket.max_cost()] {
        taken += cost;
        let due = Nanos((taken * 7_000_000).div_ceil(3));
        let wait = bucket.try_acquire_n(cost).unwrap_err().retry_after().unwrap();
        assert_eq!(clock.now().saturating_add(wait), due);
        clock.set(Nanos(due.0 - 1));
        assert!(bucket.try_acquire_n(cost).is_err());
        clock.set(due);
        assert_eq!(bucket.try_acquire_n(cost), Ok(()));
    }
}

#[test]
fn costs_above_the_most_can_never_be_admitted() {
    let bucket = bucket(&ManualClock::new());
    let handle = bucket.handle();
    for cost in [MOST + 1, QUOTA.burst(), u64::MAX / 2, u64::MAX] {
        let denied = Denied::ExceedsBurst { cost, max_cost: MOST };
        let never = Err(denied);
        assert_eq!(bucket.try_acquire_n(cost), never);
        assert_eq!(bucket.try_acquire_n_at(cost, Nanos::MAX), never);
        assert_eq!(handle.try_acquire_n(cost), never);
        assert_eq!(denied.retry_after(), None);
    }
    assert_eq!(bucket.available(), MOST);
}

#[test]
fn credits_in_other_slots_are_found() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    fill_two_slots(&bucket);
    assert_eq!(bucket.try_acquire_up_to(MOST - 2 - 2 * BATCH), MOST - 2 - 2 * BATCH); // the centre
    assert_eq!((bucket.try_acquire_n(BATCH), bucket.available()), (Ok(()), BATCH)); // this shard
    let denied = bucket.try_acquire_n(BATCH + 1).unwrap_err();
    assert_eq!(denied.retry_after(), Some(Duration::from_millis(BATCH + 1)));
    assert_eq!((bucket.try_acquire_n(BATCH), bucket.available()), (Ok(()), 0)); // the other
}

#[test]
fn a_call_on_a_reading_does_not_look_for_credits() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    fill_two_slots(&bucket);
    let centre = MOST - 2 - 2 * BATCH;
    assert_eq!(bucket.available_at(Nanos::ZERO), centre);
    assert_eq!(bucket.try_acquire_n_at(centre, Nanos::ZERO), Ok(()));
    // Each slot has these, and the hint is about the centre.
    let denied = bucket.try_acquire_n_at(BATCH, Nanos::ZERO).unwrap_err();
    assert_eq!(denied.retry_after(), Some(Duration::from_millis(BATCH)));
    assert_eq!(bucket.try_acquire_n(BATCH), Ok(()));
}

#[test]
fn what_remains_can_be_spent_now_one_token_at_a_time() {
    let clock = ManualClock::new();
    let mut random = fastrand::Rng::with_seed(3);
    let bucket = bucket(&clock);
    for _ in 0..200 {
        clock.advance(Duration::from_millis(random.u64(..1_200)));
        for _ in 0..random.u64(..60) {
            let _ = bucket.try_acquire_n(random.u64(1..30));
        }
        fill_two_slots_if_possible(&bucket);
        // The status stops at the limit; `available` tells all.
        let (available, remaining) = (bucket.available(), bucket.status().remaining);
        assert_eq!(remaining, available.min(MOST));
        assert_eq!((drain(&bucket), bucket.status().remaining), (available, 0));
    }
}

/// An idle bucket is clamped on a whole unit, which at such rates is a token or more. That is kept back from the burst, so
/// that the plain bound holds.
#[test]
fn where_a_unit_is_a_token_or_more_the_plain_bound_holds() {
    let nanos = Duration::from_nanos;
    // Units of a token, of two and of four.
    for rate in [Quota::per(7, nanos(2)), Quota::per(9, nanos(2)), Quota::per(25, nanos(2))] {
        for burst in [5, 6, 7, 135, 136, 200, 1_000] {
            let quota = rate.with_burst(burst);
            for start in 0..8 {
                for pause in 1..4 {
                    let clock = ManualClock::new();
                    let bucket = Bucket::with_shards_and_clock(quota, 1, clock.clone());
                    let mut run = Vec::new();
                    for now in (start..start + 40).step_by(pause) {
                        clock.set(Nanos(now));
                        let cost = if now % 2 == 0 { bucket.try_acquire_up_to(u64::MAX) } else { drain(&bucket) };
                        run.push(Admission::new(cost, Nanos(now)));
                    }
                    let violation = first_violation(&run, quota);
                    assert!(violation.is_none(), "{quota:?} from {start}: {}", violation.unwrap());
                }
            }
        }
    }
    // The whole burst at 1 ns and as much as is there at 2 ns: the bound is 9.5.
    let clock = ManualClock::starting_at(Nanos(1));
    let bucket = Bucket::with_shards_and_clock(Quota::per(9, nanos(2)).with_burst(5), 1, clock.clone());
    let first = bucket.try_acquire_up_to(u64::MAX);
    clock.set(Nanos(2));
    assert!((6..=9).contains(&(first + bucket.try_acquire_up_to(u64::MAX))));
}

#[test]
fn pieces_are_gathered_only_for_a_partial_take() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    fill_two_slots(&bucket);
    assert_eq!(bucket.try_acquire_n_at(MOST - 2 - 2 * BATCH, Nanos::ZERO), Ok(()));
    assert_eq!(bucket.available(), 2 * BATCH);
    assert!(bucket.try_acquire_n(2 * BATCH).is_err());
    assert_eq!(bucket.try_acquire_up_to(2 * BATCH - 1), 2 * BATCH - 1);
    assert_eq!([bucket.try_acquire_up_to(0), bucket.try_acquire_up_to(5), bucket.try_acquire_up_to(5)], [0, 1, 0]);
    clock.advance(Duration::from_millis(3));
    assert_eq!(bucket.try_acquire_up_to(u64::MAX), 3);
}

#[test]
fn calls_on_a_reading_take_from_the_centre_alone() {
    let clock = ManualClock::starting_at(Nanos::from_secs(100));
    let bucket = bucket(&clock);
    let now = Nanos::from_secs(100);
    assert!(bucket.try_acquire().is_ok());
    assert_eq!(bucket.try_acquire_n_at(MOST - 1 - BATCH, now), Ok(()));
    assert_eq!(bucket.available(), BATCH);
    assert_eq!(bucket.try_acquire_n_at(0, now), Ok(()));
    let denied = bucket.try_acquire_n_at(1, now).unwrap_err();
    assert_eq!(denied.retry_after(), Some(Duration::from_millis(1)));
    for older in [Nanos::ZERO, Nanos::from_secs(99)] {
        assert!(bucket.try_acquire_n_at(1, older).is_err());
    }
    // Later than the clock, on the caller's word.
    assert_eq!(bucket.try_acquire_n_at(1, Nanos(now.0 + 1_000_000)), Ok(()));
    assert_eq!(drain(&bucket), BATCH);
}

#[test]
fn refunds_go_to_the_centre_up_to_what_it_holds() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    assert_eq!(drain(&bucket), MOST);
    bucket.refund(0);
    assert!(bucket.try_acquire().is_err()); // and every shard is known to be empty
    bucket.refund(5);
    assert_eq!((bucket.available(), bucket.try_acquire_n(5)), (5, Ok(())));
    assert!(bucket.try_acquire().is_err());
    bucket.refund(u64::MAX);
    assert_eq!((bucket.available(), drain(&bucket)), (MOST, MOST));
}

#[test]
fn the_status_is_that_of_the_centre_with_what_lies_in_shards() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    let full = Status::new(MOST, MOST, Some(Duration::ZERO), Duration::ZERO);
    assert_eq!(bucket.status(), full);
    assert!(bucket.try_acquire().is_ok());
    let reset_after = Duration::from_millis(1 + BATCH);
    assert_eq!(bucket.status(), Status::new(MOST, MOST - 1, full.retry_after, reset_after));
    clock.advance(reset_after);
    assert_eq!((bucket.status(), bucket.available()), (full, MOST + BATCH)); // no more than the limit
    let handle = bucket.handle();
    drain(&bucket);
    let reset_after = Duration::from_millis(MOST);
    let drained = Status::new(MOST, 0, Some(Duration::from_millis(1)), reset_after);
    assert_eq!((bucket.status(), handle.status()), (drained, drained));
    clock.advance(Duration::from_millis(2 * BATCH + 1));
    assert!(handle.try_acquire().is_ok());
    drain(&bucket);
    assert_eq!(bucket.status(), drained);
    assert_eq!(handle.status(), Status::new(MOST, BATCH, Some(Duration::ZERO), drained.reset_after));
}

#[test]
fn buckets_and_handles_are_limiters_like_any_other() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    let handle = bucket.handle();
    let limiters: [&dyn RateLimit; 2] = [&bucket, &handle];
    for limiter in limiters {
        assert!(limiter.try_acquire().is_ok() && limiter.try_acquire_n(2).is_ok());
        assert!(matches!(limiter.try_acquire_n(MOST + 1), Err(Denied::ExceedsBurst { .. })));
        assert_eq!((limiter.quota(), limiter.max_cost(), limiter.status().limit), (QUOTA, MOST, MOST));
    }
    assert_eq!(bucket.available() + handle.credits(), MOST - 6);
    assert!(format!("{bucket:?}").contains("shards: 4, batch: 15"));
    assert!(format!("{handle:?}").contains("credits"));
}

#[test]
fn what_a_token_bucket_admits_is_out_of_reach_at_most_as_far_as_documented() {
    let clock = ManualClock::new();
    let mut random = fastrand::Rng::with_seed(9);
    let reserve = RESERVE;
    for costs in [1, 20] {
        let bucket = bucket(&clock);
        let mut model = Reference::new(QUOTA);
        let mut denied_with = 0;
        for _ in 0..20_000 {
            clock.advance(Duration::from_micros(random.u64(..12_000) * costs / 2));
            let now = clock.now();
            for _ in 0..random.u64(..12) {
                let n = random.u64(1..=costs);
                match bucket.try_acquire_n(n) {
                    Ok(()) => drop(model.charge(n, now)),
                    Err(_) => denied_with = denied_with.max(model.available(now).saturating_sub(n - 1)),
                }
            }
        }
        println!("costs up to {costs}: {denied_with} out of reach");
        let most = if costs == 1 { reserve } else { 2 * reserve };
        assert!((1..=most).contains(&denied_with), "costs up to {costs}: {denied_with} out of reach");
    }
}
