//! What syslog and containers put before the line that a program wrote.

use crate::field::instant::is_certain;
use crate::field::malformed::Malformed;

/// The line without what stands before it.
///
/// # Errors
///
/// A container's runtime has cut the line in two.
pub(super) fn stripped(line: &[u8]) -> Result<&[u8], Malformed> {
    const MOST: usize = 4; // a collector may put its own before another's
    let mut rest = line;
    for _ in 0..MOST {
        match once(rest)? {
            Some(shorter) if !shorter.is_empty() => rest = shorter,
            _ => break,
        }
    }
    Ok(rest)
}

fn once(line: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    let (priority, rest) = without_priority(line);
    if let Some(rest) = rest.strip_prefix(b"1 ").filter(|_| priority) {
        return Ok(after_rfc5424(rest));
    }
    if let Some(rest) = after_bsd_date(rest) {
        return Ok(after_host_and_tag(rest));
    }
    if let Some((first, rest)) = word(rest)
        && first.first().is_some_and(u8::is_ascii_digit)
        && first.get(10) == Some(&b'T')
        && is_certain(first)
    {
        return after_iso_date(rest).map(Some);
    }
    if line.starts_with(b"[pod/") {
        return Ok(word(line).filter(|(pod, _)| pod.ends_with(b"]")).map(|(_, rest)| rest));
    }
    Ok(after_compose(line))
}

/// `<134>`.
fn without_priority(line: &[u8]) -> (bool, &[u8]) {
    let digits = line.get(1..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
    match (line, digits) {
        ([b'<', rest @ ..], 1..=3) if rest.get(digits) == Some(&b'>') => (true, &rest[digits + 1..]),
        _ => (false, line),
    }
}

/// After the version: time, host, program, process and kind, then data in brackets or `-`.
fn after_rfc5424(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    for _ in 0..5 {
        rest = word(rest)?.1;
    }
    while let Some(after) = rest.strip_prefix(b"[") {
        rest = &after[after.iter().position(|&byte| byte == b']')? + 1..];
    }
    let rest = rest.strip_prefix(b"-").unwrap_or(rest).strip_prefix(b" ")?;
    Some(rest.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(rest))
}

/// `Oct 10 13:55:36 `.
fn after_bsd_date(line: &[u8]) -> Option<&[u8]> {
    let (date, rest) = line.split_first_chunk::<16>()?;
    let [a, b, c, b' ', d1, d2, b' ', h1, h2, b':', m1, m2, b':', s1, s2, b' '] = date else { return None };
    let name = a.is_ascii_uppercase() && b.is_ascii_lowercase() && c.is_ascii_lowercase();
    let digits = [d2, h1, h2, m1, m2, s1, s2].iter().all(|byte| byte.is_ascii_digit());
    (name && digits && (d1.is_ascii_digit() || *d1 == b' ')).then_some(rest)
}

/// `web1 nginx[12]: `, or the tag alone.
fn after_host_and_tag(line: &[u8]) -> Option<&[u8]> {
    let (first, rest) = word(line)?;
    if first.ends_with(b":") && first.len() > 1 {
        return Some(rest);
    }
    word(rest).filter(|(tag, _)| tag.ends_with(b":")).map(|(_, rest)| rest)
}

/// After a date: `stdout F ` of a Kubernetes node, host and tag of syslog, or the line itself.
fn after_iso_date(line: &[u8]) -> Result<&[u8], Malformed> {
    let stream = line.strip_prefix(b"stdout ").or_else(|| line.strip_prefix(b"stderr "));
    match stream.and_then(word) {
        Some((flags, _)) if flags.first() == Some(&b'P') => Err(Malformed::Partial),
        Some((flags, rest)) if flags.first() == Some(&b'F') => Ok(rest),
        _ => Ok(after_host_and_tag(line).unwrap_or(line)),
    }
}

/// `web-1  | ` of several containers in one output.
fn after_compose(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = word(line)?;
    rest.trim_ascii_start().strip_prefix(b"| ")
}

/// What stands before and after the first space.
fn word(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = line.iter().position(|&byte| byte == b' ').filter(|&end| end > 0)?;
    Some((&line[..end], &line[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 2326";

    #[test]
    fn syslog_and_containers() {
        for prefix in [
            "",
            "Oct 10 13:55:36 web1 nginx: ",
            "Oct  1 13:55:36 10.0.0.5 nginx[12]: ",
            "<134>Oct 10 13:55:36 web1 nginx: ",
            "<134>Oct 10 13:55:36 nginx: ",
            "<134>1 2000-10-10T20:55:36.123Z web1 nginx 12 - - ",
            "<134>1 2000-10-10T20:55:36.123Z 10.0.0.5 nginx 12 ID47 [origin ip=\"198.51.100.9\"][x y=\"z\"] ",
            "2000-10-10T20:55:36.123456+00:00 web1 nginx[12]: ",
            "2000-10-10T20:55:36.123456789Z stdout F ",
            "2000-10-10T20:55:36.123456789Z ",
            "web_1  | ",
            "web-1 | 2000-10-10T20:55:36.123456789Z ",
            "[pod/web-5d/nginx] ",
            "Oct 10 13:55:36 node1 dockerd: web_1  | ",
        ] {
            let line = [prefix.as_bytes(), LINE].concat();
            assert_eq!(stripped(&line), Ok(LINE), "{prefix}");
        }
    }

    #[test]
    fn a_line_that_was_cut_in_two_is_none() {
        let line = [b"2000-10-10T20:55:36.123456789Z stdout P ", LINE].concat();
        assert_eq!(stripped(&line), Err(Malformed::Partial));
    }
}
