//! Whole numbers.

use super::malformed::{Malformed, excerpt};

/// Reads decimal digits, as many as a `u64` holds.
///
/// # Errors
///
/// Says what is wrong with the field of this name.
pub fn whole(field: &'static str, bytes: &[u8]) -> Result<u64, Malformed> {
    if bytes.is_empty() {
        return Err(Malformed::Missing(field));
    }
    if let Some(value) = digits(bytes) {
        return Ok(value);
    }
    let unsigned = bytes.strip_prefix(b"-").unwrap_or(bytes);
    Err(if unsigned.is_empty() || !unsigned.iter().all(u8::is_ascii_digit) {
        Malformed::NotANumber(field, excerpt(bytes))
    } else if unsigned.len() < bytes.len() {
        Malformed::Negative(field, excerpt(bytes))
    } else {
        Malformed::TooLarge(field, excerpt(bytes))
    })
}

/// Digits only, or nothing.
pub(super) fn digits(bytes: &[u8]) -> Option<u64> {
    let digit = |value: u64, byte: &u8| {
        byte.is_ascii_digit().then_some(())?;
        value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))
    };
    if bytes.is_empty() { None } else { bytes.iter().try_fold(0, digit) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers() {
        let read = |text: &str| whole("cost", text.as_bytes()).map_err(|error| error.to_string());
        assert_eq!(read("0"), Ok(0));
        assert_eq!(read("0012"), Ok(12));
        assert_eq!(read("18446744073709551615"), Ok(u64::MAX));
        for (text, why) in [
            ("", "no cost"),
            ("-1", "cost is negative: \"-1\""),
            ("1e3", "cost is not a whole number: \"1e3\""),
            ("+15", "cost is not a whole number: \"+15\""),
            ("-", "cost is not a whole number: \"-\""),
            ("18446744073709551616", "cost is above 18446744073709551615: \"18446744073709551616\""),
        ] {
            assert_eq!(read(text), Err(why.to_owned()), "{text}");
        }
        let endless = whole("cost", &[b'9'; 500]).unwrap_err().to_string();
        assert!(endless.ends_with("999...\"") && endless.len() < 100, "an excerpt, not all of it");
    }
}
