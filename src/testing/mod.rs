//! What tests need to judge a limiter: reference models and checks of recorded traces.
//!
//! Nothing here is fast and nothing here is meant for production. [`reference`](mod@reference) holds a slow, obviously
//! correct model of each algorithm; [`trace`] looks through every window of a recorded run. Neither shares any
//! arithmetic with the limiters, so a mistake in one does not hide a mistake in the other.
//!
//! Available with the feature `testing`.

pub mod hammer;
pub mod reference;
pub mod trace;
