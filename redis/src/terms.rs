//! [`Terms`]: a quota and a lease in the numbers that the script counts in.

use crate::lease::MOST;
use std::time::Duration;
use tollgate::Quota;

/// Lua's numbers are doubles: integers below this are exact.
const EXACT: u128 = 1 << 53;

/// For this long, in microseconds, positions stay under [`EXACT`]: 50 years.
const LIFE: u128 = 50 * 31_557_600 * 1_000_000;

/// What every process that shares a limit has to agree on.
///
/// `tokens` fall due each `micros`, a fraction in lowest terms; `burst` is what the centre may save up, which is the quota's
/// burst less what falls due within one lease, less one for rounding (see [`centre`](crate::centre)).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::Quota;
/// use tollgate_redis::{Terms, TermsError};
///
/// let quota = Quota::per_second(1_000);
/// let terms = Terms::new(quota, Duration::from_millis(125)).unwrap();
/// assert_eq!(terms, Terms { tokens: 1, micros: 1_000, burst: 1_000 - 125 - 1, lease: 125_000 });
/// assert_eq!(terms.due(2_500), 2);
/// assert_eq!(terms.until(3), 3_000);
///
/// let longest = Duration::from_millis(500);
/// assert_eq!(Terms::new(quota, Duration::from_secs(1)), Err(TermsError::LeaseTooLong { longest }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// Tokens that fall due each [`micros`](Self::micros).
    pub tokens: u64,
    /// A number of microseconds.
    pub micros: u64,
    /// The burst of the centre, in tokens.
    pub burst: u64,
    /// The length of a lease, in microseconds; 0 where each decision is a round trip.
    pub lease: u64,
}

/// Why a limit cannot be kept by a store. Every variant names the limit that was broken. More may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// [`Quota::UNLIMITED`] and [`Quota::DENY_ALL`] need no store.
    #[error("a quota without a rate needs no store")]
    NoRate,
    /// The store's numbers are exact below 2^53 only.
    #[error("the rate is too high for 50 years of positions under 2^53: at most 5.7 million tokens per second")]
    RateTooHigh,
    /// As [`RateTooHigh`](Self::RateTooHigh), for a fraction of large numbers.
    #[error("the rate as a fraction of microseconds has numbers whose product is not under 2^53")]
    RateTooFine,
    /// The burst is not under 2^52.
    #[error("the burst is too large: at most {largest}")]
    BurstTooLarge {
        /// The largest burst there can be.
        largest: u64,
    },
    /// A lease during which more than half of the burst falls due would leave the centre too little.
    #[error("the lease is too long for this burst: at most {longest:?}")]
    LeaseTooLong {
        /// The longest lease with this quota.
        longest: Duration,
    },
    /// Keys of one namespace are in one slot by a hash tag: `{namespace}`.
    #[error("a namespace is not empty and has no braces")]
    Namespace,
    /// A batch is within 1 and what a lease can hold.
    #[error("a batch of {tokens} tokens; at least 1, at most {largest}")]
    Batch {
        /// The batch asked for.
        tokens: u64,
        /// The largest batch there can be.
        largest: u64,
    },
    /// A limit by key that holds no key.
    #[error("a capacity of no key at all")]
    NoCapacity,
    /// The burst leaves no token to the centre once one is kept back for rounding.
    #[error("the burst is too small to be shared: at least 2")]
    BurstTooSmall,
}

