//! `keyed`: what a limit by key costs, over how many keys, and what a flood of new keys does to it.

pub mod audit;
pub mod engine;
pub mod fill;
pub mod flood;
pub mod heap;
pub mod markdown;
pub mod options;
pub mod plot;
pub mod population;
pub mod ratios;
pub mod resident;
pub mod slice;
pub mod table;
pub mod traffic;

pub use options::Options;

use crate::contention::{Outcome, repetitions};
use crate::engine::Kind;
use crate::latency::sample::Timer;
use crate::load::Load;
use crate::pace::Pace;
use crate::plan::{cores, order, progress, sorted};
use crate::pool::Pool;
use crate::row::{Row, write};
use crate::stats::{median_index, mops, ns_per_op};
use core::time::Duration;
use engine::{Entry, select};
use indicatif::ProgressBar;
use population::Population;
use slice::{Sample, Slice};
use std::path::Path;
use std::time::Instant;
use traffic::{Pattern, Traffic};

/// More keys than these are not measured under a deny load: it needs tables of its own.
const MOST_DENIED: u32 = 1_000_000;

/// The longest run: a key's tokens must last for all of them.
const LONGEST: Duration = Duration::from_millis(100);

/// Runs `keyed`: measures, prints tables, writes what was asked for.
///
/// # Errors
///
/// If an engine is not known, a file cannot be written, or an admitted count cannot be right.
pub fn command(options: &Options) -> Result<(), String> {
    let outcome = measure(options)?;
    let timed: Vec<_> = outcome.rows.iter().filter(|row| row.bytes_per_key.is_some()).cloned().collect();
    println!("{}", table::tables(&outcome.rows));
    println!(
        "ns/op: one call as its caller sees it, the median of {} on {} cores. Bytes for each key: as asked of the \
         allocator,\nafter one call for each key. The floors: one load and one compare-and-swap on a random line of an \
         array as large as\nour table. On floor-line each waits for the line before it, which may still be being \
         written; floor-isolated and\nkeyed-isolated wait for the end of each call, with the same instruction; \
         floor-timed reads the clock in between. Pauses\ncontain one reading of the timer, and whatever the system did \
         meanwhile: the floors' are those of the machine.",
        repetitions(&timed),
        cores()
    );
    let svg = options.svg.as_deref().unwrap_or(Path::new("target/keyed.svg"));
    write(svg, |path| plot::plot(&outcome.rows).save(path))?;
    if let Some(csv) = &options.csv {
        write(csv, |path| Row::write_all(path, &outcome.rows))?;
    }
    outcome.verified()
}

/// Measures all that is asked for: floods first, while memory is fresh, then each number of keys.
///
/// # Errors
///
/// If an engine is not known, or one does not keep to its quota.
pub fn measure(options: &Options) -> Result<Outcome, String> {
    let entries = select(&options.engine)?;
    if options.sizes().contains(&0) {
        return Err("there is nothing to measure with no keys".into());
    }
    let time = Duration::try_from_secs_f64(options.time()).map_err(|error| error.to_string())?;
    let pool = Pool::default();
    for entry in &entries {
        audit::audit(entry, &pool)?;
    }
    let mut run = Run { options, entries, pool, outcome: Outcome { rows: Vec::new(), faults: Vec::new() } };
    let blocks = run.blocks();
    let slices: usize = blocks.iter().map(|(_, cases)| cases.len() * run.entries.len() * options.rounds()).sum();
    let progress = progress(slices);
    if options.flood_keys() > 0 {
        run.floods(&progress);
    }
    let mut pace = Pace::new(time, slices);
    for ((load, keys), cases) in blocks {
        run.block(load, keys, &cases, &mut pace, &progress);
    }
    if run.entries.iter().any(|entry| entry.name == "keyed") {
        for keys in options.sizes() {
            progress.set_message(format!("filling a table for {keys} keys"));
            run.outcome.rows.push(fill::row(keys));
        }
    }
    progress.finish_and_clear();
    Ok(run.outcome)
}

/// One kind of traffic, from so many threads.
type Case = (Pattern, usize);

