//! [`Quota`]: how many tokens, how often, how many at once.

mod text;

pub use text::ParseQuotaError;

use crate::timeline::{LONGEST, largest_burst, most_tokens};
use core::fmt;
use core::time::Duration;

/// A rate and a burst: `tokens` each `period`, and at most `burst` saved up.
///
/// The rate is kept as the exact fraction it was given as; nothing is rounded to a whole number of nanoseconds per
/// token. The short forms are `const` and panic on a value that cannot be used, which is a compile error in a `static`
/// or `const`; [`Quota::try_new`] reports instead.
///
/// Bounds: the period is at most 146 years (2^62 ns), and a quota must run for 146 years from its clock's origin within a
/// 64-bit word. That admits rates of up to 2.6e14 tokens per second (2^18 each nanosecond), and bursts of up to 2^64 less
/// what the rate brings in 146 years; any burst from 2e9 tokens per second up.
///
/// Up to 4e9 tokens per second (2e9 where the burst is large) a limiter counts single tokens, or parts of them. Above, it
/// counts units of `2^k` tokens, with costs rounded up, so that byte rates need no arithmetic of your own; see
/// [`Gcra`](crate::algorithm::Gcra) for what that means.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Quota, QuotaError};
///
/// const API: Quota = Quota::per_minute(600).with_burst(20);
/// assert_eq!((API.tokens(), API.period(), API.burst()), (600, Duration::from_secs(60), 20));
///
/// // Three each 100 ms, five at once.
/// let batch = Quota::per(3, Duration::from_millis(100)).with_burst(5);
/// assert_eq!(batch, Quota::try_new(3, Duration::from_millis(100), 5)?);
///
/// assert_eq!(Quota::try_new(0, Duration::from_secs(1), 1), Err(QuotaError::ZeroTokens));
///
/// // From a file of settings; with the feature `serde`, as a field of its own.
/// assert_eq!("600/min burst 20".parse(), Ok(API));
/// assert_eq!(API.to_string(), "600/min burst 20");
/// # Ok::<(), QuotaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    tokens: u64,
    period: u64,
    burst: u64,
}

impl Quota {
    /// No limit: every call is admitted, whatever its cost, and nothing is written.
    pub const UNLIMITED: Self = Self { tokens: u64::MAX, period: 0, burst: u64::MAX };

    /// Nothing is ever admitted, except a cost of zero.
    pub const DENY_ALL: Self = Self { tokens: 0, period: 0, burst: 0 };

    /// `n` tokens each second, and a burst of `n`.
    ///
    /// # Panics
    ///
    /// If `n` is 0 or too large for 146 years of operation; see [`Quota::try_new`].
    pub const fn per_second(n: u64) -> Self {
        Self::per(n, Duration::from_secs(1))
    }

    /// `n` tokens each minute, and a burst of `n`.
    ///
    /// # Panics
    ///
    /// As [`Quota::per_second`].
    pub const fn per_minute(n: u64) -> Self {
        Self::per(n, Duration::from_secs(60))
    }

    /// `n` tokens each hour, and a burst of `n`.
    ///
    /// # Panics
    ///
    /// As [`Quota::per_second`].
    pub const fn per_hour(n: u64) -> Self {
        Self::per(n, Duration::from_secs(3_600))
    }

    /// `n` tokens each `period`, and a burst of `n`.
    ///
    /// # Panics
    ///
    /// If `n` or `period` is 0 or too large; see [`Quota::try_new`].
    pub const fn per(n: u64, period: Duration) -> Self {
        match Self::try_new(n, period, n) {
            Ok(quota) => quota,
            Err(error) => error.panic(),
        }
    }

    /// The same rate with another burst: the most tokens that can be saved up, and the largest cost of one call.
    ///
    /// [`Quota::UNLIMITED`] and [`Quota::DENY_ALL`] stay as they are, for a burst has no meaning there.
    ///
    /// # Panics
    ///
    /// If `burst` is 0 or too large; see [`Quota::try_new`].
    #[must_use]
    pub const fn with_burst(self, burst: u64) -> Self {
        if self.period == 0 {
            return self;
        }
        match Self::try_new(self.tokens, self.period(), burst) {
            Ok(quota) => quota,
            Err(error) => error.panic(),
        }
    }

    /// `tokens` each `period`, with at most `burst` saved up.
    ///
    /// # Errors
    ///
    /// A [`QuotaError`] that names the limit broken: a zero, a period of more than 146 years, a rate or a burst that a
    /// 64-bit word cannot hold for 146 years.
    pub const fn try_new(tokens: u64, period: Duration, burst: u64) -> Result<Self, QuotaError> {
        if tokens == 0 {
            return Err(QuotaError::ZeroTokens);
        }
        if burst == 0 {
            return Err(QuotaError::ZeroBurst);
        }
        if period.is_zero() {
            return Err(QuotaError::ZeroPeriod);
        }
        if period.as_nanos() > LONGEST as u128 {
            return Err(QuotaError::PeriodTooLong { longest: Duration::from_nanos(LONGEST) });
        }
        #[allow(clippy::cast_possible_truncation)] // at most 2^62, checked above
        let nanos = period.as_nanos() as u64;
        let most = most_tokens(nanos);
        if tokens > most {
            return Err(QuotaError::RateTooHigh { most, period });
        }
        let largest = largest_burst(tokens, nanos);
        if burst > largest {
            return Err(QuotaError::BurstTooLarge { largest });
        }
        Ok(Self { tokens, period: nanos, burst })
    }

