//! [`Grain`]: how tokens are counted where a unit is more than one.

/// Units of `2^bits` tokens: for rates at which single tokens cannot be counted for as long as a limiter must last.
///
/// Costs are rounded up to whole units, what is given back is rounded down, and so is what is there. Where the most that
/// there can be is no whole number of units, the last unit counts in full, and `waste` is the part of it that there is
/// not. Every call pays for that part too, so that units never hold more tokens than they should:
///
/// ```text
/// units = ceil(most / 2^bits)        waste = units * 2^bits - most
/// cost(n) = ceil((n + waste) / 2^bits), and 0 for nothing
///
/// whatever the calls, all of u units give at most u * 2^bits - waste tokens
/// ```
///
/// A call that takes all there can be costs exactly all units. With no bits everything counts as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grain {
    bits: u32,
    waste: u32,
}

impl Grain {
    /// The most tokens that a unit can have are `2^COARSEST`.
    pub(crate) const COARSEST: u32 = 31;

    /// A unit is a token.
    pub(crate) const SINGLE: Self = Self { bits: 0, waste: 0 };

    /// Units of `2^bits` tokens, at most [`COARSEST`](Self::COARSEST) bits, where there can be `most` tokens.
    #[allow(clippy::cast_possible_truncation)] // less than 2^31
    pub(crate) const fn new(bits: u32, most: u64) -> Self {
        Self { bits, waste: (most.wrapping_neg() & ((1 << bits) - 1)) as u32 }
    }

    /// As a word, for whoever keeps it in an atomic.
    pub(crate) const fn to_word(self) -> u64 {
        (self.bits as u64) << 32 | self.waste as u64
    }

    /// The grain that is this word.
    #[allow(clippy::cast_possible_truncation)] // the two halves
    pub(crate) const fn from_word(word: u64) -> Self {
        Self { bits: (word >> 32) as u32, waste: word as u32 }
    }

    /// How many bits of a number of tokens are less than a unit.
    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        self.bits
    }

    /// Whether a unit is a token.
    #[inline]
    pub(crate) const fn is_single(self) -> bool {
        self.bits == 0
    }

    /// Whole units that `n` tokens cost.
    #[inline]
    pub(crate) const fn cost(self, n: u64) -> u64 {
        // A shift, not a division, which a processor has none of for 128 bits.
        if n == 0 || self.bits == 0 {
            return n;
        }
        low((n as u128 + self.waste as u128 + ((1 << self.bits) - 1)) >> self.bits)
    }

    /// Whole tokens that `units` pay for; as many as can be written if there are more.
    #[inline]
    pub(crate) const fn tokens_in(self, units: u64) -> u64 {
        if self.bits == 0 {
            return units;
        }
        let tokens = ((units as u128) << self.bits).saturating_sub(self.waste as u128);
        if tokens < u64::MAX as u128 { low(tokens) } else { u64::MAX }
    }

    /// How many tokens `units` whole units are.
    pub(crate) const fn whole(self, units: u64) -> u64 {
        let tokens = (units as u128) << self.bits;
        if tokens < u64::MAX as u128 { low(tokens) } else { u64::MAX }
    }

    /// Whole units in `n` tokens that are given back: never more than those tokens have cost.
    #[inline]
    pub(crate) const fn given_back(self, n: u64) -> u64 {
        n >> self.bits
    }
}

/// The lower 64 bits.
#[allow(clippy::cast_possible_truncation)] // the point of it
const fn low(wide: u128) -> u64 {
    wide as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5_000) })]

        /// By counting: whatever is taken in whatever order, all units together never give more than there can be, and a
        /// call for all of it gets it.
        #[test]
        fn units_hold_no_more_than_there_can_be(
            bits in 0..6_u32, most in 1..2_000_u64, costs in prop::collection::vec(1..300_u64, 1..60),
        ) {
            let grain = Grain::new(bits, most);
            let units = most.div_ceil(1 << bits);
            prop_assert_eq!((grain.cost(most), grain.tokens_in(units)), (units, most));
            prop_assert!(grain.cost(most + 1) > units);
            let (mut left, mut taken) = (units, 0);
            for n in costs.into_iter().filter(|&n| n <= most) {
                if let Some(rest) = left.checked_sub(grain.cost(n)) {
                    (left, taken) = (rest, taken + n);
                }
            }
            prop_assert!(taken <= most, "{} of {}", taken, most);
        }

        /// What a number of units pays for is the most that costs no more; and parts given back are never more than was paid.
        #[test]
        fn what_is_there_can_be_taken_and_no_more(bits in 0..=Grain::COARSEST, most: u64, units: u64, shift in 0..64_u32) {
            let (most, units) = ((most >> shift).max(1), units >> shift);
            let grain = Grain::new(bits, most);
            let tokens = grain.tokens_in(units);
            prop_assert!(grain.cost(tokens) <= units);
            prop_assert!(tokens == u64::MAX || grain.cost(tokens + 1) > units);
            let (one, other) = (tokens / 3, tokens - tokens / 3);
            prop_assert!(grain.given_back(one) + grain.given_back(other) <= grain.cost(tokens));
        }
    }

    #[test]
    fn single_tokens_count_as_they_are() {
        for n in [0, 1, 7, u64::MAX] {
            let grain = Grain::new(0, n);
            assert_eq!(grain, Grain::SINGLE);
            assert_eq!([grain.cost(n), grain.tokens_in(n), grain.given_back(n)], [n; 3]);
        }
    }
}
