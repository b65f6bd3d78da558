//! `latency`: how long a single call takes, and how long the slow ones take.

pub mod plot;
pub mod sample;
pub mod table;

use crate::contention::{Outcome, repetitions};
use crate::plan::{Cell, Options, Plan, cores};
use crate::registry::ENTRIES;
use crate::row::{Row, write};
use crate::stats::{mops, ns_per_op};
use hdrhistogram::Histogram;
use sample::{Latencies, Timer};
use std::path::Path;

/// Runs `latency`: measures, prints tables, writes what was asked for.
///
/// # Errors
///
/// If an engine is not known, a file cannot be written, or an admitted count cannot be right.
pub fn command(options: &Options) -> Result<(), String> {
    let plan = Plan::new(options, ENTRIES, &[1, 2])?;
    let outcome = measure(&plan);
    println!("{}", table::tables(&outcome.rows));
    println!(
        "Nanoseconds of single calls, from {}, on {} cores. Every figure contains one reading of the \
         timer, which\nalone takes {} ns (median) and moves in steps of {} ns. A thread that loses its core during a \
         call counts the time it was away.",
        repetitions(&outcome.rows),
        cores(),
        outcome.rows.first().and_then(|row| row.timer_ns).unwrap_or(0),
        outcome.rows.first().and_then(|row| row.timer_step_ns).unwrap_or(0),
    );
    let svg = options.svg.as_deref().unwrap_or(Path::new("target/latency.svg"));
    write(svg, |path| plot::plot(&outcome.rows).save(path))?;
    if let Some(csv) = &options.csv {
        write(csv, |path| Row::write_all(path, &outcome.rows))?;
    }
    outcome.verified()
}

/// Measures the latencies of all that is in `plan`.
pub fn measure(plan: &Plan) -> Outcome {
    let timer = Timer::measure();
    let results = plan.run(|pool, cell, length| (cell.entry.latency)(pool, cell.slice(length)));
    let mut outcome = Outcome { rows: Vec::new(), faults: Vec::new() };
    for (cell, samples) in results {
        for fault in samples.iter().filter_map(|sample| sample.verdict.as_ref().err()) {
            outcome.faults.push(cell.fault(fault));
        }
        outcome.rows.push(row(cell, &samples, timer));
    }
    outcome
}

/// The row of all repetitions together: a rare slow call counts in whichever of them it comes.
fn row(cell: Cell, samples: &[Latencies], timer: Timer) -> Row {
    let mut all: Histogram<u64> = sample::histogram();
    for sample in samples {
        all.add(&sample.histogram).expect("histograms of one shape");
    }
    let rates: Vec<_> = samples.iter().map(|sample| mops(sample.histogram.len(), sample.seconds)).collect();
    let seconds = samples.iter().map(|sample| sample.seconds).sum();
    let at = |quantile| Some(all.value_at_quantile(quantile));
    Row {
        ops: all.len(),
        seconds,
        mops: mops(all.len(), seconds),
        ns_per_op: ns_per_op(all.len(), seconds, cell.threads, cores()),
        admitted: samples.iter().map(|sample| sample.admitted).sum(),
        verified: samples.iter().all(|sample| sample.verdict.is_ok()),
        repetitions: samples.len(),
        mops_min: rates.iter().copied().fold(f64::INFINITY, f64::min),
        mops_max: rates.iter().copied().fold(0.0, f64::max),
        p50_ns: at(0.5),
        p90_ns: at(0.9),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        p9999_ns: at(0.9999),
        max_ns: Some(all.max()),
        timer_ns: Some(timer.overhead),
        timer_step_ns: Some(timer.step),
        ..cell.row("latency")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Load;

    fn latencies(values: impl IntoIterator<Item = u64>, verdict: Result<(), String>) -> Latencies {
        let mut histogram = sample::histogram();
        values.into_iter().for_each(|value| histogram.record(value).unwrap());
        Latencies { histogram, admitted: 1, seconds: 0.5, verdict }
    }

    #[test]
    fn a_row_counts_the_calls_of_all_repetitions() {
        let cell = Cell { entry: ENTRIES[0], load: Load::Admit, threads: 1 };
        let timer = Timer { overhead: 7, step: 3 };
        let quiet = latencies(1..=900, Ok(()));
        let noisy = latencies(901..=1_000, Ok(()));
        let row = row(cell, &[quiet.clone(), noisy], timer);
        assert_eq!((row.ops, row.admitted, row.timer_step_ns, row.verified), (1_000, 2, Some(3), true));
        assert_eq!((row.p50_ns, row.p90_ns, row.p99_ns), (Some(500), Some(900), Some(990)));
        assert_eq!((row.p999_ns, row.max_ns), (Some(999), Some(1_000)));
        assert!((row.seconds - 1.0).abs() < 1e-9);
        assert!(!super::row(cell, &[quiet, latencies([1], Err("wrong".into()))], timer).verified);
    }
}
