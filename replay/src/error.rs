//! Why a replay cannot be made.

use core::fmt;
use core::time::Duration;
use std::io;
use std::path::PathBuf;

use crate::figures::{count, span};
use crate::judge::algorithm::Algorithm;
use crate::judge::limiters::Unfit;

/// Why a run ends without a result.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    Unreadable(PathBuf, io::Error),
    /// The file holds nothing but blank lines, comments, or names of columns.
    Empty(PathBuf),
    /// No line reads as an arrival: how many there are, and the first.
    NothingReadable(u64, Box<Rejected>),
    /// No request is one of those that were asked for; so many are there.
    NoneAskedFor(PathBuf, u64),
    /// The file is compressed, in this way.
    Compressed(PathBuf, &'static str),
    /// The file has no such field: what it has.
    Unfound(PathBuf, String),
    /// A line is older than one before it, by more than lines are sorted within.
    OutOfOrder {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// How much older it is.
        behind: Duration,
        /// How much older it may be.
        window: Duration,
    },
    /// Of so many arrivals, so many name the address that a proxy was called from, while the proxy is the client.
    BehindProxy(PathBuf, u64, u64),
    /// The limit asked for is none.
    Limit(String),
    /// The algorithm cannot hold the limit.
    Unfit(Algorithm, Unfit),
    /// A result cannot be written.
    Unwritable(PathBuf, io::Error),
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Empty(path) => write!(f, "{} holds no arrival: it is empty", path.display()),
            Self::NothingReadable(rejected, first) => {
                let Rejected { file, line, reason } = &**first;
                let (file, rejected) = (file.display(), count(*rejected));
                write!(f, "no line of {file} could be read as an arrival ({rejected} rejected); line {line}: {reason}")
            }
            Self::NoneAskedFor(path, others) => {
                write!(f, "none of the {} requests in {} has the values asked for", count(*others), path.display())
            }
            Self::Compressed(path, how) => {
                write!(f, "{} is compressed by {how}; unpack it on the way, and give - as the file", path.display())
            }
            Self::Unfound(path, why) => write!(f, "{}: {why}", path.display()),
            Self::OutOfOrder { file, line, behind, window } => write!(
                f,
                "{}:{line}: {} older than a line before it; lines are sorted within {}: --sort-window takes more",
                file.display(),
                span(*behind),
                span(*window)
            ),
            Self::BehindProxy(path, forwarded, arrivals) => write!(
                f,
                "{}: {} of {} lines name the addresses that a proxy was called from, so that the first address is a proxy's; say \
                 which field is the client: --key forwarded (or the field's own name), or --key host for who called this server",
                path.display(),
                count(*forwarded),
                count(*arrivals)
            ),
            Self::Limit(why) => write!(f, "not a limit: {why}"),
            Self::Unfit(algorithm, error) => write!(f, "{} cannot hold this limit: {error}", algorithm.name()),
            Self::Unwritable(path, error) => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Unreadable(_, error) | Self::Unwritable(_, error) => Some(error),
            Self::Unfit(_, error) => Some(&**error),
            _ => None,
        }
    }
}
