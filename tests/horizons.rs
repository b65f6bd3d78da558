//! How long limiters last: on clocks of any allowed origin, for decades; and what they say at the end of time.

use core::time::Duration;
use tollgate::{
    BuildError, Denied, ManualClock, Nanos, PackedTokenBucket, Quota, RateLimitAt, ShardedTokenBucket,
    SlidingWindowCounter, SlidingWindowLog, TokenBucket,
};
use tollgate_testing::each_word;

const SECOND: u64 = 1_000_000_000;
const YEAR: u64 = 31_557_600 * SECOND;

/// The end of 2026 on a clock that counts from 1970.
const UNIX_NOW: u64 = 1_798_000_000 * SECOND;

type Limiter = Box<dyn RateLimitAt>;
type Build = fn(Quota) -> Result<Limiter, BuildError>;

/// A limiter of each kind, where it has room for the quota.
macro_rules! kinds {
    ($($limiter:ident),*) => {&[
        $((stringify!($limiter), |quota| Ok(Box::new(tollgate::$limiter::try_with_clock(quota, ManualClock::new())?))),)*
        ("ShardedTokenBucket", |quota| {
            Ok(Box::new(ShardedTokenBucket::try_with_shards_and_clock(quota, 2, ManualClock::new())?))
        }),
        ("SlidingWindowLog", |quota| {
            if quota.tokens() > 1 << 12 {
                return Err(BuildError::LogTooLong { largest: 1 << 12 }); // to save memory
            }
            Ok(Box::new(SlidingWindowLog::try_with_clock(quota, ManualClock::new())?))
        }),
    ]};
}
const KINDS: &[(&str, Build)] = each_word!(kinds);

/// Powers of two, and one more and one less.
fn around_powers_of_two() -> impl Iterator<Item = u64> {
    (0..48).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1]).filter(|&n| n > 0)
}

#[test]
fn whatever_can_be_built_serves_for_decades_on_a_clock_of_any_allowed_origin() {
    let mut built = 0;
    for period in [1_000_000, SECOND, 60 * SECOND, 86_400 * SECOND] {
        for n in around_powers_of_two() {
            let Ok(quota) = Quota::try_new(n, Duration::from_nanos(period), n) else { continue };
            for &(name, build) in KINDS {
                // The process, the machine, 1970, and 90 years: from then on, and for nearly thirty years.
                for present in [0, 3_600 * SECOND, UNIX_NOW, 90 * YEAR] {
                    for start in [present, present + 29 * YEAR] {
                        let Ok(limiter) = build(quota) else { continue };
                        built += 1;
                        serves(&*limiter, quota, start, &format!("{name} of {n} per {period} ns at {start}"));
                    }
                }
            }
        }
    }
    assert!(built > 5_000, "{built}");
}

/// It gives all there can be, then says when there is more, and keeps its word.
fn serves(limiter: &dyn RateLimitAt, quota: Quota, start: u64, what: &str) {
    let (most, mut now) = (limiter.max_cost(), Nanos(start));
    for _ in 0..3 {
        let taken = limiter.try_acquire_up_to_at(u64::MAX, now);
        // A sharded bucket's credits do not belong to any reading.
        assert!(taken > 0 && taken <= most, "{what}: took {taken} of {most}");
        // A counter may take a little more as its window fades. Each time, at least 1.
        let Err(denied) = limiter.try_acquire_n_at(most, now) else { panic!("{what}: twice as much") };
        let wait = denied.retry_after().unwrap_or_else(|| panic!("{what}: never again"));
        assert!(wait > Duration::ZERO, "{what}: denied, and to come back at once");
        assert!(wait <= 3 * quota.period() + Duration::from_nanos(2), "{what}: {wait:?}");
        let status = limiter.status_at(now);
        assert!(status.reset_after > Duration::ZERO && status.reset_after <= 3 * quota.period(), "{what}: {status:?}");
        now = now.saturating_add(wait);
        assert!(limiter.try_acquire_n_at(most, now).is_ok(), "{what}: refused at the hint");
        now = now.saturating_add(2 * quota.period());
    }
}

