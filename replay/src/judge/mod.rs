//! Limiters put to arrivals, and what they decide: no files, no clocks.

pub mod algorithm;
pub mod comparison;
pub mod course;
mod exact_log;
mod lane;
pub mod limiters;
pub mod peak;
mod queue;
pub mod sliding_sum;
pub mod suggest;
pub mod tally;
