//! [`KeyedError`]: why a keyed limiter cannot be built.

use core::fmt;
use core::time::Duration;

/// Why a keyed limiter cannot be built. Every variant but the zeros names the limit that was broken.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{KeyedError, KeyedLimiter, Quota};
///
/// let error = KeyedLimiter::<str>::try_new(Quota::per_second(10), 0).unwrap_err();
/// assert_eq!(error, KeyedError::ZeroCapacity);
///
/// let century = Quota::per(1, Duration::from_secs(100 * 31_557_600));
/// let error = KeyedLimiter::<str>::try_new(century, 1_000).unwrap_err();
/// assert_eq!(error.to_string(), "a spent burst would take too long to recover: at most 36 years");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyedError {
    /// Room for no key at all.
    ZeroCapacity,
    /// More keys than 30 bits of a hash can distinguish well.
    CapacityTooLarge {
        /// The most keys that a table can be sized for.
        largest: usize,
    },
    /// The memory for the table could not be allocated.
    OutOfMemory {
        /// The bytes that were asked for.
        bytes: usize,
    },
    /// No quota was given.
    NoQuota,
    /// More than 2^62 tokens in a period so short that it is more than one per nanosecond.
    RateTooHigh {
        /// The most tokens that this period can have.
        most: u64,
        /// The period asked for.
        period: Duration,
    },
    /// A key that has spent its burst would be in debt for too long.
    BurstTooLong {
        /// The longest time in which a burst may recover.
        longest: Duration,
    },
    /// More initial tokens than any of the quotas can hold.
    InitialTooLarge {
        /// The most tokens that one of them can hold.
        largest: u64,
    },
}

/// Why a class keeps its quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unchanged {
    /// No keyed limiter can have it.
    Unfit(KeyedError),
    /// What keys owe would last until after the last instant of a word.
    TooFarApart,
    /// Words may still be left from too many quotas before.
    TooOften,
    /// Three others are in the middle of a change.
    Contended,
}

impl KeyedError {
    /// Panics with this error: for constructors that are promised valid values.
    #[cold]
    pub(super) fn panic(self) -> ! {
        panic!("{self}")
    }
}

impl fmt::Display for KeyedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroCapacity => f.write_str("a keyed limiter needs a capacity of at least one key"),
            Self::CapacityTooLarge { largest } => write!(f, "the capacity is too large: at most {largest} keys"),
            Self::OutOfMemory { bytes } => write!(f, "the memory for the table could not be allocated: {bytes} bytes"),
            Self::NoQuota => f.write_str("a keyed limiter needs at least one quota"),
            Self::RateTooHigh { most, period } => {
                write!(f, "the rate is too high for one key: at most {most} tokens per {period:?}")
            }
            Self::BurstTooLong { longest } => {
                let years = longest.as_secs() / 31_557_600;
                write!(f, "a spent burst would take too long to recover: at most {years} years")
            }
            Self::InitialTooLarge { largest } => {
                write!(f, "more initial tokens than any of the quotas can hold: at most {largest}")
            }
        }
    }
}

impl core::error::Error for KeyedError {}
