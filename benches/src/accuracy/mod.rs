//! `accuracy`: how often each algorithm decides otherwise than an exact sliding log would.

mod gauge;
mod measured;
mod plot;
mod table;
mod traffic;

use std::fs;
use std::path::{Path, PathBuf};

use self::measured::{Measured, Row};
use self::traffic::{WINDOW, Zipf};
use tollgate::Quota;
use tollgate_replay::{Error, show::progress::Progress, show::report};

/// Compare the decisions of each algorithm with an exact sliding log's
///
/// The streams are an attack on a window's boundary, traffic packed at the start and at the end of windows, Poisson and
/// bursty arrivals, many keys of Zipf popularity, and logs. They are the same in each run with the same seed. `replay`
/// says how logs are read.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A log to compare on, as well
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

/// Measures, and prints what came of it.
///
/// # Errors
///
/// A log given by name cannot be read, the limit is none or too large, or the results cannot be written.
pub fn run(args: &Args) -> Result<(), Error> {
    let measured = measure(args)?;
    report::print(&table::text(&measured)).map_err(|error| Error::Unwritable("standard output".into(), error))?;
    if let Some(path) = &args.csv {
        report::write_csv(path, &Row::all(&measured, args.seed))?;
        eprintln!("results written to {}", path.display());
    }
    draw(&args.svg, &measured)?;
    eprintln!("plot written to {}", args.svg.display());
    Ok(())
}

/// Measures as the command does by default, writes `accuracy.csv` and `accuracy.svg` to `folder`, and returns the
/// tables.
///
/// # Errors
///
/// If a file cannot be written.
pub fn record(folder: &Path) -> Result<String, String> {
    #[derive(clap::Parser)]
    struct Defaults {
        #[command(flatten)]
        args: Args,
    }
    let args = <Defaults as clap::Parser>::parse_from(["accuracy"]).args;
    let write = || {
        let measured = measure(&args)?;
        report::write_csv(&folder.join("accuracy.csv"), &Row::all(&measured, args.seed))?;
        draw(&folder.join("accuracy.svg"), &measured)?;
        Ok(table::text(&measured))
    };
    write().map_err(|error: Error| error.to_string())
}

/// Every stream, and every log that was named.
fn measure(args: &Args) -> Result<Vec<Measured>, Error> {
    let log_quota = Quota::try_new(args.limit, WINDOW, args.limit).map_err(Error::Quota)?;
    let zipf = Zipf { arrivals: args.arrivals, keys: args.keys, windows: 10.0 };
    let scenarios = traffic::scenarios(args.seed, zipf);

    // Logs come first, for one that cannot be read ends the run; they are shown last.
    let logs = args.file.iter().map(|log| Measured::log(log, log_quota)).collect::<Result<Vec<_>, _>>()?;

    let mut measured = Vec::new();
    let mut progress = Progress::through_arrivals(scenarios.iter().map(|scenario| scenario.length).sum());
    for scenario in &scenarios {
        progress.name(scenario.name);
        measured.push(Measured::stream(scenario, &mut progress)?);
    }
    progress.finish();
    measured.extend(logs);
    Ok(measured)
}

fn draw(path: &Path, measured: &[Measured]) -> Result<(), Error> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(path, plot::svg(measured))).map_err(|error| Error::Unwritable(path.into(), error))
}

#[cfg(test)]
mod tests;
