//! [`Pool`]: threads that are started once and run many measurements.

use core::panic::AssertUnwindSafe;
use core_affinity::CoreId;
use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// What a thread is to do next.
type Job = Box<dyn FnOnce() + Send>;

/// Threads kept between measurements, so that no measurement pays for starting them. Those without work sleep.
#[derive(Debug)]
pub struct Pool {
    /// As many threads as asked for, apart for each number: whatever a limiter knows of its threads, a measurement with two
    /// of them must not depend on which two of sixty-four they are.
    teams: Mutex<BTreeMap<usize, Vec<Sender<Job>>>>,
    /// Where threads can run; none if the system does not say.
    cores: Vec<CoreId>,
}

impl Default for Pool {
    fn default() -> Self {
        Self { teams: Mutex::default(), cores: core_affinity::get_core_ids().unwrap_or_default() }
    }
}

impl Pool {
    /// Threads that do what they are sent for as long as there is a pool.
    ///
    /// They are tied to the cores in turn. A scheduler that has woken two threads on one core takes longer to part them
    /// than a measurement lasts.
    fn team(&self, size: usize) -> Vec<Sender<Job>> {
        let worker = |index: usize| {
            let (sender, jobs) = mpsc::channel::<Job>();
            let core = self.cores.get(index % self.cores.len().max(1)).copied();
            let work = move || {
                core.map(core_affinity::set_for_current); // where that is not allowed, the scheduler decides
                for job in jobs {
                    job();
                }
            };
            Builder::new().name(format!("worker-{index}")).spawn(work).expect("threads can be started");
            sender
        };
        (0..size).map(worker).collect()
    }

    /// Runs `job(index)` on `threads` threads at once, and `beside` on the calling thread meanwhile. Returns what the
    /// jobs returned, in order of their index. Nobody holds `job` any more when it returns.
    ///
    /// # Panics
    ///
    /// If `threads` is 0, if the operating system has no more to give, or with the panic of a job.
    pub fn run<T: Send + 'static>(
        &self,
        threads: usize,
        job: impl Fn(usize) -> T + Send + Sync + 'static,
        beside: impl FnOnce(),
    ) -> Vec<T> {
        assert!(threads > 0, "somebody has to do the work");
        let job = Arc::new(job);
        let (give, results) = mpsc::channel();
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        let team = teams.entry(threads).or_insert_with(|| self.team(threads));
        for (index, worker) in team.iter().enumerate() {
            let (job, give) = (Arc::clone(&job), give.clone());
            let work = move || {
                let result = catch_unwind(AssertUnwindSafe(|| job(index)));
                drop(job);
                let _ = give.send((index, result)); // whoever asked waits for it, or has panicked
            };
            worker.send(Box::new(work)).expect("a thread lives as long as its pool");
        }
        drop((teams, give));
        beside();
        let mut results: Vec<_> = results.iter().collect();
        results.sort_by_key(|&(index, _)| index);
        results.into_iter().map(|(_, result)| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn jobs_run_at_once_on_as_many_threads_as_asked_and_return_in_order() {
        let pool = Pool::default();
        for threads in [1, 4, 2] {
            let barrier = Arc::new(Barrier::new(threads + 1));
            let met = Arc::clone(&barrier);
            let job = move |index| {
                met.wait(); // would hang if the jobs ran one after another
                index * 10
            };
            let results = pool.run(threads, job, || {
                barrier.wait();
            });
            assert_eq!(results, (0..threads).map(|index| index * 10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_panic_in_a_job_reaches_the_caller_and_the_pool_stays_usable() {
        let pool = Pool::default();
        let job = |index| assert_ne!(index, 1, "the second job fails");
        assert!(catch_unwind(AssertUnwindSafe(|| pool.run(2, job, || ()))).is_err());
        assert_eq!(pool.run(2, |index| index, || ()), [0, 1]);
    }
}
