//! [`Engine`]: one face for all that limits by key, a file each.

pub mod batch;
pub mod floor;
pub mod governor;
pub mod isolated;
pub mod mutex_map;
pub mod ours;
pub mod rate_net;
pub mod sharded_map;

use crate::engine::Kind;
use crate::engine::peer::quanta_clock::QuantaClock;
use clock_lib::SystemClock;
use core::hash::BuildHasher;
use std::sync::Arc;
use tollgate::Quota;

/// A limiter for many keys.
pub trait Engine: Send + Sync {
    /// Takes one token of `key`.
    fn try_acquire(&self, key: u64) -> bool;

    /// Takes one token of each of `keys`; returns how many calls were admitted. This is the timed loop: compiled for each
    /// engine anew, so that the calls in it are no virtual ones.
    fn admit(&self, keys: &[u32]) -> u64 {
        keys.iter().map(|&key| u64::from(self.try_acquire(u64::from(key)))).sum()
    }
}

/// How an engine is made.
pub trait Build: Engine + Sized + 'static {
    /// The version of the crate it comes from.
    const VERSION: &'static str;
    /// The clock it reads: `quanta`, `std` or `none`.
    const CLOCK: &'static str;
    /// What it hashes keys with: `siphash`, `foldhash` or its own.
    const HASHER: &'static str;
    /// Its part in the comparison.
    const KIND: Kind;
    /// Whether its memory is bounded, so that it may have to refuse a key that it does not know.
    const BOUNDED: bool = false;

    /// An engine for so many keys, each under this quota, as its documentation recommends it.
    fn build(quota: Quota, keys: u32) -> Self;

    /// As [`build`](Self::build), but with memory for no more keys than these, if it can be bounded.
    fn build_bounded(quota: Quota, keys: u32) -> Self {
        Self::build(quota, keys)
    }
}

/// A hasher with its name in our tables.
pub trait NamedHasher: BuildHasher + Clone + Default + Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
}

impl NamedHasher for std::hash::RandomState {
    const NAME: &'static str = "siphash";
}

impl NamedHasher for foldhash::fast::RandomState {
    const NAME: &'static str = "foldhash";
}

/// An engine as one of a list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in tables and csv files.
    pub name: &'static str,
    /// See [`Build::VERSION`].
    pub version: &'static str,
    /// See [`Build::CLOCK`].
    pub clock: &'static str,
    /// See [`Build::HASHER`].
    pub hasher: &'static str,
    /// See [`Build::KIND`].
    pub kind: Kind,
    /// See [`Build::BOUNDED`].
    pub bounded: bool,
    /// See [`Build::build`].
    pub build: fn(Quota, u32) -> Arc<dyn Engine>,
    /// See [`Build::build_bounded`].
    pub build_bounded: fn(Quota, u32) -> Arc<dyn Engine>,
}

impl Entry {
    const fn of<E: Build>(name: &'static str) -> Self {
        Self {
            name,
            version: E::VERSION,
            clock: E::CLOCK,
            hasher: E::HASHER,
            kind: E::KIND,
            bounded: E::BOUNDED,
            build: |quota, keys| Arc::new(E::build(quota, keys)),
            build_bounded: |quota, keys| Arc::new(E::build_bounded(quota, keys)),
        }
    }

    /// The entry of this name, the first of its clocks.
    pub fn named(name: &str) -> Option<&'static Self> {
        ENTRIES.iter().find(|entry| entry.name == name)
    }
}

/// The hasher that this crate, governor and the standard library come with.
type Sip = std::hash::RandomState;
/// A fast one.
type Fold = foldhash::fast::RandomState;

/// Every engine, in the order in which they are shown.
pub const ENTRIES: &[Entry] = &[
    Entry::of::<floor::Floor>("floor-line"),
    Entry::of::<isolated::Isolated<floor::Floor>>("floor-isolated"),
    Entry::of::<floor::Timed>("floor-timed"),
    Entry::of::<ours::Keyed<Sip>>("keyed"),
    Entry::of::<ours::Keyed<Fold>>("keyed-foldhash"),
    Entry::of::<batch::Batch<Fold>>("keyed-batch-16"),
    Entry::of::<isolated::Isolated<ours::Keyed<Fold>>>("keyed-isolated"),
    Entry::of::<governor::Governor<Sip>>("governor-keyed"),
    Entry::of::<governor::Governor<Fold>>("governor-keyed-foldhash"),
    Entry::of::<rate_net::RateNet<SystemClock>>("rate-net-keyed"),
    Entry::of::<rate_net::RateNet<QuantaClock>>("rate-net-keyed"),
    Entry::of::<mutex_map::MutexMap>("mutex-hashmap"),
    Entry::of::<sharded_map::ShardedMap>("sharded-hashmap"),
];

/// The entries of these names, all if there are none.
///
/// # Errors
///
/// If a name is not known; the message lists those that are.
pub fn select(names: &[String]) -> Result<Vec<Entry>, String> {
    if let Some(unknown) = names.iter().find(|name| Entry::named(name).is_none()) {
        let mut known: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
        known.dedup();
        return Err(format!("no keyed engine is called {unknown}; there are: {}", known.join(" ")));
    }
    let wanted = |entry: &&Entry| names.is_empty() || names.iter().any(|name| name == entry.name);
    Ok(ENTRIES.iter().filter(wanted).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_found_by_name() {
        assert_eq!(select(&[]).unwrap().len(), ENTRIES.len());
        assert_eq!(select(&["rate-net-keyed".into(), "keyed".into()]).unwrap().len(), 3, "on two clocks");
        assert!(select(&["keyd".into()]).unwrap_err().contains("keyed-foldhash"));
    }

    #[test]
    fn no_engine_is_listed_twice() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            assert!(ENTRIES[..index].iter().all(|other| (other.name, other.clock) != (entry.name, entry.clock)));
        }
    }
}
