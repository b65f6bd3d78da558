//! [`Word`]: what a slot holds, and the pure steps over it.

/// A slot's word: a count of credits, and whether somebody is refilling it.
///
/// ```text
/// LAYOUT   | count: 63 bits, signed | REFILL: 1 bit |
/// ```
///
/// The count goes below zero when several threads take one credit each at once and there are fewer: nobody undoes that, a
/// negative count reads as none, and the next deposit starts from zero (rules 1 and 2 of `sharded`).
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub u64);

impl Word {
    /// No credits, and nobody refills.
    pub const EMPTY: Self = Self(0);

    /// The lowest bit: whoever set it alone may add credits (rule 3).
    const REFILL: u64 = 1;

    /// What one credit adds to the word. Subtracting it without looking is rule 1.
    pub const ONE: u64 = 2;

    /// Credits that can be spent.
    #[inline]
    pub const fn credits(self) -> u64 {
        let count = self.0.cast_signed() >> 1;
        if count > 0 { count.cast_unsigned() } else { 0 }
    }

    /// Whether somebody is refilling the slot.
    #[inline]
    pub const fn is_refilling(self) -> bool {
        self.0 & Self::REFILL != 0
    }

    /// With `n` credits fewer, if there are that many (rules 1 and 4).
    #[inline]
    pub const fn take(self, n: u64) -> Option<Self> {
        if n <= self.credits() { Some(Self(self.0 - n * Self::ONE)) } else { None }
    }

    /// With the REFILL bit set, unless it is (rule 2a).
    #[inline]
    pub const fn begin(self) -> Option<Self> {
        if self.is_refilling() { None } else { Some(Self(self.0 | Self::REFILL)) }
    }

    /// With the REFILL bit set and no credits, unless somebody refills: a handle takes them all (rule 7).
    #[inline]
    pub const fn claim(self) -> Option<Self> {
        if self.is_refilling() { None } else { Some(Self(Self::REFILL)) }
    }

    /// With `deposit` credits more and the REFILL bit cleared (rule 2d).
    #[inline]
    pub const fn finish(self, deposit: u64) -> Self {
        Self((self.credits() + deposit) * Self::ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_count_reads_as_none_and_is_not_paid_back() {
        let overdrawn = Word(Word::EMPTY.finish(1).0.wrapping_sub(3 * Word::ONE));
        assert_eq!(overdrawn.credits(), 0);
        assert_eq!(overdrawn.take(1), None);
        let refilling = overdrawn.begin().unwrap();
        assert!(refilling.is_refilling() && refilling.credits() == 0);
        assert_eq!(refilling.finish(5), Word::EMPTY.finish(5));
    }

    #[test]
    fn spending_goes_on_under_the_bit() {
        let word = Word::EMPTY.finish(7).begin().unwrap();
        assert_eq!(word.begin(), None);
        assert_eq!(word.claim(), None);
        let word = word.take(5).unwrap();
        assert!(word.is_refilling());
        assert_eq!(word.credits(), 2);
        assert_eq!(word.finish(3), Word::EMPTY.finish(5));
    }

    #[test]
    fn a_claim_takes_all() {
        let claimed = Word::EMPTY.finish(7).claim().unwrap();
        assert!(claimed.is_refilling() && claimed.credits() == 0);
    }
}
