//! [`Hint`]: when a refused call would be admitted.

use crate::nanos::Nanos;
use core::time::Duration;

/// How long until a refused call would be admitted, exact to the nanosecond, if nobody else is served first.
///
/// A refusal only notes what the time depends on; the one division is made when the time is asked for. At one
/// nanosecond less than [`Hint::retry_after`] the same call is refused again.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Denied, ManualClock, Quota, TokenBucket};
///
/// let bucket = TokenBucket::with_clock(Quota::per_second(3).with_burst(1), ManualClock::new());
/// assert!(bucket.try_acquire().is_ok());
/// let Err(Denied::TryAfter(hint)) = bucket.try_acquire() else { panic!("the bucket is empty") };
/// assert_eq!(hint.retry_after(), Duration::from_nanos(333_333_334)); // a third of a second, rounded up
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// Due once `floor((t - start) * tokens * unit / period) >= position`.
    pub(crate) position: u64,
    pub(crate) tokens: u64,
    pub(crate) unit: u64,
    pub(crate) period: u64,
    /// Where `t` is counted from.
    pub(crate) start: Nanos,
    /// How long after `start` the limiter's time ends; what is due later is never due.
    pub(crate) lasting: u64,
    /// When the call was refused.
    pub(crate) now: Nanos,
}

/// Hints are equal that say the same: of calls refused at the same instant, and due at the same, by whatever scale.
impl PartialEq for Hint {
    fn eq(&self, other: &Self) -> bool {
        (self.now, self.due_if_ever()) == (other.now, other.due_if_ever())
    }
}

impl Eq for Hint {}

impl Hint {
    /// A call refused at `now` that would be admitted at `due`, both on the limiter's clock: for a
    /// [`RateLimit`](crate::RateLimit) of your own.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Denied, Hint, Nanos};
    ///
    /// let denied = Denied::TryAfter(Hint::at(Nanos::from_secs(9), Nanos::from_secs(7)));
    /// assert_eq!(denied.retry_after(), Some(Duration::from_secs(2)));
    /// ```
    #[inline]
    pub const fn at(due: Nanos, now: Nanos) -> Self {
        Self { position: due.0, tokens: 1, unit: 1, period: 1, start: Nanos::ZERO, lasting: u64::MAX, now }
    }

    /// A call refused now that would be admitted after `wait`, where there is no clock to name instants by:
    /// [`due`](Self::due) counts from the refused call. A wait of more than 584 years reads as that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Denied, Hint};
    ///
    /// let denied = Denied::TryAfter(Hint::after(Duration::from_millis(250)));
    /// assert_eq!(denied.retry_after(), Some(Duration::from_millis(250)));
    /// ```
    pub const fn after(wait: Duration) -> Self {
        Self::at(Nanos::from_duration(wait), Nanos::ZERO)
    }

    /// The same hint of a limiter whose time ends at `end`.
    #[inline]
    pub(crate) const fn until(self, end: Nanos) -> Self {
        Self { lasting: end.0.saturating_sub(self.start.0), ..self }
    }

    /// The same hint on a clock that reads `lead` less.
    #[inline]
    pub(crate) const fn earlier(self, lead: u64) -> Self {
        let now = Nanos(self.now.0.saturating_sub(lead));
        match self.start.0.checked_sub(lead) {
            Some(start) => Self { start: Nanos(start), now, ..self },
            None => self.worked_out(lead, now),
        }
    }

    /// As [`earlier`](Self::earlier), where the time is counted from before the other clock's origin.
    #[cold]
    const fn worked_out(&self, lead: u64, now: Nanos) -> Self {
        match self.due_if_ever() {
            Some(due) => Self::at(Nanos(due.0.saturating_sub(lead)), now),
            None => Self::at(Nanos::MAX, now).until(Nanos::ZERO),
        }
    }

    /// The first instant, on the limiter's clock, at which the refused call would be admitted; [`Nanos::MAX`] if there is
    /// none, since it lies beyond the last instant that the limiter can count to.
    ///
    /// With `x` for the position to reach and `r = tokens * unit / period` it is `ceil(x / r)`: the inverse of the
    /// scale.
    pub const fn due(&self) -> Nanos {
        match self.due_if_ever() {
            Some(due) => due,
            None => Nanos::MAX,
        }
    }

    /// How long after the refused call's reading of the clock the call would be admitted; [`Duration::MAX`] if it never
    /// would be. [`Denied::retry_after`](crate::Denied::retry_after) says `None` then.
    pub const fn retry_after(&self) -> Duration {
        match self.retry_after_if_ever() {
            Some(wait) => wait,
            None => Duration::MAX,
        }
    }

    /// As [`due`](Self::due); `None` if there is no such instant.
    const fn due_if_ever(&self) -> Option<Nanos> {
        let rate = self.tokens as u128 * self.unit as u128;
        if rate == 0 {
            return Some(self.now); // tokens that cost nothing are always due
        }
        let since_start = (self.position as u128 * self.period as u128).div_ceil(rate);
        let due = since_start + self.start.0 as u128;
        if since_start > self.lasting as u128 || due > u64::MAX as u128 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // compared above
        Some(Nanos(due as u64))
    }

    /// As [`retry_after`](Self::retry_after); `None` if the call never would be admitted.
    pub(crate) const fn retry_after_if_ever(&self) -> Option<Duration> {
        match self.due_if_ever() {
            Some(due) => Some(due.saturating_since(self.now)),
            None => None,
        }
    }
}
