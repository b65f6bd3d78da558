//! What a measurement leaves behind: rows of a csv, what was wrong with them, and the arithmetic on them.

pub mod error;
pub mod outcome;
pub mod row;
pub mod stats;
