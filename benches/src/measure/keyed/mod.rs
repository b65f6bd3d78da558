//! `keyed`: what a limit by key costs, over how many keys, and what a flood of new keys does to it.

pub mod audit;
pub mod fill;
pub mod flood;
pub mod heap;
pub mod load;
pub mod options;
pub mod plot;
pub mod population;
pub mod ratios;
pub mod resident;
pub mod slice;
pub mod table;
pub mod traffic;

pub use options::Options;

use super::measurement::Measurement;
use crate::engine::keyed::Entry;
use crate::engine::keyed::registry::ENTRIES;
use crate::engine::label::select;
use crate::figures::error::{Error, Result};
use crate::figures::outcome::Outcome;
use crate::figures::stats::sorted;
use crate::run::options::Options as Common;
use crate::run::pool::Pool;
use crate::run::rounds::{Rounds, order};
use crate::run::timer::Timer;
use core::time::Duration;
use load::Load;
use population::Population;
use slice::Slice;
use traffic::{Pattern, Traffic};

/// More keys than these are measured under an admit load only: each load needs tables of its own.
const MOST_DENIED: u32 = 1_000_000;

/// With fewer keys a tenth of which is over its limit, the others would use their tokens up.
const FEWEST_TENTH: u32 = 100_000;

/// The longest run: a key's tokens must last for all of them.
const LONGEST: Duration = Duration::from_millis(100);

/// How it is called, shown, drawn and recorded: each engine three times, with one flood. Its share of the time is for the
/// timed runs; building tables and floods come on top.
pub const KEYED: Measurement = Measurement {
    name: population::BENCH,
    title: "Limits by key",
    tables: table::tables,
    plot: Some(plot::plot),
    share: 0.2,
    record: |seconds| measure(&Options { common: Common::within(seconds, 3), ..Options::default() }),
};

/// Runs `keyed`: measures, shows tables, writes what was asked for.
///
/// # Errors
///
/// If an engine is not known, a file cannot be written, or an admitted count cannot be right.
pub fn command(options: &Options) -> Result<()> {
    let outcome = measure(options)?;
    KEYED.finish(&outcome, &table::tables(&outcome.rows), &options.common)
}

