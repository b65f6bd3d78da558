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
pub mod keyed;
mod limiter;
mod nanos;
mod quota;
mod rate_limit;
mod sync;
mod timeline;

#[cfg(all(feature = "std", not(all(loom, feature = "loom"))))]
pub use clock::CoarseClock;
#[cfg(feature = "quanta")]
pub use clock::QuantaClock;
pub use clock::{Clock, ManualClock, Monotone};
#[cfg(feature = "std")]
pub use clock::{DefaultClock, MonotonicClock};
pub use decision::{Denied, Status};
pub use keyed::{ClientKey, KeyedError, KeyedLimiter};
pub use limiter::{
    FixedWindow, IntervalBucket, LeakyBucket, PackedTokenBucket, RateLimiter, SlidingWindowCounter, TokenBucket,
};
pub use nanos::Nanos;
pub use quota::{Quota, QuotaError};
pub use rate_limit::RateLimit;
pub use timeline::Hint;

/// What model checks need to steer.
#[cfg(all(loom, feature = "loom"))]
#[doc(hidden)]
pub mod loom_support {
    pub use crate::sync::model::loads_as_rmw;

    /// The lines of a keyed limiter's table where a key of this hash may live.
    pub fn lines_of_key(hash: u64, lines: u32) -> [usize; 3] {
        crate::keyed::lines_of_key(hash, lines)
    }
}
