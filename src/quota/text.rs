//! A quota as text: `100/s`, `600/min burst 20`, `1 per 30d`, `10MiB/s`.
//!
//! ```text
//! quota  = "unlimited" | "deny-all" | number ("/" | "per") [period] unit ["burst" number]
//! number = digits ["k" | "M" | "G" | "T" | "Ki" | "Mi" | "Gi" | "Ti"] ["B"]       "_" may stand between digits
//! period = digits
//! unit   = "ns" | "us" | "ms" | "s" | "min" | "h" | "d" | "w", or a whole word: "second", "minutes", ..
//! ```

use super::{Quota, QuotaError};
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

/// Why a text is not a quota, and where in it.
///
/// # Examples
///
/// ```
/// use tollgate::{Quota, QuotaError};
///
/// let error = "100/fortnight".parse::<Quota>().unwrap_err();
/// assert_eq!(error.position(), 4);
/// assert_eq!(error.to_string(), "at position 5: expected a unit of time: ns, us, ms, s, min, h, d or w");
///
/// let error = "100/s burst 0".parse::<Quota>().unwrap_err();
/// assert_eq!((error.position(), error.quota_error()), (12, Some(QuotaError::ZeroBurst)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParseQuotaError {
    position: usize,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Reason {
    Number,
    NumberTooLarge,
    Underscore,
    Per,
    Unit,
    Burst,
    Quota(QuotaError),
}

impl ParseQuotaError {
    /// How many bytes of the text were right: the offset of the first that was not.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// What is wrong with the numbers, where the text has the form of a quota but no quota has these numbers.
    pub const fn quota_error(&self) -> Option<QuotaError> {
        match self.reason {
            Reason::Quota(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for ParseQuotaError {
    /// Positions are counted from 1 here, as editors count columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at position {}: ", self.position + 1)?;
        match &self.reason {
            Reason::Number => f.write_str("expected a whole number, such as 100, 5k or 10MiB"),
            Reason::NumberTooLarge => write!(f, "the number is too large: at most {}", u64::MAX),
            Reason::Underscore => f.write_str("an underscore stands between two digits"),
            Reason::Per => f.write_str("expected '/' or 'per' and a period, as in 100/s, 5k/s or 10MiB/s"),
            Reason::Unit => f.write_str("expected a unit of time: ns, us, ms, s, min, h, d or w"),
            Reason::Burst => f.write_str("expected 'burst' and a number, or the end"),
            Reason::Quota(error) => {
                let words = match error {
                    QuotaError::ZeroTokens => {
                        "a quota needs at least one token per period; to deny everything, write deny-all"
                    }
                    QuotaError::ZeroPeriod => {
                        "a quota needs a period longer than zero; to admit everything, write unlimited"
                    }
                    QuotaError::ZeroBurst => {
                        "a quota needs a burst of at least one; to deny everything, write deny-all"
                    }
                    error => return error.fmt(f),
                };
                f.write_str(words)
            }
        }
    }
}

impl core::error::Error for ParseQuotaError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.reason {
            Reason::Quota(error) => Some(error),
            _ => None,
        }
    }
}

/// What may follow a number, and by how much it multiplies it.
const MULTIPLES: [(&str, u64); 9] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("", 1),
];

/// Units of time in nanoseconds, from the longest on; the first name of each is the one that is written.
const UNITS: [(u64, &[&str]); 8] = [
    (604_800_000_000_000, &["w", "week", "weeks"]),
    (86_400_000_000_000, &["d", "day", "days"]),
    (3_600_000_000_000, &["h", "hr", "hour", "hours"]),
    (60_000_000_000, &["min", "m", "minute", "minutes"]),
    (1_000_000_000, &["s", "sec", "second", "seconds"]),
    (1_000_000, &["ms", "millisecond", "milliseconds"]),
    (1_000, &["us", "µs", "microsecond", "microseconds"]),
    (1, &["ns", "nanosecond", "nanoseconds"]),
];

