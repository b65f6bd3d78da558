//! One rate limit over many machines: leases of tokens from Redis, strict.
//!
//! See [`docs`] for when to use it, how to choose sizes and what to watch, and [`centre`] for the rules and the proof of the
//! bound. Its tests need a `redis-server` and say `NOT CHECKED` without one.
//!
//! The proof is on paper, in tests with faults, and in a search of all states within small bounds.
#![forbid(unsafe_code)]

mod asking;
mod backoff;
mod bucket;
pub mod centre;
mod clock;
#[cfg(any(doc, doctest))]
pub mod docs;
mod keys;
mod lease;
mod limiter;
mod member;
mod quiet;
mod refused;
mod reply;
mod servers;
#[cfg(test)]
mod simulation;
mod store;
mod terms;

pub use bucket::DistributedTokenBucket;
pub use limiter::DistributedKeyedLimiter;
pub use refused::{Degraded, Refused};
pub use reply::{Reply, parse};
pub use servers::Servers;
pub use store::{Eviction, Store, StoreError};
pub use terms::{Terms, TermsError};
