//! [`Turns`]: one caller's places, one after the other.

use super::{Line, Place};
#[cfg(feature = "async")]
use crate::clock::Timer;
use crate::decision::Denied;
use crate::nanos::Nanos;
use core::fmt;
use core::time::Duration;

/// The turns of one caller who waits, works, and waits again, at the full rate although every wake-up is late.
///
/// Whoever takes one place after the other, each when the work on the last is done, asks for the next one late: by the
/// time for which the timer overslept, and by what the work took. If that is longer than the bucket can fill, tokens that
/// fell due meanwhile are gone: with a burst of 1 at 1000 per second, and timers of a millisecond, a task alone gets some
/// 950. So the next place is reserved here as of the instant of the last one, if that is no longer ago than the
/// *slack*. What fell due in the meantime is then the caller's, unless somebody else has taken it.
///
/// Choose a slack that covers how late the timer is, and the longest work: 5 ms on tokio, say. With none at all, this is
/// [`reserve`](crate::WaitingTokenBucket::reserve). A larger burst does the same for all callers of a limiter, and many who
/// wait in one line need neither.
///
/// # Bound
///
/// That of the limiter, where a place counts at its own instant, here too. By readings of the clock, a caller is up to its
/// slack late: for any two of them `s <= t`, all together get at most `burst + rate * (t - s + slack)`, with the largest slack.
/// Others in line lose nothing: places that were handed out stay where they are.
///
/// `L` is what points to the limiter, see [`Line`]: a reference, or an `Arc` for turns that live anywhere.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{ManualClock, Nanos, Quota, WaitingTokenBucket};
///
/// let clock = ManualClock::new();
/// let bucket = WaitingTokenBucket::with_clock(Quota::per_second(1_000).with_burst(1), Duration::MAX, clock.clone());
/// let mut turns = bucket.turns(Duration::from_millis(5));
/// for i in 0..1_000 {
///     let place = turns.reserve(1)?; // elsewhere: `turns.acquire(1).await?`
///     assert_eq!(place.due(), Nanos::from_millis(i)); // not a nanosecond is lost
///     if !place.delay().is_zero() {
///         clock.set(place.due().saturating_add(Duration::from_micros(1_700))); // every wake-up is late
///     }
///     assert!(place.spend().is_ok());
/// }
/// # Ok::<_, tollgate::Denied>(())
/// ```
pub struct Turns<L> {
    line: L,
    slack: Duration,
    /// When the last place was due, once there was one.
    last: Option<Nanos>,
}

impl<L> Turns<L> {
    /// Turns in `line`, of which each may be `slack` late.
    pub const fn new(line: L, slack: Duration) -> Self {
        Self { line, slack, last: None }
    }
}

impl<L: Line + Clone> Turns<L> {
    /// The next place for `n` tokens: as soon after the last as they can be had. It may be spent when it is due, or be
    /// given back.
    ///
    /// # Errors
    ///
    /// As the limiter's `reserve`. A refused call has taken nothing.
    pub fn reserve(&mut self, n: u64) -> Result<Place<L>, Denied> {
        self.reserve_within(n, Duration::MAX)
    }

    /// As [`reserve`](Self::reserve), for a place that is due within `max_wait` from now.
    ///
    /// # Errors
    ///
    /// As the limiter's `reserve_within`. A refused call has taken nothing.
    pub fn reserve_within(&mut self, n: u64, max_wait: Duration) -> Result<Place<L>, Denied> {
        let now = self.line.now();
        let earliest = now.saturating_sub(self.slack);
        let as_of = self.last.map_or(now, |last| last.clamp(earliest, now));
        let max_wait = max_wait.saturating_add(now.saturating_since(as_of));
        let place = Place::reserve(self.line.clone(), n, max_wait, as_of)?;
        self.last = Some(place.due());
        Ok(place)
    }

    /// Takes the next `n` tokens, and parks the thread until they are due.
    ///
    /// # Errors
    ///
    /// As [`reserve`](Self::reserve), at once.
    #[cfg(feature = "std")]
    pub fn acquire_blocking(&mut self, n: u64) -> Result<(), Denied> {
        self.reserve(n).map(Place::wait)
    }
}

#[cfg(feature = "async")]
impl<L: Line + Clone> Turns<L>
where
    L::Clock: Timer,
{
    /// Takes the next `n` tokens, and is ready when they are due. The place is taken when the future is polled for the first
    /// time; dropped before it was ready, it gives the place back.
    ///
    /// # Errors
    ///
    /// As [`reserve`](Self::reserve), at the first poll.
    pub async fn acquire(&mut self, n: u64) -> Result<(), Denied> {
        self.reserve(n)?.await;
        Ok(())
    }
}

impl<L> fmt::Debug for Turns<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").field("slack", &self.slack).field("last", &self.last).finish_non_exhaustive()
    }
}
