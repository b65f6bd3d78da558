//! [`Word`]: a slot's word, and the steps that it can take. Pure; the protocol is in the module above.

/// A slot's word.
///
/// ```text
/// LAYOUT   | instant: 62 bits, nanoseconds | state: 2 bits |
/// ```
///
/// The state is in the lowest bits, in the order in which a slot goes through them, so that every step of the protocol
/// makes the number larger (rule 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word(pub(crate) u64);

/// What a slot is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody's.
    Vacant,
    /// Its owner is storing the tag.
    Claimed,
    /// It has a key, which may still turn out to live elsewhere.
    Tentative,
    /// Its key's bucket; the instant is when the key is full again.
    Open,
}

impl Word {
    /// The last instant that a word can hold: 146 years.
    pub(crate) const LAST: u64 = u64::MAX >> 2;

    pub(crate) const fn new(instant: u64, state: State) -> Self {
        Self(instant << 2 | state as u64)
    }

    #[inline]
    pub(crate) const fn instant(self) -> u64 {
        self.0 >> 2
    }

    #[inline]
    pub(crate) const fn state(self) -> State {
        match self.0 & 3 {
            0 => State::Vacant,
            1 => State::Claimed,
            2 => State::Tentative,
            _ => State::Open,
        }
    }

    #[inline]
    pub(crate) const fn is_open(self) -> bool {
        matches!(self.state(), State::Open)
    }

    #[inline]
    pub(crate) const fn is_tentative(self) -> bool {
        matches!(self.state(), State::Tentative)
    }

    /// Whether a newcomer may claim the slot at `now`: it is vacant, or its key has recovered.
    #[inline]
    pub(crate) const fn is_free(self, now: u64) -> bool {
        match self.state() {
            State::Vacant => true,
            State::Open => self.instant() <= now,
            State::Claimed | State::Tentative => false,
        }
    }

    /// For how long the slot has been free at `now`, and 1 ns more; `None` if it is not. A vacant slot: since ever.
    pub(crate) const fn rested(self, now: u64) -> Option<u64> {
        let since = if self.is_open() { self.instant() } else { 0 };
        if self.is_free(now) { Some(now - since + 1) } else { None }
    }

    /// Rule 3: `Open(p)` is full again at `instant`, which is later than `p`.
    #[inline]
    pub(crate) const fn charged(self, instant: u64) -> Self {
        debug_assert!(self.is_open() && instant > self.instant());
        Self::new(instant, State::Open)
    }

    /// Rule 4: a slot that is free has an owner.
    pub(crate) const fn claimed(self) -> Self {
        debug_assert!(matches!(self.state(), State::Vacant | State::Open));
        Self::new(self.instant() + self.is_open() as u64, State::Claimed)
    }

    /// Rule 5: the tag of `Claimed(p)` is stored.
    pub(crate) const fn tagged(self) -> Self {
        debug_assert!(matches!(self.state(), State::Claimed));
        Self::new(self.instant(), State::Tentative)
    }

    /// Rule 7: `Tentative(p)` is open, and full again at `instant`.
    pub(crate) const fn committed(self, instant: u64) -> Self {
        debug_assert!(self.is_tentative());
        Self::new(if instant > self.instant() { instant } else { self.instant() }, State::Open)
    }

    /// Rule 8: `Tentative(p)` or `Open(p)` is nobody's again.
    pub(crate) const fn vacated(self) -> Self {
        debug_assert!(matches!(self.state(), State::Tentative | State::Open));
        Self::new(self.instant() + 1, State::Vacant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_apart_as_they_were_put_together() {
        for state in [State::Vacant, State::Claimed, State::Tentative, State::Open] {
            for instant in [0, 1, 77, Word::LAST] {
                let word = Word::new(instant, state);
                assert_eq!((word.instant(), word.state()), (instant, state));
            }
        }
        assert_eq!(Word(0), Word::new(0, State::Vacant));
    }

    #[test]
    fn every_step_makes_the_word_larger() {
        for p in [0, 1, 1 << 40] {
            let vacant = Word::new(p, State::Vacant);
            let open = Word::new(p, State::Open);
            for claimed in [vacant.claimed(), open.claimed()] {
                let tentative = claimed.tagged();
                assert!(claimed > vacant && tentative > claimed);
                assert!(tentative.committed(0) > tentative && tentative.committed(p + 9) > tentative);
                assert!(tentative.vacated() > tentative);
            }
            assert!(open.claimed() > open && open.charged(p + 1) > open && open.vacated() > open);
        }
    }

    #[test]
    fn a_slot_is_free_from_the_very_instant_at_which_its_key_has_recovered() {
        let open = Word::new(100, State::Open);
        assert!(!open.is_free(99) && open.is_free(100));
        assert!(Word::new(100, State::Vacant).is_free(0));
        assert_eq!([99, 100, 101].map(|now| open.rested(now)), [None, Some(1), Some(2)]);
        assert_eq!(Word::new(100, State::Vacant).rested(7), Some(8));
        assert!(!Word::new(1, State::Claimed).is_free(100) && !Word::new(1, State::Tentative).is_free(100));
    }
}
