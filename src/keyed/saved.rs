//! What a snapshot of a table has to know, and how a table is filled from one.
//!
//! # Rules of the scan
//!
//! S1. The clock is read first: a key that is full by that reading owes nothing, and is not saved.
//! S2. Each slot is looked at once, and counts for its tag's key if it is a bucket, and if its word, loaded again after the
//!     tag, has not changed (rules 2 and 3 of the module): word and tag are then of one life.
//! S3. A slot that is claimed or tentative has no charge in it; it is passed over.
//! S4. The horizons are read after all slots. Those are saved that are later than the reading.
//! S5. A key that is found twice, for it has moved meanwhile, is restored with the later instant.
//! S6. The quotas that are saved are those of the scan's beginning. Of a class whose quota changes meanwhile, a key is saved as owing as
//!     many tokens at the reading as it does by the present quota, and no fewer than by the earlier.
//!
//! # Why it is a cut, for each key
//!
//! What is saved of a key is a state that it had at one instant of the scan, or what its next life would have started from.
//! If one of its slots counts, that is its state when the word was loaded again; if two do, the one that was looked at later
//! is the later life, and its instant is the later one. If none does, look at the slot in which it lived when the scan began:
//! none, or one that had been taken from it when the scan came by. It was then without a slot for a moment of the scan, or
//! tentative, having last been full from an instant `p` on. If `p` is after the reading, the claim had raised the key's horizon
//! to `p` before (rule 4 of the module), and by the acquire of that slot's word S4 sees it; it is restored too, and holds the
//! key to `p`. If not, the key was full. So no key is restored fuller than it was when the scan began.
//!
//! Different keys may be seen at different instants.

use super::identity::{CANDIDATES, Identity, NOBODY};
use super::limiter::KeyedLimiter;
use super::line::{Line, Slot};
use super::pace::Pace;
use super::table::Table;
use super::word::Word;
use crate::algorithm::Algorithm;
use crate::nanos::Nanos;
use crate::quota::Quota;
use alloc::vec::Vec;
use core::hash::BuildHasher;

/// A key in debt, as the table knows it; or a horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Debt {
    /// The line in which the key lives; of a horizon, its number.
    pub(crate) line: u32,
    /// The tag of its slot; [`HORIZON`](Self::HORIZON) for a horizon.
    pub(crate) tag: u32,
    /// The instant from which the key is full.
    pub(crate) full_at: u64,
}

impl Debt {
    /// The tag of what is no key.
    pub(crate) const HORIZON: u32 = NOBODY;
}

/// The paces of all classes at the beginning of a scan (S6).
#[derive(Debug)]
pub(crate) struct Paces(Vec<Pace>);

impl Paces {
    /// Their quotas.
    pub(crate) fn quotas(&self) -> impl ExactSizeIterator<Item = Quota> {
        self.0.iter().map(Pace::quota)
    }
}

/// Why a table takes no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// No table saves this.
    Unknown,
    /// The debt lasts until after the end of time.
    TooLate,
}

impl Table {
    /// Hands `put` every key that is in debt at `now`, and then every horizon that is later.
    #[allow(clippy::cast_possible_truncation)] // there are fewer than 2^32 of either
    fn each_debt<E>(&self, paces: &Paces, now: Nanos, mut put: impl FnMut(Debt) -> Result<(), E>) -> Result<(), E> {
        let recovered = |word| self.classes.recovered_as_of(&paces.0, word, now);
        for (line, slots) in self.lines().iter().enumerate() {
            for (word, tag) in slots.slots().filter_map(Slot::settled) {
                let full_at = recovered(word.instant());
                if full_at > now.0 {
                    put(Debt { line: line as u32, tag, full_at })?;
                }
            }
        }
        for (number, horizon) in self.horizons.all().enumerate() {
            let full_at = recovered(horizon);
            if full_at > now.0 {
                put(Debt { line: number as u32, tag: Debt::HORIZON, full_at })?;
            }
        }
        Ok(())
    }

    /// Gives a key a slot. Nobody else has the table.
    #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 lines
    fn place(&mut self, debt: Debt) -> Result<(), NoRoom> {
        let Debt { line, tag, full_at } = debt;
        if tag == Debt::HORIZON {
            return if self.horizons.raise_number(line, full_at) { Ok(()) } else { Err(NoRoom::Unknown) };
        }
        let lines = self.lines().len() as u32;
        let key = Identity::living_in(line, tag, lines).ok_or(NoRoom::Unknown)?;
        // It may have been seen in another place before (S5).
        for candidate in 0..CANDIDATES {
            let tag = key.tag(candidate);
            if let Some(slot) = self.line(key, candidate).slots().find(|slot| slot.find(tag).is_some()) {
                slot.put(tag, slot.word().instant().max(full_at));
                return Ok(());
            }
        }
        let line = &self.lines()[line as usize];
        let vacant = line.slots().find(|slot| slot.read().1 == NOBODY).ok_or(NoRoom::Unknown)?;
        vacant.put(tag, full_at);
        Ok(())
    }

