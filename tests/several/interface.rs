//! How sets are made and used, and what they say.

use std::sync::Arc;
use std::time::Duration;
use tollgate::{
    Denied, DeniedBy, FixedWindow, KeyedLimiter, LimitSet, LimitSetError, ManualClock, Nanos, Quota, RateLimit,
    RateLimitAt, SlidingWindowLog, TokenBucket,
};

static SECOND: TokenBucket = TokenBucket::new(Quota::per_second(10));
static HOUR: FixedWindow = FixedWindow::new(Quota::per_hour(1_000));
static BYTES: TokenBucket = TokenBucket::new(Quota::per_hour(5_000_000));
static STATIC: LimitSet<&(dyn RateLimitAt + Sync), 3> = LimitSet::new([&SECOND, &HOUR, &BYTES]);

#[test]
fn a_set_stands_in_a_static() {
    assert!(STATIC.try_acquire_n([1, 1, 5_000_000]).is_ok());
    let denied = STATIC.try_acquire_n([11, 1, 1_000]).unwrap_err();
    assert_eq!((denied.limits().collect::<Vec<_>>(), denied.longest()), (vec![0, 2], 0));
    assert_eq!((denied.denied(), denied.retry_after()), (Denied::ExceedsBurst { cost: 11, max_cost: 10 }, None));
    assert_eq!(HOUR.available(), 999);
}

/// A6: two limits, the second refuses.
#[test]
fn a6_the_first_is_untouched_and_the_caller_learns_which_refused() {
    let clock = ManualClock::new();
    let second = TokenBucket::with_clock(Quota::per_second(5), clock.clone());
    let minute = TokenBucket::with_clock(Quota::per_minute(7), clock.clone());
    let set = LimitSet::with_clock([&second, &minute], clock.clone());
    assert!((0..5).all(|_| set.try_acquire().is_ok()));
    clock.advance(Duration::from_secs(1));
    assert_eq!((0..5).filter(|_| set.try_acquire().is_ok()).count(), 2);
    let denied = set.try_acquire().unwrap_err();
    assert_eq!((denied.limits().collect::<Vec<_>>(), denied.is_late(), denied.spent().count()), (vec![1], false, 0));
    assert_eq!((second.available(), minute.available()), (3, 0));
}

/// P9: the hint of several is the longest of theirs, exact to the nanosecond.
#[test]
fn p9_denied_a_nanosecond_before_the_hint_and_admitted_at_it() {
    let clock = ManualClock::new();
    let quotas = [Quota::per(3, Duration::from_millis(100)), Quota::per_second(7), Quota::per_minute(40)];
    let set = LimitSet::with_clock(quotas.map(|quota| TokenBucket::with_clock(quota, clock.clone())), clock.clone());
    let mut random = fastrand::Rng::with_seed(9);
    let mut several = 0;
    for _ in 0..2_000 {
        let costs = [random.u64(..=3), random.u64(..=7), random.u64(..=10)];
        if let Err(denied) = set.try_acquire_n(costs) {
            let due = clock.advance_to(denied.retry_after().expect("none is above its burst"));
            several += usize::from(denied.limits().count() > 1);
            assert!(set.try_acquire_n_at(costs, Nanos::from_nanos(due.as_nanos() - 1)).is_err(), "{denied}");
            assert!(set.try_acquire_n(costs).is_ok(), "{denied}");
        }
    }
    assert!(several > 100, "{several} refusals by more than one");
}

trait AdvanceTo {
    fn advance_to(&self, wait: Duration) -> Nanos;
}

impl AdvanceTo for ManualClock {
    fn advance_to(&self, wait: Duration) -> Nanos {
        use tollgate::Clock;
        self.advance(wait);
        self.now()
    }
}

