//! When something was: every way in which logs write it.

use clap::ValueEnum;
use jiff::civil;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::Offset;

use super::malformed::{Malformed, excerpt};
use super::number::digits;

/// In what a number counts time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl Unit {
    const ALL: [Self; 4] = [Self::S, Self::Ms, Self::Us, Self::Ns];

    const fn nanos(self) -> u64 {
        match self {
            Self::S => 1_000_000_000,
            Self::Ms => 1_000_000,
            Self::Us => 1_000,
            Self::Ns => 1,
        }
    }

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::S => "seconds",
            Self::Ms => "milliseconds",
            Self::Us => "microseconds",
            Self::Ns => "nanoseconds",
        }
    }

    /// The unit of which this many make an instant from 2000 to 2100: at most one.
    fn of_this_century(number: u64) -> Option<Self> {
        const SECONDS: core::ops::Range<u64> = 946_684_800..4_102_444_800;
        Self::ALL.into_iter().find(|unit| SECONDS.contains(&(number / (Self::S.nanos() / unit.nanos()))))
    }
}

/// How the unit of numbers is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// By the command line, or by the name of the field: `t_ms`.
    Told(Unit),
    /// By the size of the first one: instants from 2000 to 2100.
    BySize(Unit),
    /// Not at all: the first field of a log without names is in milliseconds unless it is said otherwise.
    Assumed,
}

/// Reads the instants of one log, in nanoseconds since 1970, or since whenever a log's own numbers begin.
#[derive(Clone, Debug)]
pub struct Instants {
    unit: Option<Known>,
    /// Whether a number whose unit cannot be told may be taken for milliseconds.
    assume: bool,
    /// Dates in the format of web servers: the last one up to its hour and its zone, and when that hour began.
    hour: ([u8; 14], [u8; 6], i64),
    /// An instant without a zone has been read.
    without_zone: bool,
}

impl Instants {
    /// Numbers are in this unit; without one it is told from their size.
    pub fn new(unit: Option<Unit>) -> Self {
        Self { unit: unit.map(Known::Told), assume: false, hour: ([0; 14], [0; 6], 0), without_zone: false }
    }

    /// Takes the unit from a field's name, unless it was told already: `time_us`, `timestamp.ms`.
    pub fn take_unit_from(&mut self, name: &str) {
        let last = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let unit = match last.to_ascii_lowercase().as_str() {
            "s" | "sec" | "secs" | "seconds" => Unit::S,
            "ms" | "millis" | "milliseconds" => Unit::Ms,
            "us" | "micros" | "microseconds" => Unit::Us,
            "ns" | "nanos" | "nanoseconds" => Unit::Ns,
            _ => return,
        };
        if last.len() < name.len() {
            self.unit.get_or_insert(Known::Told(unit));
        }
    }

    /// Takes numbers for milliseconds where nothing else is known.
    pub fn assume_millis(&mut self) {
        self.assume = true;
    }

    /// How the unit of numbers is known, once one was read.
    pub fn unit(&self) -> Option<Known> {
        self.unit
    }

    /// Whether an instant was read that names no zone: it is taken for UTC.
    pub fn without_zone(&self) -> bool {
        self.without_zone
    }

    /// Reads an instant.
    ///
    /// # Errors
    ///
    /// It is none, its unit cannot be told, or it is before 1970 or after 2554.
    pub fn read(&mut self, field: &[u8]) -> Result<u64, Malformed> {
        let field = field.trim_ascii();
        let field = field.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(field);
        match field {
            [] | b"-" => Err(Malformed::Missing("time")),
            [_, _, b'/', ..] => self.of_web_server(field),
            _ if field.iter().all(|&byte| byte.is_ascii_digit() || byte == b'.') => self.number(field),
            [b'-', rest @ ..] if digits(rest).is_some() => Err(Malformed::Negative("time", excerpt(field))),
            _ => self.iso(field),
        }
    }

