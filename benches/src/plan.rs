//! [`Plan`]: which engines are measured under which loads, in what order and for how long.

use crate::contention::slice::Slice;
use crate::load::Load;
use crate::pace::Pace;
use crate::pool::Pool;
use crate::registry::{Entry, select};
use crate::row::Row;
use core::num::NonZeroUsize;
use core::time::Duration;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::time::Instant;

/// The part of the command line that all comparisons share.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Only these engines, by name (repeat it or separate with commas)
    #[arg(long, value_delimiter = ',')]
    pub engine: Vec<String>,
    /// Only engines on these clocks: quanta, std, none
    #[arg(long, value_delimiter = ',')]
    pub clock: Vec<String>,
    /// Thread counts [default: 1,2,4,16; for latency 1 and 2]
    #[arg(long, value_delimiter = ',')]
    pub threads: Vec<NonZeroUsize>,
    /// Only these loads [default: admit and deny]
    #[arg(long, value_delimiter = ',', value_enum)]
    pub load: Vec<Load>,
    /// A rough look, in a quarter of the time
    #[arg(long)]
    pub quick: bool,
    /// Time for the whole comparison, in seconds
    #[arg(long, default_value_t = 22.0)]
    pub seconds: f64,
    /// How often each engine is measured
    #[arg(long, default_value = "5")]
    pub repetitions: NonZeroUsize,
    /// Write the figures to this file
    #[arg(long)]
    pub csv: Option<PathBuf>,
    /// Draw the figures to this file [default: target/NAME.svg]
    #[arg(long)]
    pub svg: Option<PathBuf>,
}

/// One thing to measure.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The engine.
    pub entry: Entry,
    /// The kind of traffic.
    pub load: Load,
    /// Threads that call the engine.
    pub threads: usize,
}

impl Cell {
    /// The columns that say what was measured; the figures are still to come.
    pub fn row(&self, bench: &str) -> Row {
        Row {
            bench: bench.into(),
            load: self.load.name().into(),
            engine: self.entry.name.into(),
            version: self.entry.version.into(),
            threads: self.threads,
            oversubscribed: self.threads > cores(),
            clock: self.entry.clock.into(),
            ..Row::default()
        }
    }

    /// A run of this length.
    pub fn slice(&self, length: Duration) -> Slice {
        Slice { load: self.load, threads: self.threads, length }
    }

    /// What is wrong, and with what.
    pub fn fault(&self, what: &str) -> String {
        let Self { entry, load, threads } = self;
        format!("{} ({} clock), {load}, {threads} threads: {what}", entry.name, entry.clock)
    }
}

/// Everything to be measured, and for how long.
#[derive(Debug)]
pub struct Plan {
    cells: Vec<Cell>,
    /// Cells that are compared with each other and stand side by side.
    group: usize,
    repetitions: usize,
    time: Duration,
}

impl Plan {
    /// What `options` ask for, from the engines in `entries`, by default with `threads` threads.
    ///
    /// # Errors
    ///
    /// If an engine or a clock is not known.
    pub fn new(options: &Options, entries: &[Entry], threads: &[usize]) -> Result<Self, String> {
        let entries = select(entries, &options.engine, &options.clock)?;
        let loads = if options.load.is_empty() { vec![Load::Admit, Load::Deny] } else { options.load.clone() };
        let loads = sorted(loads);
        let asked: Vec<_> = options.threads.iter().map(|threads| threads.get()).collect();
        let threads = sorted(if asked.is_empty() { threads.to_vec() } else { asked });
        let mut cells = Vec::new();
        for &threads in &threads {
            for &load in &loads {
                cells.extend(entries.iter().map(|&entry| Cell { entry, load, threads }));
            }
        }
        let repetitions = options.repetitions.get();
        let seconds = if options.quick { options.seconds / 4.0 } else { options.seconds };
        let time = Duration::try_from_secs_f64(seconds).map_err(|error| format!("{seconds} seconds: {error}"))?;
        Ok(Self { cells, group: entries.len(), repetitions, time })
    }

