//! An `AtomicU64` for unit tests whose weak CAS fails when it is told to, and which counts what is written.
//!
//! A weak CAS may fail although the word is as expected. No x86 processor ever does that, and loom never tries it, so
//! only a test that makes it happen can see what follows. What is told and what is counted belongs to the thread.

use super::Ordering;
use super::real::Native;
use core::cell::Cell;

std::thread_local! {
    static FAILURES: Cell<u64> = const { Cell::new(0) };
    static WRITES: Cell<u32> = const { Cell::new(0) };
}

/// Lets this thread's next 64 weak CASes fail where `pattern` has a 1, the first by the lowest bit.
pub(crate) fn fail_weak(pattern: u64) {
    FAILURES.set(pattern);
}

/// How many atomic writes this thread makes while it runs `act`, beside what `act` returns.
pub(crate) fn counting_writes<T>(act: impl FnOnce() -> T) -> (T, u32) {
    let before = WRITES.get();
    let output = act();
    (output, WRITES.get() - before)
}

fn written() {
    WRITES.set(WRITES.get() + 1);
}

/// The real one, with failures and a count.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct AtomicU64(Native);

impl AtomicU64 {
    pub(crate) const fn new(value: u64) -> Self {
        Self(Native::new(value))
    }

    pub(crate) fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        let pattern = FAILURES.replace(FAILURES.get() >> 1);
        if pattern & 1 == 1 {
            return Err(self.0.load(failure));
        }
        self.compare_exchange(current, new, success, failure)
    }

    pub(crate) fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        let outcome = self.0.compare_exchange(current, new, success, failure);
        if outcome.is_ok() {
            written();
        }
        outcome
    }

    pub(crate) fn store(&self, value: u64, order: Ordering) {
        written();
        self.0.store(value, order);
    }
}

/// The read-modify-writes that always write.
macro_rules! counted {
    ($($name:ident)*) => {
        #[allow(dead_code)] // so that none goes uncounted once it is used
        impl AtomicU64 {$(
            pub(crate) fn $name(&self, operand: u64, order: Ordering) -> u64 {
                written();
                self.0.$name(operand, order)
            }
        )*}
    };
}

counted! { swap fetch_add fetch_sub fetch_max fetch_min fetch_and fetch_or fetch_xor }

/// Loads, and what else writes nothing.
impl core::ops::Deref for AtomicU64 {
    type Target = Native;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