    fn number(&mut self, field: &[u8]) -> Result<u64, Malformed> {
        let point = field.iter().position(|&byte| byte == b'.');
        let (whole, fraction) = point.map_or((field, &b""[..]), |at| (&field[..at], &field[at + 1..]));
        let invalid = || Malformed::Time(excerpt(field));
        if !whole.iter().all(u8::is_ascii_digit)
            || point.is_some() && digits(&fraction[..fraction.len().min(9)]).is_none()
        {
            return Err(invalid());
        }
        let value = digits(whole).ok_or_else(|| Malformed::OutOfRange(excerpt(field)))?;
        let known = match self.unit {
            Some(known) => known,
            None => Unit::of_this_century(value)
                .map(Known::BySize)
                .or(self.assume.then_some(Known::Assumed))
                .ok_or_else(|| Malformed::Unit(excerpt(field)))?,
        };
        let unit = match known {
            Known::Told(unit) => unit,
            Known::Assumed => Unit::Ms,
            Known::BySize(unit) if Unit::of_this_century(value) == Some(unit) => unit,
            Known::BySize(unit) => return Err(Malformed::OtherUnit(excerpt(field), unit.name())),
        };
        let mut nanos = value.checked_mul(unit.nanos()).ok_or_else(|| Malformed::OutOfRange(excerpt(field)))?;
        let mut scale = unit.nanos();
        for &digit in fraction {
            if !digit.is_ascii_digit() {
                return Err(invalid());
            }
            scale /= 10;
            nanos = nanos
                .checked_add(u64::from(digit - b'0') * scale)
                .ok_or_else(|| Malformed::OutOfRange(excerpt(field)))?;
        }
        self.unit = Some(known);
        Ok(nanos)
    }

    /// `10/Oct/2000:13:55:36 -0700`, with or without a fraction of the second.
    fn of_web_server(&mut self, field: &[u8]) -> Result<u64, Malformed> {
        let invalid = || Malformed::Time(excerpt(field));
        let (up_to_hour, rest) = field.split_first_chunk::<14>().ok_or_else(invalid)?;
        let (rest, zone) = rest.split_last_chunk::<6>().ok_or_else(invalid)?;
        let [b':', m1, m2, b':', s1, s2, fraction @ ..] = rest else { return Err(invalid()) };
        let pair = |pair: [u8; 2], below| digits(&pair).filter(|&value| value < below).ok_or_else(invalid);
        let second = pair([*m1, *m2], 60)? * 60 + pair([*s1, *s2], 61)?; // 60: a leap second
        let nanos = match fraction {
            [] => 0,
            [b'.' | b',', digits @ ..] if (1..=9).contains(&digits.len()) => {
                let value = super::number::digits(digits).ok_or_else(invalid)?;
                (digits.len()..9).fold(value, |value, _| value * 10)
            }
            _ => return Err(invalid()),
        };
        if self.hour.0 != *up_to_hour || self.hour.1 != *zone {
            let begin = hour_of_web_server(up_to_hour, *zone).ok_or_else(invalid)?;
            self.hour = (*up_to_hour, *zone, begin);
        }
        self.hour
            .2
            .checked_add_unsigned(second)
            .and_then(|seconds| u64::try_from(seconds).ok()?.checked_mul(Unit::S.nanos()))
            .and_then(|whole| whole.checked_add(nanos))
            .ok_or_else(|| Malformed::OutOfRange(excerpt(field)))
    }

