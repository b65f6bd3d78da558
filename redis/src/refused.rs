//! [`Refused`] and [`Degraded`]: what a caller gets when there is nothing, and when there is nobody to ask.

use crate::store::StoreError;
use std::time::Duration;
use tollgate::Quota;

/// What happens while the store cannot be reached and no lease is left.
///
/// # Examples
///
/// ```
/// use tollgate::Quota;
/// use tollgate_redis::Degraded;
///
/// // Each process that loses the store admits at most 10 at once, and 5 per second from then on, beside the bound.
/// let degraded = Degraded::Share(Quota::per_second(5).with_burst(10));
/// assert_ne!(degraded, Degraded::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Degraded {
    /// Nothing is admitted.
    #[default]
    Deny,
    /// This process admits by a quota of its own. Each process that does so adds to the bound what that quota admits:
    /// its burst, and its rate for as long as the store is away.
    Share(Quota),
}

/// Why a call was not admitted.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate_redis::Refused;
///
/// let refused = Refused::TryAfter(Duration::from_millis(20));
/// assert_eq!(refused.to_string(), "rate limited: try again after 20ms");
/// assert_eq!(refused.retry_after(), Some(Duration::from_millis(20)));
/// assert_eq!(Refused::ExceedsBurst { cost: 15, max_cost: 10 }.retry_after(), None);
/// ```
#[must_use = "a refused call must not go ahead"]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Not now. By the state of the store that was last seen, it is worth asking again after this time: then the tokens
    /// are there, and a part of a batch with them, if nobody else draws.
    #[error("rate limited: try again after {0:?}")]
    TryAfter(Duration),
    /// Never: one call can cost no more than `max_cost`.
    #[error("a cost of {cost} can never be admitted: at most {max_cost} at once")]
    ExceedsBurst {
        /// What was asked for, in tokens.
        cost: u64,
        /// The most that one call can cost.
        max_cost: u64,
    },
    /// A new key found no room: so many keys hold leases, or are in use.
    #[error("too many keys are limited at once: {capacity}")]
    TooManyKeys {
        /// The most keys that there is room for.
        capacity: usize,
    },
    /// No lease is left, and the store gave no answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Refused {
    /// How long to wait before the same call is worth making again; `None` if that is not known, or never.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TryAfter(wait) | Self::Store(StoreError::Pausing(wait)) => Some(*wait),
            _ => None,
        }
    }
}