#[test]
fn what_takes_nothing_back_comes_last() {
    let clock = ManualClock::new();
    let log = SlidingWindowLog::with_clock(Quota::per_second(1), clock.clone());
    let bucket = TokenBucket::with_clock(Quota::per_second(2), clock.clone());
    let (log, bucket): (&dyn RateLimitAt, &dyn RateLimitAt) = (&log, &bucket);
    assert!(!log.takes_back() && bucket.takes_back() && !Box::new(log).takes_back());
    for (limits, wrong) in [([log, bucket, bucket], 0), ([bucket, log, log], 1)] {
        let error = LimitSet::try_with_clock(limits, clock.clone()).unwrap_err();
        assert_eq!(error, LimitSetError::TakesNothingBack { limit: wrong });
        assert!(error.to_string().starts_with(&format!("limit {wrong} takes nothing back")));
    }
    let set = LimitSet::try_with_clock([bucket, bucket, log], clock).unwrap();
    assert!(set.try_acquire().is_ok());
    assert!(set.try_acquire().unwrap_err().limits().eq([0, 1, 2]));
    assert_eq!(set.limits()[1].available(), 0);
}

#[test]
fn a_limit_that_costs_nothing_takes_no_part() {
    let clock = ManualClock::new();
    let set = LimitSet::with_clock(
        [Quota::DENY_ALL, Quota::per_second(1), Quota::UNLIMITED]
            .map(|quota| TokenBucket::with_clock(quota, clock.clone())),
        clock,
    );
    assert!(set.try_acquire_n([0, 1, u64::MAX]).is_ok());
    assert!(set.try_acquire_n([0, 0, 0]).is_ok());
    assert!(set.check_n([0, 1, 1]).unwrap_err().limits().eq([1]));
    assert!(set.try_acquire().unwrap_err().limits().eq([0, 1]));
}

#[test]
fn as_many_limits_as_can_be_named() {
    let clock = ManualClock::new();
    let set: LimitSet<_, 64, _> = LimitSet::with_clock(
        std::array::from_fn(|limit| {
            TokenBucket::with_clock(Quota::per_second(if limit % 21 == 0 { 1 } else { 2 }), clock.clone())
        }),
        clock,
    );
    assert!(set.try_acquire().is_ok());
    assert!(set.try_acquire().unwrap_err().limits().eq([0, 21, 42, 63]));
    assert!(set.limits().iter().enumerate().all(|(limit, bucket)| bucket.available() == u64::from(limit % 21 != 0)));
}

/// One parent in many sets, by reference, by `Arc`, and called beside them.
#[test]
fn a_parent_of_many() {
    let clock = ManualClock::new();
    let parent = Arc::new(TokenBucket::with_clock(Quota::per_hour(10), clock.clone()));
    let children = [3, 4, 5].map(|n| {
        let own: Arc<dyn RateLimitAt + Send + Sync> =
            Arc::new(FixedWindow::with_clock(Quota::per_hour(n), clock.clone()));
        LimitSet::with_clock([own, parent.clone()], clock.clone())
    });
    assert!(parent.try_acquire().is_ok());
    let admitted = children.each_ref().map(|child| (0..10).filter(|_| child.try_acquire().is_ok()).count());
    assert_eq!((admitted, parent.available()), ([3, 4, 2], 0));
    assert!(children[0].try_acquire().unwrap_err().limits().eq([0, 1]));
    assert!(children[2].try_acquire().unwrap_err().limits().eq([1]));
    assert_eq!(children[2].limits()[0].available(), 3);
}

#[test]
fn keys_take_part() {
    let clock = ManualClock::new();
    let clients = KeyedLimiter::<str>::with_clock([Quota::per_hour(1), Quota::per_hour(3)], 100, clock.clone());
    let all = TokenBucket::with_clock(Quota::per_hour(5), clock.clone());
    let call = |client, class| -> Result<(), DeniedBy> {
        let limits: [&dyn RateLimitAt; 2] = [&clients.class(class).line(client), &all];
        LimitSet::with_clock(limits, &clock).try_acquire()
    };
    assert!(call("free", 0).is_ok());
    assert!(call("free", 0).unwrap_err().limits().eq([0]));
    assert_eq!((0..9).filter(|_| call("paid", 1).is_ok()).count(), 3);
    assert!(call("new", 0).is_ok() && call("newer", 0).unwrap_err().limits().eq([1]));
    assert_eq!(clients.status("newer").remaining, 1);
}
