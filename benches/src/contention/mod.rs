//! `contention`: how many calls per second threads get through one limiter together.

pub mod plot;
pub mod slice;
pub mod table;

use crate::load::Load;
use crate::pool::Pool;
use crate::registry::{Entry, select};
use crate::row::Row;
use crate::stats::{median_index, mops, ns_per_op};
use core::num::NonZeroUsize;
use core::time::Duration;
use indicatif::{ProgressBar, ProgressStyle};
use slice::{Sample, Slice};
use std::path::PathBuf;

/// The command line of `contention`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Only these engines, by name (repeat it or separate with commas)
    #[arg(long, value_delimiter = ',')]
    pub engine: Vec<String>,
    /// Only engines on these clocks: quanta, std, none
    #[arg(long, value_delimiter = ',')]
    pub clock: Vec<String>,
    /// Thread counts
    #[arg(long, value_delimiter = ',', default_values = ["1", "2", "4", "16"])]
    pub threads: Vec<NonZeroUsize>,
    /// Only these loads [default: admit and deny]
    #[arg(long, value_delimiter = ',', value_enum)]
    pub load: Vec<Load>,
    /// A rough look: a quarter of the time
    #[arg(long)]
    pub quick: bool,
    /// Time for the whole comparison, in seconds
    #[arg(long, default_value_t = 25.0)]
    pub seconds: f64,
    /// How often each engine is measured; the median is reported
    #[arg(long, default_value = "3")]
    pub repetitions: NonZeroUsize,
    /// Write the figures to this file
    #[arg(long)]
    pub csv: Option<PathBuf>,
    /// Draw the figures to this file
    #[arg(long, default_value = "target/contention.svg")]
    pub svg: PathBuf,
}

/// Runs `contention`: measures, prints tables, writes what was asked for.
///
/// # Errors
///
/// If an engine is not known, a file cannot be written, or an admitted count cannot be right.
pub fn command(options: &Options) -> Result<(), String> {
    let plan = Plan::new(options)?;
    let outcome = plan.run();
    println!("{}", table::tables(&outcome.rows));
    println!(
        "Each figure is the median of {} runs of {:?} on {} cores. Floors: one atomic read-modify-write on a line of \
         its own, one clock read.",
        plan.repetitions,
        plan.length,
        cores()
    );
    plot::plot(&outcome.rows).save(&options.svg).map_err(|error| format!("{}: {error}", options.svg.display()))?;
    println!("Plot: {}", options.svg.display());
    if let Some(path) = &options.csv {
        Row::write_all(path, &outcome.rows).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("Figures: {}", path.display());
    }
    match outcome.faults.as_slice() {
        [] => Ok(()),
        faults => Err(format!("admitted counts that cannot be right:\n  {}", faults.join("\n  "))),
    }
}

/// Everything to be measured, and for how long.
#[derive(Debug)]
pub struct Plan {
    entries: Vec<Entry>,
    loads: Vec<Load>,
    threads: Vec<usize>,
    repetitions: usize,
    length: Duration,
}

/// The figures, and what was wrong with them.
#[derive(Debug)]
pub struct Outcome {
    /// One row for each engine, load and number of threads.
    pub rows: Vec<Row>,
    /// A line for each measurement whose admitted count cannot be right.
    pub faults: Vec<String>,
}

/// Time that a measurement takes apart from the time it is asked to take: building, draining, starting, stopping.
const OVERHEAD: Duration = Duration::from_millis(2);

impl Plan {
    /// What `options` ask for.
    ///
    /// # Errors
    ///
    /// If an engine or a clock is not known.
    pub fn new(options: &Options) -> Result<Self, String> {
        let entries = select(&options.engine, &options.clock)?;
        let mut loads = if options.load.is_empty() { vec![Load::Admit, Load::Deny] } else { options.load.clone() };
        loads.sort_unstable();
        loads.dedup();
        let mut threads: Vec<_> = options.threads.iter().map(|threads| threads.get()).collect();
        threads.sort_unstable();
        threads.dedup();
        let repetitions = options.repetitions.get();
        let seconds = if options.quick { options.seconds / 4.0 } else { options.seconds };
        let runs = entries.len() * loads.len() * threads.len() * repetitions;
        let each = Duration::try_from_secs_f64(seconds).unwrap_or_default() / u32::try_from(runs).unwrap_or(u32::MAX);
        let length = each.saturating_sub(OVERHEAD).clamp(Duration::from_millis(5), Duration::from_millis(500));
        Ok(Self { entries, loads, threads, repetitions, length })
    }

