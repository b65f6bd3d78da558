//! [`ContinuedWindow`]: a fixed window counter that takes over what another has counted.

use super::divided;
use crate::algorithm::fields::Fields;
use crate::algorithm::{Algorithm, Window, sealed};
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::quota::Quota;
use core::time::Duration;

/// A [`Window`] that may begin with more counted than it admits: what an earlier window with a larger limit has counted.
///
/// ```text
/// rules 1, 2  those of `Window`, of instants since the first window began
/// rule 3      admit n iff count + excess <= limit - n, where the excess counts in the first window alone; then count += n
/// rule 4      what was taken before `since`, the first window has not counted: it is not given back to it
/// ```
///
/// What is counted is tokens, whatever the rate. It takes 62 bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContinuedWindow {
    window: Window,
    /// What the first window owes beyond its limit, in tokens.
    excess: u64,
    /// From which instant on the first window has counted, in nanoseconds since it began.
    since: u64,
}

impl ContinuedWindow {
    /// Nothing counted yet, for `quota`, where `spare` bits of the word are another's; `None` if what is left does not last.
    pub(crate) const fn beside(quota: Quota, spare: u32) -> Option<Self> {
        match Fields::windows(quota, 0, spare) {
            Ok(fields) => Some(Self { window: Window(fields), excess: 0, since: 0 }),
            Err(_) => None,
        }
    }

    /// The same, where the first window owes `owed` tokens, what was counted from `since` on among them; and its word.
    pub(crate) const fn owing(self, owed: u64, since: u64) -> (Self, u64) {
        let (count, excess) = divided(owed, self.limit());
        (Self { excess, since, ..self }, self.window.0.join(0, count))
    }

    /// The constants as words.
    pub(crate) const fn to_words(self) -> [u64; 7] {
        let [low, high, period, limit] = self.window.0.to_words();
        [low, high, period, limit, self.excess, self.since, 0]
    }

    /// The constants that are these words.
    #[inline]
    pub(crate) const fn from_words([low, high, period, limit, excess, since, _]: [u64; 7]) -> Self {
        Self { window: Window(Fields::from_words([low, high, period, limit])), excess, since }
    }

    /// The most that a window admits; 0 where it counts nothing.
    pub(crate) const fn limit(&self) -> u64 {
        self.window.0.limit()
    }

    /// Whether calls cost nothing.
    pub(crate) const fn is_free(&self) -> bool {
        self.window.0.timeline.is_free()
    }

    /// How long a window lasts, in nanoseconds; 0 for ever.
    pub(crate) const fn period(&self) -> u64 {
        self.window.0.timeline.period()
    }

    /// When the stored window began; what it owes; and from which instant on it has counted. If it is past at `now`, the window
    /// that `now` is in, which owes nothing.
    pub(crate) fn owed(&self, word: u64, now: Nanos) -> (u64, u64, u64) {
        let (index, count) = self.window.current(word, now);
        let begun = index * self.period();
        let since = if index == 0 { self.since } else { begun };
        (begun, count + self.excess(index), since)
    }

    /// The word where all that a window admits is counted.
    pub(crate) const fn spent(&self, word: u64) -> u64 {
        self.window.0.join(self.window.0.split(word).0, self.limit())
    }

    #[inline]
    const fn excess(&self, index: u64) -> u64 {
        if index == 0 { self.excess } else { 0 }
    }

    /// What the window `index` still admits.
    #[inline]
    const fn free(&self, index: u64, count: u64) -> u64 {
        self.limit().saturating_sub(count + self.excess(index))
    }
}

impl sealed::Sealed for ContinuedWindow {}

impl Algorithm for ContinuedWindow {
    const NAME: &'static str = Window::NAME;

    #[inline]
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        let cost = self.window.0.price(n)?;
        if cost == 0 {
            return Ok(word);
        }
        let (index, count) = self.window.current(word, now);
        self.window.take((index, count), self.free(index, count), cost, now)
    }

    #[inline]
    fn refund(&self, word: u64, n: u64, taken: Nanos) -> u64 {
        if taken.0 < self.since { word } else { self.window.refund(word, n, taken) }
    }

    fn without(&self, word: u64, n: u64, after: u64) -> Option<u64> {
        self.window.without(word, n, after)
    }

    #[inline]
    fn available(&self, word: u64, now: Nanos) -> u64 {
        let (index, count) = self.window.current(word, now);
        self.window.0.tokens_in(self.free(index, count))
    }

    fn reset_after(&self, word: u64, now: Nanos) -> Duration {
        let (index, count) = self.window.current(word, now);
        if self.limit() == 0 || count + self.excess(index) == 0 {
            return Duration::ZERO;
        }
        self.window.next_window(index, now).retry_after()
    }

    fn quota(&self) -> Quota {
        self.window.quota()
    }

    #[inline]
    fn max_cost(&self) -> u64 {
        self.window.max_cost()
    }

    /// No word alone tells what it stands for.
    fn carried(&self, _word: u64, _from: Nanos, _to: Nanos) -> Option<u64> {
        None
    }
}
