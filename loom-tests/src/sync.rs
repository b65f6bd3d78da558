//! Threads and atomics: loom's in a model check, real ones otherwise.
//!
//! Broken twins and other transcriptions of a protocol take their atomics from here, so that their loads are modelled
//! in both ways as the library's are.

pub use std::sync::Arc;

#[cfg(loom)]
pub use loom::thread_local;
#[cfg(loom)]
pub use model::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence, yield_now};
#[cfg(not(loom))]
pub use real::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence, yield_now};
#[cfg(not(loom))]
pub use std::thread_local;

#[cfg(loom)]
pub(crate) use model::loads_as_rmw;

/// Lets `run` loose on `shared` from as many threads at once as there are inputs, each with its own; returns what each
/// returned, in the same order. The calling thread is the last of them.
///
/// For threads that do different things, let the inputs be functions:
///
/// ```
/// use tollgate_loom::sync::{Arc, AtomicU64, Ordering::Relaxed};
/// use tollgate_loom::{explore, race};
///
/// explore("two additions", None, || {
///     let word = Arc::new(AtomicU64::new(0));
///     let threads: [fn(&AtomicU64) -> u64; 2] = [|word| word.fetch_add(1, Relaxed), |word| word.fetch_add(2, Relaxed)];
///     let [one, two] = race(&word, threads, |word, act| act(word));
///     assert!((one, two) == (0, 1) || (one, two) == (2, 0));
/// });
/// ```
///
/// # Panics
///
/// If there are no inputs, or if a thread panics.
pub fn race<S, I, T, R, const N: usize>(shared: &Arc<S>, inputs: [I; N], run: R) -> [T; N]
where
    S: Send + Sync + 'static,
    I: Send + 'static,
    T: Send + 'static,
    R: Fn(&S, I) -> T + Clone + Send + 'static,
{
    let gate = Gate::new(N);
    let mut inputs = inputs.map(Some);
    let last = inputs.last_mut().and_then(Option::take).expect("somebody to race");
    let threads = inputs.map(|input| {
        let (shared, run, gate) = (Arc::clone(shared), run.clone(), gate.clone());
        input.map(|input| {
            spawn(move || {
                gate.pass();
                run(&shared, input)
            })
        })
    });
    gate.pass();
    let mut last = Some(run(shared, last));
    threads.map(|thread| match thread {
        Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        None => last.take().expect("one thread is not spawned"),
    })
}

#[cfg(not(loom))]
use real::{Gate, spawn};

#[cfg(loom)]
use model::{Gate, spawn};

#[cfg(not(loom))]
mod real {
    use super::Arc;
    pub use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
    pub(super) use std::thread::spawn;
    pub use std::thread::yield_now;

    /// Holds threads back until all have come, so that they start together.
    #[derive(Clone)]
    pub(super) struct Gate {
        missing: Arc<AtomicUsize>,
    }

    impl Gate {
        pub(super) fn new(threads: usize) -> Self {
            Self { missing: Arc::new(AtomicUsize::new(threads)) }
        }

        pub(super) fn pass(&self) {
            self.missing.fetch_sub(1, Ordering::Relaxed);
            let mut spins = 0_u32;
            while self.missing.load(Ordering::Relaxed) > 0 {
                spins += 1;
                if spins.is_multiple_of(100) { yield_now() } else { core::hint::spin_loop() }
            }
        }
    }
}

#[cfg(loom)]
mod model {
    use core::cell::Cell;
    pub use loom::sync::atomic::{Ordering, fence};
    pub(super) use loom::thread::spawn;
    pub use loom::thread::yield_now;

    std::thread_local! {
        static LOADS_AS_RMW: Cell<bool> = const { Cell::new(false) };
    }

    /// Chooses how loads are modelled, here and in the library.
    pub(crate) fn loads_as_rmw(on: bool) {
        LOADS_AS_RMW.set(on);
        tollgate::loom_support::loads_as_rmw(on);
    }

    macro_rules! atomic {
        ($($name:ident: $value:ty;)*) => {$(
            /// Loom's, with loads modelled in both ways.
            #[derive(Debug)]
            pub struct $name(loom::sync::atomic::$name);

            impl $name {
                /// An atomic that holds `value`.
                pub fn new(value: $value) -> Self {
                    Self(loom::sync::atomic::$name::new(value))
                }

                /// The value, by a load or by a read-modify-write that changes nothing.
                pub fn load(&self, order: Ordering) -> $value {
                    if LOADS_AS_RMW.get() { self.0.fetch_add(0, order) } else { self.0.load(order) }
                }

                /// Stores `value`. Where loads are read-modify-writes, so are stores: loom would not order a plain store
                /// after one that has read the value before.
                pub fn store(&self, value: $value, order: Ordering) {
                    if LOADS_AS_RMW.get() { let _ = self.0.swap(value, order); } else { self.0.store(value, order) }
                }
            }

            impl core::ops::Deref for $name {
                type Target = loom::sync::atomic::$name;

                fn deref(&self) -> &Self::Target {
                    &self.0
                }
            }
        )*};
    }

    atomic! {
        AtomicU32: u32;
        AtomicU64: u64;
        AtomicUsize: usize;
    }

    /// Nothing to do: loom starts threads at every moment there is.
    #[derive(Clone)]
    pub(super) struct Gate;

    impl Gate {
        pub(super) fn new(_threads: usize) -> Self {
            Self
        }

        pub(super) fn pass(&self) {}
    }
}
