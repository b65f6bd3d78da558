//! [`Checksum`]: CRC-64/XZ, which finds every error of up to 64 bits in a row.

/// The polynomial of ECMA-182, its lowest power first.
const POLYNOMIAL: u64 = 0xC96C_5795_D787_0F42;

/// What eight zeros do to a remainder that is one byte.
const TABLE: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut rest, mut bit) = (byte as u64, 0);
        while bit < 8 {
            rest = if rest & 1 == 1 { rest >> 1 ^ POLYNOMIAL } else { rest >> 1 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
};

/// A checksum on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checksum(u64);

impl Checksum {
    pub(super) const NEW: Self = Self(u64::MAX);

    /// Goes over `bytes`.
    #[allow(clippy::cast_possible_truncation)] // a byte is meant
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |rest, &byte| rest >> 8 ^ TABLE[usize::from(rest as u8 ^ byte)]);
    }

    pub(super) const fn value(self) -> u64 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_of_that_name() {
        let mut checksum = Checksum::NEW;
        checksum.update(b"1234");
        checksum.update(b"56789");
        assert_eq!(checksum.value(), 0x995D_C9BB_DF19_39FA);
    }
}
