//! [`SeededState`]: a hasher that a process can have again.

use core::fmt;
use core::hash::{BuildHasher, Hasher};

/// SipHash-1-3 under a seed that is known: for keyed limiters whose tables are to outlive their process.
///
/// A table knows its keys by their hashes alone, so one that is [saved](crate::KeyedLimiter::save) is of use only to a limiter
/// with the same hasher *and* the same seed. `RandomState` has another seed in every process. Keep this one's secret: who knows
/// it can choose keys that share a bucket. The algorithm is part of the snapshot's format and will not change; it is the one
/// that `RandomState` used when this was written, and as fast.
///
/// # Examples
///
/// ```
/// use tollgate::{KeyedLimiter, Quota, SeededState};
///
/// let seed = 0x2545_F491_4F6C_DD1D_9E37_79B9_7F4A_7C15; // from where secrets are kept
/// let limiter = KeyedLimiter::<str, _>::with_hasher(Quota::per_second(5), 1_000, SeededState::new(seed));
/// assert!(limiter.try_acquire("alice").is_ok());
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SeededState {
    low: u64,
    high: u64,
}

impl SeededState {
    /// The hasher under this seed.
    #[allow(clippy::cast_possible_truncation)] // the two halves
    pub const fn new(seed: u128) -> Self {
        Self { low: seed as u64, high: (seed >> 64) as u64 }
    }
}

impl fmt::Debug for SeededState {
    /// Without the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeededState").finish_non_exhaustive()
    }
}

impl BuildHasher for SeededState {
    type Hasher = SeededHasher;

    #[inline]
    fn build_hasher(&self) -> SeededHasher {
        SeededHasher {
            sip: Sip {
                v0: self.low ^ 0x736f_6d65_7073_6575,
                v1: self.high ^ 0x646f_7261_6e64_6f6d,
                v2: self.low ^ 0x6c79_6765_6e65_7261,
                v3: self.high ^ 0x7465_6462_7974_6573,
            },
            tail: 0,
            length: 0,
        }
    }
}

/// A hash on its way (J.-P. Aumasson and D. J. Bernstein, "`SipHash`: a fast short-input PRF", 2012; with one round for each eight
/// bytes and three at the end).
#[derive(Clone, Debug)]
pub struct SeededHasher {
    sip: Sip,
    /// Bytes that are not eight yet, the first in the lowest bits.
    tail: u64,
    /// How many bytes there were.
    length: u64,
}

#[derive(Clone, Debug)]
struct Sip {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl Sip {
    #[inline]
    const fn round(&mut self) {
        self.v0 = self.v0.wrapping_add(self.v1);
        self.v2 = self.v2.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(13) ^ self.v0;
        self.v3 = self.v3.rotate_left(16) ^ self.v2;
        self.v0 = self.v0.rotate_left(32);
        self.v2 = self.v2.wrapping_add(self.v1);
        self.v0 = self.v0.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(17) ^ self.v2;
        self.v3 = self.v3.rotate_left(21) ^ self.v0;
        self.v2 = self.v2.rotate_left(32);
    }

    #[inline]
    const fn absorb(&mut self, word: u64) {
        self.v3 ^= word;
        self.round();
        self.v0 ^= word;
    }
}

impl SeededHasher {
    /// Takes the lowest `count` bytes of `word`, 1 to 8; the others are 0.
    #[inline]
    const fn take(&mut self, word: u64, count: u32) {
        #[allow(clippy::cast_possible_truncation)] // less than 8
        let held = 8 * (self.length as u32 % 8);
        self.length = self.length.wrapping_add(count as u64);
        self.tail |= word << held;
        if held + 8 * count >= 64 {
            self.sip.absorb(self.tail);
            self.tail = if held == 0 { 0 } else { word >> (64 - held) };
        }
    }
}

impl Hasher for SeededHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.take(u64::from_le_bytes(*word), 8);
        }
        if !rest.is_empty() {
            let word = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            #[allow(clippy::cast_possible_truncation)] // less than 8
            self.take(word, rest.len() as u32);
        }
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.take(byte.into(), 1);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.take(number.into(), 4);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.take(number, 8);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let mut sip = self.sip.clone();
        sip.absorb(self.length << 56 | self.tail);
        sip.v2 ^= 0xFF;
        sip.round();
        sip.round();
        sip.round();
        sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use core::hash::Hash;
    use proptest::prelude::*;
    use std::hash::DefaultHasher;
    use std::vec::Vec;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        /// The standard library's default hasher is SipHash-1-3 under the seed 0.
        #[test]
        fn it_is_the_hash_of_that_name(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..5)) {
            let (mut ours, mut theirs) = (SeededState::new(0).build_hasher(), DefaultHasher::new());
            for part in &parts {
                ours.write(part);
                theirs.write(part);
            }
            prop_assert_eq!(ours.finish(), theirs.finish());
        }
    }

    #[test]
    fn a_number_is_its_bytes_wherever_they_fall() {
        for before in 0..9_usize {
            let (mut whole, mut bytes) = (SeededState::new(7).build_hasher(), SeededState::new(7).build_hasher());
            for _ in 0..before {
                whole.write_u8(1);
                bytes.write(&[1]);
            }
            (0x0123_4567_89AB_CDEF_u64, 0x0102_0304_u32).hash(&mut whole);
            bytes.write(&0x0123_4567_89AB_CDEF_u64.to_le_bytes());
            bytes.write(&0x0102_0304_u32.to_le_bytes());
            assert_eq!(whole.finish(), bytes.finish());
        }
    }

    /// What snapshots depend on: these values may never change.
    #[test]
    fn every_bit_of_the_seed_counts_and_the_hashes_are_for_ever() {
        let hash = |seed| SeededState::new(seed).hash_one("alice");
        let mut hashes: Vec<_> = (0..128).map(|bit| hash(1 << bit)).chain([hash(0)]).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 129);
        assert_eq!(hash(0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100), 0x4F29_B71D_2EA7_086B);
    }
}
