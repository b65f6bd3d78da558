//! One line of a log read as an arrival: pure, and free of panics for any bytes.
//!
//! Two formats are known. CSV is `t_ms,key[,cost]` with an optional header; the Common Log Format (and the Combined,
//! which adds to it) is `host ident user [day/month/year:hour:minute:second zone] "request" status bytes`.

use core::fmt;
use std::borrow::Cow;

/// How the lines of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `t_ms,key[,cost]`, with an optional header.
    Csv,
    /// Common or Combined Log Format.
    Clf,
}

/// What an arrival is charged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Charge {
    /// A CSV column named `cost`, or the third field of a CSV without a header; 1 where there is none.
    #[default]
    Cost,
    /// 1 for every arrival.
    One,
    /// The column of this name. In the Common Log Format, `bytes` is the only one.
    Column(String),
}

/// One request, as a limiter sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// Milliseconds since the file's own origin (since 1970 in the Common Log Format).
    pub t_ms: u64,
    /// Who asks: any bytes, never empty.
    pub key: Cow<'a, [u8]>,
    /// How many tokens it asks for.
    pub cost: u64,
}

/// What a well-formed line holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Nothing but white space.
    Blank,
    /// The names of the CSV columns.
    Header,
    /// A request.
    Arrival(Arrival<'a>),
}

/// Why a line is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Neither format fits.
    Unrecognised,
    /// A field that every arrival needs is absent or empty.
    Missing(&'static str),
    /// A CSV without a header has at most three fields.
    TooManyFields,
    /// A field should be a whole number.
    NotANumber(&'static str, String),
    /// A field should not be below zero.
    Negative(&'static str, String),
    /// A number is above `u64::MAX`.
    TooLarge(&'static str, String),
    /// A quoted CSV field does not end, or goes on after its quote.
    Quotes,
    /// What stands in the brackets is not a date.
    Date(String),
    /// The date is before 1970.
    BeforeEpoch(String),
    /// The quoted request with a status of three digits after it is absent.
    NoRequest,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unrecognised => f.write_str("neither `t_ms,key[,cost]` nor a Common Log Format line"),
            Self::Missing(field) => write!(f, "no {field}"),
            Self::TooManyFields => f.write_str("more than three fields, and no header that names them"),
            Self::NotANumber(field, found) => write!(f, "{field} is not a whole number: {found}"),
            Self::Negative(field, found) => write!(f, "{field} is negative: {found}"),
            Self::TooLarge(field, found) => write!(f, "{field} is above {}: {found}", u64::MAX),
            Self::Quotes => f.write_str("unbalanced quotes"),
            Self::Date(found) => {
                write!(f, "not a date such as 10/Oct/2000:13:55:36 -0700: {found}")
            }
            Self::BeforeEpoch(found) => write!(f, "date before 1970: {found}"),
            Self::NoRequest => f.write_str("no quoted request with a status after it"),
        }
    }
}

impl core::error::Error for Malformed {}

/// Reads the lines of one file, in their order.
///
/// The format is settled by the first line that reads as an arrival; a CSV header counts on the first line only.
#[derive(Clone, Debug)]
pub struct Parser {
    format: Option<Format>,
    charge: Charge,
    header: Option<Vec<String>>,
    cost_column: Option<usize>,
    at_first_line: bool,
}

impl Parser {
    /// A parser of one format, or of whichever the first readable line has.
    pub fn new(format: Option<Format>, charge: Charge) -> Self {
        let cost_column = (charge == Charge::Cost).then_some(2);
        Self { format, charge, header: None, cost_column, at_first_line: true }
    }

    /// The format, once it is known.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The names of the CSV columns, where the file gives them.
    pub fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// Whether the cost asked for can be found in this file. Meaningful once the format is known.
    pub fn has_charge(&self) -> bool {
        match (&self.charge, self.format) {
            (Charge::Column(name), Some(Format::Clf)) => name == "bytes",
            (Charge::Column(_), _) => self.cost_column.is_some(),
            (Charge::Cost | Charge::One, _) => true,
        }
    }

    /// Reads one line, with or without its line ending.
    ///
    /// # Errors
    ///
    /// Says what is wrong with a line that is not an arrival, a header or blank. The next line can be read all the
    /// same.
    pub fn line<'a>(&mut self, bytes: &'a [u8]) -> Result<Line<'a>, Malformed> {
        let first = core::mem::replace(&mut self.at_first_line, false);
        let bytes = if first { bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes) } else { bytes };
        let line = bytes.trim_ascii();
        if line.is_empty() {
            return Ok(Line::Blank);
        }
        let clf = match self.format {
            Some(Format::Csv) => Err(Malformed::Unrecognised),
            _ => self.read_clf(line),
        };
        match (clf, self.format) {
            (Ok(arrival), _) => {
                self.format = Some(Format::Clf);
                Ok(Line::Arrival(arrival))
            }
            (Err(reason), Some(Format::Clf)) => Err(reason),
            (Err(reason), format) => {
                if first && self.read_header(line) {
                    return Ok(Line::Header);
                }
                match self.read_csv(line) {
                    Ok(arrival) => {
                        self.format = Some(Format::Csv);
                        Ok(Line::Arrival(arrival))
                    }
                    Err(other) if format.is_some() => Err(other),
                    Err(_) if find(line, b" [").is_some() => Err(reason),
                    Err(other) if line.contains(&b',') => Err(other),
                    Err(_) => Err(Malformed::Unrecognised),
                }
            }
        }
    }

    /// Takes the line as column names if each field is one.
    fn read_header(&mut self, line: &[u8]) -> bool {
        let mut names = Vec::new();
        for field in Fields::of(line) {
            match field {
                Ok(name) if is_name(&name) => names.push(String::from_utf8_lossy(&name).into_owned()),
                _ => return false,
            }
        }
        if names.len() < 2 {
            return false;
        }
        let place = |wanted: &str| names.iter().position(|name| name == wanted);
        self.cost_column = match &self.charge {
            Charge::Cost => place("cost"),
            Charge::One => None,
            Charge::Column(name) => place(name),
        };
        self.header = Some(names);
        true
    }

    fn read_csv<'a>(&self, line: &'a [u8]) -> Result<Arrival<'a>, Malformed> {
        let mut fields = Fields::of(line);
        let t_ms = whole_number("time in milliseconds", &fields.next().unwrap_or(Ok(Cow::default()))?)?;
        let key = fields.next().unwrap_or(Ok(Cow::default()))?;
        if key.is_empty() {
            return Err(Malformed::Missing("key"));
        }
        let mut cost = 1;
        for (place, field) in (2..).zip(fields) {
            let field = field?;
            if Some(place) == self.cost_column && !field.is_empty() {
                cost = whole_number("cost", &field)?;
            }
            if place > 2 && self.header.is_none() {
                return Err(Malformed::TooManyFields);
            }
        }
        Ok(Arrival { t_ms, key, cost })
    }

    fn read_clf<'a>(&self, line: &'a [u8]) -> Result<Arrival<'a>, Malformed> {
        let (host, rest) = cut(line, b' ').ok_or(Malformed::Missing("date in brackets"))?;
        // Looked for from the host's space on: a name with spaces in it may stand before the date.
        let (_, rest) = cut(rest, b'[').ok_or(Malformed::Missing("date in brackets"))?;
        let (date, rest) = cut(rest, b']').ok_or(Malformed::Missing("date in brackets"))?;
        let t_ms = date_ms(date)?;
        let bytes = bytes_sent(rest).ok_or(Malformed::NoRequest)?;
        let cost = match (&self.charge, bytes) {
            (Charge::Cost | Charge::One, b"-") => 1,
            (Charge::Column(_), b"-") => 0,
            (Charge::Cost | Charge::One, _) => whole_number("bytes", bytes).map(|_| 1)?,
            (Charge::Column(_), _) => whole_number("bytes", bytes)?,
        };
        Ok(Arrival { t_ms, key: Cow::Borrowed(host), cost })
    }
}

