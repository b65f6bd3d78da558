//! What a limit would have done to traffic that a log remembers: the library of the command `tollgate-replay`.
//!
//! Each arrival is put, at its own instant, to a limiter of every algorithm asked for and to an exact log, so that a
//! person who chooses a limit sees who would have been refused, how often, and which algorithm would have decided
//! otherwise. No clock is read.
//!
//! ```text
//! field/    what single fields mean: instants, clients, numbers
//! format/   lines of each format, as fields
//! read/     files, packed or not, several at once, in the order of time
//! judge/    limiters and the exact log, and the search for other limits: neither files nor clocks
//! show/     tables, rows, JSON, pictures
//! ```
//!
//! The program is what is stable; the library is there for the project's own measurements and may change with any version.

#![forbid(unsafe_code)]

pub mod args;
pub mod error;
pub mod field;
pub mod figures;
pub mod format;
pub mod judge;
pub mod policy;
pub mod progress;
pub mod read;
pub mod show;

pub use self::args::Args;
pub use self::error::Error;
pub use self::judge::algorithm::Algorithm;

use self::args::Output;
use self::judge::course::Course;
use self::judge::suggest::Traffic;
use self::show::found::Found;
use self::show::output::{self, Destination};
use self::show::{plot, rows, table};

/// Replays logs and prints what came of it.
///
/// # Errors
///
/// The files cannot be read, nothing in them is an arrival, the limit is none, or the results cannot be written.
pub fn run(args: &Args) -> Result<(), Error> {
    let source = args.source()?;
    let (comparison, left_out) = args.policy.comparison()?;
    // What cannot be written is known before the work begins.
    let reserve =
        |path: &Option<_>| path.as_ref().map(|path: &std::path::PathBuf| Destination::reserve(path, &source.files));
    let (csv, plot) = (reserve(&args.csv).transpose()?, reserve(&args.plot).transpose()?);
    for algorithm in left_out {
        eprintln!("left out: {algorithm}");
    }
    let (mut course, mut traffic) = (Course::default(), args.suggest.then(Traffic::default));
    let replayed = source.replay(comparison, |key, cost, now, decided| {
        course.record(cost, decided.by_first, now);
        if let Some(traffic) = &mut traffic {
            traffic.record(key, cost, now);
        }
    })?;
    if let Some(error) = replayed.comparison.logs_dropped().filter(|_| args.policy.asks_for(Algorithm::SlidingLog)) {
        return Err(Error::Unfit(Algorithm::SlidingLog, error.into()));
    }
    let period = replayed.comparison.quota().period();
    let suggestions = traffic.map(|traffic| traffic.suggestions(&replayed.comparison, period));
    let found = Found { replayed, course, suggestions, together: source.together, worst: args.worst };
    match args.output {
        Output::Table => output::print(table::text(&found).as_bytes())?,
        Output::Json => output::print(rows::json(&found).as_bytes())?,
        Output::Csv => output::print(&output::csv(&rows::rows(&found)))?,
    }
    if let Some(csv) = csv {
        csv.write(&output::csv(&rows::rows(&found)))?;
    }
    if let Some(plot) = plot {
        plot.write(plot::svg(&found).as_bytes())?;
    }
    Ok(())
}
