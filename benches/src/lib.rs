//! The benchmark harness of `tollgate`: engines behind one trait, loads that check their own counts, and reports.
//!
//! `cargo run --release -p tollgate-bench` compares the limiters of this crate with baselines and with other crates.
//! `benches/PEERS.md` says how each peer is driven.

pub mod accuracy;
pub mod clock;
pub mod contention;
pub mod engine;
pub mod instructions;
pub mod keyed;
pub mod latency;
pub mod load;
pub mod markdown;
pub mod pace;
pub mod plan;
pub mod plot;
pub mod pool;
pub mod record;
pub mod registry;
pub mod report;
pub mod row;
pub mod single;
pub mod stats;
pub mod writes;
