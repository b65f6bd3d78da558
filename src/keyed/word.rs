//! [`Word`]: a slot's word, and the steps that it can take. Pure; the protocol is in the module above.

/// A slot's word.
///
/// ```text
/// LAYOUT   | instant: 62 bits, nanoseconds | state: 2 bits |
/// ```
///
/// The state is in the lowest bits, in an order in which every step of the protocol but a lowering makes the number
/// larger (rule 1). A claimed word is out of that order: only its owner changes it.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word(pub u64);

/// What a slot is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The bucket of the tag's key, if there is a tag; the instant is when the key is full again.
    Open,
    /// The same, after the key was given tokens back.
    Lowered,
    /// It has a key, which may still turn out to live elsewhere.
    Tentative,
    /// Its owner is storing the tag.
    Claimed,
}

impl Word {
    /// The last instant that a word can hold: 146 years.
    pub const LAST: u64 = u64::MAX >> 2;

    /// How far the version of a slot without a key may be ahead of who claims it: 66 us.
    const AHEAD: u64 = 1 << 16;

    /// A word of this instant, at most [`LAST`](Self::LAST), and this state.
    pub const fn new(instant: u64, state: State) -> Self {
        Self(instant << 2 | state as u64)
    }

    /// Its instant, in nanoseconds.
    #[inline]
    pub const fn instant(self) -> u64 {
        self.0 >> 2
    }

    /// Its state.
    #[inline]
    pub const fn state(self) -> State {
        match self.0 & 3 {
            0 => State::Open,
            1 => State::Lowered,
            2 => State::Tentative,
            _ => State::Claimed,
        }
    }

    /// Whether it is the bucket of a key that was given tokens back.
    #[inline]
    pub const fn is_lowered(self) -> bool {
        matches!(self.state(), State::Lowered)
    }

    /// Whether it has a key which may still turn out to live elsewhere.
    #[inline]
    pub const fn is_tentative(self) -> bool {
        matches!(self.state(), State::Tentative)
    }

    /// Whether the word is a bucket: of the tag's key, or nobody's.
    #[inline]
    pub const fn is_bucket(self) -> bool {
        self.0 & 2 == 0
    }

    /// When the slot of a key may go to another (rule 4): once the key has recovered, and, where its word was ever
    /// lowered, `hold` later; `None` while it is in somebody's hands.
    #[inline]
    pub const fn free_from(self, hold: u64) -> Option<u64> {
        match self.state() {
            State::Open => Some(self.instant()),
            State::Lowered => Some(self.instant() + hold),
            State::Tentative | State::Claimed => None,
        }
    }

    /// When a slot without a key may be claimed (rule 4): at once, unless its version is far ahead, for who opens it starts
    /// no earlier. Each time that it is given up again costs a nanosecond.
    #[inline]
    pub const fn vacant_from(self) -> Option<u64> {
        match self.state() {
            State::Open => Some(self.instant().saturating_sub(Self::AHEAD)),
            State::Lowered | State::Tentative | State::Claimed => None,
        }
    }

    /// Rule 3: a bucket is full again at `instant`, which is later than before.
    #[inline]
    pub const fn charged(self, instant: u64) -> Self {
        debug_assert!(self.is_bucket() && instant > self.instant());
        Self(instant << 2 | self.0 & 3)
    }

    /// Rule 4: a slot has an owner. `hold` as for [`free_from`](Self::free_from).
    pub const fn claimed(self, hold: u64) -> Self {
        let longer = if self.is_lowered() { hold } else { 0 };
        Self::new(self.instant() + longer, State::Claimed)
    }

    /// Rule 5: the tag of `Claimed(p)` is stored.
    pub const fn tagged(self) -> Self {
        debug_assert!(matches!(self.state(), State::Claimed));
        Self::new(self.instant(), State::Tentative)
    }

    /// Rule 7: `Tentative(p)` is open, and full again at `instant`.
    pub const fn committed(self, instant: u64) -> Self {
        debug_assert!(self.is_tentative());
        Self::new(if instant > self.instant() { instant } else { self.instant() + 1 }, State::Open)
    }

    /// Rule 8: `Claimed(p)` has no tag, and is nobody's.
    pub const fn vacated(self) -> Self {
        debug_assert!(matches!(self.state(), State::Claimed));
        Self::new(self.instant() + 1, State::Open)
    }

    /// Rule 9: the debt of a bucket is cut; it is full again at `instant`, which is earlier than before.
    pub const fn lowered(self, instant: u64) -> Self {
        debug_assert!(self.is_bucket() && instant < self.instant());
        Self::new(instant, State::Lowered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: u64 = 1_000;

    #[test]
    fn words_come_apart_as_they_were_put_together() {
        for state in [State::Open, State::Lowered, State::Tentative, State::Claimed] {
            for instant in [0, 1, 77, Word::LAST] {
                let word = Word::new(instant, state);
                assert_eq!((word.instant(), word.state()), (instant, state));
            }
        }
        assert_eq!(Word(0), Word::new(0, State::Open));
    }

    #[test]
    fn every_step_but_a_lowering_makes_the_word_larger() {
        for p in [0, 1, 1 << 40] {
            let (open, lowered) = (Word::new(p, State::Open), Word::new(p, State::Lowered));
            assert!(open.charged(p + 1) > open && lowered.charged(p + 1) > lowered);
            assert!(lowered.charged(p + 1).is_lowered());
            for (bucket, highest) in [(open, open), (lowered, Word::new(p + HOLD, State::Lowered))] {
                let tentative = bucket.claimed(HOLD).tagged();
                assert!(tentative > highest);
                assert!(tentative.committed(0) > tentative && tentative.committed(p + HOLD + 9) > tentative);
                assert!(tentative.claimed(HOLD).vacated() > tentative);
            }
        }
        assert!(Word::new(9, State::Open).lowered(8) < Word::new(9, State::Open));
    }

    #[test]
    fn a_slot_is_free_from_the_very_instant_at_which_its_key_has_recovered() {
        assert_eq!(Word::new(100, State::Open).free_from(HOLD), Some(100));
        assert_eq!(Word::new(100, State::Lowered).free_from(HOLD), Some(100 + HOLD));
        assert_eq!(Word::new(100, State::Open).vacant_from(), Some(0));
        for state in [State::Claimed, State::Tentative] {
            let word = Word::new(1, state);
            assert_eq!((word.free_from(HOLD), word.vacant_from()), (None, None));
        }
    }

    /// A slot that nobody has, claimed and given up again and again at one instant, is left alone before long.
    #[test]
    fn a_version_that_is_far_ahead_is_not_free() {
        let now = Word::LAST - 2 * Word::AHEAD;
        let mut word = Word::new(now - 9, State::Open);
        while word.vacant_from().is_some_and(|from| from <= now) {
            let next = word.claimed(HOLD).tagged().claimed(HOLD).vacated();
            assert!(next > word);
            word = next;
        }
        assert_eq!(word.instant(), now + Word::AHEAD + 1);
    }
}
