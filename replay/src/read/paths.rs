//! Which files are meant.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The files that are named, and those that patterns such as `access.log*` stand for; each once, in the order of names.
/// `-` is standard input.
///
/// # Errors
///
/// A pattern stands for no file, or cannot be read.
pub fn expanded(named: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for path in named {
        let is_pattern = path.to_string_lossy().contains(['*', '?', '[']) && !path.exists();
        let found = if is_pattern { matching(path)? } else { vec![path.clone()] };
        for file in found {
            // One file under two names would be counted twice.
            if seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

fn matching(pattern: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error: io::Error| Error::Unreadable(pattern.to_owned(), error);
    let invalid = |error: glob::PatternError| unreadable(io::Error::new(io::ErrorKind::InvalidInput, error));
    let mut files = Vec::new();
    for entry in glob::glob(&pattern.to_string_lossy()).map_err(invalid)? {
        let file = entry.map_err(|error| unreadable(error.into()))?;
        if file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(unreadable(io::Error::new(io::ErrorKind::NotFound, "no file matches")));
    }
    Ok(files)
}
