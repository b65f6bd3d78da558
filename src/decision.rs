//! [`Denied`] and [`Status`]: what a caller gets back.

use crate::timeline::Hint;
use core::fmt;
use core::time::Duration;

/// Why a call was refused. A refusal has taken nothing.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Denied, ManualClock, Quota, TokenBucket};
///
/// let bucket = TokenBucket::with_clock(Quota::per_second(2).with_burst(10), ManualClock::new());
/// assert!(bucket.try_acquire_n(10).is_ok());
///
/// let denied = bucket.try_acquire().unwrap_err();
/// assert_eq!(denied.retry_after(), Some(Duration::from_millis(500)));
///
/// let never = bucket.try_acquire_n(15).unwrap_err();
/// assert_eq!(never, Denied::ExceedsBurst { cost: 15, max_cost: 10 });
/// assert_eq!(never.retry_after(), None);
/// ```
#[must_use = "a refused call must not go ahead"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// Not now: the same call would be admitted later.
    TryAfter(Hint),
    /// Never: one call can cost no more than `max_cost`.
    ExceedsBurst {
        /// What was asked for, in tokens.
        cost: u64,
        /// The most that one call can cost, in tokens; see `max_cost()` of the limiter.
        max_cost: u64,
    },
    /// A keyed limiter holds as many keys in debt as it can where this new key belongs; the hint is when the first of
    /// them recovers, so that there is room for a new one. The same call is admitted then, unless new keys
    /// [start with less](crate::KeyedLimiter::with_initial) than it costs.
    TableFull(Hint),
    /// No place in line is due by the caller's deadline; a shorter wait was asked for than there is.
    ///
    /// [`Hint::due`] is the instant at which the tokens would have been due. The same call, with the same patience, is
    /// admitted after [`Hint::retry_after`], if nobody else is served first.
    WouldExceedDeadline(Hint),
    /// The line already reaches as far ahead as the limiter lets it. The hint counts as for
    /// [`WouldExceedDeadline`](Self::WouldExceedDeadline).
    LineFull(Hint),
}

impl Denied {
    /// How long to wait before the same call would be admitted, if nobody else is served first; `None` means never:
    /// because the cost is too large, or because the limiter's last instant comes first (120 years or more from its clock's
    /// origin; see [`Clock`](crate::Clock)). Never zero.
    ///
    /// Exact to the nanosecond: one nanosecond sooner the call is refused again. Computed here, on demand, by one
    /// 128-bit division; the refusal itself divided nothing.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TryAfter(hint) | Self::TableFull(hint) | Self::WouldExceedDeadline(hint) | Self::LineFull(hint) => {
                hint.retry_after_if_ever()
            }
            Self::ExceedsBurst { .. } => None,
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TryAfter(hint) => write!(f, "rate limited: {}", Again(hint)),
            Self::ExceedsBurst { cost, max_cost } => {
                write!(f, "a cost of {cost} can never be admitted: at most {max_cost} at once")
            }
            Self::TableFull(hint) => write!(f, "too many keys are limited at once: {}", Again(hint)),
            Self::WouldExceedDeadline(hint) => write!(f, "no place in line is due by the deadline: {}", Again(hint)),
            Self::LineFull(hint) => write!(f, "the line is full: {}", Again(hint)),
        }
    }
}

/// What a hint comes to, in words.
struct Again<'a>(&'a Hint);

impl fmt::Display for Again<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.retry_after_if_ever() {
            Some(wait) => write!(f, "try again after {wait:?}"),
            None => {
                f.write_str("never again: the limiter's clock has almost reached the last instant that it can count to")
            }
        }
    }
}

impl core::error::Error for Denied {}

/// A limiter's state at one instant, in the terms of HTTP's rate limit headers. Reading it writes nothing. More fields
/// may come.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{ManualClock, Quota, TokenBucket};
///
/// let bucket = TokenBucket::with_clock(Quota::per_second(2).with_burst(10), ManualClock::new());
/// assert!(bucket.try_acquire_n(4).is_ok());
/// let status = bucket.status();
/// assert_eq!((status.limit, status.remaining), (10, 6));
/// assert_eq!(status.retry_after, Some(Duration::ZERO)); // another call would be admitted now
/// assert_eq!(status.reset_after, Duration::from_secs(2)); // four tokens at two per second
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The most tokens there can be: a bucket's burst, a window's limit.
    pub limit: u64,
    /// Whole tokens that can be spent now; never more than [`limit`](Self::limit).
    pub remaining: u64,
    /// How long until a call of cost 1 is admitted: zero if it would be now, `None` if never.
    pub retry_after: Option<Duration>,
    /// How long until [`remaining`](Self::remaining) is [`limit`](Self::limit) again, if nothing more is spent;
    /// [`Duration::MAX`] if it never will be, since the limiter's last instant comes first.
    pub reset_after: Duration,
}

impl Status {
    /// A status with these fields, for a [`RateLimit`](crate::RateLimit) of your own. Fields that are added later will
    /// have defaults here.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::Status;
    ///
    /// let status = Status::new(10, 6, Some(Duration::ZERO), Duration::from_secs(2));
    /// assert_eq!(status.remaining, 6);
    /// ```
    pub const fn new(limit: u64, remaining: u64, retry_after: Option<Duration>, reset_after: Duration) -> Self {
        Self { limit, remaining, retry_after, reset_after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nanos;
    use alloc::string::ToString;

    #[test]
    fn a_denial_says_what_to_do() {
        let hint = Hint::at(Nanos::from_millis(1_500), Nanos::from_secs(1));
        assert_eq!(Denied::TryAfter(hint).to_string(), "rate limited: try again after 500ms");
        let full = Denied::TableFull(hint);
        assert_eq!(full.to_string(), "too many keys are limited at once: try again after 500ms");
        assert_eq!(full.retry_after(), Some(Duration::from_millis(500)));
        let late = Denied::WouldExceedDeadline(hint);
        assert_eq!(late.to_string(), "no place in line is due by the deadline: try again after 500ms");
        assert_eq!(Denied::LineFull(hint).to_string(), "the line is full: try again after 500ms");
        let never = Denied::ExceedsBurst { cost: 7, max_cost: 5 };
        assert_eq!(never.to_string(), "a cost of 7 can never be admitted: at most 5 at once");
    }
}
