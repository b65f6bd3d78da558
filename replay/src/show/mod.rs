//! What came of a replay, for people and for programs.

pub mod found;
pub mod output;
pub mod plot;
pub mod rows;
pub mod table;
