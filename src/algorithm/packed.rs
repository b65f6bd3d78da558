//! [`Packed`]: a token bucket with tokens and time in separate fields of the word.

use super::fields::Fields;
use super::{Algorithm, Bucket, sealed};
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::quota::{Quota, QuotaError};
use core::time::Duration;

/// The token bucket of the textbooks, packed: tokens left, and when they were last topped up.
///
/// ```text
/// LAYOUT      | stamp: the other bits | tokens: as many bits as the burst needs |
/// rule 1      refills(now) = floor(now * rate): whole tokens due since the clock's origin
/// rule 2      at a reading with refills(now) > stamp: tokens = min(burst, tokens + refills(now) - stamp),
///             stamp = refills(now); at any other reading no time has passed
/// rule 3      admit n iff n <= tokens; then tokens -= n
/// ```
///
/// The stamp counts whole refills, so it moves by whole refills only and the remainder of time is never lost. Bound: the
/// token bucket's, plus at most one token, since a full bucket is clamped on a whole token.
///
/// What the encoding costs is room. The stamp must not wrap for 30 years, so `rate * burst` can be about 1.9e10 at most
/// (rate in tokens per second); more is a [`LimitTooLarge`](QuotaError::LimitTooLarge) error. It is here to compare
/// encodings; [`Gcra`](super::Gcra) has no such limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed(Fields<1>);

impl Packed {
    /// The algorithm for `quota`.
    ///
    /// # Errors
    ///
    /// [`QuotaError::LimitTooLarge`] if burst and stamp do not fit in a word together for 30 years.
    pub const fn try_new(quota: Quota) -> Result<Self, QuotaError> {
        if quota.is_unlimited() {
            return Ok(Self(Fields::FREE));
        }
        if quota.is_deny_all() {
            return Ok(Self(Fields::DENY_ALL));
        }
        match Fields::try_new(quota.tokens(), quota.period_nanos(), quota.burst()) {
            Ok(fields) => Ok(Self(fields)),
            Err(error) => Err(error),
        }
    }

    /// Full at the clock's origin, and so ever after.
    pub(crate) const fn fresh(&self) -> u64 {
        if self.0.timeline.is_free() { 0 } else { self.0.limit() }
    }

    /// Stamp and tokens, brought up to `now` by rule 2.
    #[inline]
    fn refilled(&self, word: u64, now: Nanos) -> (u64, u64) {
        let (stamp, tokens) = self.0.split(word);
        let refills = self.0.position(now);
        if refills <= stamp {
            return (stamp, tokens);
        }
        (refills, tokens.saturating_add(refills - stamp).min(self.0.limit()))
    }
}

impl sealed::Sealed for Packed {}

impl Algorithm for Packed {
    #[inline]
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        if n == 0 || self.0.timeline.is_free() {
            return Ok(word);
        }
        if n > self.0.limit() {
            return Err(Denied::ExceedsBurst { cost: n, max_cost: self.0.limit() });
        }
        let (stamp, tokens) = self.refilled(word, now);
        if n <= tokens {
            Ok(self.0.join(stamp, tokens - n))
        } else {
            Err(Denied::TryAfter(self.0.timeline.hint(stamp + (n - tokens), now)))
        }
    }

    #[inline]
    fn refund(&self, word: u64, n: u64, now: Nanos) -> u64 {
        if self.0.timeline.is_free() {
            return word;
        }
        let (stamp, tokens) = self.refilled(word, now);
        self.0.join(stamp, tokens.saturating_add(n).min(self.0.limit()))
    }

    #[inline]
    fn available(&self, word: u64, now: Nanos) -> u64 {
        if self.0.timeline.is_free() { u64::MAX } else { self.refilled(word, now).1 }
    }

    fn reset_after(&self, word: u64, now: Nanos) -> Duration {
        let (stamp, tokens) = self.refilled(word, now);
        if self.0.timeline.is_free() || tokens == self.0.limit() {
            return Duration::ZERO;
        }
        self.0.timeline.hint(stamp + (self.0.limit() - tokens), now).retry_after()
    }

    fn quota(&self) -> Quota {
        if self.0.timeline.is_free() {
            return Quota::UNLIMITED;
        }
        Quota::from_valid(self.0.timeline.tokens(), self.0.timeline.period(), self.0.limit())
    }

    #[inline]
    fn max_cost(&self) -> u64 {
        self.0.limit()
    }
}

impl Bucket for Packed {
    fn holding(&self, tokens: u64, now: Nanos) -> u64 {
        if self.0.timeline.is_free() {
            return 0;
        }
        self.0.join(self.0.position(now), tokens.min(self.0.limit()))
    }
}
