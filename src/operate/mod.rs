//! Operation: what a service asks of a limiter that is already running.

mod adjustable;

pub use adjustable::{AdjustError, AdjustableTokenBucket, CarryOver};
