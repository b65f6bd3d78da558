//! Limiters behind a mutex, as one would write them oneself.

pub mod mutex_log;
pub mod mutex_parking_lot;
pub mod mutex_same_step;
pub mod mutex_std;
