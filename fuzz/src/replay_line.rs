//! The reader of logs: any bytes at all, line by line.

use tollgate_replay::field::client::Hop;
use tollgate_replay::field::instant::{Known, Unit};
use tollgate_replay::format::lines::{Arrival, Line, Lines};
use tollgate_replay::format::wanted::{Charge, Format, Wanted};

/// Reads any bytes as a log, and writes down what was understood in two canonical forms, CSV and JSON, which must read as
/// the same.
///
/// The first byte says what is asked for: two bits the charge, four the format, one the unit.
///
/// # Panics
///
/// If the reader does, if it understands something that cannot be, or if a canonical form reads as something else.
pub fn replay_line(data: &[u8]) {
    let Some((&mode, text)) = data.split_first() else { return };
    let charge = match mode & 3 {
        0 => Charge::One,
        1 => Charge::Field("bytes".into()),
        _ => Charge::Cost,
    };
    let format = match mode >> 2 & 15 {
        0 => Some(Format::Csv),
        1 => Some(Format::Combined),
        4 => Some(Format::Tsv),
        5 => Some(Format::Semicolons),
        6 => Some(Format::VhostCombined),
        7 => Some(Format::Json),
        8 => Some(Format::Alb),
        9 => Some(Format::W3c),
        _ => None,
    };
    let unit = (mode & 64 != 0).then_some(Unit::Us);
    let mut lines = Lines::new(Wanted { format, charge, unit, ..Wanted::default() });
    for line in text.split(|&byte| byte == b'\n') {
        let before = lines.format();
        match lines.line(line) {
            Ok(Line::Arrival(arrival)) => {
                assert!(!arrival.key.as_bytes().is_empty(), "a key is never empty");
                assert!(!arrival.key.as_bytes().contains(&0), "a key has no NUL bytes");
                if !arrival.key.as_bytes().iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
                    reads_as_the_same(&arrival, &csv(&arrival));
                }
                if let Ok(key) = core::str::from_utf8(arrival.key.as_bytes()) {
                    reads_as_the_same(&arrival, &json(&arrival, key));
                }
                let settled = lines.format().expect("an arrival settles the format");
                assert!(before.is_none_or(|before| before == settled), "the format changed");
                assert!(format.is_none_or(|wanted| wanted == settled), "another format than the one asked for");
            }
            Ok(Line::Nothing) => {}
            Ok(Line::Other) => panic!("no filter was asked for"),
            // Long fields are cut short, and nothing is printed that a terminal might obey.
            Err(malformed) => {
                let message = malformed.to_string();
                assert!(
                    message.len() < 600 && message.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
                    "{message:?}"
                );
            }
        }
    }
    if let Some(Known::Told(told)) = lines.instants().unit() {
        assert!(unit.is_none_or(|unit| unit == told), "another unit than the one told");
    }
}

fn reads_as_the_same(arrival: &Arrival<'_>, text: &[u8]) {
    // A list of addresses has become one, and an address its prefix: neither may change any more.
    for hop in [Hop::First, Hop::Last] {
        let mut lines = Lines::new(Wanted { hop, ..Wanted::default() });
        let mut found = None;
        for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            if let Line::Arrival(again) =
                lines.line(line).unwrap_or_else(|why| panic!("{}: {why}", text.escape_ascii()))
            {
                found = Some((again.at, again.key.as_bytes().to_vec(), again.cost));
            }
        }
        let expected = Some((arrival.at, arrival.key.as_bytes().to_vec(), arrival.cost));
        // White space about a key is none of it.
        assert_eq!(found, expected, "{}", text.escape_ascii());
    }
}

fn csv(arrival: &Arrival<'_>) -> Vec<u8> {
    let mut text = format!("t_ns,key,cost\n{},\"", arrival.at).into_bytes();
    for &byte in arrival.key.as_bytes() {
        text.extend(if byte == b'"' { &b"\"\""[..] } else { core::slice::from_ref(&byte) });
    }
    text.extend(format!("\",{}\n", arrival.cost).bytes());
    text
}

fn json(arrival: &Arrival<'_>, key: &str) -> Vec<u8> {
    let mut text = format!("{{\"time_ns\":{},\"cost\":{},\"key\":\"", arrival.at, arrival.cost);
    for c in key.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\0'..='\x1F' => text.extend(format!("\\u{:04x}", u32::from(c)).chars()),
            _ => text.push(c),
        }
    }
    text.push_str("\"}\n");
    text.into_bytes()
}