/// A comparison under way.
struct Run<'a> {
    options: &'a Options,
    entries: Vec<Entry>,
    pool: Pool,
    outcome: Outcome,
}

impl Run<'_> {
    /// What is measured on the same tables, and under which traffic.
    fn blocks(&self) -> Vec<((Load, u32), Vec<Case>)> {
        let (patterns, threads) = (self.options.patterns(), self.options.thread_counts());
        let cases = |patterns: &[Pattern]| -> Vec<Case> {
            threads.iter().flat_map(|&threads| patterns.iter().map(move |&pattern| (pattern, threads))).collect()
        };
        let mut blocks = Vec::new();
        for keys in self.options.sizes() {
            blocks.push(((Load::Admit, keys), cases(&patterns)));
            if keys <= MOST_DENIED && !self.options.quick {
                blocks.push(((Load::Deny, keys), cases(&patterns[..1])));
            }
        }
        blocks
    }

    fn fault(&mut self, entry: &Entry, what: &str, why: &str) {
        self.outcome.faults.push(format!("{} ({} clock), {what}: {why}", entry.name, entry.clock));
    }

    fn floods(&mut self, progress: &ProgressBar) {
        let timer = Timer::measure();
        let keys = self.options.flood_keys();
        let mut floods = vec![Vec::new(); self.entries.len()];
        for round in 0..self.options.floods() {
            for place in order(self.entries.len(), round) {
                let entry = &self.entries[place];
                progress.set_message(format!("a flood of {keys} keys: {}", entry.name));
                progress.tick();
                floods[place].push(flood::flood(entry, keys));
            }
        }
        for (entry, floods) in self.entries.clone().iter().zip(floods) {
            for why in floods.iter().filter_map(|flood| flood.verify(entry).err()) {
                self.fault(entry, "flood", &why);
            }
            self.outcome.rows.push(flood::row(entry, &floods, timer));
        }
    }

    /// Builds each engine's table once, and has the engines take turns, round after round, in an order that changes.
    fn block(&mut self, load: Load, keys: u32, cases: &[Case], pace: &mut Pace, progress: &ProgressBar) {
        let mut populations = Vec::new();
        for entry in &self.entries {
            progress.set_message(format!("{load}: a table of {keys} keys: {}", entry.name));
            progress.tick();
            populations.push(Population::new(*entry, load, keys));
        }
        let patterns = sorted(cases.iter().map(|&(pattern, _)| pattern).collect());
        let traffic: Vec<_> = patterns.iter().map(|&pattern| (pattern, Traffic::new(pattern, keys))).collect();
        let mut samples = vec![vec![Vec::new(); populations.len()]; cases.len()];
        'rounds: for round in 0..self.options.rounds() {
            for (&(pattern, threads), samples) in cases.iter().zip(&mut samples) {
                if round > 0 && pace.is_over() {
                    break 'rounds;
                }
                let (_, traffic) = traffic.iter().find(|(of, _)| *of == pattern).expect("drawn above");
                let length = pace.length().min(LONGEST);
                for place in order(populations.len(), round) {
                    let population = &populations[place];
                    progress.set_message(format!("{load} {pattern}, {keys} keys: {}", population.entry.name));
                    let slice = Slice { load, traffic: traffic.clone(), threads, length, round };
                    let begun = Instant::now();
                    samples[place].push(slice::measure(&self.pool, population, &slice));
                    pace.ran(length, begun.elapsed());
                    progress.inc(1);
                }
            }
        }
        for population in &populations {
            if let Err(why) = population.verify() {
                self.fault(&population.entry, &format!("{load}, {keys} keys"), &why);
            }
        }
        for ((pattern, threads), samples) in cases.iter().zip(samples) {
            for (population, samples) in populations.iter().zip(samples) {
                let what = format!("{load} {pattern}, {keys} keys, {threads} threads");
                for why in samples.iter().filter_map(|sample| sample.verdict.as_ref().err()) {
                    self.fault(&population.entry, &what, why);
                }
                self.outcome.rows.push(median_row(population, load, pattern.name(), *threads, &samples));
            }
        }
    }
}

