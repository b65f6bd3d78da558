//! Other crates. `benches/PEERS.md` says how each is driven, and why.

pub mod better_bucket;
pub mod governor;
pub mod leaky_bucket;
pub mod quanta_clock;
pub mod rate_net;
pub mod ratelimit;
