//! Operation: what a service asks of a limiter that is already running.

mod adjustable;
mod inspect;
mod several;
mod snapshot;

pub use adjustable::{
    AdjustError, Adjustable, AdjustableFixedWindow, AdjustableIntervalBucket, AdjustableLimiter,
    AdjustableSlidingWindowCounter, AdjustableTokenBucket, CarryOver,
};
pub use inspect::{Counted, Counts};
#[cfg(feature = "std")]
pub use inspect::{HeavyKey, HeavyKeys};
pub use several::{DeniedBy, LimitSet, LimitSetError};
pub use snapshot::{Moment, Snapshot, SnapshotError};
