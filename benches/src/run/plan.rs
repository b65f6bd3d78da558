//! [`Plan`]: which engines are measured under which loads, in what order and for how long.

use super::cores;
use super::options::Options;
use super::pace::MOST;
use super::pool::Pool;
use super::rounds::Rounds;
use super::sample::Sample;
use super::slice::Slice;
use crate::engine::label::{Entry, Label};
use crate::engine::load::Load;
use crate::figures::error::Result;
use crate::figures::row::Row;
use crate::figures::stats::sorted;
use core::time::Duration;

/// A function that measures one engine once.
pub type Measure<T> = fn(&Pool, Slice) -> Sample<T>;

/// One thing to measure.
#[derive(Clone, Copy, Debug)]
pub struct Cell<T> {
    /// The engine.
    pub entry: Entry<Measure<T>>,
    /// The kind of traffic.
    pub load: Load,
    /// Threads that call the engine.
    pub threads: usize,
}

impl<T> Cell<T> {
    /// The columns that say what was measured; the figures are still to come.
    pub fn row(&self, bench: &str) -> Row {
        case(bench, &self.entry.label, self.load.name(), self.threads)
    }
}

/// The columns that say what was measured; the figures are still to come.
pub fn case(bench: &str, label: &Label, load: &str, threads: usize) -> Row {
    Row {
        bench: bench.into(),
        load: load.into(),
        engine: label.name.into(),
        version: label.version.into(),
        threads,
        oversubscribed: threads > cores(),
        clock: label.clock.into(),
        hasher: label.hasher.map(String::from),
        ..Row::default()
    }
}

/// Everything to be measured, and for how long.
#[derive(Debug)]
pub struct Plan<T> {
    cells: Vec<Cell<T>>,
    /// Cells that are compared with each other and stand side by side.
    group: usize,
    repetitions: usize,
    time: Duration,
}

impl<T> Plan<T> {
    /// `entries` under each of `loads` with each of `threads`, unless `options` ask for other threads; for 22 seconds and
    /// five times each, unless they ask for another effort.
    ///
    /// # Errors
    ///
    /// If the time that is asked for is none.
    pub fn new(options: &Options, entries: &[Entry<Measure<T>>], loads: &[Load], threads: &[usize]) -> Result<Self> {
        let loads = sorted(loads.to_vec());
        let mut cells = Vec::new();
        for threads in options.threads(threads) {
            for &load in &loads {
                let cell = |&Entry { label, work }: &Entry<_>| Cell { entry: Entry { label, work }, load, threads };
                cells.extend(entries.iter().map(cell));
            }
        }
        Ok(Self { cells, group: entries.len(), repetitions: options.repetitions(5), time: options.time(22.0)? })
    }

    /// Measures all cells, and returns for each its samples.
    pub fn run(&self) -> Vec<(&Cell<T>, Vec<Sample<T>>)> {
        let pool = Pool::default();
        let mut rounds = Rounds::new(self.time, self.repetitions, self.cells.len(), MOST);
        let name = |case: usize| {
            let Cell { load, threads, entry } = &self.cells[case];
            format!("{load}, {threads} threads: {}", entry.label.name)
        };
        let results = rounds.run(self.cells.len(), self.group, name, |case, _, length| {
            let Cell { entry, load, threads } = &self.cells[case];
            (entry.work)(&pool, Slice { load: *load, threads: *threads, length })
        });
        rounds.finish();
        self.cells.iter().zip(results).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::label::select;
    use crate::engine::registry::{Visitor, engines};
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: Options,
    }

    /// Measures nothing, and says that it has.
    struct Nothing;

    impl Visitor for Nothing {
        type Work = Measure<()>;

        fn visit<E: crate::engine::Engine>() -> Measure<()> {
            |_, Slice { threads, length, .. }| Sample {
                ops: threads as u64,
                admitted: 0,
                seconds: length.as_secs_f64(),
                thread_min: 0,
                thread_max: 0,
                admitted_share: None,
                verdict: Ok(()),
                details: Vec::new(),
            }
        }
    }

    fn plan(arguments: &[&str], loads: &[Load]) -> Result<Plan<()>> {
        let Cli { options } = Cli::parse_from(["bench"].iter().chain(arguments));
        Plan::new(&options, &select(engines::<Nothing>(), &options.engine, &options.clock)?, loads, &[1, 2])
    }

    #[test]
    fn a_plan_is_what_was_asked_for() {
        assert_eq!(plan(&[], &[Load::Deny, Load::Admit]).unwrap().cells.len(), engines::<()>().len() * 2 * 2);
        let plan = plan(&["--engine", "governor", "--threads", "4,1,4", "--repetitions", "2"], &[Load::Mixed]).unwrap();
        let cells: Vec<_> = plan.cells.iter().map(|cell| (cell.entry.label.name, cell.load, cell.threads)).collect();
        assert_eq!(&cells[..2], [("governor", Load::Mixed, 1); 2], "on either clock");
        assert_eq!(&cells[2..], [("governor", Load::Mixed, 4); 2]);
        let results = plan.run();
        assert!(results.iter().all(|(cell, samples)| samples.len() == 2 && samples[1].ops == cell.threads as u64));
    }

    #[test]
    fn a_quick_plan_takes_a_quarter_of_the_time() {
        let time = |arguments: &[&str]| plan(arguments, &[Load::Admit]).map(|plan| plan.time);
        assert_eq!(time(&["--quick"]).unwrap() * 4, time(&[]).unwrap());
        assert!(time(&["--seconds=-1"]).is_err());
        assert!(time(&["--engine", "nothing"]).is_err());
    }
}
