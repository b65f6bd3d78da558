//! `writes`: how often a limiter writes to the memory that its callers share, for each thousand calls.
//!
//! A write to shared memory takes the cache line away from all other cores: with many cores, that is what a limiter
//! costs. The count does not depend on the machine. It is taken from a trace of every memory access of one thread, by
//! valgrind's lackey. Threads that get in each other's way write more, in retries; how much more depends on the machine.

mod trace;

use crate::contention::Outcome;
use crate::contention::slice::drain;
use crate::engine::{Caller, Engine, Kind};
use crate::load::Load;
use crate::plan::progress;
use crate::registry::{ENTRIES, Entry, select};
use crate::row::{Row, write};
use comfy_table::{Cell, CellAlignment, Table, presets};
use core::sync::atomic::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
use rayon::prelude::*;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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

/// What the figures are.
pub const WATCHED: &str = "Writes to the limiter's own memory, which its callers share, for each 1000 calls of one thread. What lies elsewhere \
is not counted: a thread's shard, which is its own, and the instants of the logs, which take one more for each admission.";

/// Runs `writes`: counts, prints a table, writes what was asked for. Where there is no valgrind, it says so.
///
/// # Errors
///
/// If an engine is not known, valgrind fails, or a file cannot be written.
pub fn command(options: &Options) -> Result<(), String> {
    if let Some(load) = options.watched {
        let clocks: Vec<_> = options.clock.iter().cloned().collect();
        let entry = select(ENTRIES, &options.engine, &clocks)?[0];
        (entry.watched)(load);
        return Ok(());
    }
    let outcome = rows(&select(ENTRIES, &options.engine, &[])?)?;
    if outcome.rows.is_empty() {
        println!("skipped: there is no valgrind on this machine");
        return Ok(());
    }
    println!("\n{}", table(&outcome.rows));
    println!("{WATCHED}");
    if let Some(csv) = &options.csv {
        write(csv, |path| Row::write_all(path, &outcome.rows))?;
    }
    Ok(())
}

/// A row for each engine and load, on the clock that the engine comes with: the clock does not matter here. No rows where
/// there is no valgrind.
///
/// # Errors
///
/// If valgrind fails.
pub fn rows(entries: &[Entry]) -> Result<Outcome, String> {
    let mut outcome = Outcome { rows: Vec::new(), faults: Vec::new() };
    let found = Command::new("valgrind").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        return Ok(outcome);
    }
    let mut first: Vec<Entry> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.kind != Kind::Floor) {
        if !first.iter().any(|other| other.name == entry.name) {
            first.push(*entry);
        }
    }
    let cells: Vec<_> =
        first.into_iter().flat_map(|entry| [Load::Admit, Load::Deny].map(|load| (entry, load))).collect();
    let progress = progress(cells.len());
    // Counts do not depend on what runs beside them.
    let counted = cells.par_iter().map(|&(entry, load)| {
        let file = format!("tollgate-bench-{}-{}-{load}.trace", std::process::id(), entry.name);
        let file = std::env::temp_dir().join(file);
        let counted = count(entry, load, &file);
        let _ = std::fs::remove_file(&file); // what is left there does no harm
        progress.inc(1);
        Ok(row(entry, load, counted?))
    });
    outcome.rows = counted.collect::<Result<_, String>>()?;
    progress.finish_and_clear();
    Ok(outcome)
}

/// The writes of [`CALLS`] calls.
fn count(entry: Entry, load: Load, file: &Path) -> Result<u64, String> {
    let this = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no"])
        .arg(format!("--log-file={}", file.display()))
        .arg(this)
        .args(["writes", "--watched", load.name(), "--engine", entry.name, "--clock", entry.clock])
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let watch = Watch::parse(&said).filter(|_| output.status.success());
    let watch = watch.ok_or_else(|| format!("{}: {}", entry.name, String::from_utf8_lossy(&output.stderr)))?;
    let trace = File::open(file).map_err(|error| format!("valgrind's trace: {error}"))?;
    watch.count(BufReader::new(trace)).map_err(|error| format!("valgrind's trace of {}: {error}", entry.name))
}

