//! The names that people use: an algorithm each, on a default clock where there is one.

use super::limiter::AdjustableLimiter;
use crate::algorithm::Gcra;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;

/// A token bucket whose quota can be changed while any number of threads use it.
///
/// Bound: for any two readings `s <= t`, with changes of quota in between or without, at most the largest burst in force
/// in `[s, t]` and what each rate brings in its own part of it. Each change may cost a unit, at most 2 ns' worth.
///
/// # Limits
///
/// Two bits of the word are needed for the change, so that a unit is 1 to 2 ns, the rate is below 1e9 per second, and rate
/// and burst together are at most a quarter of what a plain bucket can have. It serves for 146 years from its clock's
/// origin.
///
/// # Examples
///
/// ```
/// use tollgate::{AdjustableTokenBucket, ManualClock, Quota};
///
/// let bucket = AdjustableTokenBucket::with_clock(Quota::per_hour(10), ManualClock::new());
/// assert!(bucket.try_acquire_n(7).is_ok());
/// bucket.set_quota(Quota::per_hour(20))?;
/// assert_eq!(bucket.available(), 13);
/// # Ok::<(), tollgate::AdjustError>(())
/// ```
pub type AdjustableTokenBucket<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> =
    AdjustableLimiter<Gcra, C>;
