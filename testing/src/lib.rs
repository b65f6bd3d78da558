//! What tests need to judge a limiter: reference models and checks of recorded traces.
//!
//! Nothing here is fast and nothing here is meant for production. [`reference`](mod@reference) holds a slow, obviously
//! correct model of each algorithm; [`trace`] looks through every window of a recorded run. Neither shares any
//! arithmetic with the limiters, so a mistake in one does not hide a mistake in the other. [`hammer`] beats on any limiter
//! from many threads; [`subject`] puts a limiter beside its model, and [`waiting`] a line beside its own.
//!
pub mod hammer;
pub mod reference;
pub mod subject;
pub mod trace;
pub mod waiting;
