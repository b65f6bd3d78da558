use super::*;
use crate::field::instant::Unit;

/// Time, client and cost of the last line, which must be an arrival.
fn last(wanted: Wanted, text: &str) -> (u64, String, u64) {
    let mut lines = Lines::new(wanted);
    let mut found = None;
    for line in text.lines() {
        if let Line::Arrival(arrival) = lines.line(line.as_bytes()).unwrap_or_else(|why| panic!("{line}: {why}")) {
            found = Some((arrival.at, String::from_utf8_lossy(arrival.key.as_bytes()).into_owned(), arrival.cost));
        }
    }
    found.expect("an arrival")
}

const SERVER: &str = r#"192.0.2.7 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?b HTTP/1.0" 200 2326 "http://example.com/" "Mozilla/4.08" "203.0.113.9, 10.0.0.1""#;
const AT: u64 = 971_211_336_000_000_000;

#[test]
fn every_field_of_a_web_server_can_be_the_key() {
    for (field, value) in [
        ("host", "192.0.2.7"),
        ("ident", ""),
        ("user", "frank"),
        ("request", "GET /a?b HTTP/1.0"),
        ("method", "GET"),
        ("path", "/a?b"),
        ("protocol", "HTTP/1.0"),
        ("status", "200"),
        ("bytes", "2326"),
        ("referer", "http://example.com/"),
        ("user_agent", "Mozilla/4.08"),
        ("forwarded", "203.0.113.9"),
        ("1", "192.0.2.7"),
        ("3", "frank"),
    ] {
        let wanted = Wanted { key: Some(field.to_owned()), ..Wanted::default() };
        if value.is_empty() {
            assert!(Lines::new(wanted).line(SERVER.as_bytes()).is_err(), "{field}");
        } else {
            assert_eq!(last(wanted, SERVER), (AT, value.to_owned(), 1), "{field}");
        }
    }
}

#[test]
fn odd_but_readable_lines_of_web_servers() {
    for (from, to) in [
        ("frank", "John Doe"),
        ("/a?b", r#"/a\" 404 1"#),
        ("/a?b", r#"/"odd"/x"#),
        (" HTTP/1.0", r"\\"),
        ("GET /a?b HTTP/1.0", ""),
        ("/a?b", "/\u{fffd}]["),
        ("frank", "[x]"),
    ] {
        let odd = SERVER.replacen(from, to, 1);
        assert_eq!(last(Wanted::default(), &odd), (AT, "192.0.2.7".to_owned(), 1), "{odd}");
        let bytes = Wanted { charge: Charge::Field("bytes".to_owned()), ..Wanted::default() };
        assert_eq!(last(bytes, &odd).2, 2326, "a request does not choose what it is charged: {odd}");
    }
}

#[test]
fn filters_leave_requests_out() {
    let filters = vec![("status".to_owned(), "200".to_owned()), ("method".to_owned(), "GET".to_owned())];
    let wanted = Wanted { filters, ..Wanted::default() };
    let mut lines = Lines::new(wanted);
    assert!(matches!(lines.line(SERVER.as_bytes()), Ok(Line::Arrival(_))));
    assert_eq!(lines.line(SERVER.replace(" 200 ", " 404 ").as_bytes()), Ok(Line::Other));
    assert_eq!(lines.line(SERVER.replace("\"GET", "\"POST").as_bytes()), Ok(Line::Other));
}

#[test]
fn the_first_readable_line_settles_the_format() {
    let mut lines = Lines::new(Wanted::default());
    assert!(lines.line(b"garbage").is_err());
    assert_eq!(lines.format(), None);
    assert!(lines.line(SERVER.as_bytes()).is_ok());
    assert_eq!(lines.format(), Some(Format::Combined));
    assert!(lines.line(b"12,alice").is_err());
    let mut lines = Lines::new(Wanted::default());
    assert_eq!(lines.line(b"Access log, rotated"), Ok(Line::Nothing));
    assert!(matches!(lines.line(SERVER.as_bytes()), Ok(Line::Arrival(_))), "words above a log are no names");
}

#[test]
fn under_names_of_columns_a_field_is_a_field_whatever_it_looks_like() {
    let quoted = SERVER.replace('"', "\"\"");
    for key in [quoted.as_str(), "{", "http 2018-07-02T22:23:00Z app/x", "web-1 | x", "2000-10-10T20:55:36Z stdout P "]
    {
        let text = format!("t_ns,key,cost\n1000000,\"{key}\",3");
        assert_eq!(last(Wanted::default(), &text), (1_000_000, key.trim().replace("\"\"", "\""), 3));
        let text = format!("key,seen,cost\n\"{key}\",1000000,3");
        let wanted = Wanted { time: Some("seen".to_owned()), unit: Some(Unit::Ns), ..Wanted::default() };
        assert_eq!(last(wanted, &text), (1_000_000, key.trim().replace("\"\"", "\""), 3));
    }
}

#[test]
fn a_line_with_more_fields_than_names_is_refused() {
    let mut lines = Lines::new(Wanted::default());
    assert_eq!(lines.line(b"first,second"), Ok(Line::Nothing));
    assert_eq!(
        lines.line(b"a,b,c,d,1342852428"),
        Err(Malformed::TooManyFields(5, 2)),
        "the only time is beyond the names"
    );
    assert!(matches!(lines.line(b"a,1342852428"), Ok(Line::Arrival(_))));
}

/// Every prefix, and every line with one byte changed, is read or refused; none panics.
#[test]
fn no_bytes_make_it_panic() {
    let seeds = [
        SERVER,
        "12,alice,7",
        r#""12","a ""b""",3"#,
        "t_ms,key,cost",
        "\u{feff}12,k",
        r#"{"time":"2000-10-10T20:55:36Z","request":{"client_ip":"192.0.2.7"},"x":[1]}"#,
        "https 2018-07-02T22:23:00.186641Z app/x 192.0.2.7:2817 10.0.0.1:80 0 0 0 200 200 0 57 \"GET / HTTP/1.1\" \"c\"",
        "<134>1 2000-10-10T20:55:36Z h p 1 - - 192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET /\" 200 5",
        "#Fields: date time c-ip",
    ];
    let bytes = [0, b'"', b',', b'[', b']', b' ', b'\\', b'-', b'9', b'{', 0xFF];
    for seed in seeds.map(str::as_bytes) {
        for format in [None, Some(Format::Csv), Some(Format::Combined), Some(Format::Json), Some(Format::Alb)] {
            let read = |line: &[u8]| {
                let _ = Lines::new(Wanted { format, ..Wanted::default() }).line(line);
            };
            for end in 0..=seed.len() {
                read(&seed[..end]);
                read(&seed[end..]);
            }
            for (place, byte) in (0..seed.len()).flat_map(|place| bytes.map(|byte| (place, byte))) {
                let mut line = seed.to_vec();
                line[place] = byte;
                read(&line);
            }
        }
    }
}
