//! One rate limit over many machines: leases of tokens from Redis, strict.
//!
//! See [`centre`] for the rules and the proof of the bound.
#![forbid(unsafe_code)]

pub mod centre;
mod reply;
mod terms;

pub use reply::{Reply, parse};
pub use terms::{Terms, TermsError};
