//! [`Malformed`]: why a line is not read.

use core::fmt;

/// Why a line is not read as an arrival. Every message is short, and fit for a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// No format fits.
    Unrecognised,
    /// A field that every arrival needs is absent or empty.
    Missing(&'static str),
    /// A field should be a whole number.
    NotANumber(&'static str, String),
    /// A field should not be below zero.
    Negative(&'static str, String),
    /// A number is above `u64::MAX`.
    TooLarge(&'static str, String),
    /// More fields than there are columns: so many of each.
    TooManyFields(usize, usize),
    /// A field goes on after the quote that ends it.
    Quotes,
    /// The line ends within quotes. The field may go on in the next line.
    OpenQuote,
    /// Not an instant in any way that is known.
    Time(String),
    /// An instant before 1970 or after 2554.
    OutOfRange(String),
    /// A number that could be an instant in more than one unit, or in none.
    Unit(String),
    /// A number whose size does not fit the unit of the ones before it.
    OtherUnit(String, &'static str),
    /// The quoted request with a status of three digits after it is absent.
    NoRequest,
    /// Bytes that no server writes: a part of the file was lost.
    Nul,
    /// The first part of a line that a container's runtime has cut in two.
    Partial,
    /// Looks like an address, and is none.
    NotAnAddress(String),
    /// More than one field may be the client.
    WhichClient(String),
    /// No field can be told to be this: the time or the client. The fields that there are.
    Untold(&'static str, String),
    /// The field asked for is none of these.
    NoSuchField(String, String),
    /// Not JSON.
    Json(String),
    /// Longer than this many bytes.
    TooLong(u64),
}

impl Malformed {
    /// Whether no other line of the file can be read either, since the columns are not the ones asked for.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::NoSuchField(..))
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unrecognised => f.write_str("in no format that is known"),
            Self::Missing(field) => write!(f, "no {field}"),
            Self::NotANumber(field, found) => write!(f, "{field} is not a whole number: {found}"),
            Self::Negative(field, found) => write!(f, "{field} is negative: {found}"),
            Self::TooLarge(field, found) => write!(f, "{field} is above {}: {found}", u64::MAX),
            Self::TooManyFields(found, columns) => write!(f, "{found} fields where there are {columns} columns"),
            Self::Quotes => f.write_str("text after a closing quote"),
            Self::OpenQuote => f.write_str("a quote that is not closed"),
            Self::Time(found) => write!(f, "not a time: {found}"),
            Self::OutOfRange(found) => write!(f, "a time before 1970 or after 2554: {found}"),
            Self::Unit(found) => write!(f, "the unit of the time {found} cannot be told; --time-unit says it"),
            Self::OtherUnit(found, unit) => {
                write!(
                    f,
                    "the time {found} is not in {unit} since 1970, as the first one was; --time-unit says the unit"
                )
            }
            Self::NoRequest => f.write_str("no quoted request with a status after it"),
            Self::Nul => f.write_str("NUL bytes within the line"),
            Self::Partial => f.write_str("a part of a line, cut by a container's runtime"),
            Self::NotAnAddress(found) => write!(f, "not an address: {found}"),
            Self::WhichClient(found) => {
                write!(f, "more than one of these may be the client: {found}; --key says which")
            }
            Self::Untold(what, fields) => {
                write!(f, "which field is the {what} cannot be told from {fields}; --{} says it", option(what))
            }
            Self::NoSuchField(wanted, fields) => write!(f, "no field {wanted}; there are {fields}"),
            Self::Json(why) => write!(f, "not a JSON object: {why}"),
            Self::TooLong(longest) => write!(f, "longer than {longest} bytes"),
        }
    }
}

impl core::error::Error for Malformed {}

/// The option that names the field.
fn option(what: &str) -> &str {
    if what == "client" { "key" } else { what }
}

/// The start of a field, made fit for a terminal.
pub fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let more = if bytes.len() > SHOWN { "..." } else { "" };
    format!("\"{}{more}\"", bytes[..bytes.len().min(SHOWN)].escape_ascii())
}

/// Some names in one line, cut where they are too many.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 120;
    let mut text = String::new();
    for name in names {
        if text.len() > SHOWN {
            text.push_str(", ...");
            break;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.extend(name.escape_default().take(SHOWN));
    }
    text
}
