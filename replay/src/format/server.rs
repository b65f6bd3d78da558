//! Logs of web servers: the Common Log Format, the Combined one, which adds to it, and what is put before and after.
//!
//! `host ident user [day/month/year:hour:minute:second zone] "request" status bytes "referer" "user agent"`. A virtual
//! host may stand before the host, and the addresses that a proxy was called from after the user agent.

use core::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::columns::{About, only};
use super::values::{COST, FILTERS, FORWARDED, KEY, Slot, TIME, Values};
use super::wanted::{Charge, Wanted};
use crate::field::client::{address, is_addresses};
use crate::field::malformed::{Malformed, excerpt, listed};

/// A field of such a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Host,
    VirtualHost,
    Ident,
    User,
    Request,
    Method,
    Path,
    Protocol,
    Status,
    Bytes,
    Referer,
    UserAgent,
    Forwarded,
    /// The n-th word before the date, from 1; a list of addresses is one.
    Word(usize),
}

const NAMES: [(&str, Name); 13] = [
    ("host", Name::Host),
    ("vhost", Name::VirtualHost),
    ("ident", Name::Ident),
    ("user", Name::User),
    ("request", Name::Request),
    ("method", Name::Method),
    ("path", Name::Path),
    ("protocol", Name::Protocol),
    ("status", Name::Status),
    ("bytes", Name::Bytes),
    ("referer", Name::Referer),
    ("user_agent", Name::UserAgent),
    ("forwarded", Name::Forwarded),
];

/// Which fields are asked for.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// The client is the second word.
    behind_virtual_host: bool,
    wanted: Vec<(Name, Slot)>,
    /// Whether a field after the bytes is asked for.
    to_the_end: bool,
    pub(super) about: About,
}

impl Server {
    /// # Errors
    ///
    /// There is no such field.
    pub(super) fn new(wanted: &Wanted, behind_virtual_host: bool) -> Result<Self, Malformed> {
        let key = wanted.key.as_deref().map_or(Ok(Name::Host), named)?;
        let mut fields = vec![(key, KEY)];
        if let Charge::Field(name) = &wanted.charge {
            fields.push((named(name)?, COST));
        }
        for (slot, (name, _)) in (FILTERS..).zip(&wanted.filters) {
            fields.push((named(name)?, slot));
        }
        if let Some(time) = wanted.time.as_deref().filter(|&time| time != "time") {
            return Err(Malformed::NoSuchField(listed([time]), "time".to_owned()));
        }
        let late = |name| matches!(name, Name::Referer | Name::UserAgent | Name::Forwarded);
        Ok(Self {
            behind_virtual_host,
            to_the_end: fields.iter().any(|&(name, _)| late(name)),
            wanted: fields,
            about: About {
                time: "date".to_owned(),
                key: wanted.key.clone().unwrap_or_else(|| "host".to_owned()),
                cost: if let Charge::Field(name) = &wanted.charge { Some(name.clone()) } else { None },
                other_cost: Some("bytes".to_owned()),
            },
        })
    }

