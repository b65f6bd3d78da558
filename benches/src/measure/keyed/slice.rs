//! One timed run of one engine under one kind of traffic.

use super::load::Load;
use super::population::Population;
use super::traffic::{CHUNK, Traffic};
use crate::engine::keyed::Keyed;
use crate::engine::load::{CLOCK_SLACK, Load as OfOne, accrued};
use crate::figures::outcome::Verdict;
use crate::run::pool::Pool;
use crate::run::sample::Sample;
use crate::run::stage::{Signal, Tally, stage};
use crate::run::verdict::{Evidence, verify as verify_by_bound};
use core::ops::Range;
use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;
use tollgate::Quota;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Slice {
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
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
pub fn measure(pool: &Pool, population: &Population, slice: &Slice) -> Sample {
    let Slice { threads, length, round, .. } = *slice;
    let (engine, traffic) = (Arc::clone(&population.engine), slice.traffic.clone());
    let run = stage(pool, threads, length, move |thread, signal| {
        let first = warm_up(&*engine, &traffic, traffic.start(thread, threads, round), length / 2);
        signal.begin();
        drive(&*engine, &traffic, first, signal)
    });
    let (seen, load) = (run.seen, population.load);
    let Evidence { ops, admitted, elapsed } = seen;
    let chunks = run.details.into_iter().flatten().map(|number| slice.traffic.chunk(number));
    let strangers = population.strangers_among(chunks.clone());
    let is_mixed = load == Load::Mixed1e6 && !population.is_floor();
    let due = load.quota().burst() + accrued(load.quota(), elapsed);
    let verdict = if is_mixed {
        verify_mixed(load.quota(), seen)
    } else {
        let over = if population.is_floor() { 0 } else { population.over_among(chunks) };
        verify(ops, admitted, over, strangers)
    };
    Sample {
        ops,
        admitted,
        seconds: elapsed.as_secs_f64(),
        thread_min: run.thread_min,
        thread_max: run.thread_max,
        admitted_share: is_mixed.then(|| (admitted as f64 / due as f64).min(1.0)),
        verdict,
        details: Vec::new(),
    }
}

/// Judges an admitted count: every call is admitted but those whose key is over its limit. Exactly, unless keys were refused
/// a place: such a stranger is refused though it has tokens; or admitted though the others are over their limits, for it may
/// find a place after all once some debt has drained.
fn verify(ops: u64, admitted: u64, over: u64, strangers: u64) -> Verdict {
    let (least, most) = ((ops - over).saturating_sub(strangers), (ops - over + strangers).min(ops));
    if (least..=most).contains(&admitted) {
        Ok(())
    } else {
        Err(format!("{admitted} of {ops} calls admitted, though {least} to {most} should be"))
    }
}

/// Judges an admitted count of calls for one key that come faster than its limit.
fn verify_mixed(quota: Quota, seen: Evidence) -> Verdict {
    let most = quota.burst() + accrued(quota, seen.elapsed + seen.elapsed / CLOCK_SLACK);
    verify_by_bound(OfOne::Mixed1e6, quota, most, seen)
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

    /// Traffic of all kinds, drawn once.
    fn traffic() -> impl Fn(Pattern) -> Traffic {
        let drawn = Pattern::ALL.map(|pattern| Traffic::new(pattern, KEYS));
        move |pattern| drawn[Pattern::ALL.iter().position(|&of| of == pattern).unwrap()].clone()
    }

    fn sample(population: &Population, traffic: Traffic, threads: usize, millis: u64) -> Sample {
        measure(
            &Pool::default(),
            population,
            &Slice { traffic, threads, length: Duration::from_millis(millis), round: 1 },
        )
    }

    #[test]
    fn every_engine_admits_and_denies_as_asked() {
        let traffic = traffic();
        for &entry in ENTRIES {
            for (load, pattern) in [
                (Load::Admit, Pattern::Zipf),
                (Load::Deny, Pattern::Zipf),
                (Load::Deny, Pattern::Hot),
                (Load::DenyTenth, Pattern::Uniform),
                (Load::Mixed1e6, Pattern::Hot),
            ] {
                let sample = sample(&Population::new(entry, load, KEYS), traffic(pattern), 2, 2);
                assert_eq!(sample.verdict, Ok(()), "{}, {load}", entry.label.name);
                assert!(sample.ops > 0 && sample.seconds > 0.0 && sample.thread_max >= sample.thread_min);
                let is_limited = entry.label.kind != Kind::Floor;
                assert_eq!(sample.admitted_share.is_some(), is_limited && load == Load::Mixed1e6);
            }
        }
    }

    #[test]
    fn a_wrong_count_is_seen() {
        let traffic = traffic();
        for &entry in ENTRIES.iter().filter(|entry| entry.label.kind != Kind::Floor) {
            for (load, other, pattern) in [
                (Load::Admit, Load::Deny, Pattern::Zipf),
                (Load::Deny, Load::Admit, Pattern::Zipf),
                (Load::DenyTenth, Load::Admit, Pattern::Uniform),
                (Load::DenyTenth, Load::Deny, Pattern::Uniform),
                (Load::Admit, Load::DenyTenth, Pattern::Uniform),
                (Load::Mixed1e6, Load::Deny, Pattern::Hot),
            ] {
                // The keys have other tokens than the load says.
                let population = Population { load, ..Population::new(entry, other, KEYS) };
                assert!(sample(&population, traffic(pattern), 2, 2).verdict.is_err(), "{}, {load}", entry.label.name);
            }
        }
        let is_wrong = |admitted, over, strangers| verify(10, admitted, over, strangers).is_err();
        assert!(is_wrong(9, 0, 0) && is_wrong(1, 10, 0) && is_wrong(8, 1, 0) && is_wrong(10, 1, 0));
        assert!(!is_wrong(9, 0, 1) && !is_wrong(1, 10, 1) && !is_wrong(8, 1, 1) && !is_wrong(10, 1, 1));
    }
    #[test]
    fn a_key_that_is_admitted_too_often_or_hardly_ever_is_seen() {
        // In 10 ms (and 1 %) 10,100 tokens fall due, and 1,000 are there.
        let verify = |admitted| {
            let seen = Evidence { ops: 2_000_000, admitted, elapsed: Duration::from_millis(10) };
            verify_mixed(Load::Mixed1e6.quota(), seen)
        };
        assert!(verify(11_100).is_ok() && verify(11_101).is_err());
        assert!(verify(1_010).is_ok() && verify(1_009).is_err());
    }
}
