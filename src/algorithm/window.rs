//! [`Window`]: a fixed window counter, which is also the interval bucket.

use super::fields::Fields;
use super::{Algorithm, sealed};
use crate::build_error::BuildError;
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::timeline::{Grain, Hint, LASTING};
use core::time::Duration;

/// A count that starts again in every window of the clock; seen from the other side, a bucket that is filled to
/// capacity at every tick.
///
/// ```text
/// LAYOUT      | index: the other bits | count: as many bits as the limit needs |
/// rule 1      index(now) = floor(now / period): windows are aligned to the clock's origin
/// rule 2      at a reading with index(now) > index: index = index(now), count = 0; at any other reading the
///             stored window is the present one
/// rule 3      admit n iff count + n <= limit; then count += n
/// ```
///
/// It reads `tokens` and `period` of the quota; the burst has no meaning here. Bound: `limit` in each window, hence
/// `limit * (1 + ceil(T / period))` in a span of length `T`: twice the limit can pass around a boundary.
///
/// The bound speaks of the window that a call is counted in. That is the window of its reading, as long as readings do not
/// go back over a boundary. One that does counts in the latest window seen (rule 2): what its own window had counted is
/// forgotten by then, so that by the *readings* a window can have more than the limit. Each window seen gives the limit
/// once, whatever the readings do.
///
/// The index must last for 120 years. Every quota fits: at more than about 2.4e9 tokens per second, where the count would
/// leave it too few bits, what is counted is units of `2^k` tokens, as few as fit, costs rounded up as for
/// [`Gcra`](super::Gcra) and the limit kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(pub(super) Fields<1>);

impl Window {
    /// The algorithm for `quota`: at most `tokens` in each `period`.
    ///
    /// # Errors
    ///
    /// [`BuildError::LimitTooLarge`] if index and count do not fit in a word together for 120 years.
    pub const fn try_new(quota: Quota) -> Result<Self, BuildError> {
        match Fields::windows(quota, Grain::COARSEST, 0) {
            Ok(fields) => Ok(Self(fields)),
            Err(error) => Err(error),
        }
    }

    /// Nothing counted yet.
    pub(crate) const FRESH: u64 = 0;

    /// Index and count of the window that `now` falls in, by rule 2.
    #[inline]
    pub(super) fn current(&self, word: u64, now: Nanos) -> (u64, u64) {
        let (index, count) = self.0.split(word);
        // As long as the stored window lasts, its end says so: which window `now` is in need not be worked out.
        if now.0 < self.0.end(index) {
            return (index, count);
        }
        let present = self.0.position(now);
        if present > index { (present, 0) } else { (index, count) }
    }

    /// When the window after `index` begins.
    #[inline]
    pub(super) fn next_window(&self, index: u64, now: Nanos) -> Hint {
        self.0.timeline.hint(index + 1, now).until(LASTING)
    }

    /// Rule 3, where `free` units of the window `index`, which has counted `count`, can be taken.
    #[inline]
    pub(super) fn take(&self, (index, count): (u64, u64), free: u64, cost: u64, now: Nanos) -> Result<u64, Denied> {
        if cost <= free {
            Ok(self.0.join(index, count + cost))
        } else {
            Err(Denied::TryAfter(self.next_window(index, now)))
        }
    }
}

impl sealed::Sealed for Window {}

impl Algorithm for Window {
    const NAME: &'static str = "FixedWindow";

    #[inline]
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        let cost = self.0.price(n)?;
        if cost == 0 {
            return Ok(word);
        }
        let (index, count) = self.current(word, now);
        self.take((index, count), self.0.limit() - count, cost, now)
    }

    /// Gives back to the window of `taken` what it has counted, if it is the stored one; to any other, nothing: what was
    /// counted there is past.
    #[inline]
    fn refund(&self, word: u64, n: u64, taken: Nanos) -> u64 {
        let (index, count) = self.0.split(word);
        if self.0.position(taken) != index {
            return word;
        }
        self.0.join(index, count.saturating_sub(self.0.timeline.grain().given_back(n)))
    }

    /// Counts add up in any order. A window that is past has taken the call with it.
    fn without(&self, word: u64, n: u64, after: u64) -> Option<u64> {
        let ((index, count), (counted_in, _)) = (self.0.split(word), self.0.split(after));
        if index != counted_in {
            return Some(word);
        }
        let cost = self.0.price(n).ok()?;
        Some(self.0.join(index, count.saturating_sub(cost)))
    }

    #[inline]
    fn available(&self, word: u64, now: Nanos) -> u64 {
        self.0.tokens_in(self.0.limit() - self.current(word, now).1)
    }

    fn reset_after(&self, word: u64, now: Nanos) -> Duration {
        match self.current(word, now) {
            (_, 0) => Duration::ZERO,
            (index, _) => self.next_window(index, now).retry_after(),
        }
    }

    /// The window goes on until the first of the other clock's windows ends that does so no earlier.
    fn carried(&self, word: u64, from: Nanos, to: Nanos) -> Option<u64> {
        let (index, count) = self.0.split(word);
        if self.0.limit() == 0 || self.0.position(from) > index {
            return Some(Self::FRESH);
        }
        if count > self.0.limit() {
            return None;
        }
        Some(self.0.join(self.0.window_from(index, from, to)?, count))
    }

    fn quota(&self) -> Quota {
        self.0.quota(self.0.max_cost())
    }

    #[inline]
    fn max_cost(&self) -> u64 {
        self.0.max_cost()
    }
}
