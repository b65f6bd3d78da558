//! A decision and its status are of one reading: on a clock that moves each time that it is read, a second one would show.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, Clock, Counted, Denied, FixedWindow,
    IntervalBucket, KeyedLimiter, KeyedRateLimit, LeakyBucket, ManualClock, Nanos, PackedTokenBucket, Quota, RateLimit,
    RateLimitAt, SeededState, ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog, Status, TokenBucket,
    WaitingTokenBucket,
};

/// A clock on which a tenth of a second passes whenever somebody looks at it.
#[derive(Clone)]
struct Hasty(Arc<AtomicU64>);

impl Hasty {
    const STEP: Duration = Duration::from_millis(100);

    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(0)))
    }

    /// What the next reading will be.
    fn next(&self) -> Nanos {
        Nanos(self.0.load(Ordering::Relaxed))
    }
}

impl Clock for Hasty {
    fn now(&self) -> Nanos {
        let step = u64::try_from(Self::STEP.as_nanos()).unwrap();
        Nanos(self.0.fetch_add(step, Ordering::Relaxed))
    }
}

/// Three in two seconds, which the clock's steps do not divide.
const QUOTA: Quota = Quota::per(3, Duration::from_secs(2));
const COSTS: [u64; 14] = [1, 1, 2, 0, 1, 4, 1, 1, 1, 3, 1, 1, 1, 2];

/// Makes all calls, each with one reading. `told` makes the same on another limiter, which is told that reading.
fn one_reading(
    name: &str,
    clock: &Hasty,
    call: impl Fn(u64) -> (Result<(), Denied>, Status),
    told: impl Fn(u64, Nanos) -> (Result<(), Denied>, Status),
) {
    let mut refused = 0;
    for n in COSTS {
        let reading = clock.next();
        let answer = call(n);
        assert_eq!(clock.next().saturating_since(reading), Hasty::STEP, "{name}: read more than once");
        assert_eq!(answer, told(n, reading), "{name}, a cost of {n}");
        refused += u32::from(matches!(answer.0, Err(Denied::TryAfter(_))));
    }
    assert!(refused > 2, "{name}: a refusal is decided on one reading, too");
}

macro_rules! limiters {
    ($($limiter:ident($($more:expr)?)),*) => {$({
        let clock = Hasty::new();
        let (hasty, told) = (
            Counted::new($limiter::with_clock(QUOTA, $($more,)? clock.clone())),
            $limiter::with_clock(QUOTA, $($more,)? ManualClock::new()),
        );
        let boxed: &(dyn RateLimit + Sync) = &Box::new(&hasty);
        one_reading(
            stringify!($limiter),
            &clock,
            |n| if n == 1 { boxed.try_acquire_with_status() } else { boxed.try_acquire_n_with_status(n) },
            |n, now| (&told as &dyn RateLimitAt).try_acquire_n_with_status_at(n, now),
        );
    })*};
}

#[test]
fn every_limiter_reads_its_clock_once() {
    limiters!(
        TokenBucket(),
        LeakyBucket(),
        PackedTokenBucket(),
        FixedWindow(),
        IntervalBucket(),
        SlidingWindowCounter()
    );
    limiters!(SlidingWindowLog(), ShardedTokenBucket());
    limiters!(AdjustableTokenBucket(), AdjustableFixedWindow(), AdjustableSlidingWindowCounter());
    limiters!(WaitingTokenBucket(Duration::from_secs(9)));
}

fn table<C: Clock>(clock: C) -> KeyedLimiter<u64, SeededState, C> {
    let quotas = [QUOTA, QUOTA.with_burst(2)];
    KeyedLimiter::with_hasher_and_clock(quotas, 9, SeededState::new(3), clock)
}

#[test]
fn every_key_reads_the_clock_once() {
    let clock = Hasty::new();
    let (hasty, told) = (table(clock.clone()), table(ManualClock::new()));
    one_reading(
        "keyed",
        &clock,
        |n| if n == 1 { hasty.try_acquire_with_status(&7) } else { hasty.try_acquire_n_with_status(&7, n) },
        |n, now| told.try_acquire_n_with_status_at(&7, n, now),
    );
    let (class, told) = (hasty.class(1), told.class(1));
    one_reading(
        "a class",
        &clock,
        |n| if n == 1 { class.try_acquire_with_status(&8) } else { class.try_acquire_n_with_status(&8, n) },
        |n, now| told.try_acquire_n_with_status_at(&8, n, now),
    );
    let (hasty, told) = (Counted::new(table(clock.clone())), table(ManualClock::new()));
    let boxed: &dyn KeyedRateLimit<u64> = &Box::new(&hasty);
    one_reading(
        "keyed, as a trait",
        &clock,
        |n| if n == 1 { boxed.try_acquire_with_status(&9) } else { boxed.try_acquire_n_with_status(&9, n) },
        |n, now| told.try_acquire_n_with_status_at(&9, n, now),
    );
}

