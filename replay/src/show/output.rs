//! Where results go.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle, presets};
use serde::Serialize;

use crate::error::Error;

/// A file that results will be written to. That it can be is known before the work begins; what it holds stays until then.
#[derive(Debug)]
pub struct Destination {
    path: PathBuf,
    file: File,
    /// It was not there before, and nothing has been written.
    unused: bool,
}

impl Destination {
    /// Opens a file to write to, which must be none of those that are read.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub fn reserve(path: &Path, read: &[PathBuf]) -> Result<Self, Error> {
        let unwritable = |error| Error::Unwritable(path.to_owned(), error);
        let unused = !path.exists();
        let same = |one: &PathBuf| !unused && one.canonicalize().ok() == path.canonicalize().ok();
        if read.iter().any(same) {
            return Err(unwritable(io::Error::new(io::ErrorKind::AlreadyExists, "it is one of the logs")));
        }
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(unwritable)?;
        Ok(Self { path: path.to_owned(), file, unused })
    }

    /// Writes the results in place of what was there.
    ///
    /// # Errors
    ///
    /// It cannot be written to after all.
    pub fn write(mut self, contents: &[u8]) -> Result<(), Error> {
        self.unused = false;
        let written =
            self.file.set_len(0).and_then(|()| self.file.rewind()).and_then(|()| self.file.write_all(contents));
        // A pipe or a device has no length to set.
        let written = match written {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.file.write_all(contents),
            other => other,
        };
        written.map_err(|error| Error::Unwritable(self.path.clone(), error))
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        if self.unused {
            let _ = fs::remove_file(&self.path); // as it was found
        }
    }
}

/// Rows as CSV, with their names above.
///
/// # Panics
///
/// If a row is no row: it holds a list or a map.
pub fn csv(rows: &[impl Serialize]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("a row of values");
    }
    writer.into_inner().expect("memory takes all")
}

/// Writes rows as CSV.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_csv(path: &Path, rows: &[impl Serialize]) -> Result<(), Error> {
    Destination::reserve(path, &[])?.write(&csv(rows))
}

/// Prints to standard output. A reader that has gone away is no error.
///
/// # Errors
///
/// Any other failure to write.
pub fn print(text: &[u8]) -> Result<(), Error> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Unwritable("standard output".into(), error))
        }
        _ => Ok(()),
    }
}

/// A table whose first column is on the left and whose others are on the right, with one line under its header.
pub fn table<'a>(columns: impl IntoIterator<Item = &'a str>) -> Table {
    const UNDERLINED: TableStyle =
        presets::NOTHING.header_separator(LineStyle::none().fill('\u{2500}').junction('\u{2500}'));
    let mut table = Table::new();
    table.load_style(UNDERLINED).set_header(columns);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The longest text of a log that is shown whole, in characters.
const SHOWN: usize = 40;

/// A text of a log made fit for a terminal: what does not print is escaped, what is long is cut.
pub fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut shown = String::new();
    for c in text.chars().take(SHOWN) {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_fit_for_a_terminal() {
        assert_eq!(shown(b"10.0.0.1"), "10.0.0.1");
        assert_eq!(shown("caf\u{e9}".as_bytes()), "caf\u{e9}");
        assert_eq!(shown(b"\x1B[31mred\n"), "\\u{1b}[31mred\\n");
        assert_eq!(shown(b"\xFF"), "\u{fffd}");
        assert_eq!(shown(&[b'k'; 41]), format!("{}...", "k".repeat(40)));
    }
}
