//! [`StateCell`]: one atomic word and the one CAS loop around it. Where a state is more than one word, in the sliding
//! log and the keyed table, each step of the protocol has its own.

use core::convert::Infallible;

use crate::sync::{AtomicU64, Backoff, Ordering, const_unless_loom};

/// A limiter's whole state: one `AtomicU64`, changed by one compare-and-swap loop.
///
/// The word publishes no other memory, so its own modification order carries every guarantee, and relaxed accesses are
/// enough. A limiter therefore gives its callers no happens-before edge.
#[derive(Debug)]
pub(crate) struct StateCell(AtomicU64);

impl StateCell {
    const_unless_loom! {
        /// A cell that holds `word`.
        pub(crate) const fn new(word: u64) -> Self {
            Self(AtomicU64::new(word))
        }
    }

    /// The word as some thread left it.
    #[inline]
    pub(crate) fn load(&self) -> u64 {
        // ORDERING: relaxed; pairs with nothing. Any value that the word has had is a legal answer to a reader that
        // takes part in no other order.
        self.0.load(Ordering::Relaxed)
    }

    /// Subtracts `amount` from the word, wrapping, and returns what it was before. Wait-free.
    #[inline]
    pub(crate) fn subtract(&self, amount: u64) -> u64 {
        // ORDERING: relaxed; pairs with nothing. As for `update`.
        self.0.fetch_sub(amount, Ordering::Relaxed)
    }

    /// Replaces the word by what `step` makes of it, atomically; returns what `step` returned beside it.
    ///
    /// `step` is pure: it is called again with the value that won whenever another thread changed the word in between.
    /// A refusal (`Err`), and a step that leaves the word as it is, write nothing. Lock-free: a retry means that another
    /// thread has made progress (or, on machines whose CAS can fail spuriously, that this one has not yet).
    #[inline(always)]
    #[allow(clippy::inline_always)] // a call costs an admission a third of its instructions
    pub(crate) fn update<T, E>(&self, mut step: impl FnMut(u64) -> Result<(u64, T), E>) -> Result<T, E> {
        let mut word = self.load();
        let mut backoff = Backoff::new();
        // PROGRESS: lock-free. The weak CAS fails only if another thread's succeeded or spuriously.
        loop {
            let (next, output) = step(word)?;
            if next == word {
                return Ok(output);
            }
            // ORDERING: relaxed on success and failure; pairs with nothing. The RMW reads the latest value in the
            // word's modification order, and the word is all the state there is.
            match self.0.compare_exchange_weak(word, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(output),
                Err(won) => word = won,
            }
            backoff.spin();
        }
    }

    /// As [`update`](Self::update), for a step without output; returns beside the decision the word that it has left, or
    /// that was refused.
    #[inline]
    pub(crate) fn decide<E>(&self, mut step: impl FnMut(u64) -> Result<u64, E>) -> (Result<(), E>, u64) {
        let decided = self.update(|word| match step(word) {
            Ok(next) => Ok((next, next)),
            Err(refusal) => Err((refusal, word)),
        });
        match decided {
            Ok(word) => (Ok(()), word),
            Err((refusal, word)) => (Err(refusal), word),
        }
    }

    /// As [`update`](Self::update), for a step that refuses nothing.
    #[inline]
    pub(crate) fn apply<T>(&self, mut step: impl FnMut(u64) -> (u64, T)) -> T {
        let Ok(output) = self.update(|word| Ok::<_, Infallible>(step(word)));
        output
    }
}

