//! [`State`]: a position and the terms that it is under, changed together. The rules are the module's.

use super::change::Adjustable;
use super::terms::{self, LAST, SPARE, Terms};
use crate::banks::{Banks, named};
use crate::sync::{AtomicU64, Backoff, Ordering, const_unless_loom};
use core::convert::Infallible;
use core::marker::PhantomData;
use crossbeam_utils::CachePadded;

/// The word, the terms it names, and what changes need.
#[derive(Debug)]
pub(super) struct State<A> {
    /// What decisions write, on a line of its own.
    word: CachePadded<AtomicU64>,
    peak: AtomicU64,
    terms: Banks<{ terms::WORDS }>,
    algorithm: PhantomData<A>,
}

/// The position in a word.
const fn position(word: u64) -> u64 {
    word >> SPARE
}

/// A position under the terms in a bank.
const fn word(position: u64, bank: u64) -> u64 {
    position << SPARE | bank
}

impl<A> State<A> {
    const_unless_loom! {
        /// Nothing is taken yet, under an algorithm of these words.
        pub(super) const fn new(algorithm: [u64; 7]) -> Self {
            Self {
                word: CachePadded::new(AtomicU64::new(word(0, 0))),
                peak: AtomicU64::new(0),
                terms: Banks::new(terms::first(algorithm)),
                algorithm: PhantomData,
            }
        }
    }
}

impl<A: Adjustable> State<A> {
    /// The word, and the terms of the bank that it names (rule 1). Lock-free.
    #[inline]
    fn look(&self) -> (u64, Terms<A>) {
        // ORDERING: acquire; pairs with the release of the change that put this bank's number into the word, and with what
        // was written to the word since, which carries its release sequence on.
        let mut seen = self.word.load(Ordering::Acquire);
        // PROGRESS: lock-free. It goes round only if another thread has changed the word.
        loop {
            let terms = Terms::from_words(self.terms.read(named(seen)));
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
    pub(super) fn load(&self) -> (Terms<A>, u64) {
        let (seen, terms) = self.look();
        (terms, position(seen))
    }

    /// Replaces the position by what `step` makes of it under its terms, atomically; returns what `step` returned beside
    /// it.
    ///
    /// `step` is pure, and is called again whenever the word has changed in between. A refusal, and a step that leaves the
    /// position as it is, write nothing. Lock-free.
    #[inline]
    pub(super) fn update<T, E>(&self, mut step: impl FnMut(&Terms<A>, u64) -> Result<(u64, T), E>) -> Result<T, E> {
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
            let next = next << SPARE | seen & !(u64::MAX << SPARE);
            // ORDERING: release on success; pairs with the acquire in `look` of a change: whoever sees a position that was
            // lowered sees the peak. Relaxed on failure: the word is loaded again.
            if self.word.compare_exchange_weak(seen, next, Ordering::Release, Ordering::Relaxed).is_ok() {
                return Ok(output);
            }
            backoff.spin();
        }
    }

    /// As [`update`](Self::update), for a step that refuses nothing.
    pub(super) fn apply<T>(&self, mut step: impl FnMut(&Terms<A>, u64) -> (u64, T)) -> T {
        let Ok(output) = self.update(|terms, position| Ok::<_, Infallible>(step(terms, position)));
        output
    }

    /// Rule 5. Out of the way of admissions.
    #[cold]
    fn raise_peak(&self, position: u64) {
        // ORDERING: relaxed; published by the release that lowers the word.
        self.peak.fetch_max(position, Ordering::Relaxed);
    }

    /// Changes terms and position together, or neither. `make` is told the terms, the position and the least that the new
    /// position may be, and reads the clock (rule 3); it is called again if the word has changed in between. `contended` is
    /// the error where three other changes are under way.
    ///
    /// Lock-free: a change may be overtaken by admissions again and again, but holds up none of them.
    pub(super) fn change<E>(
        &self,
        contended: E,
        mut make: impl FnMut(&Terms<A>, u64, u64) -> Result<Option<(Terms<A>, u64)>, E>,
    ) -> Result<(), E> {
        let claim = self.terms.claim().ok_or(contended)?;
        let mut backoff = Backoff::new();
        // PROGRESS: lock-free. It goes round only if another thread has changed the word.
        loop {
            let (seen, old) = self.look();
            // ORDERING: relaxed; what a refund has noted is visible since its word is.
            let peak = self.peak.load(Ordering::Relaxed);
            let floor = peak.max(position(seen)) + 1; // no position is above 2^62
            let Some((terms, position)) = make(&old, position(seen), floor)? else { return Ok(()) };
            debug_assert!(floor <= position && position <= LAST, "rule 4");
            claim.write(terms.to_words());
            // ORDERING: release on success; pairs with the acquire loads of the word: whoever sees this bank's number sees
            // its terms. Relaxed on failure: the word is loaded again.
            let next = word(position, claim.number());
            if self.word.compare_exchange(seen, next, Ordering::Release, Ordering::Relaxed).is_ok() {
                claim.hand_over(named(seen)); // rule 6
                return Ok(());
            }
            backoff.spin();
        }
    }
}

#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests {
    use super::*;
    use crate::Quota;
    use crate::clock::ManualClock;
    use crate::operate::AdjustableTokenBucket;

    /// Rule 4, whatever is given back: a bank's number comes round again, a position does not.
    #[test]
    fn no_word_comes_back_after_a_change() {
        let bucket = AdjustableTokenBucket::with_clock(Quota::per_hour(100), ManualClock::new());
        let now = || position(bucket.state.word.load(Ordering::Relaxed));
        let mut highest = 0;
        for round in 0..40 {
            bucket.try_acquire_n(7).unwrap();
            bucket.refund(100);
            assert!(now() > highest || round == 0, "round {round}");
            bucket.try_acquire_n(90).unwrap();
            highest = now();
            bucket.refund(30);
            bucket.set_quota(Quota::per_hour(100 + round % 5)).unwrap();
            assert!(now() > highest, "round {round}");
            bucket.refund(40);
            assert!(now() > highest, "round {round}");
        }
    }
}
