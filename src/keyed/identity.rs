//! [`Identity`]: what a key's hash says about where the key may live and how its slot is marked.

/// Lines in which a key may live.
pub(super) const CANDIDATES: usize = 3;

/// The fewest lines of a table, and the most.
pub(super) const FEWEST_LINES: usize = CANDIDATES;
pub(super) const MOST_LINES: usize = u32::MAX as usize;

/// Multipliers with no small pattern in their bits: the fractional parts of the golden ratio and of the square root of 2
/// and 3, made odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u32 = 0x6A09_E667;
const THIRD: u32 = 0xBB67_AE85;

/// The tag of a slot that is nobody's.
pub(super) const NOBODY: u32 = 0;

/// Spreads fingerprints over the horizons, otherwise than over the lines.
const STRIPES: u32 = 0x3C6E_F373;

/// A key as the table knows it: 30 bits of fingerprint, and its first line.
///
/// ```text
/// LAYOUT   | the upper bits choose the first line | fingerprint: bits 2 to 31 | 2 bits to spare |
/// ```
///
/// The other lines are those at two distances that depend on the fingerprint alone, and a slot's tag tells the
/// fingerprint and which of the key's lines this is. Two keys that are found under the same tag in the same line
/// therefore have the same first line, and all three lines, in common: to the table they are one key, wherever they
/// come from. They share a bucket, so they can be refused more, and never admitted more.
///
/// Among `n` live keys in `m` lines, about `n * n / (m * 2^31)` pairs do: one pair among a million keys and 400 000 lines
/// once in 860 tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64);

impl Identity {
    /// Any value, to fill an array with.
    pub(super) const NONE: Self = Self(0);

    /// The identity of a key of this hash.
    #[inline]
    pub(super) const fn new(hash: u64) -> Self {
        // The product spreads hashes of which only the lower bits differ, such as a number as is, over the upper bits; and
        // these go into the lower ones again, where hashes of which only the upper bits differ would all be alike. Either
        // step can be undone, so hashes that differ still do. The second is 4 of a call's 262 instructions.
        let product = hash.wrapping_mul(GOLDEN);
        Self(product ^ (product >> 32))
    }

    /// A key that has slots of `tag` in `line`, of `lines` lines. It need not have the same hash as the key that left them there, but
    /// all its lines and tags are the same. `None` if no key has.
    pub(super) const fn living_in(line: u32, tag: u32, lines: u32) -> Option<Self> {
        if line >= lines || tag.trailing_zeros() >= 2 {
            return None;
        }
        let fingerprint = Self((tag & !3) as u64);
        let distance = match tag & 3 {
            1 => 0,
            2 => fingerprint.second(lines),
            _ => fingerprint.third(lines),
        };
        let first = if line >= distance { line - distance } else { line + (lines - distance) };
        // The hashes of a first line are 2^32 or more in a row, so that one of them ends with the fingerprint.
        #[allow(clippy::cast_possible_truncation)] // less than 2^64
        let least = ((first as u128) << 64).div_ceil(lines as u128) as u64;
        Some(Self(least.wrapping_add((tag & !3).wrapping_sub(low(least)) as u64)))
    }

    /// The number of the key's line `candidate`, of 0 to 2, in a table of `lines` lines; the three are different.
    #[inline]
    pub(super) const fn line(self, candidate: usize, lines: u32) -> usize {
        let first = high(self.0, lines) as usize;
        let distance = match candidate {
            0 => return first,
            1 => self.second(lines),
            _ => self.third(lines),
        };
        let line = first + distance as usize;
        if line < lines as usize { line } else { line - lines as usize }
    }

    /// How far the second line is from the first: at least 1, less than `lines`.
    #[inline]
    const fn second(self, lines: u32) -> u32 {
        1 + within(self.fingerprint().wrapping_mul(SECOND), lines - 1)
    }

    /// How far the third line is from the first: neither 0 nor as far as the second.
    #[inline]
    const fn third(self, lines: u32) -> u32 {
        let third = 1 + within(self.fingerprint().wrapping_mul(THIRD), lines - 2);
        third + (third >= self.second(lines)) as u32
    }

    /// The fingerprint, in the upper 30 of 32 bits.
    #[inline]
    const fn fingerprint(self) -> u32 {
        low(self.0) & !3
    }

    /// The tag of the key's slots in its line `candidate`; never 0.
    #[inline]
    pub(super) const fn tag(self, candidate: usize) -> u32 {
        self.fingerprint() | (low(candidate as u64) + 1)
    }
}