#[test]
fn the_largest_limits_are_those_that_last_120_years() {
    let counter = |n| SlidingWindowCounter::try_with_clock(Quota::per_second(n), ManualClock::new()).map(|_| ());
    assert_eq!((counter(65_535), counter(65_536)), (Ok(()), Err(BuildError::LimitTooLarge { largest: 65_535 })));
    let minute = SlidingWindowCounter::try_with_clock(Quota::per_minute(1_000_000), ManualClock::new());
    assert_eq!(minute.err(), Some(BuildError::LimitTooLarge { largest: 524_287 }));
    let packed = |n| PackedTokenBucket::try_with_clock(Quota::per_second(n), ManualClock::new()).map(|_| ());
    assert_eq!((packed(65_535), packed(100_000)), (Ok(()), Err(BuildError::LimitTooLarge { largest: 32_767 })));
}

#[test]
fn at_the_end_of_time_there_is_no_waiting() {
    for &(name, build) in KINDS {
        for now in [(1 << 62) - 1, 1 << 62, u64::MAX - 1, u64::MAX] {
            for quota in [Quota::per_second(1), Quota::per_second(5), Quota::per_hour(300)] {
                let (limiter, now) = (build(quota).unwrap(), Nanos(now));
                assert!(limiter.try_acquire_n_at(limiter.max_cost(), now).is_ok());
                let Err(denied @ Denied::TryAfter(_)) = limiter.try_acquire_n_at(1, now) else { panic!("{name}") };
                assert_eq!(denied.retry_after(), None, "{name} at {now:?}");
                let status = limiter.status_at(now);
                assert_eq!((status.remaining, status.retry_after), (0, None), "{name} at {now:?}");
                assert_eq!(status.reset_after, Duration::MAX, "{name} at {now:?}");
                assert!(denied.to_string().contains("never again"), "{denied}");
            }
        }
    }
}

#[test]
fn a_wait_that_would_end_beyond_the_end_of_time_is_none() {
    let last = Nanos((1 << 62) - 1);
    let bucket = TokenBucket::with_clock(Quota::per_second(1), ManualClock::new());
    let before = last.saturating_sub(Duration::from_millis(1_500));
    assert!(bucket.try_acquire_at(before).is_ok());
    assert_eq!(bucket.try_acquire_at(before).unwrap_err().retry_after(), Some(Duration::from_secs(1)));
    let later = before.saturating_add(Duration::from_secs(1));
    assert!(bucket.try_acquire_at(later).is_ok());
    assert_eq!(bucket.try_acquire_at(later).unwrap_err().retry_after(), None, "half a second is left");
    assert_eq!(bucket.status_at(last).retry_after, None);
}

/// By its clock, a sharded bucket decides on other paths than on readings.
#[test]
fn at_the_end_of_time_a_sharded_bucket_and_its_handles_never_wait() {
    for now in [(1 << 62) - 1, 1 << 62, u64::MAX - 1, u64::MAX] {
        // The first is not divided, the last lets tokens settle.
        for quota in [Quota::per_second(5), Quota::per_second(1_000), Quota::per_second(10_000_000)] {
            let clock = ManualClock::starting_at(Nanos(now));
            let bucket = ShardedTokenBucket::with_shards_and_clock(quota, 2, clock);
            let handle = bucket.handle();
            assert_eq!(bucket.try_acquire_up_to(u64::MAX), bucket.max_cost());
            for decision in [bucket.try_acquire(), bucket.try_acquire(), handle.try_acquire(), handle.try_acquire()] {
                let Err(denied @ Denied::TryAfter(_)) = decision else { panic!("{quota:?} at {now}: {decision:?}") };
                assert_eq!(denied.retry_after(), None, "{quota:?} at {now}");
            }
            for status in [bucket.status(), handle.status()] {
                assert_eq!((status.remaining, status.retry_after, status.reset_after), (0, None, Duration::MAX));
            }
        }
    }
}