/// Measures all that is asked for: floods first, while memory is fresh, then each number of keys.
///
/// # Errors
///
/// If an engine is not known, or one does not keep to its quota.
pub fn measure(options: &Options) -> Result<Outcome> {
    let entries = select(ENTRIES.to_vec(), &options.common.engine, &options.common.clock)?;
    if options.sizes().contains(&0) {
        return Err(Error::Request("there is nothing to measure with no keys".into()));
    }
    let time = options.common.time(options.seconds())?;
    let pool = Pool::default();
    for entry in &entries {
        audit::audit(entry, &pool).map_err(|why| Error::Counts(vec![why]))?;
    }
    let mut run = Run { options, entries, pool, outcome: Outcome::default() };
    let blocks = run.blocks();
    let cases: usize = blocks.iter().map(|(_, cases)| cases.len() * run.entries.len()).sum();
    let mut rounds = Rounds::new(time, options.rounds(), cases, LONGEST);
    if options.flood_keys() > 0 {
        run.floods(&rounds);
    }
    for ((load, keys), cases) in blocks {
        run.block(load, keys, &cases, &mut rounds);
    }
    if run.entries.iter().any(|entry| entry.label.name == "keyed") {
        for keys in options.sizes() {
            rounds.say(format!("filling a table for {keys} keys"));
            run.outcome.rows.push(fill::row(keys));
        }
    }
    rounds.finish();
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
        let (patterns, threads) = (self.options.patterns(), self.options.common.threads(&[1, 2]));
        let cases = |patterns: &[Pattern]| -> Vec<Case> {
            threads.iter().flat_map(|&threads| patterns.iter().map(move |&pattern| (pattern, threads))).collect()
        };
        let mut blocks = Vec::new();
        for keys in self.options.sizes() {
            blocks.push(((Load::Admit, keys), cases(&patterns)));
            if keys > MOST_DENIED || self.options.common.quick {
                continue;
            }
            let mut block = |load, of: &[Pattern]| {
                let patterns: Vec<_> = patterns.iter().copied().filter(|pattern| of.contains(pattern)).collect();
                if !patterns.is_empty() {
                    blocks.push(((load, keys), cases(&patterns)));
                }
            };
            block(Load::Deny, &[Pattern::Uniform, Pattern::Hot]);
            block(Load::Mixed1e6, &[Pattern::Hot]);
            if keys >= FEWEST_TENTH {
                block(Load::DenyTenth, &[Pattern::Uniform]);
            }
        }
        blocks
    }

    fn floods(&mut self, rounds: &Rounds) {
        let timer = Timer::measure();
        let keys = self.options.flood_keys();
        let mut floods = vec![Vec::new(); self.entries.len()];
        for round in 0..self.options.floods() {
            for place in order(self.entries.len(), round) {
                let entry = &self.entries[place];
                rounds.say(format!("a flood of {keys} keys: {}", entry.label.name));
                floods[place].push(flood::flood(entry, keys));
            }
        }
        for (entry, floods) in self.entries.iter().zip(floods) {
            let verdicts: Vec<_> = floods.iter().map(|flood| flood.verify(entry)).collect();
            self.outcome.add(flood::row(entry, &floods, timer), &verdicts);
        }
    }

    /// Builds each engine's table once, and has the engines take turns, round after round, in an order that changes.
    fn block(&mut self, load: Load, keys: u32, cases: &[Case], rounds: &mut Rounds) {
        let mut populations = Vec::new();
        for entry in &self.entries {
            rounds.say(format!("{load}: a table of {keys} keys: {}", entry.label.name));
            populations.push(Population::new(*entry, load, keys));
        }
        let patterns = sorted(cases.iter().map(|&(pattern, _)| pattern).collect());
        let traffic: Vec<_> = patterns.iter().map(|&pattern| (pattern, Traffic::new(pattern, keys))).collect();
        // Neighbours differ in the engine alone: they are compared with each other.
        let group = populations.len();
        let at = |place: usize| (cases[place / group], &populations[place % group]);
        let name = |place: usize| {
            let ((pattern, _), population) = at(place);
            format!("{load} {pattern}, {keys} keys: {}", population.entry.label.name)
        };
        let results = rounds.run(cases.len() * group, group, name, |place, round, length| {
            let ((pattern, threads), population) = at(place);
            let (_, traffic) = traffic.iter().find(|(of, _)| *of == pattern).expect("drawn above");
            let slice = Slice { traffic: traffic.clone(), threads, length, round };
            slice::measure(&self.pool, population, &slice)
        });
        for (place, samples) in results.iter().enumerate() {
            let ((pattern, threads), population) = at(place);
            let all_placed = population.verify();
            let verdicts = samples.iter().map(|sample| &sample.verdict).chain([&all_placed]);
            self.outcome.add(population.row(pattern, threads, samples), verdicts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_measured_that_was_asked_for() {
        let engine = vec!["keyed".into(), "mutex-hashmap".into()];
        let options = Options {
            common: Common { engine, seconds: Some(0.0), ..Common::default() },
            keys: vec![100, 200],
            pattern: vec![Pattern::Uniform, Pattern::Hot],
            flood: Some(1_000),
        };
        let outcome = measure(&options).unwrap();
        let faults = outcome.faults.iter().filter(|fault| !fault.contains("memory grew")); // other tests allocate too
        assert_eq!(faults.count(), 0, "{:?}", outcome.faults);
        // Two floods; for each size 2 engines, 2 thread counts, and 2 patterns admitted, 2 denied and 1 mixed; 2 fills.
        assert_eq!(outcome.rows.len(), 2 + 2 * 2 * 2 * (2 + 2 + 1) + 2);
        let hot = outcome.rows.iter().filter(|row| row.pattern.as_deref() == Some("hot"));
        let of_keyed = hot.filter(|row| row.keys == Some(200) && row.threads == 2 && row.engine == "keyed");
        assert_eq!(of_keyed.map(|row| row.load.as_str()).collect::<Vec<_>>(), ["admit", "deny", "mixed-1e6"]);
        let blocks = |keys, quick| {
            let common = Common { quick, ..Common::default() };
            let options = &Options { common, keys: vec![keys], ..Options::default() };
            let run = Run { options, entries: Vec::new(), pool: Pool::default(), outcome: Outcome::default() };
            run.blocks().into_iter().map(|((load, _), cases)| (load, cases.len())).collect::<Vec<_>>()
        };
        let (admit, deny, mixed) = ((Load::Admit, 6), (Load::Deny, 4), (Load::Mixed1e6, 2));
        assert_eq!(blocks(1_000, false), [admit, deny, mixed]);
        assert_eq!(blocks(1_000_000, false), [admit, deny, mixed, (Load::DenyTenth, 2)]);
        assert_eq!((blocks(1_000_001, false), blocks(1_000_000, true)), (vec![admit], vec![admit]));
        assert!(outcome.rows.iter().all(|row| row.bench == "keyed"));
        let common = Common { engine: vec!["keyd".into()], ..options.common.clone() };
        assert!(measure(&Options { common, ..options.clone() }).is_err());
        assert!(measure(&Options { keys: vec![0], ..options }).is_err());
    }
}
