//! Places in line: what is promised, in the numbers of field reports, and against a model with a list of intervals.

mod keyed;
mod model;
mod reports;
mod rules;
mod sharded;
mod stress;
mod turns;