/// Makes the calls that are watched, and says on standard output what to watch for.
///
/// # Panics
///
/// If a call is not answered as the load demands.
pub fn watched<E: Engine>(load: Load) {
    let quota = E::quota(load);
    let engine = Box::new(CachePadded::new(E::build(quota)));
    if load == Load::Deny {
        drain::<E>(&engine, quota.burst());
    }
    let mut caller = engine.caller();
    // The first calls read the clock for the first time, and fetch a first batch of tokens.
    let mut answers = (0..CALLS).map(|_| caller.try_acquire());
    assert!(answers.all(|admitted| admitted == (load == Load::Admit)), "{}: a wrong answer", E::NAME);
    let watch = Watch {
        mark: core::ptr::from_ref(&*MARK) as u64,
        start: core::ptr::from_ref::<E>(&engine) as u64,
        size: size_of::<E>() as u64,
    };
    println!("{watch}");
    // ORDERING: relaxed; one thread, and the trace is in its order.
    MARK.store(1, Ordering::Relaxed);
    let admitted = (0..CALLS).filter(|_| caller.try_acquire()).count();
    // ORDERING: as above.
    MARK.store(2, Ordering::Relaxed);
    assert!(admitted as u64 == if load == Load::Admit { CALLS } else { 0 }, "{}: {admitted} admitted", E::NAME);
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
fn row(entry: Entry, load: Load, writes: u64) -> Row {
    Row {
        bench: "writes".into(),
        load: load.name().into(),
        engine: entry.name.into(),
        version: entry.version.into(),
        threads: 1,
        clock: entry.clock.into(),
        ops: CALLS,
        admitted: if load == Load::Admit { CALLS } else { 0 },
        verified: true,
        repetitions: 1,
        writes_per_1000: Some(writes as f64 * 1e3 / CALLS as f64),
        ..Row::default()
    }
}

/// A line for each engine, a column for each load; the fewest writes first.
fn table(rows: &[Row]) -> Table {
    let figure = |engine: &str, load: Load| {
        let row = rows.iter().find(|row| row.engine == engine && row.load == load.name());
        row.and_then(|row| row.writes_per_1000)
    };
    let mut engines: Vec<_> = rows.iter().filter(|row| row.load == Load::Admit.name()).collect();
    engines.sort_by(|a, b| a.writes_per_1000.unwrap_or(0.0).total_cmp(&b.writes_per_1000.unwrap_or(0.0)));
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["engine", "version", "admit", "deny"]);
    for row in engines {
        let cells = [Load::Admit, Load::Deny].map(|load| figure(&row.engine, load));
        let cells = cells.map(|writes| writes.map_or("-".into(), |writes| format!("{writes:.1}")));
        let cells = cells.map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
        table.add_row([Cell::new(&row.engine), Cell::new(&row.version)].into_iter().chain(cells));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_answers_as_it_is_watched() {
        for entry in ENTRIES.iter().filter(|entry| entry.kind != Kind::Floor) {
            (entry.watched)(Load::Admit);
            (entry.watched)(Load::Deny);
        }
    }

    #[test]
    fn the_fewest_writes_come_first() {
        let row = |name: &str, load, writes| {
            let entry = ENTRIES.iter().find(|entry| entry.name == name).unwrap();
            super::row(*entry, load, writes)
        };
        let rows = [
            row("governor", Load::Admit, CALLS),
            row("governor", Load::Deny, 0),
            row("sharded", Load::Admit, CALLS / 500),
            row("sharded", Load::Deny, 0),
        ];
        let text = table(&rows).to_string();
        assert!(text.contains("1000.0") && text.contains("2.0"), "{text}");
        assert!(text.find("sharded").unwrap() < text.find("governor").unwrap(), "{text}");
    }
}
