//! Why a replay cannot be made.

use core::fmt;
use std::io;
use std::path::PathBuf;

use tollgate::QuotaError;

use crate::judge::limiter::Algorithm;

/// Why an algorithm cannot hold a limit: a `QuotaError`, or a `KeyedError` of a table.
pub(crate) type Unfit = Box<dyn core::error::Error + Send + Sync>;

/// Why a run ends without a result.
#[derive(Debug)]
pub enum Error {
    /// The file cannot be opened or read.
    Unreadable(PathBuf, io::Error),
    /// The file holds nothing but blank lines, or a header.
    Empty(PathBuf),
    /// No line reads as an arrival; so many were rejected.
    NothingReadable(PathBuf, u64),
    /// The file is compressed.
    Compressed(PathBuf),
    /// The file has no column of that name; these are the ones it has.
    NoSuchColumn(PathBuf, String, Vec<String>),
    /// The limit asked for is none.
    Quota(QuotaError),
    /// The algorithm cannot hold the limit.
    Unfit(Algorithm, Unfit),
    /// A result cannot be written.
    Unwritable(PathBuf, io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Empty(path) => write!(f, "{} holds no arrival: it is empty", path.display()),
            Self::NothingReadable(path, rejected) => write!(
                f,
                "no line of {} could be read as an arrival ({rejected} rejected); known are CSV, `t_ms,key[,cost]`, and the \
                 Common or Combined Log Format",
                path.display()
            ),
            Self::Compressed(path) => {
                write!(f, "{0} is compressed; unpack it on the way: zcat {0} | tollgate-replay -", path.display())
            }
            Self::NoSuchColumn(path, column, known) if known.is_empty() => {
                write!(f, "{} names no columns, so none of them is {column:?}", path.display())
            }
            Self::NoSuchColumn(path, column, known) => {
                write!(f, "{} has no column {column:?}; it has {}", path.display(), known.join(", "))
            }
            Self::Quota(error) => write!(f, "not a limit: {error}"),
            Self::Unfit(algorithm, error) => write!(f, "{} cannot hold this limit: {error}", algorithm.name()),
            Self::Unwritable(path, error) => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Unreadable(_, error) | Self::Unwritable(_, error) => Some(error),
            Self::Quota(error) => Some(error),
            Self::Unfit(_, error) => Some(&**error),
            Self::Empty(_) | Self::NothingReadable(..) | Self::Compressed(_) | Self::NoSuchColumn(..) => None,
        }
    }
}
