//! `latency`: how long a single call takes, and how long the slow ones take.

use super::measurement::Measurement;
use crate::engine::Engine;
use crate::engine::label::select;
use crate::engine::load::Load;
use crate::engine::registry::{Visitor, engines};
use crate::figures::error::Result;
use crate::figures::outcome::Outcome;
use crate::figures::row::{Row, only, plural, repetitions, threads};
use crate::figures::stats::{mops, ns_per_op};
use crate::run::cores;
use crate::run::options::Options;
use crate::run::plan::{Measure, Plan};
use crate::run::sample::{Sample, median};
use crate::run::slice::{self, Drive};
use crate::run::stage::{Signal, Tally};
use crate::run::timer::{Latencies, Timer, histogram};
use crate::show::axis::Axis;
use crate::show::compare::{cases, is_floor, remark};
use crate::show::lines::{COLOURS, lines};
use crate::show::plot::{Panel, Plot};
use crate::show::table::{Table, brief};
use core::fmt::Write;
use core::hint::black_box;
use std::time::Instant;

/// The loads that are measured unless others are asked for.
const LOADS: [Load; 2] = [Load::Admit, Load::Deny];

/// How it is called, shown, drawn and recorded.
pub const LATENCY: Measurement = Measurement {
    name: "latency",
    title: "Time of single calls",
    tables,
    plot: Some(plot),
    share: 0.07,
    record: |seconds| {
        let threads = [1, 2, cores()];
        Ok(measure(&Plan::new(&Options::within(seconds, 3), &engines::<Timed>(), &LOADS, &threads)?))
    },
};

/// Runs `latency`: measures, shows tables, writes what was asked for.
///
/// # Errors
///
/// If an engine is not known, a file cannot be written, or an admitted count cannot be right.
pub fn command(options: &Options, loads: &[Load]) -> Result<()> {
    let entries = select(engines::<Timed>(), &options.engine, &options.clock)?;
    let outcome = measure(&Plan::new(options, &entries, if loads.is_empty() { &LOADS } else { loads }, &[1, 2])?);
    LATENCY.finish(&outcome, &tables(&outcome.rows), options)
}

/// Reads a timer before and after each call.
#[derive(Debug)]
pub struct Timed;

impl Drive for Timed {
    type Detail = Latencies;

    #[inline(never)]
    fn drive(mut call: impl FnMut() -> bool, signal: &Signal, most: u64) -> (Tally, Latencies) {
        let timer = quanta::Clock::new();
        let mut latencies = histogram();
        let (mut ops, mut admitted) = (0, 0);
        let start = Instant::now();
        loop {
            let before = timer.raw();
            let answer = black_box(call());
            let after = timer.raw();
            latencies.saturating_record(timer.delta_as_nanos(before, after));
            admitted += u64::from(answer);
            ops += 1;
            // A thread that got no core before the end makes one call all the same.
            if signal.is_over() || ops >= most {
                break;
            }
        }
        (Tally { ops, admitted, start, end: Instant::now() }, latencies)
    }
}

impl Visitor for Timed {
    type Work = Measure<Latencies>;

    fn visit<E: Engine>() -> Measure<Latencies> {
        slice::run::<E, Self>
    }
}

/// Measures the latencies of all that is in `plan`.
pub fn measure(plan: &Plan<Latencies>) -> Outcome {
    let timer = Timer::measure();
    let mut outcome = Outcome::default();
    for (cell, samples) in plan.run() {
        outcome.add(row(cell.row(LATENCY.name), &samples, timer), samples.iter().map(|sample| &sample.verdict));
    }
    outcome
}

/// The row of all repetitions together: a rare slow call counts in whichever of them it comes.
fn row(case: Row, samples: &[Sample<Latencies>], timer: Timer) -> Row {
    let mut all = histogram();
    for latencies in samples.iter().flat_map(|sample| &sample.details) {
        all.add(latencies).expect("histograms of one shape");
    }
    let seconds = samples.iter().map(|sample| sample.seconds).sum();
    let row = Row {
        ops: all.len(),
        seconds,
        mops: mops(all.len(), seconds),
        ns_per_op: ns_per_op(all.len(), seconds, case.threads, cores()),
        admitted: samples.iter().map(|sample| sample.admitted).sum(),
        thread_min: 0,
        thread_max: 0,
        ..median(case, samples)
    };
    timer.percentiles(&all, row)
}

/// One table for each load and number of threads, the lowest 99th percentile first, the floor at the top.
fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    for (load, threads) in cases(rows) {
        let mut case = only(rows, |row| row.threads == threads && row.load == load);
        case.sort_by_key(|row| (!is_floor(row), row.p99_ns, row.p50_ns));
        let head = ["engine", "version", "clock", "p50", "p90", "p99", "p99.9", "p99.99", "max"];
        let table = Table::new(3, head).with(case.iter().map(|row| {
            let quantiles = [row.p50_ns, row.p90_ns, row.p99_ns, row.p999_ns, row.p9999_ns, row.max_ns].map(brief);
            let names = [format!("{}{}", row.engine, remark(row)), row.version.clone(), row.clock.clone()];
            names.into_iter().chain(quantiles).collect::<Vec<_>>()
        }));
        let _ = writeln!(text, "{load}, {}\n\n{table}", plural(threads)); // a string takes it all
    }
    let timer = rows.first().and_then(|row| row.timer_ns.zip(row.timer_step_ns));
    let (overhead, step) = timer.unwrap_or_default();
    text + &format!(
        "Times of single calls, from {}. Every figure contains one reading of the timer, which\nalone takes {overhead} ns \
         (median) and moves in steps of {step} ns. A thread that loses its core during a call counts the\ntime it was \
         away.\n",
        repetitions(rows),
    )
}

