//! `replay FILE`: what a limit would have done to traffic that a log remembers.
//!
//! Each arrival is put, at its own instant, to a limiter of every algorithm asked for and to an exact log, so that a
//! person who chooses a limit sees who would have been refused, how often, and which algorithm would have decided
//! otherwise. No clock is read.

pub(crate) mod comparison;
pub(crate) mod figures;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod source;

mod arrivals;
mod error;
mod exact_log;
mod limiter;
mod parse;
mod peak;
pub(crate) mod policy;
pub(crate) mod sliding_sum;
mod timebase;

pub use self::error::Error;
pub use self::limiter::Algorithm;

use std::path::PathBuf;

use self::policy::Policy;
use self::source::Source;

/// See what a limit would have done to the traffic in a log
///
/// FILE is CSV with the fields `t_ms,key[,cost]`, or in the Common or Combined Log Format of web servers. `t_ms` is in
/// milliseconds from any origin. A first line of names is taken as a header: the first column is then the time, the
/// second the key, and the one named `cost` the cost, wherever it stands; a third column of another name is no cost.
/// Lines that cannot be read are reported and skipped. The file is read as a stream; memory goes by the number of keys,
/// about 1 kB for each with one algorithm and 2.5 kB with all.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    policy: Policy,

    /// How many of the worst keys to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    worst: usize,

    /// Write the results as CSV to this file
    #[arg(long, value_name = "PATH")]
    csv: Option<PathBuf>,
}

/// Replays a log and prints what came of it.
///
/// # Errors
///
/// The file cannot be read, none of it is an arrival, the limit is none, or the results cannot be written.
pub fn run(args: &Args) -> Result<(), Error> {
    let replayed = args.source.replay(args.policy.comparison()?, args.policy.key)?;
    let unwritable = |error| Error::Unwritable("standard output".into(), error);
    report::print(&report::text(&replayed, args)).map_err(unwritable)?;
    if let Some(path) = &args.csv {
        report::write_csv(path, &report::rows(&replayed, args))?;
        eprintln!("results written to {}", path.display());
    }
    Ok(())
}