/// The fields of one CSV line; a field may stand in double quotes, in which two of them mean one.
struct Fields<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    fn of(line: &'a [u8]) -> Self {
        Self { rest: Some(line) }
    }

    fn quoted(&mut self, inner: &'a [u8]) -> Result<Cow<'a, [u8]>, Malformed> {
        let mut end = 0;
        loop {
            end += inner[end..].iter().position(|&b| b == b'"').ok_or(Malformed::Quotes)?;
            if inner.get(end + 1) != Some(&b'"') {
                break;
            }
            end += 2;
        }
        let (field, after) = (&inner[..end], inner[end + 1..].trim_ascii_start());
        self.rest = match after.split_first() {
            None => None,
            Some((b',', rest)) => Some(rest),
            Some(_) => return Err(Malformed::Quotes),
        };
        if find(field, b"\"\"").is_none() {
            return Ok(Cow::Borrowed(field));
        }
        let mut unescaped = Vec::with_capacity(field.len());
        let mut quote = false;
        for &byte in field {
            quote = byte == b'"' && !quote;
            if !quote {
                unescaped.push(byte);
            }
        }
        Ok(Cow::Owned(unescaped))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Cow<'a, [u8]>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?.trim_ascii_start();
        if let Some(inner) = rest.strip_prefix(b"\"") {
            return Some(self.quoted(inner));
        }
        match cut(rest, b',') {
            None => Some(Ok(Cow::Borrowed(rest.trim_ascii_end()))),
            Some((field, after)) => {
                self.rest = Some(after);
                Some(Ok(Cow::Borrowed(field.trim_ascii_end())))
            }
        }
    }
}

