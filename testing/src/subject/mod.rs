//! A limiter under test, beside the reference model of its algorithm, on a clock moved by hand.

mod kind;
mod pair;

pub use kind::{Kind, units_per_token};
pub use pair::Pair;

/// A limiter that is told the time, on a clock moved by hand.
pub type Subject = dyn tollgate::RateLimitAt + Send + Sync;
