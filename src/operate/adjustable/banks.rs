//! [`Banks`]: a position and the terms that it is under, changed together. The rules are the module's.

use super::carry_over::AdjustError;
use super::terms::{LAST, SPARE, Terms};
use crate::sync::{AtomicU64, Backoff, Ordering, const_unless_loom, fence};
use core::array;
use crossbeam_utils::CachePadded;

/// As many as the word can name: one in use, and three for changes.
const BANKS: usize = 1 << SPARE;

/// The word, the terms it names, and what changes need.
#[derive(Debug)]
pub(super) struct Banks {
    /// What decisions write, on a line of its own.
    word: CachePadded<AtomicU64>,
    peak: AtomicU64,
    /// A bit for each bank.
    in_use: AtomicU64,
    terms: [Bank; BANKS],
}

#[derive(Debug)]
struct Bank([AtomicU64; Terms::WORDS]);

/// The bank that a word names.
const fn bank(word: u64) -> usize {
    #[allow(clippy::cast_possible_truncation)] // two bits
    let bank = (word & (BANKS as u64 - 1)) as usize;
    bank
}

/// The position in a word.
const fn position(word: u64) -> u64 {
    word >> SPARE
}

/// A position under the terms in a bank.
const fn word(position: u64, bank: usize) -> u64 {
    position << SPARE | bank as u64
}

impl Bank {
    const_unless_loom! {
        const fn new(terms: Terms) -> Self {
            let [low, high, tokens, period, unit, grain, burst, start, base] = terms.to_words();
            Self([AtomicU64::new(low), AtomicU64::new(high), AtomicU64::new(tokens), AtomicU64::new(period), AtomicU64::new(unit), AtomicU64::new(grain), AtomicU64::new(burst), AtomicU64::new(start), AtomicU64::new(base)])
        }
    }

    /// The terms, or a mixture of two if a change is writing them: the word tells (rule 1).
    #[inline]
    fn read(&self) -> Terms {
        // ORDERING: relaxed; the word's acquire load makes what was written before it named this bank visible, and the
        // fence, which pairs with the one in `write`, makes whoever reads something newer find another word.
        let terms = Terms::from_words(array::from_fn(|index| self.0[index].load(Ordering::Relaxed)));
        // ORDERING: acquire; see above.
        fence(Ordering::Acquire);
        terms
    }

    /// Writes terms; the bank is claimed (rule 2).
    fn write(&self, terms: Terms) {
        // ORDERING: release, before the stores; pairs with the fence in `read`: a thread that reads one of these values
        // has the word as it was when this bank was claimed, or later, and so finds that it names another.
        fence(Ordering::Release);
        for (cell, value) in self.0.iter().zip(terms.to_words()) {
            // ORDERING: relaxed; see above. The word that names this bank is a release.
            cell.store(value, Ordering::Relaxed);
        }
    }
}

/// A bank that one change may write; given back when dropped.
struct Claim<'a> {
    banks: &'a Banks,
    bank: usize,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        // ORDERING: release; pairs with the acquire in `claim`: whoever claims this bank next sees the word that no longer
        // names it.
        self.banks.in_use.fetch_and(!(1 << self.bank), Ordering::Release);
    }
}

impl Banks {
    const_unless_loom! {
        /// A position under its first terms.
        pub(super) const fn new(terms: Terms, position: u64) -> Self {
            Self {
                word: CachePadded::new(AtomicU64::new(word(position, 0))),
                peak: AtomicU64::new(0),
                in_use: AtomicU64::new(1),
                terms: [Bank::new(terms), Bank::new(terms), Bank::new(terms), Bank::new(terms)],
            }
        }
    }

    /// The word, and the terms of the bank that it names (rule 1). Lock-free.
    #[inline]
    fn look(&self) -> (u64, Terms) {
        // ORDERING: acquire; pairs with the release of the change that put this bank's number into the word, and with what
        // was written to the word since, which carries its release sequence on.
        let mut seen = self.word.load(Ordering::Acquire);
        // PROGRESS: lock-free. It goes round only if another thread has changed the word.
        loop {
            let terms = self.terms[bank(seen)].read();
            // ORDERING: acquire, as above, since the next round may start from it. The fence in `read` comes before it.
            let again = self.word.load(Ordering::Acquire);
            if again == seen {
                return (seen, terms);
            }
            seen = again;
        }
    }

    /// The terms, and the position under them, as they were at one instant.
    #[inline]
    pub(super) fn load(&self) -> (Terms, u64) {
        let (seen, terms) = self.look();
        (terms, position(seen))
    }

    /// Replaces the position by what `step` makes of it under its terms, atomically; returns what `step` returned beside
    /// it.
    ///
    /// `step` is pure, and is called again whenever the word has changed in between. A refusal, and a step that leaves the
    /// position as it is, write nothing. Lock-free.
    #[inline]
    pub(super) fn update<T, E>(&self, mut step: impl FnMut(&Terms, u64) -> Result<(u64, T), E>) -> Result<T, E> {
        let mut backoff = Backoff::new();
        // PROGRESS: lock-free. It goes round only if another thread has changed the word, or spuriously.
        loop {
            let (seen, terms) = self.look();
            let (next, output) = step(&terms, position(seen))?;
            if next == position(seen) {
                return Ok(output);
            }
            if next < position(seen) {
                self.raise_peak(position(seen));
            }
            let next = word(next, bank(seen));
            // ORDERING: release on success; pairs with the acquire in `look` of a change: whoever sees a position that was
            // lowered sees the peak. Relaxed on failure: the word is loaded again.
            if self.word.compare_exchange_weak(seen, next, Ordering::Release, Ordering::Relaxed).is_ok() {
                return Ok(output);
            }
            backoff.spin();
        }
    }

    /// Rule 5. Out of the way of admissions.
    #[cold]
    fn raise_peak(&self, position: u64) {
        // ORDERING: relaxed; published by the release that lowers the word.
        self.peak.fetch_max(position, Ordering::Relaxed);
    }

    /// Changes terms and position together. `make` is told the terms, the position and the least that the new position
    /// may be, and reads the clock (rule 3); it is called again if the word has changed in between.
    ///
    /// Lock-free: a change may be overtaken by admissions again and again, but holds up none of them.
    pub(super) fn change(
        &self,
        mut make: impl FnMut(&Terms, u64, u64) -> Result<(Terms, u64), AdjustError>,
    ) -> Result<(), AdjustError> {
        let mut claim = self.claim().ok_or(AdjustError::Contended)?;
        let mut backoff = Backoff::new();
        // PROGRESS: lock-free. It goes round only if another thread has changed the word.
        loop {
            let (seen, old) = self.look();
            // ORDERING: relaxed; what a refund has noted is visible since its word is.
            let peak = self.peak.load(Ordering::Relaxed);
            let floor = peak.max(position(seen)) + 1; // no position is above 2^62
            let (terms, position) = make(&old, position(seen), floor)?;
            debug_assert!(floor <= position && position <= LAST, "rule 4");
            self.terms[claim.bank].write(terms);
            // ORDERING: release on success; pairs with the acquire loads of the word: whoever sees this bank's number sees
            // its terms. Relaxed on failure: the word is loaded again.
            let next = word(position, claim.bank);
            if self.word.compare_exchange(seen, next, Ordering::Release, Ordering::Relaxed).is_ok() {
                claim.bank = bank(seen); // rule 6: what is given back is the old bank
                return Ok(());
            }
            backoff.spin();
        }
    }

    /// Claims a bank that is not in use, if there is one.
    fn claim(&self) -> Option<Claim<'_>> {
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
