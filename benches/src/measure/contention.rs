//! `contention`: how many calls per second threads get through one limiter together.

use super::measurement::Measurement;
use super::summary::{self, CHOICE};
use crate::engine::Engine;
use crate::engine::label::select;
use crate::engine::load::Load;
use crate::engine::registry::{Visitor, engines};
use crate::figures::error::Result;
use crate::figures::outcome::Outcome;
use crate::figures::row::{Row, only, plural, repetitions, threads};
use crate::run::cores;
use crate::run::options::Options;
use crate::run::plan::{Measure, Plan};
use crate::run::sample::median;
use crate::run::slice::{self, Drive};
use crate::run::stage::{Signal, Tally};
use crate::show::axis::Axis;
use crate::show::compare::{fairness, fastest_first, is_floor, lost, ratios, remark};
use crate::show::lines::{COLOURS, lines};
use crate::show::plot::{Panel, Plot};
use crate::show::table::Table;
use core::fmt::Write;
use std::time::Instant;

/// How it is called, shown, drawn and recorded: threads from 1 to 64, each number twice the one before. What has a core for each
/// thread is measured under every load and often enough for a median that means something; beyond that the scheduler is measured
/// as well.
pub const CONTENTION: Measurement = Measurement {
    name: "contention",
    title: "Threads that share one limiter",
    tables: by_load,
    plot: Some(plot),
    share: 0.7,
    record: |seconds| {
        let (entries, few) = (engines::<Throughput>(), [Load::Admit, Load::Deny, Load::Mixed]);
        let (within, beyond): (Vec<_>, Vec<_>) =
            [1, 2, 4, 8, 16, 32, 64].into_iter().partition(|&threads| threads <= cores().max(2));
        let mut outcome = measure(&Plan::new(&Options::within(seconds * 0.75, 11), &entries, &Load::ALL, &within)?);
        let rest = measure(&Plan::new(&Options::within(seconds * 0.25, 3), &entries, &few, &beyond)?);
        outcome.rows.extend(rest.rows);
        outcome.faults.extend(rest.faults);
        Ok(outcome)
    },
};

/// Runs `contention`, of all engines: measures, shows every figure, and ends with the summary.
///
/// # Errors
///
/// If an engine is not known, a file cannot be written, or an admitted count cannot be right.
pub fn command(options: &Options, loads: &[Load]) -> Result<()> {
    let entries = select(engines::<Throughput>(), &options.engine, &options.clock)?;
    let loads = if loads.is_empty() { &[Load::Admit, Load::Deny] } else { loads };
    let outcome = measure(&Plan::new(options, &entries, loads, &[1, 2, 4, 16])?);
    let text = details(&outcome.rows) + "\n" + &summary::text(&outcome.rows);
    CONTENTION.finish(&outcome, &text, options)
}

/// Runs the first comparison: of the engines that a chooser needs, unless others are named or `all` are wanted, under every
/// load, with one thread and with one for each core. It shows the summary alone; every figure before it if the question
/// was narrowed or widened.
///
/// # Errors
///
/// As [`command`].
pub fn first(options: &Options, loads: &[Load], all: bool) -> Result<()> {
    let mut entries = select(engines::<Throughput>(), &options.engine, &options.clock)?;
    if !all && !options.names_engines() {
        entries.retain(|entry| CHOICE.contains(&entry.label.name));
    }
    let is_asked = all || options.names_engines() || !loads.is_empty() || !options.threads.is_empty();
    let loads = if loads.is_empty() { &Load::ALL } else { loads };
    let outcome = measure(&Plan::new(options, &entries, loads, &[1, cores().max(2)])?);
    let details = if is_asked { details(&outcome.rows) + "\n" } else { String::new() };
    CONTENTION.finish(&outcome, &(details + &summary::text(&outcome.rows)), options)
}

/// Makes calls, and does nothing else.
#[derive(Debug)]
pub struct Throughput;

/// Calls between two looks at the stop flag.
const BATCH: u64 = 64;

impl Drive for Throughput {
    type Detail = ();

    #[inline(never)]
    fn drive(mut call: impl FnMut() -> bool, signal: &Signal, most: u64) -> (Tally, ()) {
        let (mut ops, mut admitted) = (0, 0);
        let start = Instant::now();
        loop {
            let batch = BATCH.min(most - ops);
            for _ in 0..batch {
                admitted += u64::from(call());
            }
            ops += batch;
            // A thread that got no core before the end makes one batch of calls all the same.
            if signal.is_over() || ops == most {
                break;
            }
        }
        (Tally { ops, admitted, start, end: Instant::now() }, ())
    }
}

impl Visitor for Throughput {
    type Work = Measure<()>;

    fn visit<E: Engine>() -> Measure<()> {
        slice::run::<E, Self>
    }
}

