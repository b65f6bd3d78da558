//! Logs whose fields are known by their place: what all of them share.

use core::ops::Range;

use memchr::memchr;

use super::names;
use super::values::{COST, FILTERS, FORWARDED, KEY, Slot, TIME, Values};
use super::wanted::{Charge, Wanted};
use crate::field::client::{address, is_addresses};
use crate::field::instant::is_certain;
use crate::field::malformed::{Malformed, listed};
use crate::field::number::whole;

/// How fields are set apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Separator {
    pub(super) byte: u8,
    /// Whether a field may stand in double quotes.
    pub(super) quotes: bool,
}

/// One field of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Without the quotes around it and the white space about it.
    pub(super) part: Range<usize>,
    /// Two quotes in it mean one.
    pub(super) doubled: bool,
}

/// The fields of one line.
pub(super) struct Fields<'a> {
    line: &'a [u8],
    separator: Separator,
    next: Option<usize>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(line: &'a [u8], separator: Separator) -> Self {
        Self { line, separator, next: Some(0) }
    }

    fn trimmed(&self, part: Range<usize>) -> Range<usize> {
        let text = &self.line[part.clone()];
        let start = part.start + (text.len() - text.trim_ascii_start().len());
        let end = start + text.trim_ascii().len();
        start..end
    }

    fn quoted(&mut self, start: usize) -> Result<Field, Malformed> {
        let (mut at, mut doubled) = (start, false);
        let end = loop {
            at += memchr(b'"', &self.line[at..]).ok_or(Malformed::OpenQuote)?;
            if self.line.get(at + 1) != Some(&b'"') {
                break at;
            }
            doubled = true;
            at += 2;
        };
        let rest = &self.line[end + 1..];
        let to_separator = memchr(self.separator.byte, rest);
        if !rest[..to_separator.unwrap_or(rest.len())].trim_ascii().is_empty() {
            return Err(Malformed::Quotes);
        }
        self.next = to_separator.map(|at| end + 1 + at + 1);
        Ok(Field { part: start..end, doubled })
    }
}

impl Iterator for Fields<'_> {
    type Item = Result<Field, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.next.take()?;
        let rest = &self.line[start..];
        let to_text = rest.iter().take_while(|&&byte| byte == b' ' && byte != self.separator.byte).count();
        if self.separator.quotes && rest.get(to_text) == Some(&b'"') {
            return Some(self.quoted(start + to_text + 1));
        }
        let end = memchr(self.separator.byte, rest).map_or(self.line.len(), |at| start + at);
        self.next = (end < self.line.len()).then_some(end + 1);
        Some(Ok(Field { part: self.trimmed(start..end), doubled: false }))
    }
}

/// Writes a field without the quotes that stand for others.
pub(super) fn write_single(out: &mut Vec<u8>, mut field: &[u8]) {
    while let Some(at) = memchr(b'"', field) {
        out.extend_from_slice(&field[..=at]);
        field = &field[(at + 2).min(field.len())..];
    }
    out.extend_from_slice(field);
}

/// Which columns are asked for.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    separator: Separator,
    /// In every line; fewer fields are lines whose last columns are empty.
    count: usize,
    /// Column and slot, in the order of columns.
    wanted: Vec<(usize, Slot)>,
    /// The column with the date, where the time of day has one of its own.
    date: Option<usize>,
    pub(super) about: About,
}

/// Which fields were taken for what, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The field that is the time.
    pub time: String,
    /// The field that is the client.
    pub key: String,
    /// The field that is the cost, if there is one.
    pub cost: Option<String>,
    /// A field that could be charged.
    pub other_cost: Option<String>,
}

