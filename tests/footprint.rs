//! What a limiter takes: bytes, a line of cache, no allocation, no lock. And where it can stand.

use allocation_counter::{AllocationInfo, measure};
use core::time::Duration;
use std::sync::Arc;
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, BuildError, CoarseClock,
    DefaultClock, Denied, FixedWindow, Hint, IntervalBucket, LeakyBucket, ManualClock, Monotone, MonotonicClock, Nanos,
    PackedTokenBucket, Place, Quota, QuotaError, RateLimit, SlidingWindowCounter, SlidingWindowLog, Status,
    TokenBucket, WaitingTokenBucket,
};
use tollgate_testing::each_limiter;
use tollgate_testing::subject::Kind;

#[test]
fn what_is_allocated_is_counted() {
    let nothing = AllocationInfo::default();
    assert_ne!(measure(|| drop(core::hint::black_box(Box::new(1)))), nothing);
    let boxed = core::hint::black_box(Box::new(1));
    assert_ne!(measure(|| drop(boxed)), nothing);
}

#[test]
fn nothing_allocates_but_the_construction_of_what_is_shared() {
    for kind in Kind::ALL {
        for quota in
            [Quota::per_second(1_000), Quota::per(3, Duration::from_nanos(70)), Quota::UNLIMITED, Quota::DENY_ALL]
        {
            let clock = ManualClock::new();
            let limiter = kind.limiter(quota, &clock).unwrap();
            let allocated = measure(|| {
                for turn in 0..2_000 {
                    clock.set(Nanos(turn * turn * 1_000 % 1_000_003));
                    if let Err(denied) = limiter.try_acquire_n(turn % 1_100) {
                        let _ = denied.retry_after();
                    }
                    let _ = limiter.try_acquire();
                    limiter.try_acquire_up_to(turn % 3);
                    limiter.refund(turn % 2);
                    let (_, _, _) = (limiter.available(), limiter.status(), limiter.max_cost());
                }
            });
            assert_eq!(allocated, AllocationInfo::default(), "{kind:?} {quota:?}");
        }
    }
}

#[test]
fn a_limiter_on_a_real_clock_does_not_allocate() {
    static BUCKET: TokenBucket = TokenBucket::new(Quota::per_second(1_000));
    // The first reading in a process sets the clock up.
    let _ = BUCKET.try_acquire();
    let allocated = measure(|| {
        for _ in 0..10_000 {
            let _ = BUCKET.try_acquire();
        }
    });
    assert_eq!(allocated, AllocationInfo::default());
    // Nor does making another one.
    let made = measure(|| assert!(TokenBucket::new(Quota::per_second(1)).try_acquire().is_ok()));
    assert_eq!(made, AllocationInfo::default());
}

/// A log allocates 8 bytes for each unit and a fixed part, and nothing after construction.
#[test]
fn a_log_is_eight_bytes_for_each_unit() {
    // What every log needs, whatever its limit: 64 records of 16 bytes and a word that says which are held.
    const FIXED: i64 = 64 * 16 + 8;
    let clock = ManualClock::new();
    for limit in [1, 2, 5, 1_000, 1_000_000] {
        let quota = Quota::per(limit, Duration::from_secs(1));
        let mut made = None;
        let allocated = measure(|| made = Some(SlidingWindowLog::with_clock(quota, clock.clone())));
        let log = made.unwrap();
        assert_eq!(allocated.bytes_current, 8 * i64::try_from(limit).unwrap() + FIXED, "limit {limit}");
        assert!(size_of_val(&log) <= 128);
        let allocated = measure(|| {
            for _ in 0..3 {
                assert!(log.try_acquire().is_ok());
                let left = log.available();
                assert!(left == 0 || log.try_acquire_n(left).is_ok());
                assert_eq!(log.try_acquire_up_to(limit), 0);
                assert!(log.try_acquire().unwrap_err().retry_after().is_some());
                assert_eq!(log.status().remaining, 0);
                clock.advance(Duration::from_secs(1));
                assert_eq!(log.try_acquire_up_to(limit), limit);
                clock.advance(Duration::from_secs(1));
            }
        });
        assert_eq!(allocated, AllocationInfo::default(), "limit {limit}");
    }
}

/// A line of cache of 64 bytes, and no two limiters on the same line.
#[test]
fn a_limiter_is_a_line_of_cache() {
    macro_rules! check {
        ($($limiter:ident),*) => {$(
            let (name, size) = (stringify!($limiter), size_of::<tollgate::$limiter>());
            assert_eq!(align_of::<tollgate::$limiter>() % 64, 0, "{name}");
            let most = match name {
                "SlidingWindowLog" => 256,   // its ring is beside it
                "ShardedTokenBucket" => 512, // its slots are beside it, and its centre has lines of its own
                _ => 64,
            };
            assert!(size <= most, "{name}: {size} bytes");
        )*};
    }
    each_limiter!(check);
}

