//! Snapshots.

mod checksum;
mod error;
mod format;
mod keyed;
mod limiters;
mod moment;
mod state;

pub use error::SnapshotError;
pub use moment::Moment;
pub use state::Snapshot;
