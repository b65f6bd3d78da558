//! A consumer of `tollgate` that names every public type, and relies on types that are not the same not being the same.
//!
//! What stands outside of a `cfg` must compile whatever features are on, for another crate may turn any of them on.

#![no_std]

use tollgate::algorithm::{Algorithm, ContinuedCounter, ContinuedWindow, Gcra, Packed, SlidingCounter, Window};
use tollgate::keyed::{Class, Classes, SeededHasher};
use tollgate::{
    AdjustError, Adjustable, AdjustableFixedWindow, AdjustableIntervalBucket, AdjustableLimiter,
    AdjustableSlidingWindowCounter, AdjustableTokenBucket, BuildError, CarryOver, ClientKey, Clock, Counted, Counts,
    Debtor, Denied, DeniedBy, Fingerprint, FixedWindow, Handle, Hint, IntervalBucket, KeyedError, KeyedLimiter,
    KeyedLine, KeyedPlace, KeyedRateLimit, LeakyBucket, LimitSet, LimitSetError, Line, ManualClock, Moment, Monotone,
    Nanos, Occupancy, OwnedKeyedLine, PackedTokenBucket, ParseQuotaError, Place, Places, Quota, QuotaError, RateLimit,
    RateLimitAt, RateLimiter, SeededState, ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog, Snapshot,
    SnapshotError, Status, Steady, Step, Taken, TokenBucket, Turns, WaitingTokenBucket,
};

/// For each type once: two names of one type would be a conflict.
pub trait Distinct {}

/// Implements [`Distinct`].
macro_rules! distinct {
    ($($name:ty),* $(,)?) => { $(impl Distinct for $name {})* };
}

distinct!(
    AdjustError,
    BuildError,
    CarryOver,
    Classes,
    ClientKey,
    ContinuedCounter,
    ContinuedWindow,
    Counts,
    Debtor,
    Denied,
    DeniedBy,
    Fingerprint,
    Gcra,
    Hint,
    KeyedError,
    LimitSetError,
    ManualClock,
    Moment,
    Nanos,
    Occupancy,
    Packed,
    ParseQuotaError,
    Quota,
    QuotaError,
    SeededHasher,
    SeededState,
    SlidingCounter,
    Snapshot,
    SnapshotError,
    Status,
    Step,
    Taken,
    Window,
);
impl<A, C> Distinct for RateLimiter<A, C> {}
impl<C> Distinct for Monotone<C> {}
impl<C> Distinct for Steady<C> {}
impl<C> Distinct for Handle<'_, C> {}
impl<C> Distinct for ShardedTokenBucket<C> {}
impl<C> Distinct for SlidingWindowLog<C> {}
impl<A, C> Distinct for AdjustableLimiter<A, C> {}
impl<L> Distinct for Counted<L> {}
impl<L, const N: usize, C> Distinct for LimitSet<L, N, C> {}
impl<C> Distinct for WaitingTokenBucket<C> {}
impl<K: ?Sized, S, C> Distinct for KeyedLimiter<K, S, C> {}
impl<K: ?Sized, S, C> Distinct for Class<'_, K, S, C> {}
impl<L: Line> Distinct for Place<L> {}
impl<L: Line, const N: usize> Distinct for Places<L, N> {}
impl<K: ?Sized, S, C> Distinct for KeyedLine<'_, K, S, C> {}
impl<K: ?Sized, S, C> Distinct for OwnedKeyedLine<K, S, C> {}
impl<L> Distinct for Turns<L> {}

/// The alias, which is a [`Place`].
pub type ByKey<'a, K, S, C> = KeyedPlace<'a, K, S, C>;

/// The same, with a share in the limiter.
pub type OwnedByKey<K, S, C> = tollgate::OwnedKeyedPlace<K, S, C>;

/// The aliases, on any clock.
#[derive(Debug)]
pub struct Aliases<C> {
    /// See [`TokenBucket`].
    pub tokens: TokenBucket<C>,
    /// See [`LeakyBucket`].
    pub leaky: LeakyBucket<C>,
    /// See [`PackedTokenBucket`].
    pub packed: PackedTokenBucket<C>,
    /// See [`FixedWindow`].
    pub window: FixedWindow<C>,
    /// See [`IntervalBucket`].
    pub interval: IntervalBucket<C>,
    /// See [`SlidingWindowCounter`].
    pub counter: SlidingWindowCounter<C>,
    /// See [`AdjustableTokenBucket`].
    pub adjustable: AdjustableTokenBucket<C>,
    /// See [`AdjustableFixedWindow`].
    pub adjustable_window: AdjustableFixedWindow<C>,
    /// See [`AdjustableIntervalBucket`].
    pub adjustable_interval: AdjustableIntervalBucket<C>,
    /// See [`AdjustableSlidingWindowCounter`].
    pub adjustable_counter: AdjustableSlidingWindowCounter<C>,
}

