//! Looking inside: what the slots of a table hold, and which keys owe most.

use super::identity::{Identity, NOBODY};
use super::limiter::KeyedLimiter;
use super::line::{Line, SLOTS};
use super::store::Store;
use crate::clock::Clock;
use crate::nanos::Nanos;
use core::borrow::Borrow;
use core::hash::{BuildHasher, Hash};
use core::time::Duration;

/// What the slots of a table hold, as of an instant.
///
/// A table serves well up to half its slots [in debt](Self::live).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occupancy {
    /// All slots: about twice the capacity.
    pub slots: usize,
    /// Slots of keys in debt, which nobody else can have.
    pub live: usize,
    /// Slots of keys that owe nothing and were given tokens back a while ago: kept for them a little longer.
    pub kept: usize,
    /// Slots of keys that owe nothing: free, as soon as another wants them.
    pub recovered: usize,
    /// Slots that are nobody's, or are changing hands.
    pub vacant: usize,
}

impl Occupancy {
    /// The part of the slots that no newcomer can have, of 0 to 1.
    #[allow(clippy::cast_precision_loss)] // a part
    pub fn taken(&self) -> f64 {
        (self.live + self.kept) as f64 / self.slots as f64
    }
}

/// A key as the table knows it: what is left of its hash. Two keys of one fingerprint share a bucket.
///
/// It means something in tables of one capacity and hasher alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// A number of its own for each fingerprint.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    fn of(key: Identity, lines: usize) -> Self {
        #[allow(clippy::cast_possible_truncation)] // fewer than 2^32
        let line = key.line(0, lines as u32);
        Self((line as u64) << 32 | u64::from(key.tag(0)))
    }
}

/// A key in debt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Debtor {
    /// Which key; see [`KeyedLimiter::fingerprint`].
    pub key: Fingerprint,
    /// How long until it is full again: the heavier, the longer, whatever its class.
    pub owes: Duration,
}

impl<S, C> Store<S, C> {
    fn debtors(&self, now: Nanos) -> impl Iterator<Item = Debtor> {
        let lines = self.table.lines();
        #[allow(clippy::cast_possible_truncation)] // fewer than 2^32
        let slots = (0..).zip(lines).flat_map(|(number, line)| line.slots().map(move |slot| (number, slot)));
        slots.filter_map(move |(number, slot)| {
            let (word, tag) = slot.settled()?;
            let recovered = self.table.classes.recovered(word.instant());
            if recovered <= now.0 {
                return None;
            }
            #[allow(clippy::cast_possible_truncation)] // fewer than 2^32
            let key = Identity::living_in(number, tag, lines.len() as u32)?;
            let owes = Duration::from_nanos(recovered - now.0);
            Some(Debtor { key: Fingerprint::of(key, lines.len()), owes })
        })
    }
}

impl<K: ?Sized, S, C> KeyedLimiter<K, S, C> {
    /// As [`occupancy`](Self::occupancy), as of `now`. No clock is read.
    pub fn occupancy_at(&self, now: Nanos) -> Occupancy {
        let table = &self.store.table;
        let idle = table.classes.idle(self.store.within(now));
        let slots = table.lines().len() * SLOTS;
        let mut occupancy = Occupancy { slots, live: 0, kept: 0, recovered: 0, vacant: 0 };
        for slot in table.lines().iter().flat_map(Line::slots) {
            let (word, tag) = slot.read();
            let count = if tag == NOBODY || !word.is_bucket() {
                &mut occupancy.vacant
            } else if word.instant() > idle {
                &mut occupancy.live
            } else if table.free_from((word, tag)).is_none_or(|free_from| free_from > idle) {
                &mut occupancy.kept
            } else {
                &mut occupancy.recovered
            };
            *count += 1;
        }
        occupancy
    }

    /// As [`heaviest`](Self::heaviest), as of `now`. No clock is read.
    pub fn heaviest_at(&self, heaviest: &mut [Debtor], now: Nanos) -> usize {
        let mut found = 0;
        for debtor in self.store.debtors(self.store.within(now)) {
            let place = heaviest[..found].partition_point(|other| other.owes >= debtor.owes);
            if place < heaviest.len() {
                found = (found + 1).min(heaviest.len());
                heaviest[place..found].rotate_right(1);
                heaviest[place] = debtor;
            }
        }
        found
    }
}

impl<K: ?Sized, S: BuildHasher, C> KeyedLimiter<K, S, C> {
    /// What the table knows a key by, to find it among the [heaviest](Self::heaviest).
    pub fn fingerprint<Q>(&self, key: &Q) -> Fingerprint
    where
        K: Borrow<Q>,
        Q: Hash + ?Sized,
    {
        Fingerprint::of(self.store.identity(key), self.store.table.lines().len())
    }
}

impl<K: ?Sized, S, C: Clock> KeyedLimiter<K, S, C> {
    /// What the slots hold now. Looks at every slot, about 1 ns per key of the capacity; exact if nobody else calls meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(10), 1_000);
    /// assert!(limiter.try_acquire("alice").is_ok());
    /// let occupancy = limiter.occupancy();
    /// assert_eq!((occupancy.slots, occupancy.live, occupancy.vacant), (2_000, 1, 1_999));
    /// ```
    pub fn occupancy(&self) -> Occupancy {
        self.occupancy_at(self.store.clock.now())
    }

    /// Puts the keys that owe most now into `heaviest`, the most first; returns how many there are. Looks at every slot, writes
    /// nothing, allocates nothing; a key that moves meanwhile may be there twice or not at all.
    ///
    /// The table has no keys, only their [fingerprints](Self::fingerprint). Where keys can be listed, compare theirs; to have the
    /// keys themselves remembered, see [`HeavyKeys`](crate::HeavyKeys).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Debtor, KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(60), 1_000);
    /// for (key, n) in [("alice", 3), ("bob", 30), ("carol", 7)] {
    ///     assert!(limiter.try_acquire_n(key, n).is_ok());
    /// }
    /// let mut heaviest = [Debtor { key: limiter.fingerprint("nobody"), owes: Duration::ZERO }; 2];
    /// assert_eq!(limiter.heaviest(&mut heaviest), 2);
    /// assert_eq!(heaviest.map(|debtor| debtor.key), ["bob", "carol"].map(|key| limiter.fingerprint(key)));
    /// ```
    pub fn heaviest(&self, heaviest: &mut [Debtor]) -> usize {
        self.heaviest_at(heaviest, self.store.clock.now())
    }
}
