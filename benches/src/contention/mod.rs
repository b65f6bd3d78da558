//! `contention`: how many calls per second threads get through one limiter together.

pub mod plot;
pub mod slice;
pub mod table;

use crate::plan::{Cell, Options, Plan, cores};
use crate::registry::ENTRIES;
use crate::row::{Row, write};
use crate::stats::{median_index, mops, ns_per_op};
use slice::Sample;
use std::path::Path;

/// The figures, and what was wrong with them.
#[derive(Debug)]
pub struct Outcome {
    /// One row for each engine, load and number of threads.
    pub rows: Vec<Row>,
    /// A line for each measurement whose admitted count cannot be right.
    pub faults: Vec<String>,
}

/// Runs `contention`: measures, prints tables, writes what was asked for.
///
/// # Errors
///
/// If an engine is not known, a file cannot be written, or an admitted count cannot be right.
pub fn command(options: &Options) -> Result<(), String> {
    let plan = Plan::new(options, ENTRIES, &[1, 2, 4, 16])?;
    let outcome = measure(&plan);
    println!("{}", table::tables(&outcome.rows));
    println!(
        "Each figure is the median of {} on {} cores. ns/op: as the caller of a running thread sees it. fair: what the \
         slowest\nthread got of what the fastest one got. Floors: one atomic read-modify-write on a line of its own; one \
         clock read.",
        repetitions(&outcome.rows),
        cores()
    );
    let svg = options.svg.as_deref().unwrap_or(Path::new("target/contention.svg"));
    write(svg, |path| plot::plot(&outcome.rows).save(path))?;
    if let Some(csv) = &options.csv {
        write(csv, |path| Row::write_all(path, &outcome.rows))?;
    }
    outcome.verified()
}

/// How often the rows were measured, in words: some once less than others where the time was up.
pub fn repetitions(rows: &[Row]) -> String {
    let counts = rows.iter().map(|row| row.repetitions);
    match (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0)) {
        (least, most) if least == most => format!("{most} runs"),
        (least, most) => format!("{least} to {most} runs (the time was up)"),
    }
}

impl Outcome {
    /// Reports what cannot be right.
    ///
    /// # Errors
    ///
    /// If there is any.
    pub fn verified(&self) -> Result<(), String> {
        match self.faults.as_slice() {
            [] => Ok(()),
            faults => Err(format!("admitted counts that cannot be right:\n  {}", faults.join("\n  "))),
        }
    }
}

/// Measures the throughput of all that is in `plan`.
pub fn measure(plan: &Plan) -> Outcome {
    let results = plan.run(|pool, cell, length| (cell.entry.contention)(pool, cell.slice(length)));
    let mut outcome = Outcome { rows: Vec::new(), faults: Vec::new() };
    for (cell, samples) in results {
        for fault in samples.iter().filter_map(|sample| sample.verdict.as_ref().err()) {
            outcome.faults.push(cell.fault(fault));
        }
        outcome.rows.push(row(cell, &samples));
    }
    outcome
}

/// The row of the repetition with the median throughput.
fn row(cell: Cell, samples: &[Sample]) -> Row {
    let rates: Vec<_> = samples.iter().map(|sample| mops(sample.ops, sample.seconds)).collect();
    let middle = median_index(&rates).expect("at least one repetition");
    let Sample { ops, admitted, seconds, thread_min, thread_max, .. } = samples[middle];
    Row {
        ops,
        seconds,
        mops: rates[middle],
        ns_per_op: ns_per_op(ops, seconds, cell.threads, cores()),
        admitted,
        verified: samples.iter().all(|sample| sample.verdict.is_ok()),
        repetitions: samples.len(),
        mops_min: rates.iter().copied().fold(f64::INFINITY, f64::min),
        mops_max: rates.iter().copied().fold(0.0, f64::max),
        thread_min,
        thread_max,
        ..cell.row("contention")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Load;

    fn sample(ops: u64, verdict: Result<(), String>) -> Sample {
        Sample { ops, admitted: ops, seconds: 1.0, thread_min: 1, thread_max: ops, verdict }
    }

    #[test]
    fn a_row_is_the_median_repetition_and_one_fault_spoils_it() {
        let cell = Cell { entry: ENTRIES[0], load: Load::Admit, threads: 1 };
        let samples = [sample(3_000_000, Ok(())), sample(9_000_000, Ok(())), sample(5_000_000, Ok(()))];
        let row = row(cell, &samples);
        assert_eq!((row.ops, row.admitted, row.thread_max, row.repetitions), (5_000_000, 5_000_000, 5_000_000, 3));
        assert!(
            (row.mops - 5.0).abs() < 1e-9 && (row.mops_min - 3.0).abs() < 1e-9 && (row.mops_max - 9.0).abs() < 1e-9
        );
        assert!((row.ns_per_op - 200.0).abs() < 1e-9);
        assert!(row.verified);
        let samples = [sample(3, Ok(())), sample(9, Err("wrong".into())), sample(5, Ok(()))];
        assert!(!super::row(cell, &samples).verified);
    }

    #[test]
    fn a_fault_makes_the_command_fail() {
        assert!(Outcome { rows: Vec::new(), faults: Vec::new() }.verified().is_ok());
        let fault = Cell { entry: ENTRIES[0], load: Load::Deny, threads: 2 }.fault("one too many");
        let message = Outcome { rows: Vec::new(), faults: vec![fault] }.verified().unwrap_err();
        assert!(message.contains("deny, 2 threads: one too many"), "{message}");
    }
}
