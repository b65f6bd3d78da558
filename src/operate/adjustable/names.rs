//! The names that people use: an algorithm each, on a default clock where there is one.

use super::limiter::AdjustableLimiter;
use crate::algorithm::{ContinuedCounter, ContinuedWindow, Gcra};
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

/// A fixed window whose quota can be changed while any number of threads use it: at most `tokens` in each window of length
/// `period`, aligned to the clock's origin; the quota's burst has no meaning here.
///
/// What was counted in the running window counts in the window of the new quota that holds the instant of the change. Bound:
/// between two ends of windows, each of the quota that is in force when it ends, at most the largest limit in force between
/// them. So a window that holds a change admits at most the larger limit in all, whatever is changed how often. For a
/// [`WallClock`](crate::WallClock) windows begin by the calendar before the change and after it. See
/// [`Window`](crate::algorithm::Window), also for readings that go back.
///
/// What was counted beyond the new limit is not forgotten while that window lasts: of 60 a minute that are spent, 10 and 60 again
/// in one instant leave 0. Tokens that were taken before a change are given back
/// [by the reading of the taking](AdjustableLimiter::refund_at) where the present window has counted them. Where
/// [nothing is admitted](crate::Quota::DENY_ALL) no window ends.
///
/// # Limits
///
/// What is counted is tokens, in 62 bits together with the number of windows in 120 years: at most 2^30 - 1 per second, 2^36 - 1
/// per minute. Each change takes as much of these 120 years as a window.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{AdjustableFixedWindow, ManualClock, Quota};
///
/// let clock = ManualClock::new();
/// let window = AdjustableFixedWindow::with_clock(Quota::per_minute(60), clock.clone());
/// assert!(window.try_acquire_n(60).is_ok());
/// window.set_quota(Quota::per_hour(100))?;
/// assert_eq!(window.available(), 40); // of this hour
/// clock.advance(Duration::from_secs(3_600));
/// assert_eq!(window.available(), 100);
/// # Ok::<(), tollgate::AdjustError>(())
/// ```
pub type AdjustableFixedWindow<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> =
    AdjustableLimiter<ContinuedWindow, C>;

/// A bucket that is filled to capacity at every tick, and whose capacity and ticks can be changed while it is used: an
/// [`AdjustableFixedWindow`] seen from the other side, and the same type.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{AdjustableIntervalBucket, ManualClock, Quota};
///
/// let clock = ManualClock::new();
/// let bucket = AdjustableIntervalBucket::with_clock(Quota::per(10, Duration::from_millis(200)), clock.clone());
/// assert_eq!([4, 4, 4].map(|n| bucket.try_acquire_up_to(n)), [4, 4, 2]);
/// bucket.set_quota(Quota::per(12, Duration::from_millis(200)))?;
/// assert_eq!(bucket.try_acquire_up_to(4), 2);
/// clock.advance(Duration::from_millis(200));
/// assert_eq!(bucket.available(), 12);
/// # Ok::<(), tollgate::AdjustError>(())
/// ```
pub type AdjustableIntervalBucket<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> =
    AdjustableLimiter<ContinuedWindow, C>;

/// A sliding window counter whose quota can be changed while any number of threads use it; the quota's burst has no meaning
/// here.
///
/// The windows go on from the same point in them, longer or shorter: what they have counted stays counted, so that the estimate is the
/// same at the instant of the change, fractions included, and fades at the new rate from then on. While the period stays, windows
/// begin when they would have. Bound: in each window at most the largest limit in force in it, and no window ends before a
/// whole period has passed, each nanosecond counted as its part of the period in force: `n` such ends in a stretch of
/// time admit at most `n + 1` times the largest limit. See [`SlidingCounter`](crate::algorithm::SlidingCounter) for what
/// holds without changes.
///
/// A change may cost up to a nanosecond of the new period. What was counted beyond the new limit is not forgotten while it
/// counts. Tokens that were taken before the last change stay spent when they are given back
/// [by the reading of the taking](AdjustableLimiter::refund_at). Where [nothing is admitted](crate::Quota::DENY_ALL) nothing fades.
///
/// # Limits
///
/// Two counts and the number of windows in 120 years take 62 bits: at most 2^15 - 1 per second, 2^18 - 1 per minute. Each change takes
/// as much of these 120 years as a window.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{AdjustableSlidingWindowCounter, ManualClock, Quota};
///
/// let clock = ManualClock::new();
/// let counter = AdjustableSlidingWindowCounter::with_clock(Quota::per_minute(100), clock.clone());
/// assert!(counter.try_acquire_n(100).is_ok());
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(counter.available(), 50); // the last minute counts by half
/// counter.set_quota(Quota::per_hour(200))?;
/// assert_eq!(counter.available(), 150);
/// clock.advance(Duration::from_secs(900)); // a quarter of a period
/// assert_eq!(counter.available(), 175);
/// # Ok::<(), tollgate::AdjustError>(())
/// ```
pub type AdjustableSlidingWindowCounter<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> =
    AdjustableLimiter<ContinuedCounter, C>;
