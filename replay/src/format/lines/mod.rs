//! [`Lines`]: reads the lines of one log, in their order.

use super::columns::{About, Columns, Fields};
use super::delimited;
use super::json::Json;
use super::server::Server;
use super::values::{COST, FILTERS, FORWARDED, KEY, TIME, Values};
use super::wanted::{Charge, Format, Wanted};
use super::{alb, names, prefix, w3c};
use crate::field::client::{Key, is_addresses};
use crate::field::instant::Instants;
use crate::field::malformed::Malformed;
use crate::field::number;

/// One request, as a limiter sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// When, in nanoseconds: since 1970, or since whenever the log's own numbers begin.
    pub at: u64,
    /// Who asks.
    pub key: Key<'a>,
    /// How many tokens it asks for.
    pub cost: u64,
    /// Whether the line names addresses that a proxy was called from, in a field that is not the key.
    pub forwarded: bool,
}

/// What a well-formed line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// No request: it is blank, a comment, or holds the names of columns.
    Nothing,
    /// A request that was not asked for.
    Other,
    /// A request.
    Arrival(Arrival<'a>),
}

/// How lines are laid out, once it is known.
#[derive(Clone, Debug)]
enum Layout {
    Columns(Columns),
    Server(Server),
    Json(Json),
}

/// Reads the lines of one log, in their order.
///
/// The format is settled by the first line that reads as an arrival, and kept to from then on, and so are the fields that
/// are the time and the client.
#[derive(Clone, Debug)]
pub struct Lines {
    wanted: Wanted,
    layout: Option<(Format, Layout)>,
    /// Names of columns that a line above has given, and how its fields are set apart.
    names: Option<(Format, Vec<String>)>,
    /// Whether a line has been seen that could have held the names of columns.
    begun: bool,
    first: bool,
    instants: Instants,
    values: Values,
}

impl Lines {
    /// Reads what is wanted.
    pub fn new(wanted: Wanted) -> Self {
        let values = Values::new(wanted.filters.len());
        let instants = Instants::new(wanted.unit);
        Self { wanted, layout: None, names: None, begun: false, first: true, instants, values }
    }

    /// The format, once it is known.
    pub fn format(&self) -> Option<Format> {
        self.layout.as_ref().map(|(format, _)| *format)
    }

    /// Whether the columns have names.
    pub fn has_names(&self) -> bool {
        self.names.is_some()
    }

    /// Which fields were taken for what, once the format is known.
    pub fn about(&self) -> Option<&About> {
        self.layout.as_ref().map(|(_, layout)| match layout {
            Layout::Columns(columns) => &columns.about,
            Layout::Server(server) => &server.about,
            Layout::Json(json) => &json.about,
        })
    }

    /// How instants are read.
    pub fn instants(&self) -> &Instants {
        &self.instants
    }

    /// Whether a line can be one that ends within quotes: a quick test, which says yes too often.
    pub fn may_go_on(&self, line: &[u8]) -> bool {
        !matches!(self.layout, Some((_, Layout::Server(_) | Layout::Json(_)))) && memchr::memchr(b'"', line).is_some()
    }