/// What is left of a text.
struct Rest<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Rest<'a> {
    fn skip_space(&mut self) {
        let length = self.text[self.position..].len() - self.text[self.position..].trim_ascii_start().len();
        self.position += length;
    }

    /// The longest run of characters that `belongs` from here on, and passes it.
    fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.position..];
        let run = &rest[..rest.find(|next| !belongs(next)).unwrap_or(rest.len())];
        self.position += run.len();
        run
    }

    /// Passes `word` if it comes next.
    fn accept(&mut self, word: &str) -> bool {
        let accepted = self.text[self.position..].starts_with(word);
        self.position += if accepted { word.len() } else { 0 };
        accepted
    }

    fn at_end(&mut self) -> bool {
        self.skip_space();
        self.position == self.text.len()
    }

    const fn error(&self, reason: Reason) -> ParseQuotaError {
        ParseQuotaError { position: self.position, reason }
    }

    /// A whole number; `None` if there is no digit.
    fn digits(&mut self) -> Result<Option<u64>, ParseQuotaError> {
        let start = self.error(Reason::NumberTooLarge);
        let mut number = None;
        loop {
            let digits = self.run(|next| next.is_ascii_digit());
            if digits.is_empty() && number.is_some() {
                self.position -= 1; // the underscore
                return Err(self.error(Reason::Underscore));
            }
            for digit in digits.bytes() {
                let tens = number.unwrap_or(0_u64).checked_mul(10);
                number = Some(tens.and_then(|tens| tens.checked_add(u64::from(digit - b'0'))).ok_or(start)?);
            }
            if number.is_none() || !self.accept("_") {
                return Ok(number);
            }
        }
    }

    /// A number of tokens, with what multiplies it.
    fn tokens(&mut self) -> Result<u64, ParseQuotaError> {
        self.skip_space();
        let start = self.error(Reason::NumberTooLarge);
        let number = self.digits()?.ok_or(self.error(Reason::Number))?;
        let multiple = MULTIPLES.iter().find(|(name, _)| self.accept(name)).map_or(1, |(_, multiple)| *multiple);
        self.accept("B");
        number.checked_mul(multiple).ok_or(start)
    }

    /// A period, such as `s`, `30d` or `5 minutes`.
    fn period(&mut self) -> Result<Duration, ParseQuotaError> {
        self.skip_space();
        let count = self.digits()?.unwrap_or(1);
        self.skip_space();
        let missing = self.error(Reason::Unit);
        let name = self.run(char::is_alphabetic);
        let unit = UNITS.iter().find(|(_, names)| names.contains(&name)).map(|(nanos, _)| *nanos).ok_or(missing)?;
        // At most 2^114: a period that long is refused by its length, whatever it is rounded to.
        let nanos = u128::from(unit) * u128::from(count);
        let seconds = u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX);
        #[allow(clippy::cast_possible_truncation)] // a remainder below 10^9
        Ok(Duration::new(seconds, (nanos % 1_000_000_000) as u32))
    }
}

impl FromStr for Quota {
    type Err = ParseQuotaError;

