//! [`Gcra`]: token bucket and leaky bucket in one word.

use super::{Algorithm, sealed};
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
/// `V = 0` means that the bucket has always been full, so a fresh one needs no reading of the clock. An older `now` only lowers
/// `E`: a stale or backward clock can refuse a call, never mint a token.
///
/// Bound: for any two readings `s <= t`, at most `burst + rate * (t - s)` tokens are admitted with readings in
/// `[s, t]`, plus at most one unit, since an idle bucket is clamped on a whole unit. A unit is a part of a token, under
/// half a nanosecond's worth, at rates below two tokens per nanosecond. From there up it is a whole token or more.
///
/// # Units of many tokens
///
/// A 64-bit word cannot count single tokens for a century where more than four fall due in a nanosecond (4e9 per second).
/// There a unit is `2^k` tokens, as few as last: 4 at 12.5e9 per second, 16 at 50e9, 1024 at 2.2e12, 4096 at 1e13; it takes
/// between a quarter and a whole nanosecond. Costs are rounded up to whole units, and what is there or is given back is
/// rounded down, always against the caller: a call for fewer tokens than a unit has costs a unit, and where the burst is
/// no multiple of a unit, each call also pays for the part of a unit that it lacks. A call for the whole burst gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gcra {
    timeline: Timeline,
    /// The burst, in units.
    burst: u64,
}

/// Positions that follow one another: tokens that belong to somebody, or to nobody for the time being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The first position.
    pub(crate) start: u64,
    /// How many, in units.
    pub(crate) len: u64,
}

impl Stretch {
    /// The position after the last.
    pub(crate) const fn end(self) -> u64 {
        // A torn reading of a slot may be any two numbers.
        self.start.saturating_add(self.len)
    }
}

