//! Lock-free rate limiters for hot paths: every decision is one transition of one atomic word.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod algorithm;
mod cell;
mod clock;
mod decision;
mod limiter;
mod nanos;
mod quota;
mod rate_limit;
mod sharded;
mod sync;
#[cfg(feature = "testing")]
pub mod testing;
mod timeline;

#[cfg(all(feature = "std", not(all(loom, feature = "loom"))))]
pub use clock::CoarseClock;
#[cfg(feature = "quanta")]
pub use clock::QuantaClock;
pub use clock::{Clock, ManualClock, Monotone};
#[cfg(feature = "std")]
pub use clock::{DefaultClock, MonotonicClock};
pub use decision::{Denied, Status};
pub use limiter::{
    FixedWindow, IntervalBucket, LeakyBucket, PackedTokenBucket, RateLimiter, SlidingWindowCounter, TokenBucket,
};
pub use nanos::Nanos;
pub use quota::{Quota, QuotaError};
pub use rate_limit::RateLimit;
pub use sharded::{Handle, ShardedTokenBucket};
pub use timeline::Hint;

/// The pure steps over a sharded limiter's slots, for model checks.
#[cfg(feature = "testing")]
#[doc(hidden)]
pub use sharded::Word as SlotWord;

/// What model checks need to steer.
#[cfg(all(loom, feature = "loom"))]
#[doc(hidden)]
pub mod loom_support {
    pub use crate::sharded::set_index as set_shard;
    pub use crate::sync::model::loads_as_rmw;
}