/// Which of `count` horizons is that of the key of `tag`, in whichever of its lines.
#[inline]
pub(super) const fn stripe(tag: u32, count: u32) -> usize {
    within((tag & !3).wrapping_mul(STRIPES), count) as usize
}

/// A number evenly spread over all 64 bits, scaled to less than `limit`.
#[inline]
#[allow(clippy::cast_possible_truncation)] // less than `limit`
const fn high(number: u64, limit: u32) -> u32 {
    ((number as u128 * limit as u128) >> 64) as u32
}

/// A number evenly spread over all 32 bits, scaled to less than `limit` (D. Lemire, "Fast random integer generation in an
/// interval", 2019).
#[inline]
const fn within(number: u32, limit: u32) -> u32 {
    low((number as u64 * limit as u64) >> 32)
}

/// The lower 32 bits.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the point of it
const fn low(wide: u64) -> u32 {
    wide as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers as they are, numbers of which only the upper bits differ, and thoroughly mixed ones.
    fn hashes() -> impl Iterator<Item = u64> {
        (0..100_000_u64).flat_map(|i| [i, i << 40, i.wrapping_mul(0xD129_0FFA_5C6E_F0B5).rotate_left(29)])
    }

    #[test]
    fn the_lines_of_a_key_are_three() {
        for lines in [3, 4, 5, 1_000, 1_001, u32::MAX] {
            for key in hashes().step_by(7).map(Identity::new) {
                let [first, second, third] = [0, 1, 2].map(|candidate| key.line(candidate, lines));
                assert!(first != second && second != third && third != first, "{key:?} in {lines}");
                assert!([first, second, third].iter().all(|&line| line < lines as usize));
            }
        }
    }

    #[test]
    fn a_tag_and_its_line_tell_the_key() {
        // Keys that agree in the tag and in one line agree in all lines.
        let lines = 7;
        let mut first_lines = std::collections::HashMap::new();
        for key in hashes().map(Identity::new) {
            for candidate in 0..CANDIDATES {
                let place = (key.tag(candidate), key.line(candidate, lines));
                assert_eq!(*first_lines.entry(place).or_insert(key.line(0, lines)), key.line(0, lines));
                assert_ne!(key.tag(candidate), 0);
            }
        }
    }

    #[test]
    fn a_line_and_a_tag_tell_where_else_the_key_lives() {
        for lines in [3, 4, 1_000, 1_001, u32::MAX] {
            for key in hashes().step_by(11).map(Identity::new) {
                let lives = |key: Identity| [0, 1, 2].map(|candidate| (key.line(candidate, lines), key.tag(candidate)));
                for (line, tag) in lives(key) {
                    let found = Identity::living_in(u32::try_from(line).unwrap(), tag, lines).unwrap();
                    assert_eq!(lives(found), lives(key));
                }
            }
            assert_eq!(
                [(lines, 1), (0, 0), (0, 4)].map(|(line, tag)| Identity::living_in(line, tag, lines)),
                [None; 3]
            );
        }
    }

    /// As hashers do that only multiply, or that take a number as it is: what differs may be anywhere.
    #[test]
    fn hashes_that_differ_in_a_few_bits_are_keys_of_their_own() {
        for factor in [1, 0x9E37_79B9_7F4A_7C15, 0x517C_C1B7_2722_0A95, 0x0000_0001_0000_0001] {
            for shift in (0..=50).step_by(2) {
                let keys = (0..1_000_u64).map(|key| Identity::new((key << shift).wrapping_mul(factor)));
                let distinct: std::collections::HashSet<_> = keys.map(|key| (key.tag(0), key.line(0, 400))).collect();
                assert_eq!(distinct.len(), 1_000, "factor {factor:#x}, shift {shift}");
            }
        }
    }

    #[test]
    fn a_key_has_one_horizon_in_all_of_its_lines() {
        for key in hashes().step_by(97).map(Identity::new) {
            let stripes = [0, 1, 2].map(|candidate| stripe(key.tag(candidate), 40));
            assert!(stripes.iter().all(|&stripe| stripe == stripes[0] && stripe < 40));
        }
    }

    #[test]
    fn even_numbers_as_they_are_spread_over_the_lines() {
        for candidate in 0..CANDIDATES {
            let mut count = [0; 100];
            (0..100_000).for_each(|i| count[Identity::new(i).line(candidate, 100)] += 1);
            assert!(count.iter().all(|count| (700..1_300).contains(count)), "{count:?}");
        }
    }
}