/// The bytes sent: what follows the quoted request and a status of three digits.
///
/// Old servers wrote quotes inside a request as they came, so the closing one is the first that such a status follows;
/// newer ones put a backslash before them.
fn bytes_sent(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line.strip_prefix(b" \"")?;
    loop {
        let at = rest.iter().position(|&b| b == b'"')?;
        let escapes = rest[..at].iter().rev().take_while(|&&b| b == b'\\').count();
        let after = &rest[at + 1..];
        if let [b' ', status @ .., b' '] = after.get(..5).unwrap_or_default()
            && escapes % 2 == 0
            && status.iter().all(u8::is_ascii_digit)
        {
            let bytes = after[5..].split(|&b| b == b' ').next()?;
            return (!bytes.is_empty()).then_some(bytes);
        }
        rest = after;
    }
}

/// Milliseconds from 1970 to a date such as `10/Oct/2000:13:55:36 -0700`, in the Gregorian calendar.
fn date_ms(date: &[u8]) -> Result<u64, Malformed> {
    let seconds = date_seconds(date).ok_or_else(|| Malformed::Date(excerpt(date)))?;
    u64::try_from(seconds).map(|seconds| seconds * 1000).map_err(|_| Malformed::BeforeEpoch(excerpt(date)))
}

fn date_seconds(date: &[u8]) -> Option<i64> {
    const MONTHS: [(&[u8], i64); 12] = [
        (b"Jan", 31),
        (b"Feb", 28),
        (b"Mar", 31),
        (b"Apr", 30),
        (b"May", 31),
        (b"Jun", 30),
        (b"Jul", 31),
        (b"Aug", 31),
        (b"Sep", 30),
        (b"Oct", 31),
        (b"Nov", 30),
        (b"Dec", 31),
    ];
    let [d1, d2, b'/', m1, m2, m3, b'/', y1, y2, y3, y4, b':', clock @ .., b' ', sign, o1, o2, o3, o4] = date else {
        return None;
    };
    let &[h1, h2, b':', min1, min2, b':', s1, s2] = clock else { return None };
    let month = MONTHS.iter().position(|(name, _)| name.eq_ignore_ascii_case(&[*m1, *m2, *m3]))?;
    let year = digits(&[*y1, *y2, *y3, *y4])?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = MONTHS[month].1 + i64::from(leap && month == 1);
    let day = digits(&[*d1, *d2]).filter(|day| (1..=length).contains(day))?;
    let hour = digits(&[h1, h2]).filter(|&hour| hour < 24)?;
    let minute = digits(&[min1, min2]).filter(|&minute| minute < 60)?;
    let second = digits(&[s1, s2]).filter(|&second| second <= 60)?; // 60: a leap second
    let zone_hours = digits(&[*o1, *o2]).filter(|&hours| hours < 24)?;
    let zone_minutes = digits(&[*o3, *o4]).filter(|&minutes| minutes < 60)?;
    let zone = match sign {
        b'+' => zone_hours * 3600 + zone_minutes * 60,
        b'-' => -(zone_hours * 3600 + zone_minutes * 60),
        _ => return None,
    };
    let leap_days_before =
        |year: i64| (year - 1).div_euclid(4) - (year - 1).div_euclid(100) + (year - 1).div_euclid(400);
    let days = 365 * (year - 1970) + leap_days_before(year) - leap_days_before(1970)
        + MONTHS[..month].iter().map(|(_, length)| length).sum::<i64>()
        + i64::from(leap && month > 1)
        + day
        - 1;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second - zone)
}

/// A number of a few decimal digits.
fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

fn whole_number(field: &'static str, bytes: &[u8]) -> Result<u64, Malformed> {
    let (negative, unsigned) = bytes.strip_prefix(b"-").map_or((false, bytes), |rest| (true, rest));
    if bytes.is_empty() {
        return Err(Malformed::Missing(field));
    }
    if unsigned.is_empty() || !unsigned.iter().all(u8::is_ascii_digit) {
        return Err(Malformed::NotANumber(field, excerpt(bytes)));
    }
    if negative {
        return Err(Malformed::Negative(field, excerpt(bytes)));
    }
    unsigned
        .iter()
        .try_fold(0_u64, |value, byte| value.checked_mul(10)?.checked_add(u64::from(byte - b'0')))
        .ok_or_else(|| Malformed::TooLarge(field, excerpt(bytes)))
}

/// A column's name: letters first, no digits first, nothing that a number or an address could be.
fn is_name(field: &[u8]) -> bool {
    field.first().is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_')
        && field.iter().all(|&b| b.is_ascii_alphanumeric() || b"_- ()".contains(&b))
}

/// The start of a field, made fit for a terminal.
fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 32;
    let more = if bytes.len() > SHOWN { "..." } else { "" };
    format!("\"{}{more}\"", bytes[..bytes.len().min(SHOWN)].escape_ascii())
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// What stands before and after the first of this byte.
fn cut(line: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    line.iter().position(|&b| b == at).map(|place| (&line[..place], &line[place + 1..]))
}

#[cfg(test)]
mod tests;
