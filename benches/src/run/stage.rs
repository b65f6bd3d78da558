//! [`stage`]: threads that begin at once and go on until they are stopped. Every timed run goes through it.

use super::pool::Pool;
use super::verdict::Evidence;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use std::sync::{Arc, Barrier};
use std::time::Instant;

/// How the threads of a run begin and end.
#[derive(Debug)]
pub struct Signal {
    barrier: Barrier,
    stop: CachePadded<AtomicBool>,
}

impl Signal {
    /// This thread is ready; returns as soon as all are.
    pub fn begin(&self) {
        self.barrier.wait();
    }

    /// Whether the time is up.
    #[inline]
    pub fn is_over(&self) -> bool {
        // ORDERING: relaxed, for it publishes nothing; the threads see it when they see it.
        self.stop.load(Ordering::Relaxed)
    }
}

/// What one thread did.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Calls made.
    pub ops: u64,
    /// Calls admitted.
    pub admitted: u64,
    /// When the first call began.
    pub start: Instant,
    /// When the last call had ended.
    pub end: Instant,
}

/// What the threads of a run did together.
#[derive(Debug)]
pub struct Run<T> {
    /// What all of them did.
    pub seen: Evidence,
    /// Calls of the thread that made the fewest.
    pub thread_min: u64,
    /// Calls of the thread that made the most.
    pub thread_max: u64,
    /// What each thread brought back beside.
    pub details: Vec<T>,
}

/// Has `threads` threads do `job`, each with its number, and stops them `length` after the last has called
/// [`Signal::begin`].
///
/// # Panics
///
/// If the operating system has no more threads to give, or with the panic of a job.
pub fn stage<T: Send + 'static>(
    pool: &Pool,
    threads: usize,
    length: Duration,
    job: impl Fn(usize, &Signal) -> (Tally, T) + Send + Sync + 'static,
) -> Run<T> {
    let signal =
        Arc::new(Signal { barrier: Barrier::new(threads + 1), stop: CachePadded::new(AtomicBool::new(false)) });
    let of_threads = Arc::clone(&signal);
    let results = pool.run(
        threads,
        move |thread| job(thread, &of_threads),
        || {
            signal.begin();
            std::thread::sleep(length);
            // ORDERING: relaxed, as where it is looked at.
            signal.stop.store(true, Ordering::Relaxed);
        },
    );
    let (tallies, details): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let start = tallies.iter().map(|tally: &Tally| tally.start).min().expect("at least one thread");
    let end = tallies.iter().map(|tally| tally.end).max().expect("at least one thread");
    let ops = tallies.iter().map(|tally| tally.ops);
    Run {
        seen: Evidence {
            ops: ops.clone().sum(),
            admitted: tallies.iter().map(|tally| tally.admitted).sum(),
            elapsed: end - start,
        },
        thread_min: ops.clone().min().unwrap_or(0),
        thread_max: ops.max().unwrap_or(0),
        details,
    }
}