/// The columns that say what was measured; the figures are still to come.
fn row(entry: &Entry, load: &str, pattern: &str, threads: usize, keys: u64) -> Row {
    Row {
        bench: "keyed".into(),
        load: load.into(),
        engine: entry.name.into(),
        version: entry.version.into(),
        threads,
        oversubscribed: threads > cores(),
        clock: entry.clock.into(),
        keys: Some(keys),
        pattern: Some(pattern.into()),
        hasher: Some(entry.hasher.into()),
        ..Row::default()
    }
}

/// The row of the repetition with the median throughput.
fn median_row(population: &Population, load: Load, pattern: &str, threads: usize, samples: &[Sample]) -> Row {
    let rates: Vec<_> = samples.iter().map(|sample| mops(sample.ops, sample.seconds)).collect();
    let middle = median_index(&rates).expect("at least one repetition");
    let Sample { ops, admitted, seconds, thread_min, thread_max, .. } = samples[middle];
    Row {
        ops,
        seconds,
        mops: rates[middle],
        ns_per_op: ns_per_op(ops, seconds, threads, cores()),
        admitted,
        verified: population.verify().is_ok() && samples.iter().all(|sample| sample.verdict.is_ok()),
        repetitions: samples.len(),
        mops_min: rates.iter().copied().fold(f64::INFINITY, f64::min),
        mops_max: rates.iter().copied().fold(0.0, f64::max),
        thread_min,
        thread_max,
        bytes_per_key: Some(population.bytes_per_key()),
        refused: Some(population.strangers.len() as u64),
        ..row(&population.entry, load.name(), pattern, threads, u64::from(population.keys))
    }
}

/// The part that the engine of `row` plays.
pub fn kind(row: &Row) -> Kind {
    Entry::named(&row.engine).map_or(Kind::Peer, |entry| entry.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ops: u64, verdict: Result<(), String>) -> Sample {
        Sample { ops, admitted: ops, seconds: 1.0, thread_min: 1, thread_max: ops, verdict }
    }

    #[test]
    fn a_row_is_the_median_repetition_and_one_fault_spoils_it() {
        let population = Population::new(*Entry::named("keyed").unwrap(), Load::Admit, 1_000);
        let row = |samples: &[Sample]| median_row(&population, Load::Admit, "zipf", 1, samples);
        let samples = [sample(3_000_000, Ok(())), sample(9_000_000, Ok(())), sample(5_000_000, Ok(()))];
        let median = row(&samples);
        assert_eq!((median.ops, median.repetitions, median.keys, median.refused), (5_000_000, 3, Some(1_000), Some(0)));
        assert!((median.ns_per_op - 200.0).abs() < 1e-9 && (median.mops_max - 9.0).abs() < 1e-9 && median.verified);
        assert!((median.bytes_per_key.unwrap() - population.bytes_per_key()).abs() < 1e-9);
        assert!(!row(&[sample(1, Ok(())), sample(1, Err("wrong".into()))]).verified);
    }

    #[test]
    fn all_is_measured_that_was_asked_for() {
        let options = Options {
            keys: vec![100, 200],
            engine: vec!["keyed".into(), "mutex-hashmap".into()],
            pattern: vec![Pattern::Uniform, Pattern::Hot],
            flood: Some(1_000),
            ..Options::within(0.0)
        };
        let outcome = measure(&options).unwrap();
        let faults = outcome.faults.iter().filter(|fault| !fault.contains("memory grew")); // other tests allocate too
        assert_eq!(faults.count(), 0, "{:?}", outcome.faults);
        // Two floods; for each size 2 engines, 2 thread counts, and 2 patterns admitted or 1 denied; 2 fills.
        assert_eq!(outcome.rows.len(), 2 + 2 * 2 * 2 * (2 + 1) + 2);
        let hot = |row: &&Row| row.pattern.as_deref() == Some("hot") && row.keys == Some(200) && row.threads == 2;
        assert_eq!(outcome.rows.iter().filter(hot).count(), 2);
        assert!(outcome.rows.iter().all(|row| row.bench == "keyed"));
        assert!(measure(&Options { engine: vec!["keyd".into()], ..options.clone() }).is_err());
        assert!(measure(&Options { keys: vec![0], ..options }).is_err());
    }
}