    /// ISO 8601 and what is close to it: with a space or tab for the `T`, with slashes in the date, with a space before the
    /// zone.
    fn iso(&mut self, field: &[u8]) -> Result<u64, Malformed> {
        const PARSER: DateTimeParser = DateTimeParser::new();
        let invalid = || Malformed::Time(excerpt(field));
        let mut text = [0; 48];
        let text = text.get_mut(..field.len()).ok_or_else(invalid)?;
        text.copy_from_slice(field);
        for place in [4, 7] {
            if text.get(place) == Some(&b'/') {
                text[place] = b'-';
            }
        }
        match text.get_mut(10) {
            Some(separator @ (b'\t' | b' ')) => *separator = b'T',
            Some(b'T' | b't') => {}
            _ => return Err(invalid()), // a date alone is no instant
        }
        let mut text = &*text;
        if let Some(end) = text.iter().rposition(|&byte| byte == b' ') {
            let (before, zone) = (&text[..end], &text[end + 1..]);
            return match zone {
                b"UTC" | b"GMT" | b"Z" => Self::in_zone(before, Some(0), field),
                [b'+' | b'-', ..] => Self::in_zone(before, zone_seconds(zone), field),
                _ => Err(invalid()),
            };
        }
        if let Ok(instant) = PARSER.parse_timestamp(text) {
            return nanos_of(instant, field);
        }
        if let [before @ .., b'z'] = text {
            text = before;
        } else if text.iter().any(|byte| matches!(byte, b'Z' | b'+')) {
            return Err(invalid());
        } else {
            self.without_zone = true;
        }
        Self::in_zone(text, Some(0), field)
    }

    fn in_zone(text: &[u8], zone: Option<i32>, field: &[u8]) -> Result<u64, Malformed> {
        const PARSER: DateTimeParser = DateTimeParser::new();
        let invalid = || Malformed::Time(excerpt(field));
        let zone = Offset::from_seconds(zone.ok_or_else(invalid)?).map_err(|_| invalid())?;
        let local = PARSER.parse_datetime(text).map_err(|_| invalid())?;
        nanos_of(zone.to_timestamp(local).map_err(|_| invalid())?, field)
    }
}

fn nanos_of(instant: jiff::Timestamp, field: &[u8]) -> Result<u64, Malformed> {
    u64::try_from(instant.as_nanosecond()).map_err(|_| Malformed::OutOfRange(excerpt(field)))
}

/// Seconds from 1970 to the beginning of an hour such as `10/Oct/2000:13`, in a zone such as ` -0700`.
fn hour_of_web_server(hour: &[u8; 14], zone: [u8; 6]) -> Option<i64> {
    const MONTHS: [&[u8; 3]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let [d1, d2, b'/', n1, n2, n3, b'/', y1, y2, y3, y4, b':', h1, h2] = hour else { return None };
    let [b' ', zone @ ..] = zone else { return None };
    let number = |text: &[u8]| i16::try_from(digits(text)?).ok();
    let month = (1..).zip(MONTHS).find(|(_, name)| name.eq_ignore_ascii_case(&[*n1, *n2, *n3]))?.0;
    let day = i8::try_from(number(&[*d1, *d2])?).ok()?;
    let hour = i8::try_from(number(&[*h1, *h2])?).ok()?;
    let local = civil::DateTime::new(number(&[*y1, *y2, *y3, *y4])?, month, day, hour, 0, 0, 0).ok()?;
    let utc = Offset::UTC.to_timestamp(local).ok()?.as_second();
    Some(utc - i64::from(zone_seconds(&zone)?))
}

/// Seconds east of Greenwich: `-0700`, `+05:30`.
fn zone_seconds(zone: &[u8]) -> Option<i32> {
    let (sign, hours, minutes) = match zone {
        [sign, h1, h2, m1, m2] | [sign, h1, h2, b':', m1, m2] => (sign, [*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let seconds = digits(&hours).filter(|&hours| hours < 24)? * 3600 + digits(&minutes).filter(|&min| min < 60)? * 60;
    let seconds = i32::try_from(seconds).ok()?;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// Whether a field is an instant that cannot be anything else: a date, or a number of this century.
pub fn is_certain(field: &[u8]) -> bool {
    Instants::new(None).read(field).is_ok()
}

#[cfg(test)]
mod tests;