/// Whether tokens that somebody wants can be taken from a [`Stretch`] that is nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// From this position on.
    At(u64),
    /// Only later than the last instant that would do; the hint counts from that.
    Later(Hint),
    /// The stretch is too short, or what is left of it.
    Never,
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
        Self::on(timeline, quota.burst())
    }

    const fn on(timeline: Timeline, burst: u64) -> Self {
        match timeline.cost(burst) {
            Some(burst) => Self { timeline, burst },
            None => unreachable!(), // it has room for the burst
        }
    }

    /// The algorithm for `quota` where `spare` bits of the word are another's; `None` if what is left does not last.
    pub(crate) const fn beside(quota: Quota, spare: u32) -> Option<Self> {
        if quota.period_nanos() == 0 {
            return Some(Self::new(quota));
        }
        match Timeline::finest_beside(quota.tokens(), quota.period_nanos(), quota.burst(), spare) {
            Some(timeline) => Some(Self::on(timeline, quota.burst())),
            None => None,
        }
    }

    /// Has always been full.
    pub(crate) const FRESH: u64 = 0;

    /// How many whole tokens a unit has: 0 where it is a part of one.
    pub(crate) const fn whole_tokens_in_a_unit(&self) -> u64 {
        self.timeline.whole_tokens_in_a_unit()
    }

    /// How many words the constants are.
    pub(crate) const WORDS: usize = Timeline::WORDS + 1;

    /// The constants as words.
    pub(crate) const fn to_words(self) -> [u64; Self::WORDS] {
        let [low, high, tokens, period, unit, grain] = self.timeline.to_words();
        [low, high, tokens, period, unit, grain, self.burst]
    }

    /// The constants that are these words.
    pub(crate) const fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [low, high, tokens, period, unit, grain, burst] = words;
        Self { timeline: Timeline::from_words([low, high, tokens, period, unit, grain]), burst }
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

    /// The word after `n` tokens were reserved at `now`, to be spent by `last`, which is not before `now`: the step of
    /// [`Algorithm::acquire`] with a later instant's cap. The tokens are those just below the new word.
    ///
    /// A refusal is a [`Denied::TryAfter`] whose hint counts from `last`: its `due()` is when the tokens would have been
    /// due, and after its `retry_after()` the same call, as patient as before, is admitted.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as for `acquire`
    pub(crate) fn reserve(&self, word: u64, n: u64, now: Nanos, last: Nanos) -> Result<u64, Denied> {
        // `price` written out, as in `acquire`.
        let Some(cost) = self.timeline.cost(n) else { return Err(self.exceeds(n)) };
        let Some(slack) = self.burst.checked_sub(cost) else { return Err(self.exceeds(n)) };
        if cost == 0 {
            return Ok(word);
        }
        // At most E(last) + burst, which the timeline keeps within 64 bits.
        if word <= self.timeline.position(last) + slack {
            Ok(word.max(self.timeline.position(now)) + cost)
        } else {
            Err(Denied::TryAfter(self.timeline.hint(word - slack, last)))
        }
    }

    /// Where in `stretch`, which is nobody's, `n` tokens may be spent: at `now` if they can, else as soon after it as they
    /// are due, if that is by `last`. The first position of them; none for a cost of nothing.
    pub(crate) fn fit(&self, stretch: Stretch, n: u64, now: Nanos, last: Nanos) -> Fit {
        let Ok((cost @ 1.., slack)) = self.price(n) else { return Fit::Never };
        let start = self.start_in(stretch, now);
        if start.saturating_add(cost) > stretch.end() {
            Fit::Never
        } else if start <= self.timeline.position(last) + slack {
            Fit::At(start)
        } else {
            Fit::Later(self.timeline.hint(start - slack, last))
        }
    }

    /// The first position of `stretch` that may be spent at `now` or later; it may lie beyond the end.
    ///
    /// What lies below `E(now)` has dropped out of the bucket: unless that happened in the nanosecond that ends at `now`,
    /// for the instants of tokens are fractions. The whole burst is due at one instant alone, and if that would not do, no
    /// whole nanosecond would.
    fn start_in(&self, stretch: Stretch, now: Nanos) -> u64 {
        let position = self.timeline.position(now);
        // Where the position is above the start, it is above 0, and so is the instant.
        if stretch.start >= position || stretch.start > self.timeline.position(Nanos(now.0 - 1)) {
            stretch.start
        } else {
            position
        }
    }

    /// Whether nothing in `stretch` can be spent at `now` or later. That is so of no length at all.
    pub(crate) fn is_expired(&self, stretch: Stretch, now: Nanos) -> bool {
        self.start_in(stretch, now) >= stretch.end()
    }

    /// Whole tokens of `stretch` that one call can take at `now`.
    pub(crate) fn available_in(&self, stretch: Stretch, now: Nanos) -> u64 {
        let end = stretch.end().min(self.timeline.position(now) + self.burst);
        self.timeline.tokens_in(end.saturating_sub(self.start_in(stretch, now)))
    }

    /// Whole tokens of `stretch` that can be spent at `now` or later.
    pub(crate) fn left_in(&self, stretch: Stretch, now: Nanos) -> u64 {
        self.timeline.tokens_in(stretch.end().saturating_sub(self.start_in(stretch, now)))
    }

    /// The first instant, `now` or later, at which what lies below the position `end` may be spent.
    pub(crate) fn due(&self, end: u64, now: Nanos) -> Nanos {
        match end.checked_sub(self.burst) {
            Some(position) if position > self.timeline.position(now) => self.timeline.instant(position),
            _ => now,
        }
    }

    /// What `n` tokens cost, in units, and how much of the burst that leaves.
    #[inline]
    pub(crate) fn price(&self, n: u64) -> Result<(u64, u64), Denied> {
        let Some(cost) = self.timeline.cost(n) else { return Err(self.exceeds(n)) };
        let Some(slack) = self.burst.checked_sub(cost) else { return Err(self.exceeds(n)) };
        Ok((cost, slack))
    }

    #[cold]
    const fn exceeds(&self, n: u64) -> Denied {
        Denied::ExceedsBurst { cost: n, max_cost: self.most() }
    }

    /// The most that one call can cost, out of line.
    #[cold]
    const fn most(&self) -> u64 {
        self.timeline.tokens_in(self.burst)
    }
}

impl sealed::Sealed for Gcra {}

impl Algorithm for Gcra {
    const NAME: &'static str = "TokenBucket";

    // What a refusal says need not reach memory where nobody reads it, and left to itself the compiler calls this.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        // `price` written out: through its pair of numbers a call takes six instructions more. So is `exceeds`: what a cold
        // function returns in memory would have a place there kept for it in every call.
        let exceeds = || Denied::ExceedsBurst { cost: n, max_cost: self.most() };
        let Some(cost) = self.timeline.cost(n) else { return Err(exceeds()) };
        let Some(slack) = self.burst.checked_sub(cost) else { return Err(exceeds()) };
        if cost == 0 {
            return Ok(word);
        }
        let due = self.timeline.position(now);
        // Twice compared, and no maximum taken: branches are guessed, so that the write to a full bucket waits for the reading
        // alone, and that to any other not even for that.
        if word <= due {
            return Ok(due + cost);
        }
        // At most E(now) + burst, which the timeline keeps within 64 bits.
        if word <= due + slack {
            Ok(word + cost)
        } else {
            // The word is above the slack: the subtraction cannot wrap.
            Err(Denied::TryAfter(self.timeline.hint(word - slack, now)))
        }
    }

    #[inline]
    fn refund(&self, word: u64, n: u64, now: Nanos) -> u64 {
        let due = self.timeline.position(now);
        if word <= due { word } else { word.saturating_sub(self.timeline.given_back(n)).max(due) }
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

    fn carried(&self, word: u64, from: Nanos, to: Nanos) -> Option<u64> {
        if self.timeline.is_free() || self.burst == 0 {
            return Some(Self::FRESH); // no call has ever changed it
        }
        self.timeline.carried(word, from, to)
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
