//! `waiting`: what tasks get that wait for tokens, and how late.

mod admissions;
mod drive;
mod load;
mod pending;
mod plot;
mod row;
mod table;

use self::load::Load;
use self::row::Row;
use crate::engine::waiting::{Governor, InTurn, Refilled, Waiting};
use crate::figures::error::{Error, Result};
use crate::figures::outcome::Verdict;
use crate::figures::row::{save, write};
use crate::run::rounds::progress;
use core::time::Duration;
use leaky_bucket::RateLimiter as LeakyBucket;
use std::path::{Path, PathBuf};
use tollgate::{TokioClock, WaitingTokenBucket};

/// Compare limiters that tasks wait for: admitted per second, lateness, fairness, also where many waits are given up
///
/// 1000 per second with a burst of 1, on tokio's threads. Every run checks that no more was admitted than its limiter's
/// bound allows.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Time for each limiter under each of three loads
    #[arg(long, value_name = "N", default_value_t = 4.0)]
    seconds: f64,

    /// Write the results as CSV to this file
    #[arg(long, value_name = "PATH")]
    csv: Option<PathBuf>,

    /// Draw the results to this file
    #[arg(long, value_name = "PATH", default_value = "target/waiting.svg")]
    svg: PathBuf,
}

/// What is recorded: seconds for each limiter under each load.
const RECORDED: Duration = Duration::from_secs(2);

/// The shortest run that can be told from none.
const SHORTEST: Duration = Duration::from_millis(10);

/// Runs `waiting`: measures, writes what was asked for, shows what came of it.
///
/// # Errors
///
/// The time is none, more was admitted than may be, or a file cannot be written.
pub fn command(args: &Args) -> Result<()> {
    let length = Duration::try_from_secs_f64(args.seconds).ok().filter(|length| *length >= SHORTEST);
    let length = length.ok_or_else(|| Error::Request(format!("{} seconds: at least 0.01", args.seconds)))?;
    let (rows, faults) = measure(length)?;
    if let Some(path) = &args.csv {
        save(path, |path| write(path, &rows))?;
    }
    save(&args.svg, |path| std::fs::write(path, plot::plot(&rows).svg()))?;
    println!("\n{}", table::text(&rows).trim_end());
    verified(faults)
}

/// Measures for a short time, writes `waiting.csv` and `waiting.svg` to `folder`, and returns the table.
///
/// # Errors
///
/// If more was admitted than may be, or a file cannot be written.
pub fn record(folder: &Path) -> Result<String> {
    let (rows, faults) = measure(RECORDED)?;
    verified(faults)?;
    save(&folder.join("waiting.csv"), |path| write(path, &rows))?;
    save(&folder.join("waiting.svg"), |path| std::fs::write(path, plot::plot(&rows).svg()))?;
    Ok(table::text(&rows))
}

/// The table of what is recorded in `folder`, if waiting is.
///
/// # Errors
///
/// If it cannot be read.
pub fn recorded(folder: &Path) -> Result<Option<String>> {
    let path = folder.join("waiting.csv");
    if !path.exists() {
        return Ok(None);
    }
    let rows = csv::Reader::from_path(&path).and_then(|reader| reader.into_deserialize().collect());
    let rows: Vec<Row> = rows.map_err(std::io::Error::from).map_err(Error::file(&path))?;
    Ok(Some(table::text(&rows)))
}

/// A limiter under a load, for a time.
type Run = fn(Load, Duration) -> Result<(Row, Verdict)>;

/// Every limiter under every load, and a line for each run whose count cannot be right.
fn measure(length: Duration) -> Result<(Vec<Row>, Vec<String>)> {
    let ours = <WaitingTokenBucket<TokioClock> as Waiting>::LABEL.name;
    let runs: [Run; 5] = [
        drive::run::<WaitingTokenBucket<TokioClock>>,
        drive::run::<InTurn>,
        drive::run::<Governor>,
        drive::run::<LeakyBucket>,
        drive::run::<Refilled>,
    ];
    let pending = pending::bytes()?;
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    let progress = progress(Load::ALL.len() * runs.len());
    for load in Load::ALL {
        for run in runs {
            progress.tick();
            let (mut row, verdict) = run(load, length)?;
            if row.engine == ours && load == Load::Steady {
                (row.bytes_per_wait, row.timer_bytes) = (Some(pending.0), Some(pending.1));
            }
            faults.extend(verdict.err().map(|why| format!("{}, {}: {why}", row.engine, load.name())));
            rows.push(row);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok((rows, faults))
}

fn verified(faults: Vec<String>) -> Result<()> {
    if faults.is_empty() { Ok(()) } else { Err(Error::Counts(faults)) }
}

#[cfg(test)]
mod tests;
