//! How engines are run: on which threads, for how long, in which order; and what a run comes to.

pub mod options;
pub mod pace;
pub mod plan;
pub mod pool;
pub mod rounds;
pub mod sample;
pub mod slice;
pub mod stage;
pub mod timer;
pub mod verdict;

/// Cores that threads can run on at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, core::num::NonZeroUsize::get)
}
