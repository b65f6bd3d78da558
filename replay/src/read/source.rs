//! A log on disk or on standard input, and the replay of it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tollgate::Nanos;

use super::arrivals::{Arrivals, LONGEST_LINE};
use super::timebase::{Timebase, TooFar};
use crate::error::Error;
use crate::format::parse::{Charge, Format, Line, Parser};
use crate::judge::comparison::Comparison;
use crate::policy::Key;
use crate::show::figures;
use crate::show::progress::Progress;

/// Rejected lines that are reported one by one; the others are counted.
const SHOWN_REJECTIONS: u64 = 10;

/// How a gzip file begins.
const GZIP: &[u8] = b"\x1F\x8B";

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

/// Where arrivals come from, and how they are to be read.
#[derive(Args, Clone, Debug)]
pub struct Source {
    /// The log; `-` reads standard input
    pub file: PathBuf,

    /// How the file is written
    #[arg(long, value_enum, default_value = "auto")]
    format: FormatName,

    /// What an arrival costs: `cost` (the column of that name, else 1), `one`, or the name of a column such as `bytes`
    #[arg(long, value_name = "COLUMN", default_value = "cost")]
    pub cost: String,
}

/// What a replay found.
#[derive(Debug)]
pub struct Replayed {
    /// What was decided.
    pub comparison: Comparison,
    /// The number of each key. Empty with one limiter for all.
    pub keys: HashMap<Box<[u8]>, usize>,
    /// From the log's time to the limiters'.
    pub timebase: Timebase,
    /// As it stands at the end of the log: it knows the format.
    pub parser: Parser,
    /// Lines that could not be read.
    pub rejected: u64,
}

impl Source {
    /// A file of either format, in which each arrival costs what its column `cost` says, or 1.
    pub fn file(path: &Path) -> Self {
        Self { file: path.to_owned(), format: FormatName::Auto, cost: "cost".to_owned() }
    }

    /// Puts every arrival to the comparison, and reports lines that cannot be read on standard error.
    ///
    /// # Errors
    ///
    /// The file cannot be read, none of it is an arrival, or it has no such column as the cost.
    pub fn replay(&self, comparison: Comparison, key: Key) -> Result<Replayed, Error> {
        if self.file == Path::new("-") {
            return self.replay_from(io::stdin().lock(), None, comparison, key);
        }
        let file = File::open(&self.file).map_err(|error| self.unreadable(error))?;
        let length = file.metadata().map_err(|error| self.unreadable(error))?.len();
        self.replay_from(BufReader::with_capacity(1 << 20, file), Some(length), comparison, key)
    }

    fn replay_from(
        &self,
        mut reader: impl BufRead,
        length: Option<u64>,
        mut comparison: Comparison,
        key: Key,
    ) -> Result<Replayed, Error> {
        if reader.fill_buf().map_err(|error| self.unreadable(error))?.starts_with(GZIP) {
            return Err(Error::Compressed(self.file.clone()));
        }
        let mut timebase = Timebase::new(Nanos::from(comparison.quota().period()).as_nanos());
        let mut keys = HashMap::new();
        let mut rejected = 0;
        let mut arrivals = Arrivals::new(reader, self.parser());
        let mut progress = Progress::through_bytes(length);
        while let Some(read) = arrivals.next_line().map_err(|error| self.unreadable(error))? {
            progress.advance(read.length);
            let reason = match read.line {
                Ok(Line::Blank | Line::Header) => continue,
                Ok(Line::Arrival(arrival)) => match timebase.instant(arrival.t_ms) {
                    Ok(now) => {
                        let number = if key == Key::All { 0 } else { number_of(&arrival.key, &mut keys) };
                        comparison.arrive(number, arrival.cost, now);
                        self.check_cost(arrivals.parser())?;
                        continue;
                    }
                    Err(TooFar) => "more than a hundred years after the first line".to_owned(),
                },
                Err(Some(malformed)) => malformed.to_string(),
                Err(None) => format!("longer than {LONGEST_LINE} bytes"),
            };
            rejected += 1;
            if rejected <= SHOWN_REJECTIONS {
                progress.note(&format!("{}:{}: {reason}", self.file.display(), read.number));
            }
        }
        progress.finish();
        if rejected > SHOWN_REJECTIONS {
            let more = rejected - SHOWN_REJECTIONS;
            eprintln!("... and {} rejected", figures::counted(more, "more line", "more lines"));
        }
        match (comparison.keys().is_empty(), rejected) {
            (true, 0) => Err(Error::Empty(self.file.clone())),
            (true, _) => Err(Error::NothingReadable(self.file.clone(), rejected)),
            (false, _) => Ok(Replayed { comparison, keys, timebase, parser: arrivals.parser().clone(), rejected }),
        }
    }

    fn unreadable(&self, error: io::Error) -> Error {
        Error::Unreadable(self.file.clone(), error)
    }

    fn parser(&self) -> Parser {
        let format = match self.format {
            FormatName::Auto => None,
            FormatName::Csv => Some(Format::Csv),
            FormatName::Clf => Some(Format::Clf),
        };
        let charge = match self.cost.as_str() {
            "cost" => Charge::Cost,
            "one" => Charge::One,
            column => Charge::Column(column.to_owned()),
        };
        Parser::new(format, charge)
    }

    /// Whether the log has the column that was asked for as the cost; known from the first arrival on.
    fn check_cost(&self, parser: &Parser) -> Result<(), Error> {
        if parser.has_charge() {
            return Ok(());
        }
        let known = match parser.format() {
            Some(Format::Clf) => vec!["bytes".to_owned()],
            _ => parser.header().unwrap_or_default().to_vec(),
        };
        Err(Error::NoSuchColumn(self.file.clone(), self.cost.clone(), known))
    }
}

/// The number of a key, counted from 0 in the order of first arrivals.
fn number_of(key: &[u8], keys: &mut HashMap<Box<[u8]>, usize>) -> usize {
    // Two look-ups for a new key spare an allocation for every other.
    if let Some(&number) = keys.get(key) {
        return number;
    }
    let number = keys.len();
    keys.insert(key.into(), number);
    number
}
