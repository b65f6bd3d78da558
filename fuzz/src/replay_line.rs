//! The parser of recorded arrivals: any bytes at all, line by line.

use tollgate_replay::format::parse::{Arrival, Charge, Format, Line, Parser};

/// Reads any bytes as a recorded file, and writes down what was understood in a canonical form, which must read as the
/// same.
///
/// # Panics
///
/// If the parser does, if it understands something that cannot be, or if the canonical form reads as something else.
pub fn replay_line(data: &[u8]) {
    let Some((&mode, text)) = data.split_first() else { return };
    let charge = match mode & 3 {
        0 => Charge::One,
        1 => Charge::Column("bytes".into()),
        _ => Charge::Cost,
    };
    let wanted = match mode >> 2 & 3 {
        0 => Some(Format::Csv),
        1 => Some(Format::Clf),
        _ => None,
    };
    let mut parser = Parser::new(wanted, charge);
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let before = parser.format();
        match parser.line(line) {
            Ok(Line::Arrival(arrival)) => {
                let format = parser.format().expect("an arrival settles the format");
                assert!(before.is_none_or(|before| before == format), "the format changed");
                assert!(!arrival.key.is_empty(), "a key is never empty");
                if format == Format::Csv {
                    reads_as_the_same(&arrival);
                }
                if format == Format::Clf {
                    the_date_reads_as_the_same(&arrival);
                }
            }
            Ok(Line::Header) => assert_eq!(number, 0, "a header counts on the first line only"),
            Ok(Line::Blank) => assert!(line.trim_ascii_start().is_empty() || number == 0),
            // Long fields are cut short, and nothing is printed that a terminal might obey.
            Err(malformed) => {
                let message = malformed.to_string();
                assert!(
                    message.len() < 300 && message.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
                    "{message:?}"
                );
            }
        }
        assert_eq!(before.or(parser.format()), parser.format(), "a format was forgotten");
    }
}

fn reads_as_the_same(arrival: &Arrival<'_>) {
    let mut line = format!("{},\"", arrival.t_ms).into_bytes();
    for &byte in arrival.key.iter() {
        line.extend(if byte == b'"' { &b"\"\""[..] } else { core::slice::from_ref(&byte) });
    }
    line.extend(format!("\",{}", arrival.cost).bytes());
    let again = Parser::new(Some(Format::Csv), Charge::Cost).line(&line).map(|line| format!("{line:?}"));
    assert_eq!(again, Ok(format!("{:?}", Line::Arrival(owned(arrival)))), "{}", line.escape_ascii());
}

/// The same arrival with its key in memory of its own, as a quoted key may have.
fn owned<'a>(arrival: &Arrival<'_>) -> Arrival<'a> {
    Arrival { t_ms: arrival.t_ms, key: arrival.key.to_vec().into(), cost: arrival.cost }
}

fn the_date_reads_as_the_same(arrival: &Arrival<'_>) {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (mut day, second) = (arrival.t_ms / 86_400_000, arrival.t_ms / 1_000 % 86_400);
    // Year by year and month by month, as a person would count.
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    if year > 9_999 {
        return; // a zone west of Greenwich on the last day that can be written
    }
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let date = format!("{:02}/{}/{year:04}:{hour:02}:{minute:02}:{second:02} +0000", day + 1, MONTHS[month]);
    let line = format!("host - - [{date}] \"GET / HTTP/1.1\" 200 5");
    match Parser::new(Some(Format::Clf), Charge::One).line(line.as_bytes()) {
        Ok(Line::Arrival(again)) => assert_eq!(again.t_ms, arrival.t_ms, "{date}"),
        other => panic!("{date} reads as {other:?}"),
    }
}
