//! How lines of a log are written.

pub mod parse;
