//! [`StateCell`]: one atomic word and the one CAS loop of this crate.

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
    #[inline]
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
}
