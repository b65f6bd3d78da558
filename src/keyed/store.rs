//! [`Store`]: what all classes of a keyed limiter share.

use super::identity::Identity;
use super::line::{Line, SLOTS};
use super::table::Table;
use crate::nanos::Nanos;
use core::hash::{BuildHasher, Hash};

/// The keys' buckets, and how a key and an instant are told.
#[derive(Debug)]
pub(super) struct Store<S, C> {
    pub(super) table: Table,
    /// The last instant that the limiter can represent.
    pub(super) end: Nanos,
    /// Whether a key that nobody knows may have less than one that has recovered.
    pub(super) starts_short: bool,
    pub(super) hasher: S,
    pub(super) clock: C,
}

impl<S, C> Store<S, C> {
    /// A reading as the table counts it.
    #[inline]
    pub(super) fn within(&self, now: Nanos) -> Nanos {
        now.min(self.end)
    }

    /// How many slots of these lines hold a key in debt at `now`.
    pub(super) fn live_in<'l>(&self, lines: impl IntoIterator<Item = &'l Line>, now: Nanos) -> usize {
        let now = self.table.classes.idle(self.within(now));
        let slots = lines.into_iter().flat_map(Line::slots);
        slots.filter(|slot| slot.is_in_debt(now)).count()
    }

    /// The part of the slots that hold a key in debt at `now`, of 0 to 1, from a sample.
    #[allow(clippy::cast_precision_loss)] // an estimate
    pub(super) fn fill(&self, now: Nanos) -> f64 {
        let lines = self.table.lines();
        let sample = lines.len().min(64);
        // Lines far apart, so that what a hasher with a pattern would do shows.
        let sampled = lines.iter().step_by(lines.len() / sample).take(sample);
        self.live_in(sampled, now) as f64 / (sample * SLOTS) as f64
    }
}

impl<S: BuildHasher, C> Store<S, C> {
    /// A key as the table knows it.
    #[inline]
    pub(super) fn identity<Q: Hash + ?Sized>(&self, key: &Q) -> Identity {
        Identity::new(self.hasher.hash_one(key))
    }

    /// Gives a key's slot up if the key owes nothing at `now`; returns whether it owes nothing.
    pub(super) fn forget<Q: Hash + ?Sized>(&self, key: &Q, now: Nanos) -> bool {
        let (key, idle) = (self.identity(key), self.table.classes.idle(self.within(now)));
        if self.starts_short {
            return self.table.forget(key, idle);
        }
        // A key that has recovered is as good as one that nobody knows, and its slot is free as it is.
        self.table.find(key).is_none_or(|(_, word)| word.instant() <= idle)
    }

    /// Lifts all that a key owes; returns whether it owes nothing at `now`.
    pub(super) fn forgive<Q: Hash + ?Sized>(&self, key: &Q, now: Nanos) -> bool {
        self.table.forgive(self.identity(key), self.table.classes.idle(self.within(now)))
    }
}
