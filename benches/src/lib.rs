//! The benchmark harness of `tollgate`: engines behind one face, loads that check their own counts, and reports.
//!
//! `cargo run --release -p tollgate-bench` compares the limiters of this crate with baselines and with other crates.
//! `benches/PEERS.md` says how each peer is driven.
//!
//! Each module uses only those before it: [`figures`] are what a measurement leaves behind, [`engine`]s are what is
//! measured, [`run`] runs them, [`show`] makes tables and pictures of figures, [`measure`] has the measurements, and
//! [`record`] keeps them.

pub mod engine;
pub mod figures;
pub mod measure;
pub mod record;
pub mod run;
pub mod show;
