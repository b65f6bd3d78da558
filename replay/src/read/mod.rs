//! From files to arrivals in the order of time, and to whoever judges them.

mod file;
pub mod keys;
mod log;
mod order;
pub mod paths;
pub mod replay;
mod spread;
pub mod timebase;
