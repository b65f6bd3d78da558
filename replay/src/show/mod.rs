//! What came of a replay, for people and for programs.

pub mod figures;
pub mod progress;
pub mod report;