#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests {
    use super::*;
    use crate::sync::injected::{counting_writes, fail_weak};
    use proptest::prelude::*;
    use std::thread;
    use std::vec::Vec;

    /// Counts up to `limit`.
    fn below(limit: u64) -> impl Fn(u64) -> Result<(u64, u64), &'static str> {
        move |word| if word < limit { Ok((word + 1, word)) } else { Err("full") }
    }

    /// What another thread might do meanwhile.
    fn set(cell: &StateCell, word: u64) {
        cell.update(|_| Ok::<_, ()>((word, ()))).unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn spurious_failures_change_neither_outcomes_nor_the_number_of_writes(patterns: Vec<u64>) {
            let cell = StateCell::new(0);
            for (calls, pattern) in (0..).zip(patterns) {
                let mut steps = 0;
                fail_weak(pattern);
                let (outcome, writes) = counting_writes(|| {
                    cell.update(|word| {
                        steps += 1;
                        below(5)(word)
                    })
                });
                let failures = pattern.trailing_ones();
                if calls < 5 {
                    prop_assert_eq!((outcome, writes, steps), (Ok(calls), 1, failures + 1));
                } else {
                    prop_assert_eq!((outcome, writes, steps), (Err("full"), 0, 1));
                }
                prop_assert_eq!(cell.load(), 5.min(calls + 1));
            }
            fail_weak(0);
        }
    }

    #[test]
    fn the_limit_is_checked_again_after_a_failure_that_hid_a_change() {
        // Between the spurious failure and the retry, another thread takes the last place.
        let cell = StateCell::new(4);
        let mut calls = 0;
        let outcome = cell.update(|word| {
            calls += 1;
            if calls == 1 {
                set(&cell, 5);
                fail_weak(1);
            }
            below(5)(word)
        });
        assert_eq!((outcome, calls, cell.load()), (Err("full"), 2, 5));
    }

    #[test]
    fn the_limit_is_checked_again_after_every_failure() {
        // The word is another each time that it is looked at, and in the end the place is taken.
        let cell = StateCell::new(4);
        let mut words = Vec::new();
        let outcome = cell.update(|word| {
            words.push(word);
            let (next, fails) = [(3, 1), (2, 1), (5, 0), (5, 0)][words.len() - 1];
            set(&cell, next);
            fail_weak(fails);
            below(5)(word)
        });
        assert_eq!((outcome, words.as_slice(), cell.load()), (Err("full"), &[4, 3, 2, 5][..], 5));
    }

    #[test]
    fn a_refusal_and_an_unchanged_word_write_nothing() {
        let cell = StateCell::new(5);
        assert_eq!(counting_writes(|| cell.update(below(5))), (Err("full"), 0));
        assert_eq!(counting_writes(|| cell.update(|word| Ok::<_, ()>((word, "same")))), (Ok("same"), 0));
        assert_eq!(counting_writes(|| cell.load()), (5, 0));
    }

    #[test]
    fn a_decision_comes_with_the_word_that_it_was_made_on() {
        let cell = StateCell::new(3);
        assert_eq!(cell.decide(|word| below(5)(word).map(|(next, _)| next)), (Ok(()), 4));
        // Another thread changes the word between the refusal and whatever comes after it.
        let refused = cell.decide(|_| {
            set(&cell, 1);
            Err("full")
        });
        assert_eq!((refused, cell.load()), ((Err("full"), 4), 1));
    }

    #[test]
    fn a_subtraction_returns_the_word_before_it_and_wraps() {
        let cell = StateCell::new(5);
        assert_eq!(counting_writes(|| cell.subtract(3)), (5, 1));
        assert_eq!((cell.subtract(3), cell.load()), (2, u64::MAX));
    }

    #[test]
    fn threads_that_fail_at_random_admit_exactly_the_limit() {
        const LIMIT: u64 = 20_000;
        let cell = StateCell::new(0);
        let admitted = thread::scope(|scope| {
            let threads: Vec<_> = (1..=4_u64)
                .map(|seed| {
                    let cell = &cell;
                    scope.spawn(move || {
                        let mut random = fastrand::Rng::with_seed(seed);
                        let (mut admitted, mut writes) = (0, 0);
                        for _ in 0..LIMIT {
                            fail_weak(random.u64(..));
                            let (outcome, written) = counting_writes(|| cell.update(below(LIMIT)));
                            admitted += u64::from(outcome.is_ok());
                            writes += u64::from(written);
                        }
                        assert_eq!(writes, admitted);
                        admitted
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
        });
        assert_eq!((admitted, cell.load()), (LIMIT, LIMIT));
    }
}
