//! What a user builds on the traits.

use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tollgate::{
    Clock, Denied, Hint, KeyedRateLimit, ManualClock, Nanos, Quota, RateLimit, RateLimitAt, Status, TokenBucket,
};

/// A limiter with a backend of its own: a number that somebody else tops up.
struct Allowance(AtomicU64);

impl RateLimit for Allowance {
    fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(n));
        taken.map(drop).map_err(|_| Denied::TryAfter(Hint::after(Duration::from_secs(3))))
    }

    fn status(&self) -> Status {
        Status::new(100, self.0.load(Ordering::Relaxed), None, Duration::from_secs(3))
    }

    fn quota(&self) -> Quota {
        Quota::per(100, Duration::from_secs(3))
    }

    fn max_cost(&self) -> u64 {
        100
    }
}

#[test]
fn a_limiter_of_ones_own_needs_four_methods() {
    let limiter: Box<dyn RateLimit> = Box::new(Allowance(AtomicU64::new(5)));
    assert!(limiter.try_acquire().is_ok());
    assert_eq!(limiter.available(), 4);
    assert_eq!(limiter.try_acquire_n(5).unwrap_err().retry_after(), Some(Duration::from_secs(3)));
    assert_eq!((limiter.try_acquire_up_to(9), limiter.try_acquire_up_to(9)), (4, 0));
    limiter.refund(4); // which it does not take
    assert_eq!(limiter.available(), 0);
}

/// One limiter for every second key.
struct EverySecond(TokenBucket<ManualClock>);

impl KeyedRateLimit<u64> for EverySecond {
    fn try_acquire_n(&self, key: &u64, n: u64) -> Result<(), Denied> {
        if key.is_multiple_of(2) { self.0.try_acquire_n(n) } else { Ok(()) }
    }

    fn status(&self, _: &u64) -> Status {
        self.0.status()
    }

    fn quota(&self) -> Quota {
        self.0.quota()
    }
}

#[test]
fn a_keyed_limiter_of_ones_own_needs_three_methods() {
    let limiter = EverySecond(TokenBucket::with_clock(Quota::per_second(1), ManualClock::new()));
    let limiter: Arc<dyn KeyedRateLimit<u64>> = Arc::new(limiter);
    assert!(limiter.try_acquire(&2).is_ok());
    assert!(<&dyn KeyedRateLimit<u64>>::try_acquire(&&*limiter, &4).is_err());
    assert!(Box::new(limiter.clone()).try_acquire(&5).is_ok());
    limiter.refund(&2, 1); // which it does not take
    assert_eq!((limiter.status(&2).remaining, limiter.quota()), (0, Quota::per_second(1)));
}

#[test]
fn clocks_stand_behind_every_pointer() {
    fn read(clock: impl Clock) -> Nanos {
        clock.now()
    }
    let clock = ManualClock::starting_at(Nanos::from_secs(7));
    assert_eq!(read(&clock), Nanos::from_secs(7));
    assert_eq!(read(Box::new(clock.clone())), Nanos::from_secs(7));
    assert_eq!(read(Arc::new(clock.clone()) as Arc<dyn Clock>), Nanos::from_secs(7));
    let bucket = TokenBucket::with_clock(Quota::per_second(1), Box::new(clock) as Box<dyn Clock>);
    assert!(bucket.try_acquire().is_ok());
}

#[test]
fn hints_can_be_made() {
    let hint = Hint::at(Nanos::from_secs(5), Nanos::from_secs(3));
    assert_eq!((hint.due(), hint.retry_after()), (Nanos::from_secs(5), Duration::from_secs(2)));
    assert_eq!(Hint::at(Nanos::from_secs(3), Nanos::from_secs(5)).retry_after(), Duration::ZERO);
    assert_eq!(Hint::after(Duration::from_nanos(1)).retry_after(), Duration::from_nanos(1));
    assert_eq!(Hint::after(Duration::MAX).due(), Nanos::MAX);
}

/// One function for all limiters that can be told the time.
#[test]
fn limiters_that_are_told_the_time_are_used_alike() {
    fn spend(limiter: &dyn RateLimitAt, now: Nanos) -> u64 {
        limiter.try_acquire_n_at(3, now).unwrap();
        limiter.refund_at(1, now);
        assert_eq!(limiter.available_at(now), limiter.status_at(now).remaining);
        limiter.try_acquire_up_to_at(u64::MAX, now)
    }
    let bucket = Arc::new(TokenBucket::with_clock(Quota::per_second(10), ManualClock::new()));
    assert_eq!(spend(&bucket, Nanos::ZERO), 8);
    assert_eq!(spend(&&*bucket, Nanos::from_secs(1)), 8);
    assert_eq!(spend(&Box::new(bucket), Nanos::from_secs(2)), 8);
}
