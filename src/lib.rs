//! Lock-free rate limiters for hot paths: strict, exact, and a decision is an atomic step or two.
//!
//! ```
//! use tollgate::{Quota, TokenBucket};
//!
//! // 100 requests per second, at most 20 at once. A plain static: nothing to initialise.
//! static GATE: TokenBucket = TokenBucket::new(Quota::per_second(100).with_burst(20));
//!
//! match GATE.try_acquire() {
//!     Ok(()) => { /* go ahead */ }
//!     Err(denied) => println!("come back in {:?}", denied.retry_after()),
//! }
//! ```
//!
//! # Promises, in this order
//!
//! 1. **Strict.** For any two clock readings `s <= t`, a bucket admits at most `burst + rate * (t - s)` with readings in
//!    `[s, t]`, to a unit of its scale (a part of a token below 2e9 per second), under any interleaving of threads and with
//!    clocks that jump back or disagree. Each algorithm documents its own bound.
//! 2. **Exact.** Rates are fractions and time is absolute: nothing drifts. A hint is exact: refused one nanosecond
//!    before, admitted at it.
//! 3. **Fast.** An admission is about one atomic read-modify-write; a refusal writes nothing,
//!    or (a sharded bucket) a note in its own slot.
//!
//! # Where to start
//!
//! * [`Quota`]: how many tokens, how often, how many at once.
//! * [`TokenBucket`], the usual choice; [`LeakyBucket`], [`PackedTokenBucket`], [`FixedWindow`], [`IntervalBucket`],
//!   [`SlidingWindowCounter`]: one word each.
//! * [`ShardedTokenBucket`] and its [`Handle`]s, for many cores; [`KeyedLimiter`], for many clients; [`SlidingWindowLog`],
//!   exact in every window.
//! * [`WaitingTokenBucket`], for callers that wait until their turn: threads, and tasks of any runtime.
//! * [`AdjustableTokenBucket`] and its like, whose quota can be changed while they are used; [`Snapshot`], the state of a limiter as bytes;
//!   [`Counted`] and [`HeavyKeys`], to look inside.
//! * [`RateLimit`], the trait of every limiter without keys; [`RateLimitAt`], of those that can be told the time;
//!   [`KeyedRateLimit`], of limits by key.
//! * [`Denied`] and [`Status`]: what a caller gets back.
//! * [`Clock`]: where the time comes from. [`ManualClock`] makes tests exact.
//!
//! The essays under `docs` say how the algorithms compare, how to wait, how to operate a limiter, why relaxed atomics are
//! enough, what is verified and how, and where the limits are.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

portable_atomic::cfg_no_atomic_64! {
    compile_error!(
        "tollgate needs 64-bit atomics, and this target has none. They can be emulated with a lock: add \
         `portable-atomic = { version = \"1\", features = [\"fallback\"] }` to your dependencies."
    );
}

pub mod algorithm;
mod banks;
mod build_error;
mod cell;
mod clock;
mod decision;
#[cfg(any(doc, doctest))]
pub mod docs;
pub mod keyed;
mod lease;
mod limiter;
mod nanos;
mod operate;
mod quota;
mod rate_limit;
mod sharded;
mod sync;
mod taken;
mod timeline;
mod wait;
mod window_log;

pub use build_error::BuildError;
#[cfg(all(feature = "async", feature = "std", not(all(loom, feature = "loom"))))]
pub use clock::Alarm;
#[cfg(feature = "async-io")]
pub use clock::AsyncIoClock;
#[cfg(all(feature = "std", not(all(loom, feature = "loom"))))]
pub use clock::CoarseClock;
#[cfg(feature = "quanta")]
pub use clock::QuantaClock;
#[cfg(feature = "async")]
pub use clock::Timer;
#[cfg(feature = "tokio")]
pub use clock::TokioClock;
pub use clock::{Clock, ManualClock, Monotone, Steady, Step};
#[cfg(feature = "std")]
pub use clock::{DefaultClock, MonotonicClock, WallClock};
pub use decision::{Denied, Status};
pub use keyed::{ClientKey, Debtor, Fingerprint, KeyedError, KeyedLimiter, Occupancy, SeededState};
pub use limiter::{
    FixedWindow, IntervalBucket, LeakyBucket, PackedTokenBucket, RateLimiter, SlidingWindowCounter, TokenBucket,
};
pub use nanos::Nanos;
pub use operate::{
    AdjustError, Adjustable, AdjustableFixedWindow, AdjustableIntervalBucket, AdjustableLimiter,
    AdjustableSlidingWindowCounter, AdjustableTokenBucket, CarryOver, Counted, Counts, DeniedBy, LimitSet,
    LimitSetError, Moment, Snapshot, SnapshotError,
};
#[cfg(feature = "std")]
pub use operate::{HeavyKey, HeavyKeys};
pub use quota::{ParseQuotaError, Quota, QuotaError};
pub use rate_limit::{KeyedRateLimit, RateLimit, RateLimitAt};
pub use sharded::{Handle, ShardedTokenBucket};
pub use taken::Taken;
pub use timeline::Hint;
#[cfg(feature = "tokio")]
pub use wait::AsyncThrottled;
#[cfg(feature = "async")]
pub use wait::{Acquire, JointTurn, Turn};
pub use wait::{
    KeyedLine, KeyedPlace, Line, OwnedKeyedLine, OwnedKeyedPlace, Place, Places, Turns, WaitingTokenBucket,
};
#[cfg(feature = "std")]
pub use wait::{Pacer, Retrying, Throttled, Tick};
#[cfg(all(feature = "std", feature = "async"))]
pub use wait::{Retry, Ticks};
pub use window_log::SlidingWindowLog;

/// What model checks need to steer, and to see.
#[cfg(feature = "loom")]
#[doc(hidden)]
pub mod loom_support {
    #[cfg(loom)]
    pub use crate::lease::set_index as set_shard;
    #[cfg(loom)]
    pub use crate::sync::model::loads_as_rmw;
    pub use crate::wait::end_of;

    /// The words of sharded buckets.
    pub mod lease {
        pub use crate::lease::{Quiet, Word};
    }

    /// The words of keyed tables.
    pub mod keyed {
        pub use crate::keyed::word::{State, Word};
    }

    /// The lines of a keyed limiter's table where a key of this hash may live.
    #[cfg(loom)]
    pub fn lines_of_key(hash: u64, lines: u32) -> [usize; 3] {
        crate::keyed::lines_of_key(hash, lines)
    }
}

/// The examples in README.md compile and hold.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
