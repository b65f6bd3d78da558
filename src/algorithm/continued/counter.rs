//! [`ContinuedCounter`]: a sliding window counter that goes on from where another was.

use super::divided;
use crate::algorithm::fields::Fields;
use crate::algorithm::sliding_counter::View;
use crate::algorithm::{Algorithm, SlidingCounter, sealed};
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::quota::Quota;
use core::time::Duration;

/// A [`SlidingCounter`] whose first window is on its way already, with more counted perhaps than it admits.
///
/// ```text
/// rules 1, 2  those of `SlidingCounter`, where `lead` nanoseconds of the first window had passed when time began
/// rule 3      the same, of counts and excess together: the excess over the limit of what the window before the first
///             counts, and of what the first does, in each for as long as that counts
/// ```
///
/// It takes 62 bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContinuedCounter {
    counter: SlidingCounter,
    /// What the window before the first owes beyond the limit, in tokens; and the first.
    previous: u64,
    current: u64,
    /// How much of the first window had passed, in nanoseconds.
    lead: u64,
}

/// The two windows as they stand: what is to be continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// What the window before the present one has counted, and the present one, in tokens.
    pub(crate) previous: u64,
    pub(crate) current: u64,
    /// How much of the present window has passed, in nanoseconds.
    pub(crate) elapsed: u64,
    /// How much later than now it begins, in nanoseconds: for a reading that is older than one seen.
    pub(crate) ahead: u64,
}

impl ContinuedCounter {
    /// Nothing counted yet, for `quota`, where `spare` bits of the word are another's; `None` if what is left does not last.
    pub(crate) const fn beside(quota: Quota, spare: u32) -> Option<Self> {
        match Fields::windows(quota, 0, spare) {
            Ok(fields) => Some(Self { counter: SlidingCounter(fields), previous: 0, current: 0, lead: 0 }),
            Err(_) => None,
        }
    }

    /// The same, from there on; and its word. Where no time passes, `period` is that of the windows that stand still.
    pub(crate) const fn standing(self, at: &Standing, period: u64) -> (Self, u64) {
        let fields = if self.is_free() || self.limit() > 0 { self.counter.0 } else { Fields::still(period) };
        let (before, previous) = divided(at.previous, self.limit());
        let (count, current) = divided(at.current, self.limit());
        let word = fields.join(fields.join(0, before), count);
        (Self { counter: SlidingCounter(fields), previous, current, lead: at.elapsed }, word)
    }

    /// The constants as words.
    pub(crate) const fn to_words(self) -> [u64; 7] {
        let [low, high, period, limit] = self.counter.0.to_words();
        [low, high, period, limit, self.previous, self.current, self.lead]
    }

    /// The constants that are these words.
    #[inline]
    pub(crate) const fn from_words([low, high, period, limit, previous, current, lead]: [u64; 7]) -> Self {
        Self { counter: SlidingCounter(Fields::from_words([low, high, period, limit])), previous, current, lead }
    }

    /// The most that a window admits; 0 where it counts nothing.
    pub(crate) const fn limit(&self) -> u64 {
        self.counter.0.limit()
    }

    /// Whether calls cost nothing.
    pub(crate) const fn is_free(&self) -> bool {
        self.counter.0.timeline.is_free()
    }

    /// How long a window lasts, in nanoseconds.
    pub(crate) const fn period(&self) -> u64 {
        self.counter.0.timeline.period()
    }

    /// How the windows stand at `now`.
    pub(crate) fn stand(&self, word: u64, now: Nanos) -> Standing {
        if self.limit() == 0 {
            // No time passes where nothing is admitted.
            return Standing { previous: self.previous, current: self.current, elapsed: self.lead, ahead: 0 };
        }
        let now = self.own(now);
        let View { previous, current, start, .. } = self.full(&self.counter.view(word, now));
        let (elapsed, ahead) = (now.0.saturating_sub(start.0), start.0.saturating_sub(now.0));
        Standing { previous, current, elapsed, ahead }
    }

    /// The word where all that a window admits is counted.
    pub(crate) const fn spent(&self, word: u64) -> u64 {
        self.counter.0.join(self.counter.0.split(word).0, self.limit())
    }

    /// `now` by the windows' own time.
    #[inline]
    const fn own(&self, now: Nanos) -> Nanos {
        Nanos(now.0.saturating_add(self.lead))
    }

    /// A view with the excess in its counts.
    #[inline]
    const fn full(&self, view: &View) -> View {
        let (previous, current) = match view.index {
            0 => (self.previous, self.current),
            1 => (self.current, 0),
            _ => (0, 0),
        };
        View { previous: view.previous + previous, current: view.current + current, ..*view }
    }

    /// What the present window lacks of the limit.
    #[inline]
    const fn free(&self, full: &View) -> u64 {
        self.limit().saturating_sub(full.current)
    }
}

impl sealed::Sealed for ContinuedCounter {}

impl Algorithm for ContinuedCounter {
    const NAME: &'static str = SlidingCounter::NAME;

    #[inline]
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        if self.counter.0.price(n)? == 0 {
            return Ok(word);
        }
        let own = self.own(now);
        let view = self.counter.view(word, own);
        let full = self.full(&view);
        if self.counter.admits(&full, self.free(&full), n) {
            Ok(self.counter.counting(&view, n))
        } else {
            Err(Denied::TryAfter(self.counter.hint(&full, n, own).earlier(self.lead)))
        }
    }

    #[inline]
    fn refund(&self, word: u64, n: u64, taken: Nanos) -> u64 {
        self.counter.refund(word, n, self.own(taken))
    }

    fn without(&self, word: u64, n: u64, after: u64) -> Option<u64> {
        self.counter.without(word, n, after)
    }

    fn available(&self, word: u64, now: Nanos) -> u64 {
        let full = self.full(&self.counter.view(word, self.own(now)));
        self.counter.available_of(&full, self.free(&full))
    }

    fn reset_after(&self, word: u64, now: Nanos) -> Duration {
        if self.limit() == 0 {
            return Duration::ZERO;
        }
        let own = self.own(now);
        self.counter.forgets_after(&self.full(&self.counter.view(word, own)), own)
    }

    fn quota(&self) -> Quota {
        match self.limit() {
            0 if !self.is_free() => Quota::DENY_ALL,
            _ => self.counter.quota(),
        }
    }

    #[inline]
    fn max_cost(&self) -> u64 {
        self.counter.max_cost()
    }

    /// No word alone tells what it stands for.
    fn carried(&self, _word: u64, _from: Nanos, _to: Nanos) -> Option<u64> {
        None
    }
}