    /// Measures all cells, and returns for each what `measure` returned, once for each repetition.
    ///
    /// The repetitions go round: every cell once, then every cell again, so that a change in the machine's mood meets
    /// them all. Each round has an order of its own, so that none always follows the same one. Engines that are compared
    /// get the same time. Once the time is up there are no more repetitions, but every cell is measured once.
    ///
    /// # Panics
    ///
    /// If the operating system has no threads to give.
    pub fn run<T>(&self, mut measure: impl FnMut(&Pool, Cell, Duration) -> T) -> Vec<(Cell, Vec<T>)> {
        let pool = Pool::default();
        let progress = progress(self.cells.len() * self.repetitions);
        let mut results: Vec<_> = self.cells.iter().map(|&cell| (cell, Vec::new())).collect();
        let mut pace = Pace::new(self.time, self.cells.len() * self.repetitions);
        'rounds: for round in 0..self.repetitions {
            for group in 0..self.cells.len() / self.group {
                if round > 0 && pace.is_over() {
                    break 'rounds;
                }
                let length = pace.length();
                for place in order(self.group, round) {
                    let (cell, measured) = &mut results[group * self.group + place];
                    progress.set_message(format!("{}, {} threads: {}", cell.load, cell.threads, cell.entry.name));
                    let begun = Instant::now();
                    measured.push(measure(&pool, *cell, length));
                    pace.ran(length, begun.elapsed());
                    progress.inc(1);
                }
            }
        }
        progress.finish_and_clear();
        results
    }
}

/// The values that there are, each once, in their order.
pub fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values.dedup();
    values
}

/// The places in a group of that size, shuffled: each round has an order of its own, the same in every run.
pub fn order(size: usize, round: usize) -> Vec<usize> {
    let mut places: Vec<_> = (0..size).collect();
    fastrand::Rng::with_seed(round as u64).shuffle(&mut places);
    places
}

/// A bar on standard error that fills up in `length` steps.
///
/// # Panics
///
/// Never: its template is valid.
pub fn progress(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed:>4}  {msg}");
    ProgressBar::new(length as u64).with_style(style.expect("the template is valid"))
}

/// Cores that threads can run on at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ENTRIES;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: Options,
    }

    fn plan(arguments: &[&str]) -> Result<Plan, String> {
        let cli = Cli::parse_from(["bench"].iter().chain(arguments));
        Plan::new(&cli.options, ENTRIES, &[1, 2])
    }

    #[test]
    fn every_round_measures_everything_once() {
        for round in 0..20 {
            assert_eq!(sorted(order(9, round)), (0..9).collect::<Vec<_>>());
            assert_eq!(order(9, round), order(9, round), "the same in every run");
        }
    }

    #[test]
    fn nothing_always_follows_the_same_in_the_rounds_of_one_measurement() {
        for size in [5, 9, ENTRIES.len()] {
            let mut predecessors = vec![Vec::new(); size];
            for round in 0..5 {
                order(size, round).windows(2).for_each(|pair| predecessors[pair[1]].push(pair[0]));
            }
            for (place, predecessors) in predecessors.into_iter().enumerate() {
                assert!(sorted(predecessors).len() > 1, "{place} of {size}");
            }
        }
        assert_eq!(sorted((0..3).map(|round| order(2, round)).collect()), [[0, 1], [1, 0]], "each of two comes first");
    }

    #[test]
    fn a_plan_is_what_was_asked_for() {
        assert_eq!(plan(&[]).unwrap().cells.len(), ENTRIES.len() * 2 * 2);
        let plan =
            plan(&["--engine", "governor", "--threads", "4,1,4", "--load", "mixed", "--repetitions", "2"]).unwrap();
        let cells: Vec<_> = plan.cells.iter().map(|cell| (cell.entry.name, cell.load, cell.threads)).collect();
        assert_eq!(&cells[..2], [("governor", Load::Mixed, 1); 2], "on either clock");
        assert_eq!(&cells[2..], [("governor", Load::Mixed, 4); 2]);
        let mut seen = Vec::new();
        let results = plan.run(|pool, cell, _| {
            assert_eq!(pool.run(4, |index| index, || ()), [0, 1, 2, 3]);
            seen.push(cell.entry.clock);
            seen.len()
        });
        assert_eq!(seen.len(), 8);
        assert!(results.iter().all(|(_, measured)| measured.len() == 2));
    }

    #[test]
    fn a_quick_plan_takes_a_quarter_of_the_time_and_no_time_is_enough_to_measure_once() {
        assert_eq!(plan(&["--quick"]).unwrap().time * 4, plan(&[]).unwrap().time);
        let results = plan(&["--seconds", "0"]).unwrap().run(|_, _, length| assert!(length > Duration::ZERO));
        assert!(results.iter().all(|(_, measured)| measured.len() == 1));
        assert!(plan(&["--seconds=-1"]).is_err());
        assert!(plan(&["--engine", "nothing"]).is_err());
    }
}