/// A line for the limiter, two for the pool beside it; a place is a reference and four numbers. Waiting allocates nothing.
#[test]
fn a_place_in_line_is_a_few_words() {
    assert_eq!((align_of::<WaitingTokenBucket>(), size_of::<WaitingTokenBucket>()), (64, 192));
    assert_eq!(size_of::<Place<&WaitingTokenBucket>>(), 40);
    let (bucket, window) = (size_of::<AdjustableTokenBucket>(), size_of::<AdjustableFixedWindow>());
    assert_eq!((bucket, window, size_of::<AdjustableSlidingWindowCounter>()), (512, 512, 512));
    assert_eq!(size_of::<Place<Arc<WaitingTokenBucket>>>(), 40);
    let clock = ManualClock::new();
    let bucket = WaitingTokenBucket::with_clock(Quota::per_second(1_000), Duration::from_secs(60), clock.clone());
    let allocated = measure(|| {
        for turn in 0..2_000 {
            clock.set(Nanos(turn * 1_000_003));
            let [first, second, third] = [3, 2, 1].map(|n| bucket.reserve(n));
            drop(second);
            let _ = (third.map(Place::spend), bucket.try_acquire(), bucket.status());
            drop(first);
        }
    });
    assert_eq!(allocated, AllocationInfo::default());
}

#[test]
fn answers_are_small() {
    // A refusal is returned through memory on the hot path.
    assert!(size_of::<Result<(), Denied>>() <= 64, "{} bytes", size_of::<Result<(), Denied>>());
    assert_eq!(size_of::<Quota>(), 24);
    assert_eq!(size_of::<Nanos>(), 8);
    assert_eq!(size_of::<DefaultClock>(), 0);
}

#[test]
fn everything_can_be_sent_and_shared() {
    fn check<T: Send + Sync + Unpin + 'static>() {}
    check::<TokenBucket>();
    check::<LeakyBucket<CoarseClock>>();
    check::<PackedTokenBucket<MonotonicClock>>();
    check::<FixedWindow<Monotone<MonotonicClock>>>();
    check::<IntervalBucket<ManualClock>>();
    check::<SlidingWindowCounter<Arc<ManualClock>>>();
    check::<SlidingWindowLog<Monotone<CoarseClock>>>();
    check::<WaitingTokenBucket<MonotonicClock>>();
    check::<Place<&'static WaitingTokenBucket>>();
    check::<Place<Arc<WaitingTokenBucket<ManualClock>>>>();
    check::<Box<dyn RateLimit + Send + Sync>>();
    check::<(Quota, QuotaError, BuildError, Denied, Hint, Status, Nanos)>();
}

/// On targets without a 64-bit compare-and-swap the atomics would be emulated by a lock. None of ours is.
#[test]
fn the_word_is_lock_free() {
    const { assert!(portable_atomic::AtomicU64::is_always_lock_free()) };
}

/// Quotas and limiters are made at compile time: a slip there is a compile error.
const QUOTA: Quota = Quota::per(3, Duration::from_millis(100)).with_burst(5);
const RATE: (u64, Duration, u64) = (QUOTA.tokens(), QUOTA.period(), QUOTA.burst());
const REPORTED: bool = Quota::try_new(0, Duration::from_secs(1), 1).is_err();
static LIMITERS: [TokenBucket; 2] = [TokenBucket::new(QUOTA), TokenBucket::new(Quota::UNLIMITED)];
static TRIED: Result<FixedWindow, BuildError> = FixedWindow::try_new(QUOTA);
static ON_ANOTHER_CLOCK: SlidingWindowCounter<MonotonicClock> = SlidingWindowCounter::with_clock(QUOTA, MonotonicClock);

#[test]
fn everything_can_be_made_at_compile_time() {
    assert_eq!((RATE, REPORTED), ((3, Duration::from_millis(100), 5), true));
    assert!(LIMITERS.iter().all(|limiter| limiter.try_acquire_n(5).is_ok()));
    assert!(TRIED.as_ref().is_ok_and(|limiter| limiter.try_acquire_n(3).is_ok()));
    assert!(ON_ANOTHER_CLOCK.try_acquire_n(3).is_ok());
}

/// A struct that owns a limiter, one that borrows any, and one that shares any.
struct Owner {
    limiter: LeakyBucket,
}
struct Borrower<'a> {
    limiter: &'a dyn RateLimit,
}
struct Sharer<L: RateLimit + ?Sized> {
    limiter: Arc<L>,
}

#[test]
fn limiters_are_owned_borrowed_and_shared() {
    let owner = Owner { limiter: LeakyBucket::new(Quota::per_hour(4)) };
    assert!(Borrower { limiter: &owner.limiter }.limiter.try_acquire_n(2).is_ok());
    let sharer = Sharer { limiter: Arc::new(owner.limiter) };
    assert!(sharer.limiter.try_acquire().is_ok());
    let any: Sharer<dyn RateLimit> = Sharer { limiter: sharer.limiter };
    assert!(any.limiter.try_acquire().is_ok());
    assert!(any.limiter.try_acquire().is_err());
    let boxed: Vec<Box<dyn RateLimit>> = vec![Box::new(any.limiter), Box::new(TokenBucket::new(Quota::per_hour(1)))];
    assert_eq!(boxed.iter().filter(|limiter| limiter.try_acquire().is_ok()).count(), 1);
}
