//! `accuracy`: how often each algorithm decides otherwise than an exact sliding log would.

mod gauge;
mod log;
mod measured;
mod plot;
mod sharded;
mod table;
mod traffic;

use self::measured::{Measured, Row};
use self::traffic::{WINDOW, Zipf};
use crate::figures::error::{Error, Result};
use crate::figures::row::{save, write};
use crate::run::rounds::progress;
use std::path::{Path, PathBuf};
use tollgate::Quota;

/// Compare the decisions of each algorithm with an exact sliding log's
///
/// The streams are an attack on a window's boundary, traffic packed at the start and at the end of windows, Poisson and
/// bursty arrivals, bursts with pauses between them, many keys of Zipf popularity, and logs. They are the same in each run with the same
/// seed.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A log to compare on, as well: a csv of milliseconds and key (tollgate-replay reads others)
    #[arg(long, value_name = "PATH")]
    file: Vec<PathBuf>,

    /// Tokens a minute for each key of a log
    #[arg(long, value_name = "N", default_value_t = 60)]
    limit: u64,

    /// Arrivals of the streams with many keys
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    arrivals: u32,

    /// Keys of the streams with many keys
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    keys: u32,

    /// Another seed makes other streams
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Write the results as CSV to this file
    #[arg(long, value_name = "PATH")]
    csv: Option<PathBuf>,

    /// Draw the results to this file
    #[arg(long, value_name = "PATH", default_value = "target/accuracy.svg")]
    svg: PathBuf,
}

/// Runs `accuracy`: measures, writes what was asked for, shows what came of it.
///
/// # Errors
///
/// A log given by name cannot be read, the limit is none or too large, or the results cannot be written.
pub fn command(args: &Args) -> Result<()> {
    let measured = measure(args)?;
    if let Some(path) = &args.csv {
        save(path, |path| write(path, &Row::all(&measured, args.seed)))?;
    }
    save(&args.svg, |path| std::fs::write(path, plot::svg(&measured)))?;
    println!("\n{}", table::text(&measured));
    Ok(())
}

/// Measures as the command does by default, writes `accuracy.csv` and `accuracy.svg` to `folder`, and returns the
/// tables.
///
/// # Errors
///
/// If a file cannot be written.
pub fn record(folder: &Path) -> Result<String> {
    #[derive(clap::Parser)]
    struct Defaults {
        #[command(flatten)]
        args: Args,
    }
    let args = <Defaults as clap::Parser>::parse_from(["accuracy"]).args;
    let measured = measure(&args)?;
    save(&folder.join("accuracy.csv"), |path| write(path, &Row::all(&measured, args.seed)))?;
    save(&folder.join("accuracy.svg"), |path| std::fs::write(path, plot::svg(&measured)))?;
    Ok(table::text(&measured))
}

/// Every stream, and every log that was named.
fn measure(args: &Args) -> Result<Vec<Measured>> {
    let log_quota = Quota::try_new(args.limit, WINDOW, args.limit);
    let log_quota = log_quota.map_err(|error| Error::Request(format!("a limit of {}: {error}", args.limit)))?;
    let zipf = Zipf { arrivals: args.arrivals, keys: args.keys, windows: 10.0 };
    let scenarios = traffic::scenarios(args.seed, zipf);

    // Logs come first, for one that cannot be read ends the run; they are shown last.
    let logs = args.file.iter().map(|log| Measured::log(log, log_quota)).collect::<Result<Vec<_>>>()?;

    let progress = progress(scenarios.len());
    let mut measured = Vec::new();
    for scenario in &scenarios {
        progress.set_message(scenario.name);
        progress.tick();
        measured.push(Measured::stream(scenario)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    measured.extend(logs);
    Ok(measured)
}

#[cfg(test)]
mod tests;
