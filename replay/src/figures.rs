//! Numbers as a person reads them.

use core::time::Duration;

/// `1234567` as `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `3 keys`, `1 key`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// A share of 1 in per cent, to three significant digits or a thousandth of a per cent: `12.3 %`, `0.003 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0 %".to_owned(),
        p if p < 0.001 => "< 0.001 %".to_owned(),
        p if p < 1.0 => format!("{p:.3} %"),
        p if p < 10.0 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}

/// A duration in its two largest units: `3 d 11 h`, `1 min`, `2.5 s`, `250 ms`.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let two = |large: u64, unit: &str, small: u64, part: &str| match small {
        0 => format!("{large} {unit}"),
        _ => format!("{large} {unit} {small} {part}"),
    };
    match seconds {
        86_400.. => two(seconds / 86_400, "d", seconds % 86_400 / 3600, "h"),
        3600.. => two(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        60.. => two(seconds / 60, "min", seconds % 60, "s"),
        _ => small_span(duration),
    }
}

/// Below a minute: at most three decimals, and no zeros at their end.
fn small_span(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let (unit, name) = match nanos {
        0 => return "0 s".to_owned(),
        1_000_000_000.. => (1_000_000_000, "s"),
        1_000_000.. => (1_000_000, "ms"),
        1_000.. => (1_000, "us"),
        _ => (1, "ns"),
    };
    let text = format!("{}.{:03}", nanos / unit, nanos % unit * 1000 / unit);
    format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Bytes in binary units: `512 B`, `1.50 GiB`.
#[allow(clippy::cast_precision_loss)] // three digits are shown
pub fn bytes(n: u64) -> String {
    match n.max(1).ilog2() / 10 {
        0 => format!("{n} B"),
        power => {
            let unit = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][power as usize - 1];
            format!("{:.2} {unit}", n as f64 / (1_u64 << (10 * power)) as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")] {
            assert_eq!(count(n), text);
        }
        assert_eq!(counted(1, "key", "keys"), "1 key");
        assert_eq!(counted(2000, "key", "keys"), "2,000 keys");
    }

    #[test]
    fn sizes() {
        for (n, text) in
            [(0, "0 B"), (1_023, "1023 B"), (1_024, "1.00 KiB"), (3 << 29, "1.50 GiB"), (u64::MAX, "16.00 EiB")]
        {
            assert_eq!(bytes(n), text);
        }
    }

    #[test]
    fn percents() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.000_001, "< 0.001 %"),
            (0.000_03, "0.003 %"),
            (0.012_34, "1.23 %"),
            (0.4567, "45.7 %"),
            (1.0, "100.0 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn spans() {
        for (nanos, text) in [
            (0, "0 s"),
            (7, "7 ns"),
            (1_500, "1.5 us"),
            (250_000_000, "250 ms"),
            (2_500_000_000, "2.5 s"),
            (60_000_000_000, "1 min"),
            (61_000_000_000, "1 min 1 s"),
            (3_600_000_000_000, "1 h"),
            (298_859_000_000_000, "3 d 11 h"),
        ] {
            assert_eq!(span(Duration::from_nanos(nanos)), text);
        }
    }
}
