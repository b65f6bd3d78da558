//! One timed run of one engine: the only place where throughput is measured.

use crate::engine::{Caller, Engine, Kind};
use crate::load::{Evidence, Load, verify};
use crate::pool::Pool;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use std::sync::Barrier;
use std::time::Instant;

/// Calls between two looks at the stop flag.
const BATCH: u64 = 64;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// The kind of traffic.
    pub load: Load,
    /// Threads that call the engine.
    pub threads: usize,
    /// For how long.
    pub length: Duration,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Calls of all threads.
    pub ops: u64,
    /// Calls that were admitted.
    pub admitted: u64,
    /// From the first call of any thread to the last of any thread: never less than the time the calls took.
    pub seconds: f64,
    /// Calls of the thread that made the fewest.
    pub thread_min: u64,
    /// Calls of the thread that made the most.
    pub thread_max: u64,
    /// Whether the admitted count can be right.
    pub verdict: Result<(), String>,
}

/// What the threads of a run share.
struct Stage<E> {
    engine: CachePadded<E>,
    stop: CachePadded<AtomicBool>,
    barrier: Barrier,
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

/// What the threads of a run did together, and what each brought back beside.
#[derive(Debug)]
pub struct Run<T> {
    /// The counts.
    pub seen: Evidence,
    /// Whether they can be right.
    pub verdict: Result<(), String>,
    /// What each thread returned beside its tally.
    pub details: Vec<T>,
}

/// Measures the throughput of an engine once.
///
/// # Panics
///
/// If the operating system has no more threads to give.
pub fn measure<E: Engine>(pool: &Pool, slice: Slice) -> Sample {
    let Run { seen, verdict, details } = run::<E, _>(pool, slice, |caller, stop, most| {
        let tally = drive::<E>(caller, stop, most);
        (tally, tally.ops)
    });
    Sample {
        ops: seen.ops,
        admitted: seen.admitted,
        seconds: seen.elapsed.as_secs_f64(),
        thread_min: details.iter().copied().min().unwrap_or(0),
        thread_max: details.iter().copied().max().unwrap_or(0),
        verdict,
    }
}

/// Builds an engine, has `slice.threads` threads `drive` it until they are stopped after `slice.length`, and judges
/// what it admitted. `drive` gets a thread's access to the engine, the stop flag, and the most calls it may make.
///
/// # Panics
///
/// If the operating system has no more threads to give.
pub fn run<E: Engine, T: Send>(
    pool: &Pool,
    slice: Slice,
    drive: impl Fn(&mut E::Caller<'_>, &AtomicBool, u64) -> (Tally, T) + Sync,
) -> Run<T> {
    let Slice { load, threads, length } = slice;
    let quota = E::quota(load);
    let engine = E::build(quota);
    if load == Load::Deny && E::KIND != Kind::Floor {
        drain(&engine, quota.burst());
    }
    let most = if load == Load::Admit { E::supply(quota) / threads as u64 } else { u64::MAX };
    let stage = Stage {
        engine: CachePadded::new(engine),
        stop: CachePadded::new(AtomicBool::new(false)),
        barrier: Barrier::new(threads + 1),
    };
    let job = |_| {
        let mut caller = stage.engine.caller();
        stage.barrier.wait();
        drive(&mut caller, &stage.stop, most)
    };
    let results = pool.run(threads, job, || {
        stage.barrier.wait();
        std::thread::sleep(length);
        // ORDERING: relaxed, for it publishes nothing; the threads see it when they see it.
        stage.stop.store(true, Ordering::Relaxed);
    });
    let (tallies, details): (Vec<_>, Vec<_>) = results.into_iter().unzip();

    let start = tallies.iter().map(|tally| tally.start).min().expect("at least one thread");
    let end = tallies.iter().map(|tally| tally.end).max().expect("at least one thread");
    let seen = Evidence {
        ops: tallies.iter().map(|tally| tally.ops).sum(),
        admitted: tallies.iter().map(|tally| tally.admitted).sum(),
        elapsed: end - start,
    };
    // A floor admits everything, whatever the load.
    let judged = if E::KIND == Kind::Floor { Load::Admit } else { load };
    Run { seen, verdict: verify(judged, quota, E::bound(quota, seen.elapsed), seen), details }
}

/// Takes tokens until there are none.
///
/// # Panics
///
/// If there were none to begin with.
pub fn drain<E: Engine>(engine: &E, burst: u64) {
    let mut caller = engine.caller();
    let taken = (0..=burst).take_while(|_| caller.try_acquire()).count();
    assert!(taken > 0, "{} was empty before it was drained", E::NAME);
}

/// The timed loop.
#[inline(never)]
fn drive<E: Engine>(caller: &mut E::Caller<'_>, stop: &AtomicBool, most: u64) -> Tally {
    let (mut ops, mut admitted) = (0, 0);
    let start = Instant::now();
    loop {
        let batch = BATCH.min(most - ops);
        for _ in 0..batch {
            admitted += u64::from(caller.try_acquire());
        }
        ops += batch;
        // A thread that got no core before the end makes one batch of calls all the same.
        // ORDERING: relaxed, see the store.
        if stop.load(Ordering::Relaxed) || ops == most {
            break;
        }
    }
    Tally { ops, admitted, start, end: Instant::now() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Shared;
    use crate::engine::baseline::mutex_std::MutexStd;
    use tollgate::Quota;

    fn slice(load: Load) -> Slice {
        Slice { load, threads: 2, length: Duration::from_millis(5) }
    }

    #[test]
    fn a_right_engine_passes_under_every_load() {
        let pool = Pool::default();
        for load in Load::ALL {
            let sample = measure::<MutexStd>(&pool, slice(load));
            assert_eq!(sample.verdict, Ok(()), "{load}");
            assert!(sample.ops >= BATCH && sample.thread_min <= sample.thread_max, "{load}: {sample:?}");
            assert!(sample.seconds > 0.0);
        }
    }

    /// Answers the same whatever it is asked, once it has answered `true` to the first `COUNT` calls.
    struct Stuck<const ANSWER: bool>(AtomicBool);

    impl<const ANSWER: bool> Engine for Stuck<ANSWER> {
        const NAME: &'static str = "stuck";
        const VERSION: &'static str = "test";
        const CLOCK: &'static str = "none";
        const KIND: Kind = Kind::Peer;
        type Caller<'a> = &'a Self;

        fn build(_: Quota) -> Self {
            Self(AtomicBool::new(true))
        }

        fn caller(&self) -> &Self {
            self
        }
    }

    impl<const ANSWER: bool> Shared for Stuck<ANSWER> {
        fn try_acquire(&self) -> bool {
            // ORDERING: relaxed, one call only has to be the first.
            self.0.swap(false, Ordering::Relaxed) || ANSWER
        }
    }

    #[test]
    fn an_engine_that_always_says_the_same_is_found_out() {
        let pool = Pool::default();
        assert!(measure::<Stuck<true>>(&pool, slice(Load::Deny)).verdict.is_err());
        assert!(measure::<Stuck<false>>(&pool, slice(Load::Admit)).verdict.is_err());
    }
}
