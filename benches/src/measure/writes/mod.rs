//! `writes`: how often a limiter writes to the memory that its callers share, for each thousand calls.
//!
//! A write to shared memory takes the cache line away from all other cores: with many cores, that is what a limiter
//! costs. The count does not depend on the machine. It is taken from a trace of every memory access of one thread, by
//! valgrind's lackey. Threads that get in each other's way write more, in retries; how much more depends on the machine.

mod trace;

use super::measurement::Measurement;
use crate::engine::Engine;
use crate::engine::label::{Entry, Kind, select};
use crate::engine::load::Load;
use crate::engine::registry::{Visitor, engines};
use crate::figures::error::{Error, Result};
use crate::figures::outcome::Outcome;
use crate::figures::row::{Row, only};
use crate::run::cores;
use crate::run::options::Options as Common;
use crate::run::plan::case;
use crate::run::rounds::progress;
use crate::run::slice::drain;
use crate::show::compare::name;
use crate::show::table::{Table, tenths};
use core::sync::atomic::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use trace::Watch;

/// The command line of `writes`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Only these engines, by name (repeat it or separate with commas)
    #[arg(long, value_delimiter = ',')]
    engine: Vec<String>,
    /// Write the figures to this file
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Makes the calls of one engine, for valgrind to watch
    #[arg(long, hide = true, value_enum)]
    watched: Option<Load>,
    /// The clock of that engine
    #[arg(long, hide = true)]
    clock: Option<String>,
}

/// Calls that are watched: two of the largest batches.
const CALLS: u64 = 8_192;

/// Written to before the first of them and after the last.
static MARK: CachePadded<AtomicU64> = CachePadded::new(AtomicU64::new(0));

/// How it is called, shown and recorded.
pub const WRITES: Measurement = Measurement {
    name: "writes",
    title: "Writes to shared memory",
    tables,
    plot: None,
    share: 0.0,
    record: |_| measure(engines::<Watched>()),
};

/// Runs `writes`: counts, shows a table, writes what was asked for. Where there is no valgrind, it says so.
///
/// # Errors
///
/// If an engine is not known, valgrind fails, or a file cannot be written.
pub fn command(options: &Options) -> Result<()> {
    let clocks: Vec<_> = options.clock.iter().cloned().collect();
    let entries = select(engines::<Watched>(), &options.engine, &clocks)?;
    if let Some(load) = options.watched {
        (entries[0].work)(load);
        return Ok(());
    }
    let outcome = measure(entries)?;
    if outcome.rows.is_empty() {
        println!("skipped: there is no valgrind on this machine");
        return Ok(());
    }
    WRITES.finish(&outcome, &tables(&outcome.rows), &Common { csv: options.csv.clone(), ..Common::default() })
}

/// An engine whose writes can be counted.
type Counted = Entry<fn(Load)>;

/// A row for each engine and load, on the clock that the engine comes with: the clock does not matter here. No rows where
/// there is no valgrind.
fn measure(entries: Vec<Counted>) -> Result<Outcome> {
    let found = Command::new("valgrind").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        return Ok(Outcome::default());
    }
    let mut cells: Vec<(Counted, Load)> = Vec::new();
    for entry in entries.into_iter().filter(|entry| entry.label.kind != Kind::Floor) {
        if !cells.iter().any(|(other, _)| other.label.name == entry.label.name) {
            cells.extend([Load::Admit, Load::Deny].map(|load| (entry, load)));
        }
    }
    let progress = progress(cells.len());
    let (next, counted) = (Mutex::new(0..cells.len()), Mutex::new(Vec::new()));
    // Counts do not depend on what runs beside them.
    let work = || {
        let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(place) = take() {
            let (entry, load) = &cells[place];
            let file = format!("tollgate-bench-{}-{}-{load}.trace", std::process::id(), entry.label.name);
            let file = std::env::temp_dir().join(file);
            let row = count(entry, *load, &file).map(|writes| row(entry, *load, writes));
            let _ = std::fs::remove_file(&file); // what is left there does no harm
            progress.inc(1);
            counted.lock().unwrap_or_else(PoisonError::into_inner).push((place, row));
        }
    };
    std::thread::scope(|scope| (0..cores()).for_each(|_| drop(scope.spawn(work))));
    progress.finish_and_clear();
    let mut counted = counted.into_inner().unwrap_or_else(PoisonError::into_inner);
    counted.sort_by_key(|&(place, _)| place);
    let rows = counted.into_iter().map(|(_, row)| row).collect::<Result<_>>()?;
    Ok(Outcome { rows, ..Outcome::default() })
}

