//! [`LimitSetError`]: why limits cannot stand together.

use core::fmt;

/// Why limits cannot stand together in a [`LimitSet`](crate::LimitSet).
///
/// # Examples
///
/// ```
/// use tollgate::{LimitSet, LimitSetError, Quota, RateLimitAt, SlidingWindowLog, TokenBucket};
///
/// let (log, bucket) = (SlidingWindowLog::new(Quota::per_minute(100)), TokenBucket::new(Quota::per_second(10)));
/// let error = LimitSet::try_new([&log as &dyn RateLimitAt, &bucket]).unwrap_err();
/// assert_eq!(error, LimitSetError::TakesNothingBack { limit: 0 });
/// assert!(LimitSet::try_new([&bucket as &dyn RateLimitAt, &log]).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitSetError {
    /// A limiter that takes nothing back, such as a [`SlidingWindowLog`](crate::SlidingWindowLog), is not the last.
    TakesNothingBack {
        /// Its number, from 0 on.
        limit: usize,
    },
}

impl fmt::Display for LimitSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakesNothingBack { limit } => {
                write!(f, "limit {limit} takes nothing back: it must be the last, and the only one of its kind")
            }
        }
    }
}

impl core::error::Error for LimitSetError {}
