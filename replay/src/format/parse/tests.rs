use super::*;

fn csv() -> Parser {
    Parser::new(None, Charge::Cost)
}

#[allow(clippy::unnecessary_wraps)] // to be compared with what the parser returns
fn arrival(t_ms: u64, key: &str, cost: u64) -> Result<Line<'static>, Malformed> {
    let key = Cow::Owned(key.as_bytes().to_vec());
    Ok(Line::Arrival(Arrival { t_ms, key, cost }))
}

/// The line read by a parser that has seen nothing before it.
fn alone(line: &str) -> Result<Line<'_>, Malformed> {
    csv().line(line.as_bytes())
}

fn reason(line: &[u8]) -> String {
    match csv().line(line) {
        Err(reason) => reason.to_string(),
        Ok(read) => panic!("{:?} was read as {read:?}", line.escape_ascii().to_string()),
    }
}

#[test]
fn csv_lines_with_and_without_a_cost() {
    assert_eq!(alone("12,alice"), arrival(12, "alice", 1));
    assert_eq!(alone("12,alice,7"), arrival(12, "alice", 7));
    assert_eq!(alone("12,alice,"), arrival(12, "alice", 1));
    assert_eq!(alone("12,alice,0"), arrival(12, "alice", 0));
    assert_eq!(alone("  12 ,\talice , 7 \r\n"), arrival(12, "alice", 7));
    assert_eq!(alone("18446744073709551615,k"), arrival(u64::MAX, "k", 1));
    assert_eq!(alone("0012,k"), arrival(12, "k", 1));
}

