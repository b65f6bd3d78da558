//! Lines of a log read as arrivals: pure, and free of panics for any bytes.
//!
//! One file for each format; each finds the fields that are asked for in a line, and [`lines`] says what they mean.

mod alb;
pub(crate) mod columns;
mod delimited;
mod json;
pub mod lines;
mod names;
mod prefix;
mod server;
mod values;
mod w3c;
pub mod wanted;