    /// Reads `100/s`, `600/min burst 20`, `1 per 30d`, `10MiB/s`, `unlimited` or `deny-all`.
    ///
    /// The burst is the number of tokens per period where none is given. Multiples are decimal (`k`, `M`, `G`, `T`) or
    /// binary (`Ki`, `Mi`, `Gi`, `Ti`); a `B` for bytes may follow. There are no fractions: for one each 1.5 s write
    /// `2/3s`. Upper and lower case differ, as they do in units.
    ///
    /// # Errors
    ///
    /// [`ParseQuotaError`], with the position of what is wrong; the numbers are those that [`Quota::try_new`] takes.
    fn from_str(text: &str) -> Result<Self, ParseQuotaError> {
        match text.trim_ascii() {
            "unlimited" => return Ok(Self::UNLIMITED),
            "deny-all" => return Ok(Self::DENY_ALL),
            _ => {}
        }
        let mut rest = Rest { text, position: 0 };
        rest.skip_space();
        let at_tokens = rest.position;
        let tokens = rest.tokens()?;
        rest.skip_space();
        if !rest.accept("/") && !rest.accept("per") {
            return Err(rest.error(Reason::Per));
        }
        rest.skip_space();
        let at_period = rest.position;
        let period = rest.period()?;
        let (mut burst, mut at_burst) = (tokens, at_tokens);
        if !rest.at_end() {
            if !rest.accept("burst") {
                return Err(rest.error(Reason::Burst));
            }
            rest.skip_space();
            at_burst = rest.position;
            burst = rest.tokens()?;
            if !rest.at_end() {
                return Err(rest.error(Reason::Burst));
            }
        }
        Self::try_new(tokens, period, burst).map_err(|error| {
            let position = match error {
                QuotaError::ZeroBurst | QuotaError::BurstTooLarge { .. } => at_burst,
                QuotaError::ZeroPeriod | QuotaError::PeriodTooLong { .. } => at_period,
                _ => at_tokens,
            };
            ParseQuotaError { position, reason: Reason::Quota(error) }
        })
    }
}