#[test]
fn quoted_fields() {
    assert_eq!(alone(r#""12","a,b""#), arrival(12, "a,b", 1));
    assert_eq!(alone(r#"12, "a ""b""" ,3"#), arrival(12, r#"a "b""#, 3));
    assert_eq!(alone(r#"12,"""",3"#), arrival(12, r#"""#, 3));
    assert_eq!(alone(r#"12,a"b,3"#), arrival(12, r#"a"b"#, 3));
    for open in [r#"12,"a"#, r#"12,"a"b,3"#, r#"12,"a"""#] {
        assert_eq!(alone(open), Err(Malformed::Quotes), "{open}");
    }
}

#[test]
fn a_header_decides_what_the_columns_are() {
    let mut parser = csv();
    assert_eq!(parser.line(b"t_ms,client,bytes\n"), Ok(Line::Header));
    assert_eq!(parser.line(b"5,9,25230\n"), arrival(5, "9", 1));
    assert_eq!(parser.header().unwrap(), ["t_ms", "client", "bytes"]);

    let mut parser = csv();
    assert_eq!(parser.line(b"t_ms,client,bytes,cost\n"), Ok(Line::Header));
    assert_eq!(parser.line(b"5,9,25230,4\n"), arrival(5, "9", 4));
    assert_eq!(parser.line(b"5,9,25230\n"), arrival(5, "9", 1));

    let mut parser = Parser::new(None, Charge::Column("bytes".to_owned()));
    assert_eq!(parser.line(b"t_ms,client,bytes\n"), Ok(Line::Header));
    assert_eq!(parser.line(b"5,9,25230\n"), arrival(5, "9", 25230));
    assert!(parser.has_charge());

    let mut parser = Parser::new(None, Charge::Column("size".to_owned()));
    assert_eq!(parser.line(b"t_ms,client,bytes\n"), Ok(Line::Header));
    assert!(!parser.has_charge());

    let mut parser = Parser::new(None, Charge::One);
    assert_eq!(parser.line(b"5,9,25230\n"), arrival(5, "9", 1));
}

#[test]
fn a_header_counts_on_the_first_line_only() {
    let mut parser = csv();
    assert_eq!(parser.line(b"5,9\n"), arrival(5, "9", 1));
    assert!(matches!(parser.line(b"t_ms,client"), Err(Malformed::NotANumber(..))));
    assert_eq!(parser.header(), None);
}

#[test]
fn a_byte_order_mark_is_skipped_on_the_first_line() {
    let mut parser = csv();
    assert_eq!(parser.line(b"\xEF\xBB\xBFt_ms,client\r\n"), Ok(Line::Header));
    assert_eq!(parser.line(b"5,9\r\n"), arrival(5, "9", 1));
    assert!(parser.line(b"\xEF\xBB\xBF5,9\r\n").is_err());
    assert_eq!(csv().line(b"\xEF\xBB\xBF5,9"), arrival(5, "9", 1));
    assert_eq!(csv().line(b"\xEF\xBB\xBF"), Ok(Line::Blank));
}

#[test]
fn blank_lines_are_nothing() {
    for blank in ["", "\n", "\r\n", "  \t\r\n", "\x0c"] {
        assert_eq!(alone(blank), Ok(Line::Blank), "{blank:?}");
    }
}

#[test]
fn a_malformed_csv_line_says_why() {
    assert_eq!(reason(b"abc"), "neither `t_ms,key[,cost]` nor a Common Log Format line");
    assert_eq!(reason(b"12"), "neither `t_ms,key[,cost]` nor a Common Log Format line");
    assert_eq!(reason(b"12,"), "no key");
    assert_eq!(reason(b"12,  ,3"), "no key");
    assert_eq!(reason(b",alice"), "no time in milliseconds");
    assert_eq!(reason(b"-12,alice"), "time in milliseconds is negative: \"-12\"");
    assert_eq!(reason(b"1.5,alice"), "time in milliseconds is not a whole number: \"1.5\"");
    assert_eq!(reason(b"+15,alice"), "time in milliseconds is not a whole number: \"+15\"");
    assert_eq!(reason(b"-,alice"), "time in milliseconds is not a whole number: \"-\"");
    assert_eq!(reason(b"12,alice,-1"), "cost is negative: \"-1\"");
    assert_eq!(reason(b"12,alice,1e3"), "cost is not a whole number: \"1e3\"");
    assert_eq!(
        reason(b"18446744073709551616,k"),
        "time in milliseconds is above 18446744073709551615: \"18446744073709551616\""
    );
    assert_eq!(reason(b"12,alice,1,9"), "more than three fields, and no header that names them");
    let endless = [b"9".repeat(500).as_slice(), b",k"].concat();
    assert!(reason(&endless).ends_with("999...\""), "an excerpt, not all of it");
    assert!(reason(&endless).len() < 120);
}

#[test]
fn bytes_that_are_not_text() {
    // A key may be any bytes; a number may not, and what is shown of it is fit for a terminal.
    let mut parser = csv();
    let line = parser.line(b"12,\xFF\xFE,3").unwrap();
    let Line::Arrival(read) = line else { panic!("{line:?}") };
    assert_eq!(read.key.as_ref(), b"\xFF\xFE");
    assert_eq!(reason(b"\xFF\x1B[31m,k"), "time in milliseconds is not a whole number: \"\\xff\\x1b[31m\"");
    assert!(csv().line(b"\0\0\0").is_err());
}

const COMMON: &str = r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#;
/// `date -d '2000-10-10 13:55:36 -0700' +%s` says 971211336.
const COMMON_MS: u64 = 971_211_336_000;

#[test]
fn common_and_combined_log_lines() {
    assert_eq!(alone(COMMON), arrival(COMMON_MS, "127.0.0.1", 1));
    let combined = format!("{COMMON} \"http://www.example.com/start.html\" \"Mozilla/4.08 [en] (Win98; I ;Nav)\"\r\n");
    assert_eq!(alone(&combined), arrival(COMMON_MS, "127.0.0.1", 1));
    let mut bytes = Parser::new(Some(Format::Clf), Charge::Column("bytes".to_owned()));
    assert_eq!(bytes.line(COMMON.as_bytes()), arrival(COMMON_MS, "127.0.0.1", 2326));
    let none_sent = COMMON.replace("200 2326", "304 -");
    assert_eq!(bytes.line(none_sent.as_bytes()), arrival(COMMON_MS, "127.0.0.1", 0));
    assert_eq!(alone(&none_sent), arrival(COMMON_MS, "127.0.0.1", 1));
    assert!(bytes.has_charge());
    assert!(!Parser::new(Some(Format::Clf), Charge::Column("cost".to_owned())).has_charge());
}

#[test]
fn odd_but_readable_log_lines() {
    for odd in [
        COMMON.replace("frank", "John Doe"),
        COMMON.replace("/apache_pb.gif", r#"/a\" 404 1"#),
        COMMON.replace("/apache_pb.gif", r#"/"odd"/x"#),
        COMMON.replace(" HTTP/1.0", r"\\"),
        COMMON.replace("GET /apache_pb.gif HTTP/1.0", "-"),
        COMMON.replace("GET /apache_pb.gif HTTP/1.0", ""),
        COMMON.replace("Oct", "oct"),
        COMMON.replace("/apache_pb.gif", "/\u{fffd}]["),
    ] {
        let odd_read = alone(&odd);
        assert_eq!(odd_read, arrival(COMMON_MS, "127.0.0.1", 1), "{odd}");
    }
    let six = COMMON.replace("127.0.0.1", "2001:db8::1");
    assert_eq!(alone(&six), arrival(COMMON_MS, "2001:db8::1", 1));
    // A request that contains what looks like its own end does not choose what it is charged.
    let forged = COMMON.replace("/apache_pb.gif", r#"/a\" 404 1 "#);
    let mut bytes = Parser::new(None, Charge::Column("bytes".to_owned()));
    assert_eq!(bytes.line(forged.as_bytes()), arrival(COMMON_MS, "127.0.0.1", 2326));
}

#[test]
fn a_malformed_log_line_says_why() {
    let no_request = "no quoted request with a status after it";
    for (from, to, why) in [
        ("10/Oct/2000:13:55:36 -0700", "nonsense", "not a date such as 10/Oct/2000:13:55:36 -0700: \"nonsense\""),
        (" 200 2326", "", no_request),
        (" 200 2326", " 200", no_request),
        (" 200 2326", " 20x 2326", no_request),
        (" 200 2326", " 200 23x6", "bytes is not a whole number: \"23x6\""),
        (" 200 2326", " 200 -5", "bytes is negative: \"-5\""),
        ("\"GET /apache_pb.gif HTTP/1.0\" 200 2326", "", no_request),
        ("\"GET", "GET", no_request),
        ("-0700]", "-0700", "no date in brackets"),
    ] {
        assert_eq!(reason(COMMON.replace(from, to).as_bytes()), why, "{from} -> {to}");
    }
    let mut known = Parser::new(Some(Format::Clf), Charge::Cost);
    assert_eq!(known.line(b"12,alice"), Err(Malformed::Missing("date in brackets")));
    assert_eq!(known.line(b"host"), Err(Malformed::Missing("date in brackets")));
}

#[test]
fn dates_and_zones() {
    // Each right side is from `date -u +%s`.
    for (date, seconds) in [
        ("01/Jan/1970:00:00:00 +0000", 0),
        ("01/Jan/1970:05:30:00 +0530", 0),
        ("31/Dec/1969:19:00:00 -0500", 0),
        ("29/Feb/2000:00:00:00 +0000", 951_782_400),
        ("01/Mar/2000:00:00:00 +0000", 951_868_800),
        ("29/Feb/2024:23:59:59 +0000", 1_709_251_199),
        ("31/Dec/2016:23:59:60 +0000", 1_483_228_800),
        ("28/Feb/2100:12:00:00 +0000", 4_107_499_200),
        ("01/Mar/2100:12:00:00 +0000", 4_107_585_600),
        ("31/Dec/9999:23:59:59 +0000", 253_402_300_799),
        ("17/May/2015:10:05:03 +0000", 1_431_857_103),
        ("17/May/2015:10:05:03 +1400", 1_431_806_703),
    ] {
        assert_eq!(date_ms(date.as_bytes()), Ok(seconds * 1000), "{date}");
    }
    assert!(matches!(date_ms(b"31/Dec/1969:23:59:59 +0000"), Err(Malformed::BeforeEpoch(_))));
    assert!(matches!(date_ms(b"01/Jan/0000:00:00:00 +0000"), Err(Malformed::BeforeEpoch(_))));
    for bad in [
        "29/Feb/2001:00:00:00 +0000",
        "29/Feb/2100:00:00:00 +0000",
        "31/Apr/2001:00:00:00 +0000",
        "00/Jan/2001:00:00:00 +0000",
        "32/Jan/2001:00:00:00 +0000",
        "01/Foo/2001:00:00:00 +0000",
        "01/Jan/2001:24:00:00 +0000",
        "01/Jan/2001:00:60:00 +0000",
        "01/Jan/2001:00:00:61 +0000",
        "01/Jan/2001:00:00:00 0000",
        "01/Jan/2001:00:00:00 *0000",
        "01/Jan/2001:00:00:00 +2400",
        "01/Jan/2001:00:00:00 +0060",
        "01/Jan/2001:00:00:00",
        "1/Jan/2001:00:00:00 +0000",
        "01-Jan-2001 00:00:00 +0000",
        "-1/Jan/2001:00:00:00 +0000",
        "",
    ] {
        assert!(matches!(date_ms(bad.as_bytes()), Err(Malformed::Date(_))), "{bad}");
    }
}

#[test]
fn the_first_readable_line_settles_the_format() {
    let mut parser = csv();
    assert!(parser.line(b"garbage").is_err());
    assert_eq!(parser.format(), None);
    assert_eq!(parser.line(COMMON.as_bytes()), arrival(COMMON_MS, "127.0.0.1", 1));
    assert_eq!(parser.format(), Some(Format::Clf));
    assert!(parser.line(b"12,alice").is_err());

    let mut parser = csv();
    assert_eq!(parser.line(b"12,alice"), arrival(12, "alice", 1));
    assert_eq!(parser.format(), Some(Format::Csv));
    assert!(parser.line(COMMON.as_bytes()).is_err());

    // A line of words before a log is not a header once the log turns out to be no CSV.
    let mut parser = csv();
    assert_eq!(parser.line(b"Access log, rotated"), Ok(Line::Header));
    assert_eq!(parser.line(COMMON.as_bytes()), arrival(COMMON_MS, "127.0.0.1", 1));
}

#[test]
fn a_format_that_is_given_is_kept_to() {
    let mut parser = Parser::new(Some(Format::Csv), Charge::Cost);
    assert!(parser.line(COMMON.as_bytes()).is_err());
    let mut parser = Parser::new(Some(Format::Clf), Charge::Cost);
    assert!(parser.line(b"t_ms,client").is_err());
}

/// Every prefix, and every line with one byte changed, is read or rejected; none panics.
#[test]
fn no_bytes_make_it_panic() {
    let seeds = [COMMON, "12,alice,7", r#""12","a ""b""",3"#, "t_ms,key,cost", "\u{feff}12,k"];
    for seed in seeds.map(str::as_bytes) {
        for charge in [Charge::Cost, Charge::One, Charge::Column("bytes".to_owned())] {
            for format in [None, Some(Format::Csv), Some(Format::Clf)] {
                for end in 0..=seed.len() {
                    let _ = Parser::new(format, charge.clone()).line(&seed[..end]);
                    let _ = Parser::new(format, charge.clone()).line(&seed[end..]);
                }
                for place in 0..seed.len() {
                    for byte in [0, b'"', b',', b'[', b']', b' ', b'\\', b'-', b'9', 0xFF] {
                        let mut line = seed.to_vec();
                        line[place] = byte;
                        let _ = Parser::new(format, charge.clone()).line(&line);
                    }
                }
            }
        }
    }
}
