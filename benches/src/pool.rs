//! [`Pool`]: threads that are started once and run many measurements.

use core_affinity::CoreId;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Threads kept between measurements, so that no measurement pays for starting them. Those without work sleep.
#[derive(Debug)]
pub struct Pool {
    /// As many threads as asked for, apart for each number: whatever a limiter knows of its threads, a measurement with two
    /// of them must not depend on which two of sixty-four they are.
    threads: Mutex<BTreeMap<usize, Arc<ThreadPool>>>,
    /// Where threads can run; none if the system does not say.
    cores: Vec<CoreId>,
}

impl Default for Pool {
    fn default() -> Self {
        Self { threads: Mutex::default(), cores: core_affinity::get_core_ids().unwrap_or_default() }
    }
}

impl Pool {
    /// `count` threads, started when they are first asked for.
    fn threads(&self, count: usize) -> Arc<ThreadPool> {
        let start = || {
            let builder = ThreadPoolBuilder::new().num_threads(count);
            Arc::new(builder.thread_name(|index| format!("worker-{index}")).build().expect("threads can be started"))
        };
        Arc::clone(self.threads.lock().unwrap_or_else(PoisonError::into_inner).entry(count).or_insert_with(start))
    }

    /// Runs `job(index)` on `threads` threads at once, and `beside` on the calling thread meanwhile. Returns what the
    /// jobs returned, in order of their index.
    ///
    /// Jobs are tied to the cores in turn. A scheduler that has woken two threads on one core takes longer to part them
    /// than a measurement lasts.
    ///
    /// # Panics
    ///
    /// If `threads` is 0, if the operating system has no more to give, or with the panic of a job.
    pub fn run<T: Send>(&self, threads: usize, job: impl Fn(usize) -> T + Sync, beside: impl FnOnce()) -> Vec<T> {
        assert!(threads > 0, "somebody has to do the work");
        let mut results: Vec<_> = (0..threads).map(|_| None).collect();
        self.threads(threads).in_place_scope(|scope| {
            for (index, result) in results.iter_mut().enumerate() {
                let job = &job;
                scope.spawn(move |_| {
                    if let Some(&core) = self.cores.get(index % self.cores.len().max(1)) {
                        core_affinity::set_for_current(core); // where that is not allowed, the scheduler decides
                    }
                    *result = Some(job(index));
                });
            }
            beside();
        });
        results.into_iter().map(|result| result.expect("every job has returned")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::panic::AssertUnwindSafe;
    use std::panic::catch_unwind;
    use std::sync::Barrier;

    #[test]
    fn jobs_run_at_once_on_as_many_threads_as_asked_and_return_in_order() {
        let pool = Pool::default();
        for threads in [1, 4, 2] {
            let barrier = Barrier::new(threads + 1);
            let job = |index| {
                barrier.wait(); // would hang if the jobs ran one after another
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
