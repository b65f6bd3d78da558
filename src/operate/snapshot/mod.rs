//! Snapshots: the state of a limiter as bytes, and back. What is promised, and the layout of the bytes, is in `docs/operation.rs`.
//!
//! Rules:
//!
//! 1. **One instant on two clocks.** To save, the limiter's clock is read first and the wall's second; to restore, the other way round.
//!    So the time between the two wall readings is no longer than the time that has passed on the limiters' clocks.
//! 2. **Continue, then carry.** What the old clock would read by now is its reading and the time passed, none if the wall clock
//!    went back. An algorithm carries its word from that instant of the old clock to the present one of the new
//!    ([`Algorithm::carried`](crate::algorithm::Algorithm::carried)), and rounds against the caller.
//! 3. **Unused alone.** A word is put in place by one CAS from a fresh one. What has more words is taken by value while it is filled, so
//!    that an error leaves no part of it.
//! 4. **Slots before the central word.** Of a sharded bucket, the credits are counted first. A token moves from the central word to a
//!    slot, from where it is spent, and never from slot to slot: so none is counted twice, and each that is counted was not spent
//!    when the call began. That the central word is then seen no older than the slots is rule 9 of `sharded/mod.rs`.
//! 5. **Check before use.** Header and quotas are compared before anything is made of the rest; the checksum comes last.

mod checksum;
mod error;
mod format;
mod keyed;
mod limiters;
mod moment;
mod state;

pub use error::SnapshotError;
pub use moment::Moment;
pub use state::Snapshot;
