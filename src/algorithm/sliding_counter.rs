//! [`SlidingCounter`]: two fixed windows, the earlier one weighted by how much of it still counts.

use super::fields::{Fields, within_time};
use super::{Algorithm, sealed};
use crate::build_error::BuildError;
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::timeline::{Hint, LASTING, mul_div_ceil};
use core::time::Duration;

/// The sliding window counter: an estimate of a sliding log, from two counts.
///
/// ```text
/// LAYOUT      | index: the other bits | previous | current |    counts: as many bits as the limit needs, each
/// rule 1      index(now) = floor(now / W): windows are aligned to the clock's origin
/// rule 2      at a reading in the window after the stored one: previous = current, current = 0; later still: both 0;
///             at an earlier reading the stored window has just begun
/// rule 3      admit n iff previous * (W - elapsed) + (current + n) * W <= limit * W, in exact integers
///             (elapsed: since the window began); then current += n
/// ```
///
/// It reads `tokens` and `period` of the quota; the burst has no meaning here. The estimate takes the previous window's
/// arrivals for evenly spread. Bound: at most `limit` in each aligned window and less than twice the limit in any span
/// of one period; the error is largest where arrivals crowd together at one end of a window.
///
/// The bound speaks of the window that a call is counted in. A reading that goes back over a boundary, be it by one window
/// or by many, counts at the beginning of the latest window seen (rule 2): each window seen gives the limit at most once,
/// whatever the readings do, but by the readings a window can have more.
///
/// The index must last for 120 years from the clock's origin; a limit that leaves it too few bits is a
/// [`LimitTooLarge`](BuildError::LimitTooLarge) error, which names the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlidingCounter(pub(super) Fields<2>);

/// The two windows as they stand at some instant.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) index: u64,
    pub(super) previous: u64,
    pub(super) current: u64,
    pub(super) start: Nanos,
    /// How long the previous window still counts, in nanoseconds, out of a period.
    pub(super) remaining: u64,
}

impl SlidingCounter {
    /// The algorithm for `quota`: at most `tokens` in each `period`.
    ///
    /// # Errors
    ///
    /// [`BuildError::LimitTooLarge`] if index and counts do not fit in a word together for 120 years.
    pub const fn try_new(quota: Quota) -> Result<Self, BuildError> {
        match Fields::windows(quota, 0, 0) {
            Ok(fields) => Ok(Self(fields)),
            Err(error) => Err(error),
        }
    }

    /// Nothing counted yet.
    pub(crate) const FRESH: u64 = 0;

    /// The windows at `now`, by rule 2.
    #[inline]
    pub(super) fn view(&self, word: u64, now: Nanos) -> View {
        let period = self.0.timeline.period();
        let (above, current) = self.0.split(word);
        let (index, previous) = self.0.split(above);
        let end = self.0.end(index);
        // As long as the stored window lasts, its end says so: which window `now` is in need not be worked out.
        if now.0 < end {
            let remaining = (end - now.0).min(period);
            return View { index, previous, current, start: Nanos(end - period), remaining };
        }
        let now = within_time(now);
        let present = self.0.position(now);
        let (index, previous, current) = match present.saturating_sub(index) {
            0 => (index, previous, current),
            1 => (present, current, 0),
            _ => (present, 0, 0),
        };
        // An index times the period is an instant that has been read: it fits.
        let start = index * period;
        let remaining = period.saturating_sub(now.0.saturating_sub(start));
        View { index, previous, current, start: Nanos(start), remaining }
    }

    /// The weighted sum of rule 3, less the present window's part.
    #[inline]
    fn carried(view: &View) -> u128 {
        u128::from(view.previous) * u128::from(view.remaining)
    }

    /// Whether rule 3 admits `n` where the present window lacks `free` of the limit.
    #[inline]
    pub(super) fn admits(&self, view: &View, free: u64, n: u64) -> bool {
        n <= free && Self::carried(view) <= u128::from(free - n) * u128::from(self.0.timeline.period())
    }

    /// Whole tokens that can be taken where the present window lacks `free` of the limit.
    pub(super) fn available_of(&self, view: &View, free: u64) -> u64 {
        let free = self.0.tokens_in(free);
        if view.previous == 0 {
            return free;
        }
        free.saturating_sub(mul_div_ceil(view.previous, view.remaining, self.0.timeline.period()))
    }

    /// How long after `now` nothing will count.
    pub(super) fn forgets_after(&self, view: &View, now: Nanos) -> Duration {
        let windows = match (view.previous, view.current) {
            (0, 0) => return Duration::ZERO,
            (_, 0) => 1,
            _ => 2,
        };
        self.0.timeline.hint(view.index + windows, now).until(LASTING).retry_after()
    }

