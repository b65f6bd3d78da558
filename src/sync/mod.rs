//! The only file that names an atomic type: `portable-atomic` in real builds, `loom` in model checks.
//!
//! Everything above asks this module for `AtomicU64`, `AtomicU32`, `Ordering`, `fence` and `Backoff`, so that a model
//! check runs the very code that ships.

/// Declares a function that is `const` except in model checks, since loom's atomics cannot be made in constants.
macro_rules! const_unless_loom {
    ($(#[$meta:meta])* $visibility:vis const fn $($rest:tt)*) => {
        #[cfg(not(all(loom, feature = "loom")))]
        $(#[$meta])*
        $visibility const fn $($rest)*

        #[cfg(all(loom, feature = "loom"))]
        $(#[$meta])*
        #[allow(clippy::missing_const_for_fn)]
        $visibility fn $($rest)*
    };
}
pub(crate) use const_unless_loom;

#[cfg(all(test, not(all(loom, feature = "loom"))))]
pub(crate) mod injected;

#[cfg(not(all(loom, feature = "loom")))]
mod real {
    #[cfg(test)]
    pub(crate) use super::injected::AtomicU64;
    pub(crate) use core::sync::atomic::{Ordering, fence};
    pub(crate) use portable_atomic::AtomicU32;
    #[cfg(not(test))]
    pub(crate) use portable_atomic::AtomicU64;
    #[cfg(test)]
    pub(super) use portable_atomic::AtomicU64 as Native;

    /// An atomic for each of these words.
    pub(crate) const fn atomics<const N: usize>(words: [u64; N]) -> [AtomicU64; N] {
        let mut atomics = [const { AtomicU64::new(0) }; N];
        let mut index = 0;
        // PROGRESS: at most `N` steps.
        while index < N {
            atomics[index] = AtomicU64::new(words[index]);
            index += 1;
        }
        atomics
    }

    /// One wait after the first lost race, and then none: processor pauses, never a system call.
    ///
    /// While one thread waits, another has the line to itself, which is good for both. But when the wait is over, what the
    /// thread knows of the word is out of date: its next attempt is lost before it begins, and only fetches the line and
    /// what is there now. To wait again after that, let alone for longer, would waste that too. So it goes on at once while
    /// it has the line, and no call waits more than once: that bounds the tail of contended calls.
    ///
    /// How long a pause takes is the processor's affair: some 50 ns on the Xeon where the numbers were chosen, a half or a tenth
    /// of that on others. They are the fewest with which throughput was within 5 % of what longer waits gave, on a quiet machine.
    ///
    /// Kept in a register: `crossbeam_utils::Backoff` is not inlined, and its place on the stack alone cost the uncontended
    /// path a tenth of its time.
    #[derive(Debug)]
    pub(crate) struct Backoff {
        pauses: u32,
    }

    impl Backoff {
        /// For a race over one word.
        pub(crate) const fn new() -> Self {
            Self { pauses: 32 }
        }

        /// For a race over several words, which costs more.
        pub(crate) const fn long() -> Self {
            Self { pauses: 256 }
        }

        /// Waits a little if this is the first time, since another thread has just won.
        #[inline]
        pub(crate) fn spin(&mut self) {
            // PROGRESS: at most as many steps as pauses.
            for _ in 0..self.pauses {
                core::hint::spin_loop();
            }
            self.pauses = 0;
        }
    }
}

#[cfg(not(all(loom, feature = "loom")))]
pub(crate) use real::*;

#[cfg(all(loom, feature = "loom"))]
pub(crate) mod model {
    //! Loom's atomics behind the same names. A model is run twice: once with loads as they are, once with each load
    //! compiled as `fetch_add(0)`, because loom skips interleavings of plain loads that it takes for redundant.

    use core::cell::Cell;
    pub(crate) use loom::sync::atomic::{Ordering, fence};

    std::thread_local! {
        static LOADS_AS_RMW: Cell<bool> = const { Cell::new(false) };
    }

    /// Chooses how loads are modelled by executions that this OS thread explores.
    pub fn loads_as_rmw(on: bool) {
        LOADS_AS_RMW.set(on);
    }

    macro_rules! atomic {
        ($name:ident, $int:ty) => {
            #[derive(Debug)]
            pub(crate) struct $name(loom::sync::atomic::$name);

            impl $name {
                pub(crate) fn new(value: $int) -> Self {
                    Self(loom::sync::atomic::$name::new(value))
                }

                pub(crate) fn load(&self, order: Ordering) -> $int {
                    if LOADS_AS_RMW.get() { self.0.fetch_add(0, order) } else { self.0.load(order) }
                }

                /// Where loads are read-modify-writes, so are stores: loom would not order a plain store after one that has
                /// read the value before.
                pub(crate) fn store(&self, value: $int, order: Ordering) {
                    if LOADS_AS_RMW.get() {
                        let _ = self.0.swap(value, order);
                    } else {
                        self.0.store(value, order)
                    }
                }
            }

            impl core::ops::Deref for $name {
                type Target = loom::sync::atomic::$name;

                fn deref(&self) -> &Self::Target {
                    &self.0
                }
            }
        };
    }

    atomic!(AtomicU32, u32);
    atomic!(AtomicU64, u64);

    /// An atomic for each of these words.
    pub(crate) fn atomics<const N: usize>(words: [u64; N]) -> [AtomicU64; N] {
        words.map(AtomicU64::new)
    }

    /// Nothing to wait for: in a model, a lost race means that another thread has already moved on.
    #[derive(Debug)]
    pub(crate) struct Backoff;

    impl Backoff {
        pub(crate) fn new() -> Self {
            Self
        }

        pub(crate) fn long() -> Self {
            Self
        }

        #[allow(clippy::unused_self)] // as the real one has it
        pub(crate) fn spin(&mut self) {}
    }
}

#[cfg(all(loom, feature = "loom"))]
pub(crate) use model::{AtomicU32, AtomicU64, Backoff, Ordering, atomics, fence};