    /// Tokens that fall due each [`period`](Self::period).
    pub const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The time in which [`tokens`](Self::tokens) fall due; zero for [`Quota::UNLIMITED`] and [`Quota::DENY_ALL`].
    pub const fn period(&self) -> Duration {
        Duration::from_nanos(self.period)
    }

    /// The most tokens that can be saved up, and the largest cost of one call.
    pub const fn burst(&self) -> u64 {
        self.burst
    }

    /// Whether this is [`Quota::UNLIMITED`].
    pub const fn is_unlimited(&self) -> bool {
        self.period == 0 && self.burst > 0
    }

    /// Whether this is [`Quota::DENY_ALL`].
    pub const fn is_deny_all(&self) -> bool {
        self.burst == 0
    }

    /// The period in nanoseconds.
    pub(crate) const fn period_nanos(&self) -> u64 {
        self.period
    }

    /// A quota that was valid when it was taken apart.
    pub(crate) const fn from_valid(tokens: u64, period: u64, burst: u64) -> Self {
        Self { tokens, period, burst }
    }
}

/// Why there is no such quota. Every variant but the zeros names the limit that was broken. More variants may come.
///
/// What a limiter cannot hold, though the quota is sound, is a [`BuildError`](crate::BuildError).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Quota, QuotaError};
///
/// let day = Duration::from_secs(86_400);
/// let error = Quota::try_new(1, day * 3_652_500, 1).unwrap_err(); // ten thousand years
/// assert!(matches!(error, QuotaError::PeriodTooLong { .. }));
/// assert_eq!(error.to_string(), "the period is too long: at most 4611686018 seconds (146 years)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuotaError {
    /// Zero tokens per period. For "deny everything", say [`Quota::DENY_ALL`].
    ZeroTokens,
    /// A period of zero length.
    ZeroPeriod,
    /// A burst of zero, which would admit nothing. For that, say [`Quota::DENY_ALL`].
    ZeroBurst,
    /// The period is longer than a clock can count.
    PeriodTooLong {
        /// The longest period there is.
        longest: Duration,
    },
    /// So many tokens per period would overflow a 64-bit word within 146 years.
    RateTooHigh {
        /// The most tokens that this period can have.
        most: u64,
        /// The period asked for.
        period: Duration,
    },
    /// A burst that, on top of what the rate brings in 146 years, overflows a 64-bit word.
    BurstTooLarge {
        /// The largest burst at this rate.
        largest: u64,
    },
}

impl QuotaError {
    /// The message, without the limit's value: what can be said in a constant.
    const fn reason(&self) -> &'static str {
        match self {
            Self::ZeroTokens => "a quota needs at least one token per period; to deny everything, use Quota::DENY_ALL",
            Self::ZeroPeriod => "a quota needs a period longer than zero; to admit everything, use Quota::UNLIMITED",
            Self::ZeroBurst => "a quota needs a burst of at least one; to deny everything, use Quota::DENY_ALL",
            Self::PeriodTooLong { .. } => "the period is too long",
            Self::RateTooHigh { .. } => "the rate is too high for a 64-bit word to last 146 years",
            Self::BurstTooLarge { .. } => "the burst is too large for a 64-bit word to last 146 years",
        }
    }

    /// Panics with this error's message: for constructors that are promised a valid value.
    #[cold]
    pub(crate) const fn panic(self) -> ! {
        panic!("{}", self.reason())
    }
}

impl fmt::Display for QuotaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())?;
        match self {
            Self::ZeroTokens | Self::ZeroPeriod | Self::ZeroBurst => Ok(()),
            Self::PeriodTooLong { longest } => {
                let seconds = longest.as_secs();
                write!(f, ": at most {seconds} seconds ({} years)", seconds / 31_557_600)
            }
            Self::RateTooHigh { most, period } => write!(f, ": at most {most} tokens per {period:?}"),
            Self::BurstTooLarge { largest } => write!(f, ": at most {largest} at this rate"),
        }
    }
}

impl core::error::Error for QuotaError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn errors_say_which_limit_was_broken() {
        let second = Duration::from_secs(1);
        let messages = [
            (QuotaError::ZeroTokens, "DENY_ALL"),
            (QuotaError::ZeroPeriod, "UNLIMITED"),
            (QuotaError::ZeroBurst, "DENY_ALL"),
            (
                QuotaError::PeriodTooLong { longest: second * 31_557_600 * 73 },
                ": at most 2303704800 seconds (73 years)",
            ),
            (QuotaError::RateTooHigh { most: 8, period: second }, ": at most 8 tokens per 1s"),
            (QuotaError::BurstTooLarge { largest: 9 }, ": at most 9 at this rate"),
        ];
        for (error, part) in messages {
            let message = error.to_string();
            assert!(message.contains(part) && message.starts_with(error.reason()), "{message}");
        }
    }

    #[test]
    #[should_panic(expected = "a burst of at least one")]
    fn a_constructor_that_cannot_report_panics_with_the_reason() {
        let _ = Quota::per_second(5).with_burst(0);
    }

    #[test]
    fn a_burst_means_nothing_to_no_limit() {
        assert_eq!(Quota::UNLIMITED.with_burst(5), Quota::UNLIMITED);
        assert_eq!(Quota::DENY_ALL.with_burst(5), Quota::DENY_ALL);
    }
}