    /// The word of a view in which `n` more are counted.
    #[inline]
    pub(super) fn counting(&self, view: &View, n: u64) -> u64 {
        self.0.join(self.0.join(view.index, view.previous), view.current + n)
    }

    /// When `n` will be admitted if nothing else is.
    pub(super) fn hint(&self, view: &View, n: u64, now: Nanos) -> Hint {
        let period = self.0.timeline.period();
        let (excess, weight) = if view.current + n <= self.0.limit() {
            // Once the previous window has faded enough: previous * elapsed >= excess * W.
            (view.previous + view.current + n - self.0.limit(), view.previous)
        } else {
            // Once this window is the previous one and has faded enough: current * (elapsed - W) >= what is too much.
            (view.current + (view.current + n - self.0.limit()), view.current)
        };
        let start = view.start;
        Hint { position: excess, tokens: weight, unit: 1, period, start, lasting: u64::MAX, now }.until(LASTING)
    }
}

impl sealed::Sealed for SlidingCounter {}

impl Algorithm for SlidingCounter {
    const NAME: &'static str = "SlidingWindowCounter";

    #[inline]
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        if self.0.price(n)? == 0 {
            return Ok(word);
        }
        let view = self.view(word, now);
        if self.admits(&view, self.0.limit() - view.current, n) {
            Ok(self.counting(&view, n))
        } else {
            Err(Denied::TryAfter(self.hint(&view, n, now)))
        }
    }

    /// Gives back to the window of `taken` what it has counted, if it is the stored one or the one before; to any other,
    /// nothing: what was counted there no longer counts.
    #[inline]
    fn refund(&self, word: u64, n: u64, taken: Nanos) -> u64 {
        let (above, current) = self.0.split(word);
        let (index, previous) = self.0.split(above);
        let window = self.0.position(taken);
        if window == index {
            self.0.join(above, current.saturating_sub(n))
        } else if window + 1 == index {
            self.0.join(self.0.join(index, previous.saturating_sub(n)), current)
        } else {
            word
        }
    }

    /// Counts add up in any order: in the window that has counted the call, while that is one of the two.
    fn without(&self, word: u64, n: u64, after: u64) -> Option<u64> {
        let (above, current) = self.0.split(word);
        let (index, previous) = self.0.split(above);
        let (counted_in, _) = self.0.split(self.0.split(after).0);
        Some(match index.checked_sub(counted_in) {
            Some(0) => self.0.join(above, current.saturating_sub(n)),
            Some(1) => self.0.join(self.0.join(index, previous.saturating_sub(n)), current),
            _ => word,
        })
    }

    fn available(&self, word: u64, now: Nanos) -> u64 {
        let view = self.view(word, now);
        self.available_of(&view, self.0.limit() - view.current)
    }

    fn reset_after(&self, word: u64, now: Nanos) -> Duration {
        self.forgets_after(&self.view(word, now), now)
    }

    /// The windows begin with the first of the other clock's that begins no earlier: what they count fades with time, so that
    /// later is never less.
    fn carried(&self, word: u64, from: Nanos, to: Nanos) -> Option<u64> {
        if self.0.limit() == 0 {
            return Some(Self::FRESH);
        }
        let (above, current) = self.0.split(word);
        let (index, previous) = self.0.split(above);
        if current > self.0.limit() || previous > self.0.limit() || index > self.0.last() {
            return None;
        }
        let View { index, previous, current, .. } = self.view(word, from);
        if previous == 0 && current == 0 && self.0.position(from) >= index {
            return Some(Self::FRESH);
        }
        let index = self.0.window_from(index, from, to)?;
        Some(self.0.join(self.0.join(index, previous), current))
    }

    fn quota(&self) -> Quota {
        self.0.quota(self.0.max_cost())
    }

    #[inline]
    fn max_cost(&self) -> u64 {
        self.0.max_cost()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_previous_window_fades_by_the_rule() {
        let counter = SlidingCounter::try_new(Quota::per(5, Duration::from_secs(30))).unwrap();
        let word = counter.acquire(SlidingCounter::FRESH, 5, Nanos::from_secs(1)).unwrap();
        assert!(counter.acquire(word, 1, Nanos::from_secs(35)).is_err());
        let denied = counter.acquire(word, 1, Nanos::from_secs(33)).unwrap_err();
        assert_eq!(denied.retry_after(), Some(Duration::from_secs(3)));
        assert!(counter.acquire(word, 1, Nanos(36_000_000_000 - 1)).is_err());
        assert!(counter.acquire(word, 1, Nanos::from_secs(36)).is_ok());
    }
}
