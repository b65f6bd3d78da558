//! Which shard a thread uses.

/// The most shards that a limiter has, whatever is asked for.
pub(crate) const MOST_SHARDS: usize = 1_024;

#[cfg(all(feature = "std", not(all(loom, feature = "loom"))))]
mod numbered {
    use crate::cell::StateCell;
    use crate::sync::{AtomicU64, Ordering};
    use core::cell::Cell;
    use std::sync::OnceLock;
    use std::thread;

    /// What a thread has that has not got its number yet.
    const NONE: usize = usize::MAX;

    std::thread_local! {
        // A constant without a destructor: reading it is one instruction, with no test whether it has been made.
        static INDEX: Cell<usize> = const { Cell::new(NONE) };
        // Touched once, by `first`; its destructor gives the number back when the thread ends.
        static NUMBER: Number = Number::take();
    }

    /// This thread's number: the lowest that no living thread had when this one first asked.
    ///
    /// So threads that are alive at the same time have different numbers, and these are small: as many threads as shards
    /// have a shard each, however many came and went before them.
    #[inline]
    pub(crate) fn index() -> usize {
        let index = INDEX.get();
        if index == NONE { first() } else { index }
    }

    #[cold]
    #[inline(never)]
    fn first() -> usize {
        // A thread that is ending and has given its number back still has its index. It may share a shard from then on.
        let index = NUMBER.try_with(|number| number.0).unwrap_or(0);
        INDEX.set(index);
        index
    }

    /// The numbers that threads have.
    static NUMBERS: Numbers = Numbers::new();

    /// A thread's number, while it lives.
    struct Number(usize);

    impl Number {
        fn take() -> Self {
            Self(NUMBERS.take())
        }
    }

    impl Drop for Number {
        fn drop(&mut self) {
            NUMBERS.give_back(self.0);
        }
    }

    /// Numbers in use: one bit each for as many as there can be shards, the lowest first.
    struct Numbers {
        used: [StateCell; Self::COUNTED / 64],
        /// How many threads came when all of these were in use. They share shards in any case.
        more: AtomicU64,
    }

    impl Numbers {
        const COUNTED: usize = super::MOST_SHARDS;

        const fn new() -> Self {
            Self { used: [const { StateCell::new(0) }; Self::COUNTED / 64], more: AtomicU64::new(0) }
        }

        /// The lowest number that is not in use, or else any above those that are counted. Lock-free.
        fn take(&self) -> usize {
            let lowest = self.used.iter().enumerate().find_map(|(at, word)| {
                let lowest_zero =
                    |used: u64| if used == u64::MAX { Err(()) } else { Ok((used | (used + 1), used.trailing_ones())) };
                Some(64 * at + word.update(lowest_zero).ok()? as usize)
            });
            lowest.unwrap_or_else(|| {
                // ORDERING: relaxed; pairs with nothing. The numbers differ by the read-modify-write alone.
                let more = self.more.fetch_add(1, Ordering::Relaxed);
                #[allow(clippy::cast_possible_truncation)] // below COUNTED
                let more = (more % Self::COUNTED as u64) as usize;
                Self::COUNTED + more
            })
        }

        /// Lets another thread have `number`. Lock-free.
        fn give_back(&self, number: usize) {
            if let Some(word) = self.used.get(number / 64) {
                let bit = 1 << (number % 64);
                word.apply(|used| (used & !bit, ()));
            }
        }
    }

    /// How many shards a limiter has unless told otherwise: as many as the machine has cores, and at least 16, for more
    /// threads than cores should not have to share.
    pub(crate) fn default_shards() -> usize {
        static CORES: OnceLock<usize> = OnceLock::new(); // asking takes microseconds
        *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from)).max(&16)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::collections::BTreeSet;
        use std::sync::Barrier;
        use std::vec::Vec;

        #[test]
        fn the_lowest_free_number_is_taken() {
            let numbers = Numbers::new();
            assert!((0..Numbers::COUNTED).all(|number| numbers.take() == number));
            // All are in use: whoever comes now has to share, and gives nothing back.
            assert_eq!([numbers.take(), numbers.take()], [Numbers::COUNTED, Numbers::COUNTED + 1]);
            numbers.give_back(Numbers::COUNTED);
            for number in [700, 64, 63, 0] {
                numbers.give_back(number);
            }
            assert_eq!([(); 4].map(|()| numbers.take()), [0, 63, 64, 700]);
            assert_eq!(numbers.take(), Numbers::COUNTED + 2);
        }

        #[test]
        fn threads_that_live_together_have_different_numbers() {
            const THREADS: usize = 40;
            let barrier = Barrier::new(THREADS);
            let numbers: BTreeSet<_> = thread::scope(|scope| {
                let live = || {
                    let number = index();
                    barrier.wait();
                    assert_eq!(index(), number);
                    number
                };
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(live)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(numbers.len(), THREADS);
        }

        #[test]
        fn a_number_is_given_back_when_its_thread_ends() {
            // Other tests' threads take some of the lowest numbers, but far fewer than this.
            let numbers: BTreeSet<_> = (0..1_000).map(|_| thread::spawn(index).join().unwrap()).collect();
            assert!(numbers.len() < 200 && numbers.last() < Some(&300), "{numbers:?}");
        }
    }
}

#[cfg(not(feature = "std"))]
mod numbered {
    //! Without `std` there is no way to tell one thread from another.

    pub(crate) fn index() -> usize {
        0
    }

    pub(crate) fn default_shards() -> usize {
        1
    }
}

#[cfg(all(loom, feature = "loom"))]
mod numbered {
    //! A model says which shard each of its threads uses.

    use core::cell::Cell;

    loom::thread_local! {
        static INDEX: Cell<usize> = Cell::new(0);
    }

    pub(crate) fn index() -> usize {
        INDEX.with(Cell::get)
    }

    pub(crate) fn default_shards() -> usize {
        2
    }

    /// Chooses the shard of the calling thread.
    pub fn set_index(index: usize) {
        INDEX.with(|own| own.set(index));
    }
}

#[cfg(all(loom, feature = "loom"))]
pub use numbered::set_index;
pub(crate) use numbered::{default_shards, index};