impl fmt::Display for Quota {
    /// Writes what [`from_str`](Self::from_str) reads as the same quota, exactly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unlimited() {
            return f.pad("unlimited");
        }
        if self.is_deny_all() {
            return f.pad("deny-all");
        }
        let nanos = self.period_nanos();
        // Weeks are read, but not written: nobody is surprised by 7d.
        let whole = UNITS[1..].iter().find(|(unit, _)| nanos.is_multiple_of(*unit));
        let (unit, names) = whole.unwrap_or(&UNITS[UNITS.len() - 1]);
        write!(f, "{}/", self.tokens())?;
        if nanos != *unit {
            write!(f, "{}", nanos / unit)?;
        }
        f.write_str(names[0])?;
        if self.burst() != self.tokens() {
            write!(f, " burst {}", self.burst())?;
        }
        Ok(())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Quota {
    /// As text, whatever the format.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Quota {
    /// From text, whatever the format.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl serde::de::Visitor<'_> for Text {
            type Value = Quota;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quota, such as \"100/s burst 20\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quota, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn quotas_are_read_as_people_write_them() {
        let day = Duration::from_secs(86_400);
        for (text, quota) in [
            ("100/s", Quota::per_second(100)),
            (" 100 / s ", Quota::per_second(100)),
            ("600/min burst 20", Quota::per_minute(600).with_burst(20)),
            ("1 per 30d", Quota::per(1, day * 30)),
            ("1 per 2 weeks", Quota::per(1, day * 14)),
            ("10MiB/s", Quota::per_second(10 << 20)),
            ("10 per hour burst 5", Quota::per_hour(10).with_burst(5)),
            ("5kB/100ms burst 1MiB", Quota::per(5_000, Duration::from_millis(100)).with_burst(1 << 20)),
            ("1_0/1_0s", Quota::per(10, Duration::from_secs(10))),
            ("1_000_000/minute", Quota::per_minute(1_000_000)),
            ("3/250us", Quota::per(3, Duration::from_micros(250))),
            ("3/250µs", Quota::per(3, Duration::from_micros(250))),
            ("1/2ns burst 2k", Quota::per(1, Duration::from_nanos(2)).with_burst(2_000)),
            ("unlimited", Quota::UNLIMITED),
            (" deny-all", Quota::DENY_ALL),
        ] {
            assert_eq!(text.parse(), Ok(quota), "{text}");
        }
    }

    #[test]
    fn quotas_are_written_in_their_shortest_form() {
        for text in [
            "100/s",
            "600/min burst 20",
            "1/30d",
            "10485760/s",
            "1/90min",
            "2/3s",
            "7/300ms burst 20",
            "1/7d",
            "5/1500us",
            "3/1001ns",
            "1/h",
            "unlimited",
            "deny-all",
        ] {
            assert_eq!(text.parse::<Quota>().unwrap().to_string(), text);
        }
        assert_eq!(std::format!("{:>10}", Quota::UNLIMITED), " unlimited");
    }

    #[test]
    fn errors_point_at_the_place() {
        for (text, position, message) in [
            ("", 0, "whole number"),
            ("  ", 2, "whole number"),
            ("ten/s", 0, "whole number"),
            ("-5/s", 0, "whole number"),
            ("1.5/s", 1, "'/' or 'per'"),
            ("100", 3, "'/' or 'per'"),
            ("100 each second", 4, "'/' or 'per'"),
            ("100/", 4, "unit of time"),
            ("100/5", 5, "unit of time"),
            ("100/S", 4, "unit of time"),
            ("100/fortnight", 4, "unit of time"),
            ("100/s, please", 5, "'burst' and a number"),
            ("100/s burst", 11, "whole number"),
            ("100/s burst 5 10", 14, "'burst' and a number"),
            ("10KB/s", 2, "as in 100/s, 5k/s or 10MiB/s"),
            ("1_/s", 1, "between two digits"),
            ("1__0/s", 1, "between two digits"),
            ("1/1_0_s", 5, "between two digits"),
            ("18446744073709551616/s", 0, "too large: at most 18446744073709551615"),
            ("18446744073709551615k/s", 0, "too large"),
            ("1/s burst 18446744073709551616", 10, "too large"),
            ("0/s", 0, "at least one token per period; to deny everything, write deny-all"),
            ("5/0s", 2, "longer than zero; to admit everything, write unlimited"),
            ("5/10000000000000000000w", 2, "too long"),
            ("5/s burst 0", 10, "at least one; to deny everything, write deny-all"),
            ("5/s burst 18446744073709551615", 10, "burst is too large"),
            ("18446744073709551615/s", 0, "rate is too high"),
        ] {
            let error = text.parse::<Quota>().unwrap_err();
            assert_eq!(error.position(), position, "{text:?}: {error}");
            assert!(error.to_string().contains(message), "{text:?}: {error}");
            assert!(error.to_string().starts_with(&std::format!("at position {}: ", position + 1)), "{error}");
        }
    }

    #[test]
    fn a_position_is_never_within_a_character() {
        for text in ["5/µ", "5µ/s", "5/s µ", "µ"] {
            let error = text.parse::<Quota>().unwrap_err();
            assert!(text.is_char_boundary(error.position()), "{text}: {error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read_as_the_same_quota(tokens in 1..=1_u64 << 40, period in 1..=1_u64 << 62, burst in 1..=1_u64 << 40) {
            if let Ok(quota) = Quota::try_new(tokens, Duration::from_nanos(period), burst) {
                prop_assert_eq!(quota.to_string().parse(), Ok(quota));
            }
        }

        #[test]
        fn so_is_a_period_of_whole_units(tokens in 1..1_000_u64, unit in 0..UNITS.len(), count in 1..1_000_u64) {
            // Some are refused: a thousand tokens each nanosecond.
            if let Ok(quota) = Quota::try_new(tokens, Duration::from_nanos(UNITS[unit].0 * count), tokens) {
                prop_assert_eq!(quota.to_string().parse(), Ok(quota));
            }
        }

        #[test]
        fn any_text_is_a_quota_or_an_error_with_a_place_in_it(text in "[0-9kKMGiB/_ a-zµ.-]{0,24}") {
            if let Err(error) = text.parse::<Quota>() {
                prop_assert!(text.is_char_boundary(error.position()), "{}: {}", text, error);
            }
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn serde_carries_the_text() {
        let quota = Quota::per_minute(600).with_burst(20);
        let json = serde_json::to_string(&quota).unwrap();
        assert_eq!(json, "\"600/min burst 20\"");
        assert_eq!(serde_json::from_str::<Quota>(&json).unwrap(), quota);
        let error = serde_json::from_str::<Quota>("\"600/fortnight\"").unwrap_err();
        assert!(error.to_string().contains("at position 5"), "{error}");
        assert!(serde_json::from_str::<Quota>("600").unwrap_err().to_string().contains("a quota, such as"));
    }
}
