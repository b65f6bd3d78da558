//! One timed run of one engine under one kind of traffic.

use super::population::Population;
use super::traffic::{CHUNK, Traffic};
use crate::engine::keyed::Keyed;
use crate::engine::load::Load;
use crate::figures::outcome::Verdict;
use crate::run::pool::Pool;
use crate::run::sample::Sample;
use crate::run::stage::{Signal, Tally, stage};
use core::ops::{Range, RangeInclusive};
use core::time::Duration;
use std::sync::Arc;
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

/// Runs an engine whose keys are there already.
///
/// # Panics
///
/// If the operating system has no more threads to give.
pub fn measure(pool: &Pool, population: &Population, slice: &Slice) -> Sample {
    let Slice { load, threads, length, round, .. } = *slice;
    let (engine, traffic) = (Arc::clone(&population.engine), slice.traffic.clone());
    let run = stage(pool, threads, length, move |thread, signal| {
        let first = warm_up(&*engine, &traffic, traffic.start(thread, threads, round), length / 2);
        signal.begin();
        drive(&*engine, &traffic, first, signal)
    });
    let (ops, admitted) = (run.seen.ops, run.seen.admitted);
    let chunks = run.details.into_iter().flatten().map(|number| slice.traffic.chunk(number));
    let strangers = population.strangers_among(chunks);
    // A stranger may find a place after all, once some debt has drained.
    let expected = if load == Load::Admit || population.is_floor() { ops - strangers..=ops } else { 0..=strangers };
    Sample {
        ops,
        admitted,
        seconds: run.seen.elapsed.as_secs_f64(),
        thread_min: run.thread_min,
        thread_max: run.thread_max,
        admitted_share: None,
        verdict: verify(ops, admitted, &expected),
        details: Vec::new(),
    }
}

/// Judges an admitted count. Under an admit load every call is admitted whose key has a place, under a deny load none: the
/// range is one number wide unless keys were refused a place.
fn verify(ops: u64, admitted: u64, expected: &RangeInclusive<u64>) -> Verdict {
    if expected.contains(&admitted) {
        Ok(())
    } else {
        Err(format!("{admitted} of {ops} calls admitted, though {} to {} should be", expected.start(), expected.end()))
    }
}

/// Calls for a while, so that memory and predictors are as they are amid such traffic. Returns where to go on.
fn warm_up(engine: &dyn Keyed, traffic: &Traffic, first: usize, length: Duration) -> usize {
    let start = Instant::now();
    let mut number = first;
    while start.elapsed() < length {
        engine.admit(traffic.chunk(number));
        number += 1;
    }
    number
}

/// The timed loop. Returns the chunks of traffic it went through, too.
#[inline(never)]
fn drive(engine: &dyn Keyed, traffic: &Traffic, first: usize, signal: &Signal) -> (Tally, Range<usize>) {
    let (mut next, mut admitted) = (first, 0);
    let start = Instant::now();
    loop {
        admitted += engine.admit(traffic.chunk(next));
        next += 1;
        if signal.is_over() {
            let ops = ((next - first) * CHUNK) as u64;
            return (Tally { ops, admitted, start, end: Instant::now() }, first..next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::traffic::Pattern;
    use super::*;
    use crate::engine::keyed::registry::ENTRIES;
    use crate::engine::label::Kind;

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
                assert_eq!(sample.verdict, Ok(()), "{}, {load}", entry.label.name);
                assert!(sample.ops > 0 && sample.seconds > 0.0 && sample.thread_max >= sample.thread_min);
            }
        }
    }

    #[test]
    fn a_wrong_count_is_seen() {
        for entry in ENTRIES.iter().filter(|entry| entry.label.kind != Kind::Floor) {
            for (load, other) in [(Load::Admit, Load::Deny), (Load::Deny, Load::Admit)] {
                // The keys have spent their tokens though the load says that they have not; and the other way round.
                let sample = sample(&Population::new(*entry, other, KEYS), load);
                assert!(sample.verdict.is_err(), "{}, {load}", entry.label.name);
            }
        }
        assert!(
            verify(10, 9, &(10..=10)).is_err() && verify(10, 1, &(0..=0)).is_err() && verify(10, 9, &(9..=10)).is_ok()
        );
    }
}
