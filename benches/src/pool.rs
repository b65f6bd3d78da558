//! [`Pool`]: threads that are started once and run many measurements.

use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

type Task = Box<dyn FnOnce() + Send>;

/// Threads kept between measurements, so that no measurement pays for starting them.
#[derive(Debug)]
pub struct Pool {
    workers: Vec<(Sender<Task>, JoinHandle<()>)>,
}

impl Pool {
    /// Starts `threads` threads.
    ///
    /// # Panics
    ///
    /// If the operating system has no more threads to give.
    pub fn new(threads: usize) -> Self {
        let worker = |index| {
            let (sender, tasks) = channel::<Task>();
            let body = move || tasks.iter().for_each(|task| task());
            let name = format!("worker-{index}");
            let handle = std::thread::Builder::new().name(name).spawn(body).expect("a thread can be started");
            (sender, handle)
        };
        Self { workers: (0..threads).map(worker).collect() }
    }

    /// Threads in this pool.
    pub fn len(&self) -> usize {
        self.workers.len()
    }

    /// Whether the pool has no threads.
    pub fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    /// Runs `job(index)` on each of the first `threads` threads, and `beside` on the calling thread meanwhile. Returns
    /// what the threads returned, in order of their index.
    ///
    /// # Panics
    ///
    /// If the pool has fewer threads, or with the panic of a job.
    pub fn run<T: Send + 'static>(
        &self,
        threads: usize,
        job: impl Fn(usize) -> T + Send + Sync + 'static,
        beside: impl FnOnce(),
    ) -> Vec<T> {
        assert!(threads <= self.len(), "{threads} threads asked of a pool of {}", self.len());
        let job = Arc::new(job);
        let (sender, results) = channel();
        for (index, (worker, _)) in self.workers[..threads].iter().enumerate() {
            let (job, sender) = (Arc::clone(&job), sender.clone());
            let task = move || {
                let result = catch_unwind(AssertUnwindSafe(|| job(index)));
                drop(job);
                let _ = sender.send((index, result)); // nobody listens once another job has panicked
            };
            worker.send(Box::new(task)).expect("workers end only with the pool");
        }
        drop(sender);
        beside();
        let mut results: Vec<_> = results.iter().collect();
        results.sort_by_key(|&(index, _)| index);
        results.into_iter().map(|(_, result)| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for (sender, handle) in self.workers.drain(..) {
            drop(sender);
            let _ = handle.join(); // tasks catch their panics
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn jobs_run_at_once_on_as_many_threads_as_asked_and_return_in_order() {
        let pool = Pool::new(4);
        for threads in [1, 4, 2] {
            let barrier = Arc::new(Barrier::new(threads + 1));
            let meet = Arc::clone(&barrier);
            let job = move |index| {
                meet.wait(); // would hang if the jobs ran one after another
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
        let pool = Pool::new(2);
        let job = |index| assert_ne!(index, 1, "the second job fails");
        assert!(catch_unwind(AssertUnwindSafe(|| pool.run(2, job, || ()))).is_err());
        assert_eq!(pool.run(2, |index| index, || ()), [0, 1]);
    }
}