/// Measures the throughput of all that is in `plan`.
pub fn measure(plan: &Plan<()>) -> Outcome {
    let mut outcome = Outcome::default();
    for (cell, samples) in plan.run() {
        outcome.add(median(cell.row(CONTENTION.name), &samples), samples.iter().map(|sample| &sample.verdict));
    }
    outcome
}

/// One table for each load and number of threads, the fastest first, the floor at the top.
fn details(rows: &[Row]) -> String {
    let mut text = String::new();
    for load in Load::ALL {
        for threads in threads(rows) {
            let mut case = only(rows, |row| row.load == load.name() && row.threads == threads);
            if case.is_empty() {
                continue;
            }
            case.sort_by(fastest_first);
            let note = if case[0].oversubscribed { " (more than cores: oversubscribed)" } else { "" };
            let head = ["engine", "version", "clock", "Mops/s", "ns/op", "x mutex-std", "x best peer", "fair"];
            let table = Table::new(3, head).with(case.iter().map(|row| {
                let [mutex, peer] = ratios(row, &case);
                let [mops, ns] = [row.mops, row.ns_per_op].map(|figure| format!("{figure:.1}"));
                let name = format!("{}{}", row.engine, remark(row));
                [name, row.version.clone(), row.clock.clone(), mops + &lost(row), ns, mutex, peer, fairness(row)]
            }));
            let _ = writeln!(text, "{load}, {}{note}\n\n{table}", plural(threads)); // a string takes it all
        }
    }
    let runs = repetitions(rows);
    text + &format!(
        "Each figure is the median of {runs} on {} cores. ns/op: as the caller of a running thread sees it. fair: what the \
         slowest\nthread got of what the fastest one got. Floors: one atomic read-modify-write on a line of its own; one \
         clock read.\n",
        cores()
    )
}

/// A table for each load: throughput for each number of threads, and its ratios.
fn by_load(rows: &[Row]) -> String {
    let counts = threads(rows);
    let is_over = |threads: usize| rows.iter().any(|row| row.threads == threads && row.oversubscribed);
    let heads = counts.iter().map(|&count| plural(count) + if is_over(count) { " *" } else { "" });
    let head: Vec<_> = ["limiter", "clock"].map(String::from).into_iter().chain(heads).collect();
    let mut text = String::new();
    for load in Load::ALL {
        let of_load = only(rows, |row| row.load == load.name());
        let mut engines = only(&of_load, |row| Some(&row.threads) == counts.first());
        if engines.is_empty() {
            continue;
        }
        engines.sort_by(fastest_first);
        let table = Table::new(2, head.clone()).with(engines.iter().map(|engine| {
            let own: Vec<_> =
                of_load.iter().filter(|row| (&row.engine, &row.clock) == (&engine.engine, &engine.clock)).collect();
            let figure = |count: &usize| own.iter().find(|row| row.threads == *count);
            let figures = counts.iter().map(|count| figure(count).map_or("-".into(), |row| with_ratios(row, &of_load)));
            [engine.engine.clone(), engine.clock.clone()].into_iter().chain(figures).collect::<Vec<_>>()
        }));
        let _ = writeln!(text, "**{load}**, Mops/s (x mutex-std, x best peer)\n\n{table}"); // a string takes it all
    }
    if counts.iter().any(|&count| is_over(count)) {
        text += "\\* more threads than cores: oversubscribed\n";
    }
    text
}

fn with_ratios(row: &Row, rows: &[Row]) -> String {
    let [mutex, peer] = ratios(row, rows);
    let ratios = if is_floor(row) { String::new() } else { format!(" ({mutex}, {peer})") };
    format!("{:.1}{ratios}{}{}", row.mops, lost(row), remark(row))
}

