//! One rate limit over many machines: leases of tokens from Redis, strict.
//!
//! See [`centre`] for the rules and the proof of the bound. Its tests need a `redis-server` and say `NOT CHECKED` without one.
//!
//! Not published yet: the proof is on paper and in tests with faults, a search of all states is still to come.
#![forbid(unsafe_code)]

mod bucket;
pub mod centre;
mod clock;
mod lease;
mod reply;
mod store;
mod terms;

pub use bucket::{Degraded, DistributedTokenBucket, Refused};
pub use reply::{Reply, parse};
pub use store::{Eviction, Store, StoreError};
pub use terms::{Terms, TermsError};
