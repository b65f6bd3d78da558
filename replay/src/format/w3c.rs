//! W3C extended logs: the names of the columns stand in a line `#Fields:`. `CloudFront` and IIS write them.

use super::columns::{Columns, Separator};
use super::wanted::Wanted;
use crate::field::malformed::Malformed;

/// The names in a line `#Fields: date time c-ip`.
pub(super) fn names(line: &[u8]) -> Option<Vec<String>> {
    let names = line.strip_prefix(b"#Fields:")?;
    let names: Vec<String> = String::from_utf8_lossy(names).split_whitespace().map(str::to_owned).collect();
    (names.len() > 1).then_some(names)
}

/// The columns of such a log. Fields are set apart by tabs if there are any, else by spaces.
///
/// # Errors
///
/// A field that was asked for is not there, or the time or the client cannot be told.
pub(super) fn columns(names: &[String], first: &[u8], wanted: &Wanted) -> Result<Columns, Malformed> {
    let byte = if first.contains(&b'\t') { b'\t' } else { b' ' };
    Columns::named(names, first, Separator { byte, quotes: false }, wanted)
}
