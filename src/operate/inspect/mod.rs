//! Looking inside, from outside: what is counted beside a limiter, by whoever wants to know.

mod counted;
#[cfg(feature = "std")]
mod heavy_keys;

pub use counted::{Counted, Counts};
#[cfg(feature = "std")]
pub use heavy_keys::{HeavyKey, HeavyKeys};
