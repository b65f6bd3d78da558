//! The names that people use: an algorithm each, on a default clock where there is one.

use super::RateLimiter;
use crate::algorithm::{Gcra, Packed, SlidingCounter, Window};
#[cfg(feature = "std")]
use crate::clock::DefaultClock;

/// Tokens fall due at a constant rate and are saved up to a burst. The default choice.
///
/// Bound: `burst + rate * (t - s)` admitted with readings in `[s, t]`, to a unit; see [`Gcra`], also for what a unit is at
/// byte rates. A clock that was ahead shuts it until it is back there; see [`Steady`](crate::Steady) for the way out.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{ManualClock, Quota, TokenBucket};
///
/// let clock = ManualClock::new();
/// let bucket = TokenBucket::with_clock(Quota::per_second(2).with_burst(10), clock.clone());
/// assert_eq!(bucket.try_acquire_up_to(u64::MAX), 10);
/// clock.advance(Duration::from_secs(3));
/// assert_eq!(bucket.available(), 6);
/// ```
pub type TokenBucket<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> = RateLimiter<Gcra, C>;

/// A leaky bucket as a meter: each call adds its cost to a level that leaks at a constant rate and must not exceed
/// the capacity.
///
/// It is the token bucket seen from the other side, and the same type: the quota's rate is the leak rate and its
/// burst the capacity. See [`level`](RateLimiter::level) and [`capacity`](RateLimiter::capacity).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{LeakyBucket, ManualClock, Quota};
///
/// let clock = ManualClock::new();
/// let bucket = LeakyBucket::with_clock(Quota::per_second(1).with_burst(4), clock.clone());
/// assert!(bucket.try_acquire_n(3).is_ok());
/// assert_eq!((bucket.level(), bucket.capacity()), (3, 4));
/// clock.advance(Duration::from_secs(2));
/// assert_eq!(bucket.level(), 1);
/// ```
pub type LeakyBucket<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> = RateLimiter<Gcra, C>;

/// The token bucket with tokens and time in separate bit fields, for comparison of encodings; see [`Packed`] for its
/// tighter limits.
///
/// # Examples
///
/// ```
/// use tollgate::{BuildError, PackedTokenBucket, Quota};
///
/// let bucket = PackedTokenBucket::new(Quota::per_second(1_000));
/// assert!(bucket.try_acquire_n(1_000).is_ok());
///
/// let error = PackedTokenBucket::try_new(Quota::per_second(1_000_000)).unwrap_err();
/// assert_eq!(error, BuildError::LimitTooLarge { largest: 4_095 });
/// ```
pub type PackedTokenBucket<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> =
    RateLimiter<Packed, C>;

/// At most `tokens` in each window of length `period`, aligned to the clock's origin; the quota's burst has no
/// meaning here.
///
/// Bound: twice the limit around a window's boundary; see [`Window`], also for readings that go back. A clock that was
/// ahead shuts it until the window after that instant begins, once it has spent its limit; see [`Steady`](crate::Steady)
/// for the way out.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{FixedWindow, ManualClock, Quota};
///
/// let clock = ManualClock::new();
/// let window = FixedWindow::with_clock(Quota::per_minute(100), clock.clone());
/// clock.advance(Duration::from_secs(59));
/// assert!(window.try_acquire_n(100).is_ok());
/// clock.advance(Duration::from_secs(1));
/// assert!(window.try_acquire_n(100).is_ok()); // 200 within a second
/// ```
pub type FixedWindow<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> = RateLimiter<Window, C>;

/// A bucket that is filled to capacity at every tick, and gives partial takes.
///
/// It is the fixed window seen from the other side, and the same type: `tokens` of the quota is the capacity and
/// `period` the time between ticks, which are aligned to the clock's origin; the quota's burst has no meaning here.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{IntervalBucket, ManualClock, Quota};
///
/// let clock = ManualClock::new();
/// let bucket = IntervalBucket::with_clock(Quota::per(10, Duration::from_millis(200)), clock.clone());
/// assert_eq!([4, 4, 4, 4].map(|n| bucket.try_acquire_up_to(n)), [4, 4, 2, 0]);
/// clock.advance(Duration::from_millis(200));
/// assert_eq!(bucket.try_acquire_up_to(4), 4);
/// ```
pub type IntervalBucket<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> =
    RateLimiter<Window, C>;

/// An estimate of a sliding window from two counts; the quota's burst has no meaning here.
///
/// Bound: `tokens` in each aligned window, less than twice that in any span of one period; see [`SlidingCounter`]. A clock
/// that was ahead can shut it until the second window after that instant begins; see [`Steady`](crate::Steady) for the way
/// out.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{ManualClock, Quota, SlidingWindowCounter};
///
/// let clock = ManualClock::new();
/// let counter = SlidingWindowCounter::with_clock(Quota::per_minute(100), clock.clone());
/// clock.advance(Duration::from_secs(59));
/// assert!(counter.try_acquire_n(100).is_ok());
/// clock.advance(Duration::from_secs(1));
/// assert!(counter.try_acquire().is_err()); // the last window still counts in full
/// clock.advance(Duration::from_secs(30));
/// assert_eq!(counter.available(), 50); // and now by half
/// ```
pub type SlidingWindowCounter<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> =
    RateLimiter<SlidingCounter, C>;
