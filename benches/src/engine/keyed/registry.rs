//! The engines by key as a list.

use super::floor::{Floor, Isolated, Timed};
use super::maps::{MutexMap, ShardedMap};
use super::ours::{Batch, Changed, Table};
use super::peers::{Governor, RateNet};
use super::{Entry, Fold, Sip};
use crate::engine::peer::quanta_clock::QuantaClock;
use clock_lib::SystemClock;

/// Every engine by key, in the order in which they are shown.
pub const ENTRIES: &[Entry] = &[
    Entry::of::<Floor>("floor-line"),
    Entry::of::<Isolated<Floor>>("floor-isolated"),
    Entry::of::<Timed>("floor-timed"),
    Entry::of::<Table<Sip>>("keyed"),
    Entry::of::<Table<Fold>>("keyed-foldhash"),
    Entry::of::<Changed<Fold>>("keyed-changed"),
    Entry::of::<Batch<Fold>>("keyed-batch-16"),
    Entry::of::<Isolated<Table<Fold>>>("keyed-isolated"),
    Entry::of::<Governor<Sip>>("governor-keyed"),
    Entry::of::<Governor<Fold>>("governor-keyed-foldhash"),
    Entry::of::<RateNet<SystemClock>>("rate-net-keyed"),
    Entry::of::<RateNet<QuantaClock>>("rate-net-keyed"),
    Entry::of::<MutexMap>("mutex-hashmap"),
    Entry::of::<ShardedMap>("sharded-hashmap"),
];

/// The entry of this name, the first of its clocks.
///
/// # Panics
///
/// If there is none.
pub fn named(name: &str) -> Entry {
    *ENTRIES.iter().find(|entry| entry.label.name == name).expect("it is in the list")
}