    /// Finds the fields in a line.
    ///
    /// # Errors
    ///
    /// It is none of such a log, or the client cannot be told.
    pub(super) fn read(&self, line: &[u8], values: &mut Values) -> Result<(), Malformed> {
        let open = date_bracket(line)?;
        let date = open + 1..open + 1 + memchr(b']', &line[open..]).ok_or(Malformed::Missing("date in brackets"))? - 1;
        values.set(TIME, date.clone());
        let request = request(line, date.end + 1).ok_or(Malformed::NoRequest)?;
        let status = request.end + 2..request.end + 5;
        let bytes_end = memchr(b' ', &line[status.end + 1..]).map_or(line.len(), |at| status.end + 1 + at);
        let bytes = status.end + 1..bytes_end;
        let number = &line[bytes.clone()];
        if number.is_empty() {
            return Err(Malformed::NoRequest);
        } else if number != b"-" {
            crate::field::number::whole("bytes", number)?;
        }
        let quoted = if self.to_the_end { quoted(line, bytes_end) } else { [const { None }; 3] };
        let part_of_request = |number| {
            let text = &line[request.clone()];
            let mut start = 0;
            for _ in 0..number {
                start += memchr(b' ', &text[start..])? + 1;
            }
            let end = memchr(b' ', &text[start..]).map_or(text.len(), |at| start + at);
            Some(request.start + start..request.start + end)
        };
        for &(name, slot) in &self.wanted {
            let before = || Before::of(&line[..open]);
            let part = match name {
                Name::Host if self.behind_virtual_host => before().word(2),
                Name::Host => Some(Before::host(&line[..open])?),
                Name::VirtualHost => before().word(1),
                Name::Ident => before().nth_back(1),
                Name::User => before().nth_back(0),
                Name::Word(number) => before().word(number),
                Name::Request => Some(request.clone()),
                Name::Method => part_of_request(0),
                Name::Path => part_of_request(1),
                Name::Protocol => part_of_request(2),
                Name::Status => Some(status.clone()),
                Name::Bytes => Some(bytes.clone()),
                Name::Referer => quoted[0].clone(),
                Name::UserAgent => quoted[1].clone(),
                Name::Forwarded => quoted[2].clone(),
            };
            if let Some(part) = part {
                values.set(slot, part);
            }
        }
        if let Some(part) = last_quoted(line, bytes_end).filter(|part| is_addresses(&line[part.clone()])) {
            values.set(FORWARDED, part);
        }
        Ok(())
    }
}

fn named(name: &str) -> Result<Name, Malformed> {
    let number = name.parse().ok().filter(|&number| number > 0).map(Name::Word);
    let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|&(_, name)| name);
    let same = match name {
        "client" | "remote_addr" => Some(Name::Host),
        "x_forwarded_for" | "http_x_forwarded_for" => Some(Name::Forwarded),
        _ => None,
    };
    number
        .or(known)
        .or(same)
        .ok_or_else(|| Malformed::NoSuchField(listed([name]), listed(NAMES.iter().map(|&(name, _)| name))))
}

/// Where the bracket before the date is.
fn date_bracket(line: &[u8]) -> Result<usize, Malformed> {
    let mut other = None;
    for open in memchr_iter(b'[', line) {
        if open > 0 && line[open - 1] != b' ' {
            continue;
        }
        if let [_, _, b'/', _, _, _, b'/', _, _, _, _, b':', ..] = line[open + 1..] {
            return Ok(open);
        }
        other.get_or_insert(open);
    }
    Err(match other {
        Some(open) if memchr(b']', &line[open..]).is_some() => {
            let end = open + memchr(b']', &line[open..]).unwrap_or_default();
            Malformed::Time(excerpt(&line[open + 1..end]))
        }
        _ => Malformed::Missing("date in brackets"),
    })
}

/// The request within its quotes, with a space, a status of three digits and a space after it.
///
/// Old servers wrote quotes inside a request as they came, so the closing one is the first that such a status follows;
/// newer ones put a backslash before them.
fn request(line: &[u8], from: usize) -> Option<Range<usize>> {
    line.get(from..)?.strip_prefix(b" \"")?;
    let start = from + 2;
    for at in memchr_iter(b'"', &line[start..]) {
        let end = start + at;
        let escapes = line[start..end].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if let Some([b' ', status @ .., b' ']) = line.get(end + 1..end + 6)
            && escapes % 2 == 0
            && status.iter().all(u8::is_ascii_digit)
        {
            return Some(start..end);
        }
    }
    None
}

/// The first three quoted fields from a place on.
fn quoted(line: &[u8], mut from: usize) -> [Option<Range<usize>>; 3] {
    let mut found = [const { None }; 3];
    for one in &mut found {
        let Some(start) = memchr(b'"', &line[from..]).map(|at| from + at + 1) else { break };
        let unescaped =
            |&end: &usize| line[start..start + end].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 0;
        let Some(end) = memchr_iter(b'"', &line[start..]).find(unescaped).map(|at| start + at) else { break };
        *one = Some(start..end);
        from = end + 1;
    }
    found
}

