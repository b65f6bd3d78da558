//! What a limit would have done to traffic that a log remembers: the library of the command `tollgate-replay`.
//!
//! Each arrival is put, at its own instant, to a limiter of every algorithm asked for and to an exact log, so that a
//! person who chooses a limit sees who would have been refused, how often, and which algorithm would have decided
//! otherwise. No clock is read.

#![forbid(unsafe_code)]

mod args;
mod error;
pub mod format;
pub mod judge;
pub mod policy;
pub mod read;
pub mod show;

pub use self::args::Args;
pub use self::error::Error;
pub use self::judge::limiter::Algorithm;

use self::show::report;

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