impl Columns {
    /// Columns with names, of which the first line is known too.
    ///
    /// # Errors
    ///
    /// A field that was asked for is not there, the time or the client cannot be told, or the line has more fields than there
    /// are names.
    pub(super) fn named(
        names: &[String],
        first: &[u8],
        separator: Separator,
        wanted: &Wanted,
    ) -> Result<Self, Malformed> {
        let mut fields = Vec::new();
        for field in Fields::of(first, separator) {
            fields.push(&first[field?.part]);
        }
        if fields.len() > names.len() {
            return Err(Malformed::TooManyFields(fields.len(), names.len()));
        }
        let all = || listed(names.iter().map(String::as_str));
        let text = |place: usize| fields.get(place).copied().unwrap_or_default();
        let time = if let Some(name) = &wanted.time {
            names::place(names, name)?
        } else {
            let known = names::time(names);
            known
                .or_else(|| only((0..fields.len()).filter(|&at| is_certain(text(at)))))
                .ok_or_else(|| Malformed::Untold("time", all()))?
        };
        let date = names.iter().position(|name| name.eq_ignore_ascii_case("date"));
        let date = date.filter(|&date| date != time && wanted.time.is_none() && is_time_of_day(text(time)));
        let key = if let Some(name) = &wanted.key {
            names::place(names, name)?
        } else {
            let others = || (0..names.len()).filter(|&at| at != time && Some(at) != date);
            let known = names::client(names)?;
            known
                .or_else(|| only(others().filter(|&at| address(text(at)).is_some())))
                .or_else(|| only(others()))
                .ok_or_else(|| Malformed::Untold("client", all()))?
        };
        let cost = match &wanted.charge {
            Charge::Cost => names::cost(names),
            Charge::One => None,
            Charge::Field(name) => Some(names::place(names, name)?),
        };
        let is_number = |&at: &usize| at != time && at != key && whole("", text(at)).is_ok();
        let numbers: Vec<_> = (0..names.len()).filter(is_number).collect();
        let mut columns = Self {
            separator,
            count: names.len(),
            wanted: vec![(time, TIME), (key, KEY)],
            date,
            about: About {
                time: date.map_or_else(|| names[time].clone(), |date| format!("{} {}", names[date], names[time])),
                key: names[key].clone(),
                cost: cost.map(|cost| names[cost].clone()),
                other_cost: names::other_cost(names, &numbers).map(|at| names[at].clone()),
            },
        };
        columns.wanted.extend(cost.map(|cost| (cost, COST)));
        columns.wanted.extend(names::forwarded(names).filter(|&at| at != key).map(|at| (at, FORWARDED)));
        for (slot, (name, _)) in (FILTERS..).zip(&wanted.filters) {
            columns.wanted.push((names::place(names, name)?, slot));
        }
        columns.wanted.sort_unstable();
        Ok(columns)
    }

    /// Finds the fields in a line.
    ///
    /// # Errors
    ///
    /// Its quotes are wrong, or it has more fields than there are columns.
    pub(super) fn read(&self, line: &[u8], values: &mut Values) -> Result<(), Malformed> {
        let mut wanted = self.wanted.iter().peekable();
        let (mut date, mut time_of_day, mut found) = (None, None, 0);
        for (column, field) in Fields::of(line, self.separator).enumerate() {
            let field = field?;
            found += 1;
            if Some(column) == self.date {
                date = Some(field.part.clone());
            }
            while let Some(&(_, slot)) = wanted.next_if(|(place, _)| *place == column) {
                if slot == TIME {
                    time_of_day = Some(field.part.clone());
                }
                if field.doubled {
                    values.copy(slot, |out| write_single(out, &line[field.part.clone()]));
                } else {
                    values.set(slot, field.part.clone());
                }
            }
        }
        if found > self.count {
            return Err(Malformed::TooManyFields(found, self.count));
        }
        if let (Some(date), Some(time)) = (date, time_of_day) {
            values.copy(TIME, |out| {
                out.extend_from_slice(&line[date]);
                out.push(b' ');
                out.extend_from_slice(&line[time]);
            });
        }
        Ok(())
    }
}

/// Whether this is a time of day without a date.
fn is_time_of_day(field: &[u8]) -> bool {
    matches!(field, [_, _, b':', _, _, b':', _, _, ..]) && !is_addresses(field)
}

/// The one that there is.
pub(super) fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Result<Vec<String>, Malformed> {
        let comma = Separator { byte: b',', quotes: true };
        Fields::of(line.as_bytes(), comma)
            .map(|field| {
                let field = field?;
                let mut text = Vec::new();
                if field.doubled {
                    write_single(&mut text, &line.as_bytes()[field.part]);
                } else {
                    text.extend_from_slice(&line.as_bytes()[field.part]);
                }
                Ok(String::from_utf8(text).unwrap())
            })
            .collect()
    }

    #[test]
    fn quoted_fields() {
        for (line, parts) in [
            ("", &[""][..]),
            ("a,b", &["a", "b"]),
            ("a,,b,", &["a", "", "b", ""]),
            ("  12 ,\talice , 7 \r\n", &["12", "alice", "7"]),
            (r#""12","a,b""#, &["12", "a,b"]),
            (r#"12, "a ""b""" ,3"#, &["12", "a \"b\"", "3"]),
            (r#"12,"""",3"#, &["12", "\"", "3"]),
            (r#"12,"""""",3"#, &["12", "\"\"", "3"]),
            (r#"12,"",3"#, &["12", "", "3"]),
            (r#"12,a"b,3"#, &["12", "a\"b", "3"]),
            ("\"a\nb\",c", &["a\nb", "c"]),
        ] {
            assert_eq!(fields(line).unwrap(), parts, "{line}");
        }
        for open in [r#"12,"a"#, r#"12,"a"""#, r#"""#] {
            assert_eq!(fields(open), Err(Malformed::OpenQuote), "{open}");
        }
        assert_eq!(fields(r#"12,"a"b,3"#), Err(Malformed::Quotes));
    }
}