/// The traits, as bounds.
pub fn bounds<A: Algorithm, B: Adjustable, C: Clock, L: RateLimitAt, K: KeyedRateLimit<u64>>(
    limiter: &RateLimiter<A, C>,
    adjustable: &AdjustableLimiter<B, C>,
    other: &L,
    keyed: &K,
) -> [Result<(), Denied>; 4] {
    [RateLimit::try_acquire(limiter), adjustable.try_acquire(), other.try_acquire(), keyed.try_acquire(&1)]
}

/// With the clocks of `std`, and without the name of one.
#[cfg(feature = "std")]
mod with_std {
    use super::Distinct;
    use tollgate::{
        AdjustableFixedWindow, AdjustableIntervalBucket, AdjustableSlidingWindowCounter, AdjustableTokenBucket,
        DefaultClock, FixedWindow, HeavyKey, HeavyKeys, IntervalBucket, KeyedLimiter, LeakyBucket, LimitSet,
        MonotonicClock, Pacer, PackedTokenBucket, Retrying, ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog,
        Throttled, Tick, TokenBucket, WaitingTokenBucket, WallClock,
    };

    distinct!(DefaultClock, MonotonicClock, Tick, WallClock);
    impl<K> Distinct for HeavyKey<K> {}
    impl<K, S> Distinct for HeavyKeys<K, S> {}
    impl<C> Distinct for Pacer<C> {}
    impl<R, C> Distinct for Retrying<R, C> {}
    impl<T, L> Distinct for Throttled<T, L> {}
    #[cfg(not(loom))]
    distinct!(tollgate::CoarseClock);

    type OnTheDefaultClock = (
        TokenBucket,
        LeakyBucket,
        PackedTokenBucket,
        FixedWindow,
        IntervalBucket,
        SlidingWindowCounter,
        SlidingWindowLog,
        ShardedTokenBucket,
        WaitingTokenBucket,
        (AdjustableTokenBucket, AdjustableFixedWindow, AdjustableIntervalBucket, AdjustableSlidingWindowCounter),
        KeyedLimiter<str>,
        LimitSet<TokenBucket, 2>,
    );
    impl Distinct for OnTheDefaultClock {}
}

/// With `quanta`, whose clock is another than the default one.
#[cfg(feature = "quanta")]
mod with_quanta {
    use super::Distinct;

    distinct!(tollgate::QuantaClock);
}

/// With `async`.
#[cfg(feature = "async")]
mod with_async {
    use super::{Distinct, Line};
    use tollgate::{Acquire, JointTurn, Timer, Turn};

    impl<P, S> Distinct for JointTurn<P, S> {}
    impl<L: Line> Distinct for Turn<L> where L::Clock: Timer {}
    impl<L: Line> Distinct for Acquire<L> where L::Clock: Timer {}
    #[cfg(all(feature = "std", not(loom)))]
    distinct!(tollgate::Alarm);
    #[cfg(feature = "std")]
    impl<R, C: Timer> Distinct for tollgate::Retry<'_, R, C> {}
    #[cfg(feature = "std")]
    impl<C: Timer> Distinct for tollgate::Ticks<C> {}
    #[cfg(feature = "tokio")]
    impl<T, L: Line> Distinct for tollgate::AsyncThrottled<T, L> where L::Clock: Timer {}
    #[cfg(feature = "tokio")]
    distinct!(tollgate::TokioClock);
    #[cfg(feature = "async-io")]
    distinct!(tollgate::AsyncIoClock);
}

/// With `serde`.
#[cfg(feature = "serde")]
mod with_serde {
    use super::Distinct;

    fn is_read_and_written<T: serde::Serialize + for<'a> serde::Deserialize<'a>>() {}
    const _: fn() = is_read_and_written::<tollgate::Quota>;
    impl Distinct for [tollgate::Quota; 2] {}
}
