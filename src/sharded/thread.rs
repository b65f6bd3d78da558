//! Which shard a thread uses.

#[cfg(all(feature = "std", not(all(loom, feature = "loom"))))]
mod numbered {
    use crate::sync::{AtomicU64, Ordering};
    use core::cell::Cell;
    use std::sync::OnceLock;
    use std::thread;

    /// What a thread has that has not got its number yet.
    const NONE: usize = usize::MAX;

    /// The next thread's number.
    static NEXT: AtomicU64 = AtomicU64::new(0);

    std::thread_local! {
        // A constant without a destructor: reading it is one instruction, with no test whether it has been made.
        static INDEX: Cell<usize> = const { Cell::new(NONE) };
    }

    /// This thread's number: threads are counted in the order in which they first ask.
    #[inline]
    pub(in crate::sharded) fn index() -> usize {
        let index = INDEX.get();
        if index == NONE { first() } else { index }
    }

    #[cold]
    #[inline(never)]
    fn first() -> usize {
        // ORDERING: relaxed; the numbers differ by the read-modify-write alone.
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        #[allow(clippy::cast_possible_truncation)] // masked in any case
        let index = next as usize & (NONE >> 1);
        INDEX.set(index);
        index
    }

    /// How many shards a limiter has unless told otherwise: as many as the machine has cores, and at least 16, for more
    /// threads than cores should not have to share.
    pub(in crate::sharded) fn default_shards() -> usize {
        static CORES: OnceLock<usize> = OnceLock::new(); // asking takes microseconds
        *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from)).max(&16)
    }
}

#[cfg(not(feature = "std"))]
mod numbered {
    //! Without `std` threads cannot be told apart.

    pub(in crate::sharded) fn index() -> usize {
        0
    }

    pub(in crate::sharded) fn default_shards() -> usize {
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

    pub(in crate::sharded) fn index() -> usize {
        INDEX.with(Cell::get)
    }

    pub(in crate::sharded) fn default_shards() -> usize {
        2
    }

    /// Chooses the shard of the calling thread.
    pub fn set_index(index: usize) {
        INDEX.with(|own| own.set(index));
    }
}

#[cfg(all(loom, feature = "loom"))]
pub use numbered::set_index;
pub(super) use numbered::{default_shards, index};
