//! [`Banks`]: a few copies of a limiter's constants, of which a word elsewhere names the one in force.
//!
//! Rules:
//!
//! 1. **Read, then look again.** Whoever reads a bank has loaded the word that names it (acquire), and loads it once more
//!    afterwards (acquire). If it is another, what was read may be a mixture, and counts for nothing.
//! 2. **Spare.** A bank is written only by the one who has claimed it, and only while the word does not name it.
//! 3. **Name, then free.** The word that names a bank is stored after the bank is written (release). The old bank is free
//!    only after that.
//!
//! Rule 1 needs a word that does not come back: how it is kept from that is the business of whoever has it.

use crate::sync::{AtomicU64, Ordering, atomics, const_unless_loom, fence};
use core::array;

/// The bits of a word that name a bank.
pub(crate) const BITS: u32 = 2;

/// One in use, and three for changes.
const BANKS: usize = 1 << BITS;

/// Copies of `WORDS` words each.
#[derive(Debug)]
pub(crate) struct Banks<const WORDS: usize> {
    /// A bit for each bank that must not be written: the one in force, and those that a change has claimed.
    in_use: AtomicU64,
    banks: [[AtomicU64; WORDS]; BANKS],
}

/// The bank that a word names in its lowest bits.
#[inline]
pub(crate) const fn named(word: u64) -> usize {
    #[allow(clippy::cast_possible_truncation)] // two bits
    let bank = (word & (BANKS as u64 - 1)) as usize;
    bank
}

impl<const WORDS: usize> Banks<WORDS> {
    const_unless_loom! {
        /// Bank 0 is in use.
        pub(crate) const fn new(words: [u64; WORDS]) -> Self {
            Self { in_use: AtomicU64::new(1), banks: [atomics(words), atomics(words), atomics(words), atomics(words)] }
        }
    }

    /// What is in a bank, or a mixture if a change is writing it: the word tells (rule 1).
    #[inline]
    pub(crate) fn read(&self, bank: usize) -> [u64; WORDS] {
        self.read_first(bank)
    }

    /// As [`read`](Self::read), for the first words alone.
    #[inline]
    pub(crate) fn read_first<const FIRST: usize>(&self, bank: usize) -> [u64; FIRST] {
        const { assert!(FIRST <= WORDS, "a bank has no more words") };
        let cells = &self.banks[bank];
        // ORDERING: relaxed; the word's acquire load makes what was written before it named this bank visible, and the
        // fence, which pairs with the one in `write`, makes whoever reads something newer find another word.
        let words = array::from_fn(|index| cells[index].load(Ordering::Relaxed));
        // ORDERING: acquire; see above.
        fence(Ordering::Acquire);
        words
    }

    /// Claims a bank that is not in use, if there is one.
    pub(crate) fn claim(&self) -> Option<Claim<'_, WORDS>> {
        // ORDERING: relaxed; the CAS decides.
        let mut in_use = self.in_use.load(Ordering::Relaxed);
        // PROGRESS: lock-free; a lost race means that another thread has claimed or given back a bank.
        loop {
            let bank = (!in_use).trailing_zeros() as usize;
            if bank >= BANKS {
                return None;
            }
            // ORDERING: acquire on success; pairs with the release in `Claim::drop`. Relaxed on failure: it is tried again.
            let claimed = in_use | 1 << bank;
            match self.in_use.compare_exchange_weak(in_use, claimed, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Claim { banks: self, bank }),
                Err(now) => in_use = now,
            }
        }
    }
}

/// A bank that one change may write; given back when dropped.
pub(crate) struct Claim<'a, const WORDS: usize> {
    banks: &'a Banks<WORDS>,
    bank: usize,
}

impl<const WORDS: usize> Claim<'_, WORDS> {
    /// The bank's number, as a word names it.
    pub(crate) const fn number(&self) -> u64 {
        self.bank as u64
    }

    /// Writes the bank (rule 2).
    pub(crate) fn write(&self, words: [u64; WORDS]) {
        // ORDERING: release, before the stores; pairs with the fence in `read`: a thread that reads one of these values
        // has the word as it was when this bank was claimed, or later, and so finds that it names another.
        fence(Ordering::Release);
        for (cell, value) in self.banks.banks[self.bank].iter().zip(words) {
            // ORDERING: relaxed; see above. The word that names this bank is a release.
            cell.store(value, Ordering::Relaxed);
        }
    }

    /// The word names this bank now, and `old` no longer: that is the one to give back (rule 3).
    pub(crate) fn hand_over(mut self, old: usize) {
        self.bank = old;
    }
}

impl<const WORDS: usize> Drop for Claim<'_, WORDS> {
    fn drop(&mut self) {
        // ORDERING: release; pairs with the acquire in `claim`: whoever claims this bank next sees the word that no longer
        // names it.
        self.banks.in_use.fetch_and(!(1 << self.bank), Ordering::Release);
    }
}
