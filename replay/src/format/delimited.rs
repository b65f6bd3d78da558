//! Fields with commas, tabs or semicolons between them, and perhaps a line of names above.

use super::columns::{Columns, Fields, Separator, only, write_single};
use super::wanted::{Format, Wanted};
use crate::field::client::address;
use crate::field::instant::is_certain;
use crate::field::malformed::Malformed;
use crate::field::number::whole;

/// The delimiter of a line: the one that makes the most fields of it, if it makes more than one; of two that make
/// as many, tabs before commas before semicolons.
pub(super) fn format_of(line: &[u8]) -> Option<Format> {
    let formats = [Format::Semicolons, Format::Csv, Format::Tsv].into_iter();
    let (count, format) = formats.map(|format| (count(line, format), format)).max_by_key(|(count, _)| *count)?;
    (count > 1).then_some(format)
}

fn count(line: &[u8], format: Format) -> usize {
    let is_field = |field: &Result<_, Malformed>| matches!(field, Ok(_) | Err(Malformed::OpenQuote));
    Fields::of(line, separator(format)).take_while(is_field).count()
}

/// What stands between fields.
pub(super) fn separator(format: Format) -> Separator {
    let byte = match format {
        Format::Tsv => b'\t',
        Format::Semicolons => b';',
        _ => b',',
    };
    Separator { byte, quotes: true }
}

/// The names in a line, if it holds names and no values.
pub(super) fn header(line: &[u8], format: Format) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for field in Fields::of(line, separator(format)) {
        let mut text = Vec::new();
        write_single(&mut text, &line[field.ok()?.part]);
        if text.is_empty() || is_value(&text) {
            return None;
        }
        names.push(String::from_utf8_lossy(&text).into_owned());
    }
    (names.len() > 1).then_some(names)
}

/// Whether a field is a number, a time or an address, which no name is.
fn is_value(field: &[u8]) -> bool {
    let numeric = field.iter().all(|byte| byte.is_ascii_digit() || b".,:+-/ ".contains(byte));
    numeric || is_certain(field) || address(field).is_some()
}

/// Columns without names, as the first line has them: `t_ms,key[,cost]`, or, by what is in them, a time and an address in
/// any order. Where columns are asked for by number, they are.
///
/// # Errors
///
/// The time or the client cannot be told.
pub(super) fn unnamed(first: &[u8], format: Format, wanted: &Wanted) -> Result<Unnamed, Malformed> {
    let separator = separator(format);
    let mut fields = Vec::new();
    for field in Fields::of(first, separator) {
        fields.push(&first[field?.part]);
    }
    let count = fields.len();
    let mut names: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    let certain: Vec<usize> = (0..count).filter(|&at| is_certain(fields[at])).collect();
    let by_place =
        matches!(count, 2 | 3) && whole("time", fields[0]).is_ok_and(|_| certain.is_empty() || certain[0] == 0);
    let by_place = by_place && fields.get(1).is_some_and(|field| !certain.contains(&1) && !field.is_empty());
    if wanted.time.is_some() || wanted.key.is_some() {
        // What is not asked for is told by what is in it.
    } else if by_place {
        "t".clone_into(&mut names[0]);
        "key".clone_into(&mut names[1]);
        if let Some(third) = names.get_mut(2) {
            "cost".clone_into(third);
        }
        let columns = Columns::named(&names, first, separator, &Wanted { unit: None, ..wanted.clone() })?;
        return Ok(Unnamed { columns, assume_millis: certain.is_empty() });
    }
    let time = only(certain.iter().copied());
    let client = only((0..count).filter(|&at| Some(at) != time && address(fields[at]).is_some()));
    let mut asked = wanted.clone();
    let told = |what, place: Option<usize>| {
        place.map(|at| names[at].clone()).ok_or(Malformed::Untold(what, "columns without names".to_owned()))
    };
    if asked.time.is_none() {
        asked.time = Some(told("time", time)?);
    }
    if asked.key.is_none() {
        asked.key = Some(told("client", client.or_else(|| only((0..count).filter(|&at| Some(at) != time))))?);
    }
    let columns = Columns::named(&names, first, separator, &asked)?;
    Ok(Unnamed { columns, assume_millis: false })
}

/// Columns without names.
pub(super) struct Unnamed {
    pub(super) columns: Columns,
    /// The time is a number whose unit nothing tells: it is milliseconds, as documented.
    pub(super) assume_millis: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_makes_the_most_fields() {
        for (line, format) in [
            ("a,b", Some(Format::Csv)),
            ("a\tb, c", Some(Format::Tsv)),
            ("2024-05-01 10:00:00,5;192.0.2.1;3", Some(Format::Semicolons)),
            ("\"a;b;c\",d", Some(Format::Csv)),
            ("alone", None),
        ] {
            assert_eq!(format_of(line.as_bytes()), format, "{line}");
        }
    }

    #[test]
    fn names_are_any_text_that_is_no_value() {
        for (line, is_header) in [
            ("timestamp,source.ip,bytes", true),
            ("@timestamp,[client][ip],größe", true),
            ("時刻,客戶", true),
            ("2xx,4xx", true),
            ("time (UTC),user-agent", true),
            ("12,alice", false),
            ("alice,192.0.2.1", false),
            ("alice,::1", false),
            ("alice,2024-05-01T00:00:00Z", false),
            ("alice,[10/Oct/2000:13:55:36 -0700]", false),
            ("alice,", false),
        ] {
            assert_eq!(header(line.as_bytes(), Format::Csv).is_some(), is_header, "{line}");
        }
    }
}