    /// Whether no key has ever had a slot.
    fn is_unused(&self) -> bool {
        let no_keys = self.lines().iter().flat_map(Line::slots).all(|slot| slot.read() == (Word(0), NOBODY));
        no_keys && self.horizons.all().all(|horizon| horizon == 0)
    }
}

impl<K: ?Sized, S, C> KeyedLimiter<K, S, C> {
    #[cfg(feature = "std")]
    pub(crate) const fn clock(&self) -> &C {
        &self.store.clock
    }

    /// The paces of all classes.
    pub(crate) fn paces(&self) -> Paces {
        Paces(self.store.table.classes.iter().map(|terms| terms.with(|pace| *pace)).collect())
    }

    /// The quotas of all classes.
    pub(crate) fn quotas(&self) -> impl Iterator<Item = Quota> {
        self.store.table.classes.iter().map(|terms| terms.with(Pace::quota))
    }

    /// The quota that newcomers without a slot share, and its word.
    pub(crate) fn sharing(&self) -> Option<(Quota, u64)> {
        self.store.table.newcomers.as_ref().map(|newcomers| (newcomers.gcra.quota(), newcomers.cell.load()))
    }

    /// How many lines the table has.
    pub(crate) fn lines(&self) -> u64 {
        self.store.table.lines().len() as u64
    }

    /// Hands `put` every key that is in debt at `now`, and then every horizon that is later.
    pub(crate) fn each_debt<E>(
        &self,
        paces: &Paces,
        now: Nanos,
        put: impl FnMut(Debt) -> Result<(), E>,
    ) -> Result<(), E> {
        self.store.table.each_debt(paces, self.store.within(now), put)
    }

    /// Whether nobody was ever admitted.
    pub(crate) fn is_unused(&self) -> bool {
        self.store.table.is_unused() && self.sharing().is_none_or(|(_, word)| word == 0)
    }

    /// Takes up a debt that was another's, which read `from` when this one reads `to`. For a table that is unused but for what
    /// was taken up before.
    ///
    /// Where a unit is not a nanosecond, the units of the two begin at different instants, and the debt is taken to last two
    /// nanoseconds longer: `floor(r * (a + D)) - floor(r * (b + D + 1)) <= floor(r * a) - floor(r * (b - 1))` for a shift `D`, since
    /// a unit takes less than two nanoseconds, `2 * r > 1`.
    pub(crate) fn take_up(&mut self, debt: Debt, from: Nanos, to: Nanos) -> Result<(), NoRoom> {
        let (from, to) = (self.store.within(from), self.store.within(to));
        if debt.full_at <= from.0 {
            return Ok(());
        }
        if debt.full_at > Word::LAST {
            return Err(NoRoom::Unknown);
        }
        let even = from == to || self.store.table.classes.iter().all(|terms| terms.with(Pace::is_whole));
        // Above 0, since the debt is later than `from`.
        let full_at = debt.full_at - from.0 + to.0 + if even { 0 } else { 2 };
        let last = self.store.end.0 + if debt.tag == Debt::HORIZON { 0 } else { self.store.table.hold };
        if full_at > last {
            return Err(NoRoom::TooLate);
        }
        let full_at = self.store.table.classes.word(full_at);
        self.store.table.place(Debt { full_at, ..debt })
    }

    /// Takes up what newcomers without a slot owe together.
    pub(crate) fn take_up_sharing(&mut self, word: u64, from: Nanos, to: Nanos) -> Result<(), NoRoom> {
        let Some(newcomers) = &mut self.store.table.newcomers else { return Err(NoRoom::Unknown) };
        let word = newcomers.gcra.carried(word, from, to).ok_or(NoRoom::TooLate)?;
        newcomers.cell.apply(|_| (word, ()));
        Ok(())
    }
}

impl<K: ?Sized, S: BuildHasher, C> KeyedLimiter<K, S, C> {
    /// What the hasher makes of keys that everybody knows: text, and numbers of either size, so that it tells seeds, orders of
    /// bytes and widths of words apart.
    pub(crate) fn hasher_fingerprint(&self) -> u64 {
        let hasher = &self.store.hasher;
        let number = hasher.hash_one(0x0123_4567_89AB_CDEF_u64) ^ hasher.hash_one(1_usize).rotate_left(21);
        hasher.hash_one("tollgate") ^ number.rotate_left(21)
    }
}
