//! [`run`]: the whole of a replay.

use crate::args::{Args, Output};
use crate::error::Error;
use crate::judge::algorithm::Algorithm;
use crate::judge::course::Course;
use crate::judge::suggest::Traffic;
use crate::show::found::Found;
use crate::show::output::{self, Destination};
use crate::show::{plot, rows, table};

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