impl Terms {
    /// The terms of `quota` with leases of `lease`; a lease of zero is the exact mode.
    ///
    /// # Errors
    ///
    /// A [`TermsError`] that names the limit broken.
    pub fn new(quota: Quota, lease: Duration) -> Result<Self, TermsError> {
        let nanos = quota.period().as_nanos();
        if nanos == 0 {
            return Err(TermsError::NoRate);
        }
        let (tokens, burst) = (u128::from(quota.tokens()) * 1_000, u128::from(quota.burst()));
        let divisor = gcd(tokens, nanos);
        let (tokens, micros) = (tokens / divisor, nanos / divisor);
        if tokens * LIFE / micros >= EXACT {
            return Err(TermsError::RateTooHigh);
        }
        if tokens * micros >= EXACT {
            return Err(TermsError::RateTooFine);
        }
        if burst >= EXACT / 2 {
            #[allow(clippy::cast_possible_truncation)] // 2^52 - 1
            return Err(TermsError::BurstTooLarge { largest: (EXACT / 2) as u64 - 1 });
        }
        if burst < 2 {
            return Err(TermsError::BurstTooSmall);
        }
        let lease = lease.as_micros();
        let reserve = lease.saturating_mul(tokens).div_ceil(micros);
        if reserve > burst / 2 || lease >= EXACT {
            let longest = (burst / 2 * micros / tokens).min(EXACT - 1);
            let longest = Duration::from_micros(u64::try_from(longest).unwrap_or(u64::MAX));
            return Err(TermsError::LeaseTooLong { longest });
        }
        let kept_back = reserve + 1;
        if burst <= kept_back {
            return Err(TermsError::BurstTooSmall);
        }
        #[allow(clippy::cast_possible_truncation)] // each is under 2^53
        let narrow = |n: u128| n as u64;
        Ok(Self {
            tokens: narrow(tokens),
            micros: narrow(micros),
            burst: narrow(burst - kept_back),
            lease: narrow(lease),
        })
    }

    pub(crate) fn largest_batch(&self) -> u64 {
        self.burst.min(MOST)
    }

    pub(crate) fn check_batch(&self, tokens: u64) -> Result<(), TermsError> {
        let largest = self.largest_batch();
        if (1..=largest).contains(&tokens) { Ok(()) } else { Err(TermsError::Batch { tokens, largest }) }
    }

    /// For how many microseconds the centre remembers its answer to an instance: twice a lease, and at least two seconds.
    pub fn memory(&self) -> u64 {
        2 * self.lease.max(1_000_000)
    }

    /// For how long an instance asks for the answer to a request: a lease, or half of the [`memory`](Self::memory) without one.
    pub(crate) fn patience(&self) -> u64 {
        if self.lease == 0 { self.memory() / 2 } else { self.lease }
    }

    /// What has fallen due `elapsed` microseconds after the start: `floor(elapsed * tokens / micros)`.
    pub fn due(&self, elapsed: u64) -> u64 {
        let due = u128::from(elapsed) * u128::from(self.tokens) / u128::from(self.micros);
        u64::try_from(due).unwrap_or(u64::MAX)
    }

    /// The least number of microseconds after which [`due`](Self::due) is at least `position`.
    pub fn until(&self, position: u64) -> u64 {
        let until = (u128::from(position) * u128::from(self.micros)).div_ceil(u128::from(self.tokens));
        u64::try_from(until).unwrap_or(u64::MAX)
    }
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_due_in_a_lease_is_kept_back_and_one_more() {
        let terms = Terms::new(Quota::per_second(1_000), Duration::from_millis(125)).unwrap();
        assert_eq!(terms, Terms { tokens: 1, micros: 1_000, burst: 1_000 - 125 - 1, lease: 125_000 });
        let exact = Terms::new(Quota::per_minute(20), Duration::ZERO).unwrap();
        assert_eq!(exact, Terms { tokens: 1, micros: 3_000_000, burst: 19, lease: 0 });
    }

    #[test]
    fn limits_are_named() {
        let new = |quota, millis| Terms::new(quota, Duration::from_millis(millis)).unwrap_err();
        assert_eq!(new(Quota::UNLIMITED, 0), TermsError::NoRate);
        assert_eq!(new(Quota::per_second(6_000_000), 0), TermsError::RateTooHigh);
        assert_eq!(new(Quota::per_second(10), 501), TermsError::LeaseTooLong { longest: Duration::from_millis(500) });
        assert_eq!(new(Quota::per_second(1), 0), TermsError::BurstTooSmall);
        assert_eq!(
            new(Quota::per_second(1).with_burst(1 << 52), 0),
            TermsError::BurstTooLarge { largest: (1 << 52) - 1 }
        );
        assert_eq!(new(Quota::per(999_983, Duration::from_nanos(86_400_000_000_001)), 0), TermsError::RateTooFine);
    }

    #[test]
    fn until_is_the_first_instant() {
        let terms = Terms { tokens: 3, micros: 7, burst: 9, lease: 0 };
        for position in 1..1_000 {
            let until = terms.until(position);
            assert!(terms.due(until) >= position && terms.due(until - 1) < position);
        }
    }
}