/// The writes of [`CALLS`] calls.
fn count(entry: &Counted, load: Load, file: &Path) -> Result<u64> {
    let failed = |what: &str, why: &str| Error::Program(format!("valgrind on {}: {what}{why}", entry.label.name));
    let this = std::env::current_exe().map_err(|error| failed("this program's path: ", &error.to_string()))?;
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no"])
        .arg(format!("--log-file={}", file.display()))
        .arg(this)
        .args(["writes", "--watched", load.name(), "--engine", entry.label.name, "--clock", entry.label.clock])
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| failed("", &error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let watch = Watch::parse(&said).filter(|_| output.status.success());
    let watch = watch.ok_or_else(|| failed("", &String::from_utf8_lossy(&output.stderr)))?;
    let counted = File::open(file).and_then(|trace| watch.count(BufReader::new(trace)));
    counted.map_err(Error::file(file))
}

/// Makes calls whose memory accesses are watched.
#[derive(Debug)]
pub struct Watched;

impl Visitor for Watched {
    type Work = fn(Load);

    fn visit<E: Engine>() -> fn(Load) {
        watched::<E>
    }
}

/// Makes the calls that are watched, and says on standard output what to watch for.
///
/// # Panics
///
/// If a call is not answered as the load demands.
fn watched<E: Engine>(load: Load) {
    let quota = E::quota(load);
    let engine = Box::new(CachePadded::new(E::build(quota)));
    if load == Load::Deny {
        drain::<E>(&engine, quota.burst());
    }
    let mut call = engine.caller();
    // The first calls read the clock for the first time, and fetch a first batch of tokens.
    let mut answers = (0..CALLS).map(|_| call());
    assert!(answers.all(|admitted| admitted == (load == Load::Admit)), "{}: a wrong answer", E::LABEL.name);
    let watch = Watch {
        mark: core::ptr::from_ref(&*MARK) as u64,
        start: core::ptr::from_ref::<E>(&engine) as u64,
        size: size_of::<E>() as u64,
    };
    println!("{watch}");
    // ORDERING: relaxed; one thread, and the trace is in its order.
    MARK.store(1, Ordering::Relaxed);
    let admitted = (0..CALLS).filter(|_| call()).count();
    // ORDERING: as above.
    MARK.store(2, Ordering::Relaxed);
    assert!(admitted as u64 == if load == Load::Admit { CALLS } else { 0 }, "{}: {admitted} admitted", E::LABEL.name);
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
fn row(entry: &Counted, load: Load, writes: u64) -> Row {
    Row {
        ops: CALLS,
        admitted: if load == Load::Admit { CALLS } else { 0 },
        verified: true,
        repetitions: 1,
        writes_per_1000: Some(writes as f64 * 1e3 / CALLS as f64),
        ..case(WRITES.name, &entry.label, load.name(), 1)
    }
}

/// A line for each engine, a column for each load; the fewest writes first.
fn tables(rows: &[Row]) -> String {
    let mut engines = only(rows, |row| row.load == Load::Admit.name());
    engines.sort_by(|a, b| a.writes_per_1000.unwrap_or(0.0).total_cmp(&b.writes_per_1000.unwrap_or(0.0)));
    let table = Table::new(1, ["limiter", "admit", "deny"]).with(engines.iter().map(|engine| {
        let figure = |load: Load| rows.iter().find(|row| row.engine == engine.engine && row.load == load.name());
        let [admit, deny] =
            [Load::Admit, Load::Deny].map(|load| tenths(figure(load).and_then(|row| row.writes_per_1000)));
        [name(engine), admit, deny]
    }));
    format!(
        "{table}\nWrites to the limiter's own memory, which its callers share, for each 1000 calls of one thread. What lies \
         elsewhere\nis not counted: a thread's shard, which is its own, and the instants of the logs, which take one more \
         for each admission.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_answers_as_it_is_watched() {
        for entry in engines::<Watched>().iter().filter(|entry| entry.label.kind != Kind::Floor) {
            (entry.work)(Load::Admit);
            (entry.work)(Load::Deny);
        }
    }

    #[test]
    fn the_fewest_writes_come_first() {
        let row = |name: &str, load, writes| {
            let entry = engines::<Watched>().into_iter().find(|entry| entry.label.name == name).unwrap();
            super::row(&entry, load, writes)
        };
        let rows = [
            row("governor", Load::Admit, CALLS),
            row("governor", Load::Deny, 0),
            row("sharded", Load::Admit, CALLS / 500),
            row("sharded", Load::Deny, 0),
        ];
        let text = tables(&rows);
        assert!(text.contains("1000.0") && text.contains("2.0"), "{text}");
        assert!(text.find("sharded").unwrap() < text.find("governor").unwrap(), "{text}");
    }
}