/// The share of calls that are slower, where a percentile is drawn, and its name.
const QUANTILES: [(f64, &str); 5] = [(2.0, "50 %"), (10.0, "90 %"), (100.0, "99 %"), (1e3, "99.9 %"), (1e4, "99.99 %")];

/// Latency over percentiles of an admit load: a panel for each number of threads, a line for each engine on the clock
/// that serves it best. (One chart of admissions is enough: the csv has the other loads.)
fn plot(rows: &[Row]) -> Plot {
    let load = rows.first().map_or("", |row| row.load.as_str());
    let shown = only(rows, |row| row.load == load);
    let y = Axis::log("ns", shown.iter().flat_map(|row| points(row).into_iter().map(|(_, ns)| ns)));
    let x = Axis::named("calls that take no longer", QUANTILES);
    let panels = threads(&shown).into_iter().map(|threads| Panel {
        title: plural(threads),
        x: x.clone(),
        y: y.clone(),
        shaded: None,
        series: lines(&only(&shown, |row| row.threads == threads), points),
    });
    let timer = shown.first().and_then(|row| row.timer_ns).unwrap_or(0);
    Plot {
        title: format!("Time of single calls, {load}"),
        subtitle: format!("Nanoseconds, with the {timer} ns of the timer. {COLOURS}"),
        panels: panels.collect(),
    }
}

#[allow(clippy::cast_precision_loss)] // three digits are shown
fn points(row: &Row) -> Vec<(f64, f64)> {
    let values = [row.p50_ns, row.p90_ns, row.p99_ns, row.p999_ns, row.p9999_ns];
    let points = QUANTILES.into_iter().zip(values);
    points.filter_map(|((place, _), ns)| Some((place, ns? as f64))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::mutex::MutexStd;
    use crate::figures::outcome::Verdict;
    use crate::run::pool::Pool;
    use crate::run::slice::Slice;
    use core::time::Duration;

    #[test]
    fn every_call_is_timed() {
        let pool = Pool::default();
        for load in Load::ALL {
            let slice = Slice { load, threads: 2, length: Duration::from_millis(3) };
            let sample = Timed::visit::<MutexStd>()(&pool, slice);
            assert_eq!(sample.verdict, Ok(()), "{load}");
            assert_eq!(sample.details.iter().map(Latencies::len).sum::<u64>(), sample.ops);
        }
    }

    #[test]
    fn a_row_counts_the_calls_of_all_repetitions() {
        let sample = |values: core::ops::RangeInclusive<u64>, verdict: Verdict| {
            let (mut latencies, ops) = (histogram(), values.clone().count() as u64);
            values.for_each(|value| latencies.record(value).unwrap());
            let (thread_min, thread_max, admitted_share) = (ops, ops, None);
            let details = vec![latencies];
            Sample { ops, admitted: 1, seconds: 0.5, thread_min, thread_max, admitted_share, verdict, details }
        };
        let (case, timer) = (Row { threads: 1, ..Row::default() }, Timer { overhead: 7, step: 3 });
        let quiet = sample(1..=900, Ok(()));
        let row = row(case.clone(), &[quiet.clone(), sample(901..=1_000, Ok(()))], timer);
        assert_eq!((row.ops, row.admitted, row.timer_step_ns, row.verified), (1_000, 2, Some(3), true));
        assert_eq!((row.p50_ns, row.p90_ns, row.max_ns), (Some(500), Some(900), Some(1_000)));
        assert!((row.seconds - 1.0).abs() < 1e-9);
        assert!(!super::row(case, &[quiet, sample(1..=1, Err("wrong".into()))], timer).verified);
    }

    #[test]
    fn the_best_tail_comes_first_and_times_are_brief() {
        let row = |engine: &str, p99| Row {
            engine: engine.into(),
            load: "admit".into(),
            threads: 1,
            p99_ns: Some(p99),
            max_ns: Some(12_345_678),
            timer_ns: Some(9),
            timer_step_ns: Some(2),
            verified: true,
            ..Row::default()
        };
        let text = tables(&[row("mutex-std", 30_500), row("governor", 20), row("floor-rmw", 500)]);
        let place = |name: &str| text.find(name).unwrap();
        assert!(place("floor-rmw") < place("governor") && place("governor") < place("mutex-std"), "{text}");
        assert!(text.contains("30.5 us") && text.contains("20 ns") && text.contains("12.3 ms"), "{text}");
        assert!(text.starts_with("admit, 1 thread\n") && text.contains("takes 9 ns"), "{text}");
    }
}
