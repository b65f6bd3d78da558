//! Model checks of tollgate's concurrent protocols, and the harness that they share.
//!
//! A *body* sets up a small shared state, lets two or three threads [`race`] over it, and asserts what must hold
//! afterwards. The same body serves twice:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p tollgate-loom --release    every interleaving, by loom
//! cargo test -p tollgate-loom                                     a thousand runs on real threads
//! ```
//!
//! Each protocol has *broken twins*: the same body over a protocol with one rule removed, which [`must_fail`]. A check
//! that has never failed proves nothing.
//!
//! # Rules for a model
//!
//! 1. At most three threads, counting the one that sets up, and a handful of operations each.
//! 2. Several literal clock readings, an old one beside a later one, with refill in between.
//! 3. What is asserted holds whatever the interleaving: use [`assert_sequential`] and [`assert_bounded`].
//! 4. The exploration ends when there is nothing left to explore, or at the preemption bound that the model states,
//!    never at a limit of time or count: loom lets a model that is cut short *pass*.

pub mod adjustable;
mod bound;
pub mod cell;
mod explore;
pub mod keyed;
pub mod keyed_quota;
mod sequential;
pub mod sharded;
pub mod steady;
pub mod sync;
pub mod waiting;
pub mod window_log;

pub use bound::assert_bounded;
pub use explore::{explore, must_fail};
pub use sequential::{assert_sequential, explained};
pub use sync::race;
