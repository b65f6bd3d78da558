//! Leases: credits that have been paid for elsewhere, and where they lie until they are spent.
//!
//! A [`Slot`] is a padded word of credits, a [`Refill`] the right to add to it, a [`Word`] what a slot holds, with the pure
//! steps over it. [`Layout`] says how many slots a burst stretches to, and how many credits each may hold; `thread` says
//! which slot is whose. A [`Quiet`] says until when a slot need not ask for more, a [`Pause`] how long that may be. Who pays for credits, and by which rules, is not known here: see `sharded/mod.rs`.

mod layout;
#[cfg_attr(not(feature = "loom"), allow(unreachable_pub))] // as `word`
mod quiet;
mod slot;
mod thread;
#[cfg_attr(not(feature = "loom"), allow(unreachable_pub))] // independent checks of the protocol use the same steps
mod word;

pub(crate) use layout::Layout;
pub(crate) use quiet::Pause;
#[cfg(not(feature = "loom"))]
pub(crate) use quiet::Quiet;
#[cfg(feature = "loom")]
pub use quiet::Quiet;
pub(crate) use slot::{Refill, Slot, seen};
#[cfg(all(loom, feature = "loom"))]
pub use thread::set_index;
pub(crate) use thread::{default_shards, index};
#[cfg(feature = "loom")]
pub use word::Word;