/// Throughput over threads: a panel for each load, a line for each engine on the clock that serves it best.
#[allow(clippy::cast_precision_loss)] // thread counts
fn plot(rows: &[Row]) -> Plot {
    let threads = threads(rows);
    let x = Axis::at("threads", threads.iter().map(|&threads| threads as f64));
    let y = Axis::log("Mops/s", rows.iter().map(|row| row.mops));
    let is_over = threads.iter().any(|&threads| threads > cores());
    let shaded = is_over.then(|| (cores() as f64, String::from("more threads than cores")));
    let loads = Load::ALL.into_iter().filter(|load| rows.iter().any(|row| row.load == load.name()));
    let panels = loads.map(|load| Panel {
        title: load.title().into(),
        x: x.clone(),
        y: y.clone(),
        shaded: shaded.clone(),
        series: lines(&only(rows, |row| row.load == load.name()), |row| vec![(row.threads as f64, row.mops)]),
    });
    Plot {
        title: "Threads that share one rate limiter".into(),
        subtitle: format!("Decisions per second of all threads together, on {} cores. {COLOURS}", cores()),
        panels: panels.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::label::Label;
    use crate::engine::mutex::MutexStd;
    use crate::run::pool::Pool;
    use crate::run::slice::Slice;
    use core::sync::atomic::{AtomicBool, Ordering};
    use core::time::Duration;
    use tollgate::Quota;

    fn slice(load: Load) -> Slice {
        Slice { load, threads: 2, length: Duration::from_millis(5) }
    }

    #[test]
    fn a_right_engine_passes_under_every_load() {
        let pool = Pool::default();
        for load in Load::ALL {
            let sample = Throughput::visit::<MutexStd>()(&pool, slice(load));
            assert_eq!(sample.verdict, Ok(()), "{load}");
            assert!(sample.ops >= BATCH && sample.thread_min <= sample.thread_max, "{load}: {sample:?}");
            assert!(sample.seconds > 0.0);
            assert_eq!(sample.admitted_share.is_some(), !matches!(load, Load::Admit | Load::Deny), "{load}");
        }
    }

    /// Answers the same whatever it is asked, once it has answered `true` to the first call.
    struct Stuck<const ANSWER: bool>(AtomicBool);

    impl<const ANSWER: bool> Engine for Stuck<ANSWER> {
        const LABEL: Label = Label::peer("stuck", "test", "none");

        fn build(_: Quota) -> Self {
            Self(AtomicBool::new(true))
        }

        fn caller(&self) -> impl FnMut() -> bool {
            // ORDERING: relaxed, one call only has to be the first.
            || self.0.swap(false, Ordering::Relaxed) || ANSWER
        }
    }

    #[test]
    fn an_engine_that_always_says_the_same_is_found_out() {
        let pool = Pool::default();
        let verdict = |visited: Measure<()>, load| visited(&pool, slice(load)).verdict;
        assert!(verdict(Throughput::visit::<Stuck<true>>(), Load::Deny).is_err());
        assert!(verdict(Throughput::visit::<Stuck<true>>(), Load::Mixed1e5).is_err());
        assert!(verdict(Throughput::visit::<Stuck<false>>(), Load::Admit).is_err());
        assert!(verdict(Throughput::visit::<Stuck<false>>(), Load::Mixed).is_err());
    }

    fn row(engine: &str, clock: &str, load: &str, threads: usize, mops: f64) -> Row {
        let [bench, engine, clock, load] = ["contention", engine, clock, load].map(String::from);
        Row { bench, engine, clock, load, threads, oversubscribed: threads > 2, mops, verified: true, ..Row::default() }
    }

    /// The cells of the first line of `text` whose first cell is `name`.
    fn cells(text: &str, name: &str) -> Vec<String> {
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        text.lines().map(cells).find(|cells| cells[0].starts_with(name)).unwrap()
    }

    #[test]
    fn a_table_shows_the_ratios_and_marks_a_wrong_count_and_what_was_lost() {
        let rows = [
            row("mutex-std", "std", "mixed", 1, 10.0),
            Row { verified: false, ..row("governor", "quanta", "mixed", 1, 25.0) },
            Row { admitted_share: Some(0.934), ..row("ratelimit", "std", "mixed", 1, 20.0) },
        ];
        let text = details(&rows);
        assert!(text.starts_with("mixed, 1 thread\n") && cells(&text, "governor")[0].contains("WRONG COUNT"), "{text}");
        assert_eq!(cells(&text, "ratelimit")[3..7], ["20.0 (93%)", "0.0", "2.00", "1.00"], "{text}");
        assert!(text.find("governor").unwrap() < text.find("ratelimit").unwrap(), "the fastest first");
    }

    #[test]
    fn the_recorded_table_has_every_engine_and_marks_what_is_oversubscribed() {
        let mut rows = Vec::new();
        for (threads, scale) in [(1, 1.0), (2, 0.5), (4, 0.25)] {
            rows.push(row("floor-rmw", "none", "deny", threads, 300.0 * scale));
            rows.push(row("mutex-std", "std", "deny", threads, 20.0 * scale));
            rows.push(row("governor", "std", "deny", threads, 30.0 * scale));
            rows.push(row("governor", "quanta", "deny", threads, 40.0 * scale));
        }
        let text = CONTENTION.block(&rows);
        assert_eq!(cells(&text, "limiter")[2..5], ["1 thread", "2 threads", "4 threads *"], "{text}");
        assert_eq!(cells(&text, "governor")[2..5], ["40.0 (2.00, 1.00)", "20.0 (2.00, 1.00)", "10.0 (2.00, 1.00)"]);
        assert_eq!(cells(&text, "floor-rmw")[2..5], ["300.0", "150.0", "75.0"]);
        assert!(text.contains("**deny**") && !text.contains("**mixed**"));
        assert!(!CONTENTION.block(&[Row { bench: "latency".into(), ..rows[0].clone() }]).contains("floor"));
    }
}
