//! Operation: what a service asks of a limiter that is already running.

mod adjustable;
mod snapshot;

pub use adjustable::{AdjustError, AdjustableTokenBucket, CarryOver};
pub use snapshot::{Moment, Snapshot, SnapshotError};
