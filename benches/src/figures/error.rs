//! [`Error`]: why a command ends without what it was asked for.

use std::io;
use std::path::{Path, PathBuf};

/// Why a command ends without what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for does not exist or makes no sense; the message says what does.
    #[error("{0}")]
    Request(String),
    /// A file cannot be read or written.
    #[error("{path}: {1}", path = .0.display())]
    File(PathBuf, #[source] io::Error),
    /// Another program did not do its part.
    #[error("{0}")]
    Program(String),
    /// A path takes more than is recorded, or is not recorded.
    #[error("{0}")]
    Longer(String),
    /// Admitted counts that cannot be right, a line each.
    #[error("admitted counts that cannot be right:\n  {}", .0.join("\n  "))]
    Counts(Vec<String>),
}

impl Error {
    /// What becomes of an error with the file `path`.
    pub fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |error| Self::File(path.into(), error)
    }
}

/// What a command comes to.
pub type Result<T> = core::result::Result<T, Error>;