    /// Reads one line, with or without its line ending.
    ///
    /// # Errors
    ///
    /// Says what is wrong with a line that is not an arrival and should be. The next line can be read all the same. After
    /// [`Malformed::OpenQuote`] the same line can be read again with the next one behind it.
    pub fn line<'a>(&'a mut self, bytes: &'a [u8]) -> Result<Line<'a>, Malformed> {
        let bytes = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if self.first => rest,
            _ => bytes,
        };
        let line = without_ending(bytes);
        if line.trim_ascii().is_empty() {
            return Ok(Line::Nothing);
        }
        self.first = false;
        if memchr::memchr(0, line).is_some() {
            return Err(Malformed::Nul);
        }
        if let Some(names) = w3c::names(line) {
            let kept = self.layout.as_ref().is_none_or(|(format, _)| *format == Format::W3c);
            if kept && self.wanted.format.is_none_or(|format| format == Format::W3c) {
                // The columns may differ from here on.
                self.layout = None;
                self.names = Some((Format::W3c, names));
                return Ok(Line::Nothing);
            }
        }
        let is_comment = line.starts_with(b"#");
        if is_comment && (self.layout.is_none() || self.format() == Some(Format::W3c)) {
            return Ok(Line::Nothing);
        }
        if self.layout.is_none() {
            let Some((format, layout)) = self.settle(line)? else { return Ok(Line::Nothing) };
            // Only a line that can be read as a whole settles it.
            let mut instants = self.instants.clone();
            read(&self.wanted, &layout, format, line, &mut self.values, &mut instants)?;
            self.layout = Some((format, layout));
        }
        let Some((format, layout)) = &self.layout else { return Ok(Line::Nothing) };
        read(&self.wanted, layout, *format, line, &mut self.values, &mut self.instants)
    }

    /// The layout of a line that nothing is known of but the names above it; nothing if it holds names itself.
    fn settle(&mut self, line: &[u8]) -> Result<Option<(Format, Layout)>, Malformed> {
        let wanted = &self.wanted;
        let may_be = |format| wanted.format.is_none_or(|only| only == format);
        if let Some((Format::W3c, names)) = &self.names {
            return Ok(Some((Format::W3c, Layout::Columns(w3c::columns(names, line, wanted)?))));
        }
        if wanted.format == Some(Format::W3c) {
            return Err(Malformed::Missing("line #Fields: above"));
        }
        if self.names_bind() {
            return self.settle_delimited(line);
        }
        let behind = prefix::stripped(line)?.trim_ascii();
        if may_be(Format::Json) && (wanted.format.is_some() || behind.starts_with(b"{")) {
            let json = Json::new(behind, wanted)?;
            self.instants.take_unit_from(&json.about.time);
            return Ok(Some((Format::Json, Layout::Json(json))));
        }
        if may_be(Format::Alb) && (wanted.format.is_some() || alb::fits(line)) {
            return alb::columns(line, wanted).map(|columns| Some((Format::Alb, Layout::Columns(columns))));
        }
        for format in [Format::Combined, Format::VhostCombined] {
            let asked_for = wanted.format == Some(format);
            if asked_for || wanted.format.is_none() && format == Format::Combined && is_of_web_server(behind) {
                let server = Server::new(wanted, format == Format::VhostCombined)?;
                server.read(behind, &mut self.values)?;
                return Ok(Some((format, Layout::Server(server))));
            }
        }
        self.settle_delimited(line)
    }

    /// Whether the line above surely held names of columns: one of them is the time. Whatever a field of the lines under it
    /// looks like, a log of a web server included, it is a field.
    fn names_bind(&self) -> bool {
        let names = self.names.as_ref().filter(|_| self.wanted.format.is_none());
        names.is_some_and(|(_, names)| match &self.wanted.time {
            Some(time) => names::place(names, time).is_ok(),
            None => names::time(names).is_some(),
        })
    }

    /// The same of a line of fields with something between them.
    fn settle_delimited(&mut self, line: &[u8]) -> Result<Option<(Format, Layout)>, Malformed> {
        let wanted = &self.wanted;
        let format = match (wanted.format, &self.names) {
            (Some(format), _) => format,
            (None, Some((format, _))) => *format,
            (None, None) => delimited::format_of(line).ok_or(Malformed::Unrecognised)?,
        };
        if let Some(Err(open)) = Fields::of(line, delimited::separator(format)).find(Result::is_err) {
            return Err(open);
        }
        let begun = core::mem::replace(&mut self.begun, true);
        if !begun && let Some(names) = delimited::header(line, format) {
            self.names = Some((format, names));
            return Ok(None);
        }
        let columns = if let Some((_, names)) = &self.names {
            Columns::named(names, line, delimited::separator(format), wanted)?
        } else {
            let unnamed = delimited::unnamed(line, format, wanted)?;
            if unnamed.assume_millis {
                self.instants.assume_millis();
            }
            unnamed.columns
        };
        self.instants.take_unit_from(&columns.about.time);
        Ok(Some((format, Layout::Columns(columns))))
    }
}

fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether a line has a date in brackets as web servers write it.
fn is_of_web_server(line: &[u8]) -> bool {
    memchr::memchr_iter(b'[', line).any(|open| {
        matches!(line[open + 1..], [_, _, b'/', _, _, _, b'/', _, _, _, _, b':', ..])
            && open > 0
            && line[open - 1] == b' '
    })
}

fn read<'a>(
    wanted: &Wanted,
    layout: &Layout,
    format: Format,
    line: &'a [u8],
    values: &'a mut Values,
    instants: &mut Instants,
) -> Result<Line<'a>, Malformed> {
    values.clear();
    let line = match layout {
        Layout::Columns(columns) => {
            columns.read(line, values)?;
            line
        }
        Layout::Server(server) => {
            // A line that begins with its client has nothing before it.
            let line = if is_addresses(first_word(line)) { line } else { prefix::stripped(line)? }.trim_ascii_end();
            server.read(line, values)?;
            line
        }
        Layout::Json(json) => {
            let line = if line.starts_with(b"{") { line } else { prefix::stripped(line)? };
            json.read(line, values)?;
            line
        }
    };
    let values = &*values;
    for (slot, (_, value)) in (FILTERS..).zip(&wanted.filters) {
        if values.get(slot, line) != Some(value.as_bytes()) {
            return Ok(Line::Other);
        }
    }
    let at = instants.read(values.get(TIME, line).unwrap_or_default())?;
    let from_server = matches!(format, Format::Combined | Format::VhostCombined) && wanted.key.is_none();
    let key = wanted.clients(from_server).key(values.get(KEY, line).unwrap_or_default())?;
    let cost = match (&wanted.charge, values.get(COST, line)) {
        (Charge::One, _) | (Charge::Cost, None | Some(b"")) => 1,
        (Charge::Field(_), Some(b"-")) => 0,
        (_, cost) => number::whole("cost", cost.unwrap_or_default())?,
    };
    let forwarded = values.get(FORWARDED, line).is_some_and(is_addresses) && wanted.key.is_none();
    Ok(Line::Arrival(Arrival { at, key, cost, forwarded }))
}

fn first_word(line: &[u8]) -> &[u8] {
    &line[..memchr::memchr(b' ', line).unwrap_or(line.len())]
}

#[cfg(test)]
mod tests;
