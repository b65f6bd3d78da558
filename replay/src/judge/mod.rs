//! Limiters put to arrivals, and what they decide: no files, no clocks.

pub mod comparison;
pub mod exact_log;
pub mod limiter;
pub mod peak;
pub mod sliding_sum;
