//! What single fields of a log mean: instants, clients and numbers.

pub mod client;
pub mod instant;
pub mod malformed;
pub mod number;
