//! [`Gcra`]: token bucket and leaky bucket in one word.

use super::{Algorithm, Bucket, sealed};
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::timeline::{Hint, Timeline};
use core::time::Duration;

/// The generic cell rate algorithm: a token bucket, or a leaky bucket as a meter, in a single position.
///
/// Tokens fall due along a scale that stands at `E(now)`. The word `V` is the position consumed up to (the
/// "theoretical arrival time" of ITU-T I.371, in token units instead of seconds):
///
/// ```text
/// admit n  iff  max(V, E(now)) + n <= E(now) + burst;    then V becomes the left side
/// token bucket:  tokens = E(now) + burst - max(V, E(now))
/// leaky bucket:  level  = max(V, E(now)) - E(now)        capacity = burst
/// ```
///
/// `V = 0` means "full since for ever", so a fresh bucket needs no reading of the clock. An older `now` only lowers
/// `E`: a stale or backward clock can refuse a call, never mint a token.
///
/// Bound: for any two readings `s <= t`, at most `burst + rate * (t - s)` tokens are admitted with readings in
/// `[s, t]`, plus at most one unit (under half a nanosecond's worth), since an idle bucket is clamped on a whole unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gcra {
    timeline: Timeline,
    /// The burst, in units.
    burst: u64,
}

impl Gcra {
    /// The algorithm for `quota`. Every quota fits.
    pub const fn new(quota: Quota) -> Self {
        if quota.is_unlimited() {
            return Self { timeline: Timeline::FREE, burst: 0 };
        }
        if quota.is_deny_all() {
            return Self { timeline: Timeline::STILL, burst: 0 };
        }
        let timeline = Timeline::finest(quota.tokens(), quota.period_nanos(), quota.burst());
        Self { timeline, burst: quota.burst() * timeline.unit() }
    }

    /// The algorithm for `quota` where `spare` bits of the word are another's; `None` if what is left does not last.
    pub(crate) const fn beside(quota: Quota, spare: u32) -> Option<Self> {
        if quota.period_nanos() == 0 {
            return Some(Self::new(quota));
        }
        match Timeline::finest_beside(quota.tokens(), quota.period_nanos(), quota.burst(), spare) {
            Some(timeline) => Some(Self { timeline, burst: quota.burst() * timeline.unit() }),
            None => None,
        }
    }

    /// Full since for ever.
    pub(crate) const FRESH: u64 = 0;

    /// How many words the constants are.
    pub(crate) const WORDS: usize = Timeline::WORDS + 1;

    /// The constants as words.
    pub(crate) const fn to_words(self) -> [u64; Self::WORDS] {
        let [low, high, tokens, period, unit, shift] = self.timeline.to_words();
        [low, high, tokens, period, unit, shift, self.burst]
    }

    /// The constants that are these words.
    pub(crate) const fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [low, high, tokens, period, unit, shift, burst] = words;
        Self { timeline: Timeline::from_words([low, high, tokens, period, unit, shift]), burst }
    }

    /// The burst, in units.
    pub(crate) const fn burst(&self) -> u64 {
        self.burst
    }

    /// How far `word` is ahead of the scale at `now`, in units: the leaky bucket's level, to the last fraction.
    #[inline]
    pub(crate) fn level(&self, word: u64, now: Nanos) -> u64 {
        if self.timeline.is_free() { 0 } else { word.saturating_sub(self.timeline.position(now)) }
    }

    /// The scale.
    pub(crate) const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// When the scale stands at `position`.
    pub(crate) const fn hint(&self, position: u64, now: Nanos) -> Hint {
        self.timeline.hint(position, now)
    }

    #[cold]
    const fn exceeds(&self, n: u64) -> Denied {
        Denied::ExceedsBurst { cost: n, max_cost: self.timeline.tokens_in(self.burst) }
    }
}

impl sealed::Sealed for Gcra {}

impl Algorithm for Gcra {
    #[inline]
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        let Some(cost) = self.timeline.cost(n) else { return Err(self.exceeds(n)) };
        let Some(slack) = self.burst.checked_sub(cost) else { return Err(self.exceeds(n)) };
        if cost == 0 {
            return Ok(word);
        }
        let due = self.timeline.position(now);
        // At most E(now) + burst, which the timeline keeps within 64 bits.
        if word <= due + slack {
            Ok(word.max(due) + cost)
        } else {
            // The word is above the slack: the subtraction cannot wrap.
            Err(Denied::TryAfter(self.timeline.hint(word - slack, now)))
        }
    }

    #[inline]
    fn refund(&self, word: u64, n: u64, now: Nanos) -> u64 {
        let due = self.timeline.position(now);
        let cost = self.timeline.cost(n).unwrap_or(u64::MAX);
        if word <= due { word } else { word.saturating_sub(cost).max(due) }
    }

    #[inline]
    fn available(&self, word: u64, now: Nanos) -> u64 {
        let level = word.saturating_sub(self.timeline.position(now));
        self.timeline.tokens_in(self.burst.saturating_sub(level))
    }

    fn reset_after(&self, word: u64, now: Nanos) -> Duration {
        if word <= self.timeline.position(now) {
            return Duration::ZERO;
        }
        self.timeline.hint(word, now).retry_after()
    }

    fn quota(&self) -> Quota {
        if self.timeline.is_free() {
            return Quota::UNLIMITED;
        }
        Quota::from_valid(self.timeline.tokens(), self.timeline.period(), self.max_cost())
    }

    #[inline]
    fn max_cost(&self) -> u64 {
        self.timeline.tokens_in(self.burst)
    }
}

impl Bucket for Gcra {
    fn holding(&self, tokens: u64, now: Nanos) -> u64 {
        let held = self.timeline.cost(tokens).unwrap_or(self.burst).min(self.burst);
        self.timeline.position(now) + (self.burst - held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_reading_mints_nothing() {
        let bucket = Gcra::new(Quota::per_second(10));
        let late = Nanos::from_secs(100);
        let word = bucket.acquire(Gcra::FRESH, 10, late).unwrap();
        for older in [Nanos::ZERO, Nanos::from_secs(50), Nanos::from_millis(99_999), late] {
            assert_eq!(bucket.available(word, older), 0);
            assert!(bucket.acquire(word, 1, older).is_err());
        }
    }

    #[test]
    fn refunds_stop_at_full() {
        let bucket = Gcra::new(Quota::per_second(10));
        let now = Nanos::from_secs(7);
        let word = bucket.acquire(Gcra::FRESH, 4, now).unwrap();
        assert_eq!(bucket.available(bucket.refund(word, 3, now), now), 9);
        assert_eq!(bucket.available(bucket.refund(word, u64::MAX, now), now), 10);
        assert_eq!(bucket.refund(Gcra::FRESH, 5, now), Gcra::FRESH);
    }
}