/// The quoted field that ends the line, if there is one.
fn last_quoted(line: &[u8], from: usize) -> Option<Range<usize>> {
    let end = line.len().checked_sub(1).filter(|&end| end > from && line[end] == b'"')?;
    let start = from + memrchr(b'"', &line[from..end])? + 1;
    Some(start..end)
}

/// What stands before the date.
struct Before<'a> {
    text: &'a [u8],
}

impl<'a> Before<'a> {
    fn of(text: &'a [u8]) -> Self {
        Self { text: text.trim_ascii_end() }
    }

    /// Its words; addresses with commas between them are one.
    fn words(&self) -> impl Iterator<Item = Range<usize>> {
        let mut next = 0;
        core::iter::from_fn(move || {
            let start = next + self.text[next..].iter().take_while(|&&byte| byte == b' ').count();
            let mut end = start;
            loop {
                end += memchr(b' ', &self.text[end..]).unwrap_or(self.text.len() - end);
                let word = &self.text[start..end];
                let list = word.ends_with(b",") && is_addresses(&word[..word.len() - 1]);
                if !list || end == self.text.len() {
                    break;
                }
                end += 1;
            }
            next = end;
            (start < end).then_some(start..end)
        })
    }

    fn word(&self, number: usize) -> Option<Range<usize>> {
        self.words().nth(number.checked_sub(1)?)
    }

    fn nth_back(&self, number: usize) -> Option<Range<usize>> {
        let count = self.words().count();
        self.word(count.checked_sub(number)?)
    }

    /// The host, whatever stands before it. The one address is the client, and of two if the first is a virtual host with
    /// its port; without addresses it is the name that an absent `ident` follows.
    fn host(text: &'a [u8]) -> Result<Range<usize>, Malformed> {
        let before = Self::of(text);
        if let Some(end) = memchr(b' ', before.text)
            && end > 0
            && let [b'-', b' ', ref user @ ..] = before.text[end + 1..]
            && memchr(b' ', user).is_none()
            && !is_addresses(user)
        {
            return Ok(0..end); // nearly every line
        }
        let is_address = |part: &Range<usize>| is_addresses(&before.text[part.clone()]);
        let ambiguous = || Malformed::WhichClient(excerpt(before.text));
        let count = before.words().count();
        if count < 3 {
            return Err(Malformed::Missing("host, ident and user before the date"));
        }
        let absent = before.words().position(|word| before.text[word] == *b"-");
        let addresses = before.words().filter(is_address).count();
        match addresses {
            0 if count == 3 => before.word(1).ok_or_else(ambiguous),
            0 => {
                let absent = absent.filter(|&place| place > 0 && place + 1 < count).ok_or_else(ambiguous)?;
                before.word(absent).ok_or_else(ambiguous)
            }
            1 => {
                let place = before.words().position(|word| is_address(&word)).ok_or_else(ambiguous)?;
                if place + 2 >= count || absent.is_some_and(|absent| absent < place) {
                    return Err(ambiguous());
                }
                before.word(place + 1).ok_or_else(ambiguous)
            }
            _ => {
                let mut words = before.words();
                let (first, second) = words.next().zip(words.next()).ok_or_else(ambiguous)?;
                let virtual_host =
                    has_port(&before.text[first]) && is_address(&second) && !has_port(&before.text[second.clone()]);
                let others = only(words.filter(is_address)).is_some();
                if virtual_host && !others && addresses == 2 && count > 3 { Ok(second) } else { Err(ambiguous()) }
            }
        }
    }
}

/// Whether an address is an IPv4 one with its port, or an IPv6 one in brackets with it.
fn has_port(word: &[u8]) -> bool {
    let colons = memchr_iter(b':', word).count();
    address(word).is_some() && (colons == 1 || word.starts_with(b"[") && !word.ends_with(b"]"))
}
