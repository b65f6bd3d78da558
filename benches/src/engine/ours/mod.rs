//! The limiters of this crate.

pub mod fixed_window;
pub mod handle;
pub mod interval;
pub mod leaky_bucket;
pub mod packed;
pub mod sharded;
pub mod sliding_counter;
pub mod sliding_log;
pub mod token_bucket;
