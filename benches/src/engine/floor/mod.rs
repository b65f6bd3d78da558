//! What no limiter can do without.

pub mod clock;
pub mod rmw;
