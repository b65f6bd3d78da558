//! From a file to arrivals in time.

mod arrivals;
pub mod source;
pub mod timebase;
