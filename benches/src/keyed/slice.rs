//! One timed run of one engine under one kind of traffic, and whether its count can be right.

use super::engine::Engine;
use super::population::Population;
use super::traffic::{CHUNK, Traffic};
use crate::load::Load;
use crate::pool::Pool;
use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use std::sync::{Arc, Barrier};
use std::time::Instant;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Whether the keys have tokens (`Admit`) or have spent them (`Deny`).
    pub load: Load,
    /// Whose calls come.
    pub traffic: Traffic,
    /// Threads that call.
    pub threads: usize,
    /// For how long, after half that time to warm up.
    pub length: Duration,
    /// The number of the repetition.
    pub round: usize,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Calls of all threads.
    pub ops: u64,
    /// Calls that were admitted.
    pub admitted: u64,
    /// From the first call of any thread to the last of any thread.
    pub seconds: f64,
    /// Calls of the thread that made the fewest.
    pub thread_min: u64,
    /// Calls of the thread that made the most.
    pub thread_max: u64,
    /// Whether the admitted count is right.
    pub verdict: Result<(), String>,
}

/// What one thread did.
struct Tally {
    first: usize,
    chunks: usize,
    admitted: u64,
    start: Instant,
    end: Instant,
}

/// Runs an engine whose keys are there already.
///
/// # Panics
///
/// If the operating system has no more threads to give.
pub fn measure(pool: &Pool, population: &Population, slice: &Slice) -> Sample {
    let Slice { load, threads, length, round, .. } = *slice;
    let stop = Arc::new(CachePadded::new(AtomicBool::new(false)));
    let barrier = Arc::new(Barrier::new(threads + 1));
    let job = {
        let (engine, traffic) = (Arc::clone(&population.engine), slice.traffic.clone());
        let (stop, barrier) = (Arc::clone(&stop), Arc::clone(&barrier));
        move |thread| {
            let first = warm_up(&*engine, &traffic, traffic.start(thread, threads, round), length / 2);
            barrier.wait();
            drive(&*engine, &traffic, first, &stop)
        }
    };
    let tallies = pool.run(threads, job, || {
        barrier.wait();
        std::thread::sleep(length);
        // ORDERING: relaxed, for it publishes nothing; the threads see it when they see it.
        stop.store(true, Ordering::Relaxed);
    });
    let calls = |tally: &Tally| (tally.chunks * CHUNK) as u64;
    let ops = tallies.iter().map(calls).sum();
    let admitted = tallies.iter().map(|tally| tally.admitted).sum();
    let start = tallies.iter().map(|tally| tally.start).min().expect("at least one thread");
    let end = tallies.iter().map(|tally| tally.end).max().expect("at least one thread");
    let chunks = tallies.iter().flat_map(|tally| tally.first..tally.first + tally.chunks);
    let strangers = population.strangers_among(chunks.map(|number| slice.traffic.chunk(number)));
    // A stranger may find a place after all, once some debt has drained.
    let expected = if load == Load::Admit || population.is_floor() { ops - strangers..=ops } else { 0..=strangers };
    Sample {
        ops,
        admitted,
        seconds: (end - start).as_secs_f64(),
        thread_min: tallies.iter().map(calls).min().unwrap_or(0),
        thread_max: tallies.iter().map(calls).max().unwrap_or(0),
        verdict: verify(ops, admitted, &expected),
    }
}

/// Judges an admitted count. Under an admit load every call is admitted whose key has a place, under a deny load none: the
/// range is one number wide unless keys were refused a place.
///
/// # Errors
///
/// Says in words what is wrong.
pub fn verify(ops: u64, admitted: u64, expected: &RangeInclusive<u64>) -> Result<(), String> {
    if expected.contains(&admitted) {
        Ok(())
    } else {
        Err(format!("{admitted} of {ops} calls admitted, though {} to {} should be", expected.start(), expected.end()))
    }
}

/// Calls for a while, so that memory and predictors are as they are amid such traffic. Returns where to go on.
fn warm_up(engine: &dyn Engine, traffic: &Traffic, first: usize, length: Duration) -> usize {
    let start = Instant::now();
    let mut number = first;
    while start.elapsed() < length {
        engine.admit(traffic.chunk(number));
        number += 1;
    }
    number
}

/// The timed loop.
#[inline(never)]
fn drive(engine: &dyn Engine, traffic: &Traffic, first: usize, stop: &AtomicBool) -> Tally {
    let (mut chunks, mut admitted) = (0, 0);
    let start = Instant::now();
    loop {
        admitted += engine.admit(traffic.chunk(first + chunks));
        chunks += 1;
        // ORDERING: relaxed, as where it is set.
        if stop.load(Ordering::Relaxed) {
            return Tally { first, chunks, admitted, start, end: Instant::now() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::engine::ENTRIES;
    use super::super::traffic::Pattern;
    use super::*;

    const KEYS: u32 = 500;

    fn sample(population: &Population, load: Load) -> Sample {
        let traffic = Traffic::new(Pattern::Zipf, KEYS);
        let slice = Slice { load, traffic, threads: 2, length: Duration::from_millis(2), round: 1 };
        measure(&Pool::default(), population, &slice)
    }

    #[test]
    fn every_engine_admits_all_and_denies_all_as_asked() {
        for &entry in ENTRIES {
            for load in [Load::Admit, Load::Deny] {
                let sample = sample(&Population::new(entry, load, KEYS), load);
                assert_eq!(sample.verdict, Ok(()), "{}, {load}", entry.name);
                assert!(sample.ops > 0 && sample.seconds > 0.0 && sample.thread_max >= sample.thread_min);
            }
        }
    }

    #[test]
    fn a_wrong_count_is_seen() {
        for entry in ENTRIES.iter().filter(|entry| entry.kind != crate::engine::Kind::Floor) {
            for (load, other) in [(Load::Admit, Load::Deny), (Load::Deny, Load::Admit)] {
                // The keys have spent their tokens though the load says that they have not; and the other way round.
                let sample = sample(&Population::new(*entry, other, KEYS), load);
                assert!(sample.verdict.is_err(), "{}, {load}", entry.name);
            }
        }
        assert!(
            verify(10, 9, &(10..=10)).is_err() && verify(10, 1, &(0..=0)).is_err() && verify(10, 9, &(9..=10)).is_ok()
        );
    }
}
