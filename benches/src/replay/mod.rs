//! `replay FILE`: what a limit would have done to traffic that a log remembers.
//!
//! Each arrival is put, at its own instant, to a limiter of every algorithm asked for and to an exact log, so that a person who chooses a limit
//! sees who would have been refused, how often, and which algorithm would have decided otherwise. No clock is read.

pub(crate) mod comparison;
mod error;
pub(crate) mod figures;
mod limiter;
pub(crate) mod progress;

mod arrivals;
mod exact_log;
mod parse;
mod peak;
mod policy;
mod report;
mod sliding_sum;
mod timebase;

pub use self::error::Error;
pub use self::limiter::Algorithm;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use tollgate::Nanos;

use self::arrivals::{Arrivals, LONGEST_LINE};
use self::comparison::Comparison;
use self::limiter::Selection;
use self::parse::{Charge, Format, Line, Parser};
use self::policy::{Key, Policy};
use self::progress::Progress;
use self::timebase::Timebase;

/// Rejected lines that are reported one by one; the others are counted.
const SHOWN_REJECTIONS: u64 = 10;

/// How the file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// As the first readable line is.
    Auto,
    /// `t_ms,key[,cost]`.
    Csv,
    /// Common or Combined Log Format.
    Clf,
}

/// See what a limit would have done to the traffic in a log
///
/// FILE is CSV with the fields `t_ms,key[,cost]`, or in the Common or Combined Log Format of web servers. `t_ms` is in milliseconds from any origin. A
/// first line of names is taken as a header: the first column is then the time, the second the key, and the one named `cost` the
/// cost, wherever it stands; a third column of another name is no cost. Lines that cannot be read are reported and skipped.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The log; `-` reads standard input
    file: PathBuf,

    #[command(flatten)]
    policy: Policy,

    /// How the file is written
    #[arg(long, value_enum, default_value = "auto")]
    format: FormatName,

    /// What an arrival costs: `cost` (the column of that name, else 1), `one`, or the name of a column such as `bytes`
    #[arg(long, value_name = "COLUMN", default_value = "cost")]
    cost: String,

    /// How many of the worst keys to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    worst: usize,

    /// Write the results as CSV to this file
    #[arg(long, value_name = "PATH")]
    csv: Option<PathBuf>,
}

/// What a replay found.
#[derive(Debug)]
struct Replayed {
    comparison: Comparison,
    /// The number of each key. Empty with one limiter for all.
    keys: HashMap<Box<[u8]>, usize>,
    timebase: Timebase,
    parser: Parser,
    rejected: u64,
}

/// Replays a log and prints what came of it.
///
/// # Errors
///
/// The file cannot be read, none of it is an arrival, the limit is none, or the results cannot be written.
pub fn run(args: &Args) -> Result<(), Error> {
    let replayed = if args.file == Path::new("-") {
        replay(io::stdin().lock(), None, args)?
    } else {
        let unreadable = |error| Error::Unreadable(args.file.clone(), error);
        let file = File::open(&args.file).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        replay(BufReader::with_capacity(1 << 20, file), Some(length), args)?
    };
    report::print(&report::text(&replayed, args))
        .map_err(|error| Error::Unwritable("standard output".into(), error))?;
    if let Some(path) = &args.csv {
        report::write_csv(path, &report::rows(&replayed, args))?;
        eprintln!("results written to {}", path.display());
    }
    Ok(())
}

/// Reads a whole log.
fn replay(mut reader: impl BufRead, length: Option<u64>, args: &Args) -> Result<Replayed, Error> {
    let unreadable = |error| Error::Unreadable(args.file.clone(), error);
    if reader.fill_buf().map_err(unreadable)?.starts_with(b"\x1F\x8B") {
        return Err(Error::Compressed(args.file.clone()));
    }
    let mut comparison = comparison(&args.policy)?;
    let mut timebase = Timebase::new(Nanos::from(args.policy.per).as_nanos());
    let mut keys = HashMap::new();
    let mut rejected = 0;
    let mut arrivals = Arrivals::new(reader, parser(args));
    let mut progress = Progress::through_bytes(length);
    let mut charge_known = false;
    while let Some(read) = arrivals.next().map_err(unreadable)? {
        progress.advance(read.length);
        let reason = match read.line {
            Ok(Line::Blank | Line::Header) => continue,
            Ok(Line::Arrival(arrival)) => match timebase.instant(arrival.t_ms) {
                Ok(now) => {
                    let key = match args.policy.key {
                        Key::All => 0,
                        Key::Each => number_of(&arrival.key, &mut keys),
                    };
                    comparison.arrive(key, arrival.cost, now);
                    if !charge_known {
                        check_charge(arrivals.parser(), args)?;
                        charge_known = true;
                    }
                    continue;
                }
                Err(timebase::TooFar) => "more than a hundred years after the first line".to_owned(),
            },
            Err(Some(malformed)) => malformed.to_string(),
            Err(None) => format!("longer than {LONGEST_LINE} bytes"),
        };
        rejected += 1;
        if rejected <= SHOWN_REJECTIONS {
            progress.note(&format!("{}:{}: {reason}", args.file.display(), read.number));
        }
    }
    progress.finish();
    if rejected > SHOWN_REJECTIONS {
        let more = rejected - SHOWN_REJECTIONS;
        eprintln!("... and {} rejected", figures::counted(more, "more line", "more lines"));
    }
    match (comparison.keys().is_empty(), rejected) {
        (true, 0) => Err(Error::Empty(args.file.clone())),
        (true, _) => Err(Error::NothingReadable(args.file.clone(), rejected)),
        (false, _) => Ok(Replayed { comparison, keys, timebase, parser: arrivals.parser().clone(), rejected }),
    }
}

/// The limiters to compare. Of `all`, those that cannot hold the limit are left out; one asked for by name must hold it.
fn comparison(policy: &Policy) -> Result<Comparison, Error> {
    let quota = policy.quota().map_err(Error::Quota)?;
    let mut algorithms = policy.algorithms();
    loop {
        match Comparison::new(quota, algorithms.clone()) {
            Ok(comparison) => return Ok(comparison),
            Err((unfit, error)) if policy.algorithm.contains(&Selection::One(unfit)) => {
                return Err(Error::Unfit(unfit, error));
            }
            Err((unfit, error)) => {
                eprintln!("{} left out: {error}", unfit.name());
                algorithms.retain(|&algorithm| algorithm != unfit);
            }
        }
    }
}

fn parser(args: &Args) -> Parser {
    let format = match args.format {
        FormatName::Auto => None,
        FormatName::Csv => Some(Format::Csv),
        FormatName::Clf => Some(Format::Clf),
    };
    let charge = match args.cost.as_str() {
        "cost" => Charge::Cost,
        "one" => Charge::One,
        column => Charge::Column(column.to_owned()),
    };
    Parser::new(format, charge)
}

/// Whether the log has the column that was asked for as the cost; known once the first arrival is read.
fn check_charge(parser: &Parser, args: &Args) -> Result<(), Error> {
    if parser.has_charge() {
        return Ok(());
    }
    let known = match parser.format() {
        Some(Format::Clf) => vec!["bytes".to_owned()],
        _ => parser.header().unwrap_or_default().to_vec(),
    };
    Err(Error::NoSuchColumn(args.file.clone(), args.cost.clone(), known))
}

fn number_of(key: &[u8], keys: &mut HashMap<Box<[u8]>, usize>) -> usize {
    // Two look-ups for a new key spare an allocation for every other.
    if let Some(&number) = keys.get(key) {
        return number;
    }
    let number = keys.len();
    keys.insert(key.into(), number);
    number
}