/// The line of a key, which is a limiter as others are.
#[test]
fn a_keys_line_reads_the_clock_once() {
    let clock = Hasty::new();
    let (hasty, told) = (Arc::new(table(clock.clone())), table(ManualClock::new()));
    let (line, told) = (hasty.line(&5), told.line(&5));
    one_reading(
        "a key's line",
        &clock,
        |n| RateLimit::try_acquire_n_with_status(&line, n),
        |n, now| told.try_acquire_n_with_status_at(n, now),
    );
    let (owned, other) = (Arc::clone(&hasty).line_owned(&6), table(ManualClock::new()));
    one_reading(
        "a key's line, owned",
        &clock,
        |n| RateLimit::try_acquire_n_with_status(&owned, n),
        |n, now| other.line(&6).try_acquire_n_with_status_at(n, now),
    );
}

/// Where a table has no slot for a key, with newcomers that share and without.
#[test]
fn a_full_table_reads_the_clock_once() {
    for sharing in [false, true] {
        let clock = Hasty::new();
        let mut limiter =
            KeyedLimiter::<u64, _, _>::with_hasher_and_clock(Quota::per_hour(9), 1, SeededState::new(1), clock.clone());
        if sharing {
            limiter = limiter.sharing_when_full(Quota::per_hour(4));
        }
        let mut refused = 0;
        for key in 0..200 {
            let reading = clock.next();
            let (decision, status) = limiter.try_acquire_with_status(&key);
            assert_eq!(clock.next().saturating_since(reading), Hasty::STEP);
            if let Err(denied) = decision {
                assert_eq!((status.remaining, status.retry_after), (0, denied.retry_after()));
                refused += 1;
            }
        }
        assert!(refused > 100);
    }
}

/// What was given back of places, too. (The first of the three has begun to drop out of the bucket.)
#[test]
fn a_pool_is_looked_at_on_one_reading() {
    let clock = Hasty::new();
    let bucket = WaitingTokenBucket::with_clock(Quota::per_hour(3), Duration::from_secs(9_999), clock.clone());
    let (three, last) = (bucket.reserve(3).unwrap(), bucket.reserve(1).unwrap());
    assert_eq!(three.cancel(), 2);
    for left in [1, 0, 0] {
        let reading = clock.next();
        let (decision, status) = bucket.try_acquire_with_status();
        assert_eq!(clock.next().saturating_since(reading), Hasty::STEP, "read more than once");
        assert_eq!((status, status.remaining), (bucket.status_at(reading), left));
        if let Err(denied) = decision {
            assert_eq!(denied.retry_after(), status.retry_after);
        }
    }
    drop(last);
}

/// Whichever place decides: the thread's own shard, the central word or another shard; with a handle and without.
#[test]
fn credits_and_the_central_word_are_told_on_one_reading() {
    let clock = Hasty::new();
    let bucket = ShardedTokenBucket::with_shards_and_clock(Quota::per(200, Duration::from_secs(99)), 4, clock.clone());
    let handle = bucket.handle();
    assert!(handle.try_acquire().is_ok() && bucket.try_acquire().is_ok());
    let shown = |call: &dyn Fn(u64) -> (Result<(), Denied>, Status)| {
        let mut refused = 0;
        for n in [1, 2].into_iter().cycle().take(400) {
            let reading = clock.next();
            let (decision, status) = call(n);
            assert_eq!(clock.next().saturating_since(reading), Hasty::STEP, "read more than once");
            assert_eq!(status.reset_after, bucket.status_at(reading).reset_after);
            refused += u32::from(decision.is_err());
        }
        assert!(refused > 0);
    };
    shown(&|n| bucket.try_acquire_n_with_status(n));
    shown(&|n| handle.try_acquire_n_with_status(n));
    shown(&|n| (&handle as &dyn RateLimit).try_acquire_n_with_status(n));
}

/// To save and to restore, too: a snapshot states the reading by which its debts are told.
#[test]
fn a_snapshot_is_of_one_reading() {
    let clock = Hasty::new();
    let once = |what: &str, act: &mut dyn FnMut()| {
        let reading = clock.next();
        act();
        assert_eq!(clock.next().saturating_since(reading), Hasty::STEP, "{what}: read more than once");
    };
    let make =
        || KeyedLimiter::<u64, _, _>::with_hasher_and_clock(Quota::per_hour(9), 9, SeededState::new(5), clock.clone());
    let (table, mut bytes) = (make(), vec![]);
    assert!(table.try_acquire(&1).is_ok());
    once("save", &mut || assert_eq!(table.save(&mut bytes).unwrap(), 1));
    once("restored", &mut || drop(make().restored(bytes.as_slice()).unwrap()));

    let bucket = TokenBucket::with_clock(QUOTA, clock.clone());
    assert!(bucket.try_acquire().is_ok());
    once("snapshot", &mut || {
        let reading = clock.next();
        assert_eq!(bucket.snapshot().taken().reading, reading);
    });
    let (log, snapshot) = (SlidingWindowLog::with_clock(QUOTA, clock.clone()), bucket.snapshot());
    once("restore", &mut || TokenBucket::with_clock(QUOTA, clock.clone()).restore(&snapshot).unwrap());
    once("snapshot of a log", &mut || drop(log.snapshot()));
}