    /// How long each measurement takes.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// Measures all of it.
    ///
    /// The repetitions go round: every engine once, then every engine again, so that a change in the machine's mood
    /// meets them all. Each round starts with another engine, so that none always follows the same one.
    ///
    /// # Panics
    ///
    /// If the operating system has no threads to give.
    pub fn run(&self) -> Outcome {
        let pool = Pool::new(self.threads.iter().copied().max().unwrap_or(0));
        let cells: Vec<_> = self.cells().collect();
        let progress = progress(cells.len() * self.repetitions);
        let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); cells.len()];
        for round in 0..self.repetitions {
            for index in rotated(cells.len(), self.entries.len(), round) {
                let (entry, load, threads) = cells[index];
                progress.set_message(format!("{load}, {threads} threads: {}", entry.name));
                samples[index].push((entry.contention)(&pool, Slice { load, threads, length: self.length }));
                progress.inc(1);
            }
        }
        progress.finish_and_clear();
        let mut outcome = Outcome { rows: Vec::new(), faults: Vec::new() };
        for ((entry, load, threads), samples) in cells.into_iter().zip(samples) {
            for fault in samples.iter().filter_map(|sample| sample.verdict.as_ref().err()) {
                let Entry { name, clock, .. } = entry;
                outcome.faults.push(format!("{name} ({clock} clock), {load}, {threads} threads: {fault}"));
            }
            outcome.rows.push(row(entry, load, threads, &samples));
        }
        outcome
    }

    /// What is compared with each other stands side by side: the engine changes fastest.
    fn cells(&self) -> impl Iterator<Item = (Entry, Load, usize)> {
        self.threads.iter().flat_map(move |&threads| {
            let loads = self.loads.iter();
            loads.flat_map(move |&load| self.entries.iter().map(move |&entry| (entry, load, threads)))
        })
    }
}

/// The indices of `cells` in order, but with each group of `group` of them rotated by `round`.
fn rotated(cells: usize, group: usize, round: usize) -> impl Iterator<Item = usize> {
    (0..cells).map(move |index| index / group * group + (index + round * 5) % group)
}

fn progress(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta:>4} left  {msg}");
    ProgressBar::new(length as u64).with_style(style.expect("the template is valid"))
}

/// Cores that threads can run on at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// The row of the repetition with the median throughput.
fn row(entry: Entry, load: Load, threads: usize, samples: &[Sample]) -> Row {
    let rates: Vec<_> = samples.iter().map(|sample| mops(sample.ops, sample.seconds)).collect();
    let middle = median_index(&rates).expect("at least one repetition");
    let Sample { ops, admitted, seconds, thread_min, thread_max, .. } = samples[middle];
    Row {
        bench: "contention".into(),
        load: load.name().into(),
        engine: entry.name.into(),
        version: entry.version.into(),
        threads,
        oversubscribed: threads > cores(),
        clock: entry.clock.into(),
        ops,
        seconds,
        mops: rates[middle],
        ns_per_op: ns_per_op(ops, seconds, threads, cores()),
        admitted,
        verified: samples.iter().all(|sample| sample.verdict.is_ok()),
        repetitions: samples.len(),
        mops_min: rates.iter().copied().fold(f64::INFINITY, f64::min),
        mops_max: rates.iter().copied().fold(0.0, f64::max),
        thread_min,
        thread_max,
        ..Row::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ENTRIES;

    fn sample(ops: u64, verdict: Result<(), String>) -> Sample {
        Sample { ops, admitted: ops, seconds: 1.0, thread_min: 1, thread_max: ops, verdict }
    }

    #[test]
    fn a_row_is_the_median_repetition_and_one_fault_spoils_it() {
        let samples = [sample(3_000_000, Ok(())), sample(9_000_000, Ok(())), sample(5_000_000, Ok(()))];
        let row = row(ENTRIES[0], Load::Admit, 1, &samples);
        assert_eq!((row.ops, row.admitted, row.thread_max, row.repetitions), (5_000_000, 5_000_000, 5_000_000, 3));
        assert!(
            (row.mops - 5.0).abs() < 1e-9 && (row.mops_min - 3.0).abs() < 1e-9 && (row.mops_max - 9.0).abs() < 1e-9
        );
        assert!((row.ns_per_op - 200.0).abs() < 1e-9);
        assert!(row.verified);
        let samples = [sample(3, Ok(())), sample(9, Err("wrong".into())), sample(5, Ok(()))];
        assert!(!super::row(ENTRIES[0], Load::Admit, 1, &samples).verified);
    }

    #[test]
    fn every_round_measures_everything_once_within_its_group() {
        for round in 0..20 {
            let order: Vec<_> = rotated(12, 4, round).collect();
            for (group, indices) in order.chunks(4).enumerate() {
                let mut indices = indices.to_vec();
                indices.sort_unstable();
                assert_eq!(indices, (group * 4..group * 4 + 4).collect::<Vec<_>>());
            }
        }
        assert_ne!(rotated(12, 4, 0).collect::<Vec<_>>(), rotated(12, 4, 1).collect::<Vec<_>>());
    }
}
