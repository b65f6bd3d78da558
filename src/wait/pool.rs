//! [`Pool`]: stretches that were given back from the middle of a line. Rules are those of the module.

use crate::algorithm::{Fit, Gcra, Stretch};
use crate::cell::StateCell;
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Ordering, const_unless_loom};
use crate::timeline::Hint;

/// How many stretches there is room for: with the longest wait beside them they fill two lines of a processor's cache.
#[cfg(not(all(loom, feature = "loom")))]
const SLOTS: usize = 7;

/// Few, so that models stay small.
#[cfg(all(loom, feature = "loom"))]
const SLOTS: usize = 2;

const EMPTY: u64 = 0;
const BUSY: u64 = u64::MAX;

/// Stretches that are nobody's.
#[derive(Debug)]
pub(crate) struct Pool([Slot; SLOTS]);

/// A stretch, or room for one.
///
/// | `len` | means | may be changed by |
/// |---|---|---|
/// | 0 | empty; `start` means nothing | anybody, to BUSY |
/// | 1 and up | the stretch of that length from `start` on | anybody, to BUSY |
/// | `u64::MAX`, BUSY | owned by a thread | that thread alone, and so is `start` |
#[derive(Debug)]
struct Slot {
    len: AtomicU64,
    start: AtomicU64,
}

/// A busy slot in the hand of its owner, and what is in it for certain.
#[must_use = "a slot that is never released is lost"]
struct Owned<'a> {
    slot: &'a Slot,
    stretch: Stretch,
}

impl Slot {
    const_unless_loom! {
        const fn new() -> Self {
            Self { len: AtomicU64::new(EMPTY), start: AtomicU64::new(0) }
        }
    }

    /// What seems to be in it: the length may be an older one than the start. `None` if it is busy.
    #[inline]
    fn look(&self) -> Option<Stretch> {
        // ORDERING: acquire; pairs with the release in `release`, so that the start is that of this length, or a later one.
        let len = self.len.load(Ordering::Acquire);
        if len == BUSY {
            return None;
        }
        // ORDERING: relaxed, as above. That it may be later is what `own` is for.
        Some(Stretch { start: self.start.load(Ordering::Relaxed), len })
    }

    /// Makes this thread the owner, if the length is still `len` (rules 4 to 6).
    fn own(&self, len: u64) -> Option<Owned<'_>> {
        // ORDERING: acquire on success; pairs with the release in `release` that stored this very length: the start that goes with
        // it is seen. Relaxed on failure, since then nothing is read.
        self.len.compare_exchange(len, BUSY, Ordering::Acquire, Ordering::Relaxed).ok()?;
        // ORDERING: relaxed; the CAS above has ordered it, and nobody but the owner stores a start.
        let start = self.start.load(Ordering::Relaxed);
        Some(Owned { slot: self, stretch: Stretch { start, len } })
    }
}

impl Owned<'_> {
    /// Leaves `stretch` in the slot, for anybody.
    fn release(self, stretch: Stretch) {
        // ORDERING: relaxed; published by the release below. The owner of a slot is the only one to store.
        self.slot.start.store(stretch.start, Ordering::Relaxed);
        // ORDERING: release; pairs with the acquires in `look` and `own`.
        self.slot.len.store(stretch.len, Ordering::Release);
    }

    fn put_back(self) {
        let stretch = self.stretch;
        self.release(stretch);
    }

    fn empty(self) {
        let start = self.stretch.start;
        self.release(Stretch { start, len: EMPTY });
    }
}

impl Pool {
    const_unless_loom! {
        /// Room for stretches.
        pub(crate) const fn new() -> Self {
            #[cfg(not(all(loom, feature = "loom")))]
            return Self([const { Slot::new() }; SLOTS]);
            #[cfg(all(loom, feature = "loom"))]
            return Self(core::array::from_fn(|_| Slot::new()));
        }
    }

    /// The stretches that seem to be there.
    fn stretches(&self) -> impl Iterator<Item = (&Slot, Stretch)> {
        self.0.iter().filter_map(|slot| slot.look().map(|stretch| (slot, stretch))).filter(|(_, it)| it.len != EMPTY)
    }

    /// Whether there seems to be nothing.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.stretches().next().is_none()
    }

    /// Puts `stretch` into a slot that is empty, or in which nothing can be spent at `now` or later (rule 4). Returns whether
    /// there was one. Wait-free.
    pub(super) fn put(&self, gcra: &Gcra, stretch: Stretch, now: Nanos) -> bool {
        for slot in &self.0 {
            let Some(seen) = slot.look().filter(|&it| gcra.is_expired(it, now)) else { continue };
            let Some(owned) = slot.own(seen.len) else { continue };
            if gcra.is_expired(owned.stretch, now) {
                owned.release(stretch);
                return true;
            }
            owned.put_back();
        }
        false
    }

    /// Takes `n` tokens out of the stretch in which they are due first (rule 5), and returns the first of their positions. If
    /// none is due by `last`, says when the first will be, if any. Lock-free.
    pub(super) fn take(&self, gcra: &Gcra, n: u64, now: Nanos, last: Nanos) -> Result<u64, Option<Hint>> {
        let (cost, _) = gcra.price(n).map_err(|_| None)?;
        // PROGRESS: lock-free. Another round is made only after another thread has changed the slot that was chosen.
        loop {
            let (mut best, mut later) = (None::<(u64, &Slot, u64)>, None);
            for (slot, stretch) in self.stretches() {
                match gcra.fit(stretch, n, now, last) {
                    Fit::At(start) if best.is_none_or(|(first, ..)| start < first) => {
                        best = Some((start, slot, stretch.len));
                    }
                    Fit::Later(hint) => later = Some(sooner(later, hint)),
                    Fit::At(_) | Fit::Never => {}
                }
            }
            let Some((_, slot, len)) = best else { return Err(later) };
            let Some(owned) = slot.own(len) else { continue };
            let Fit::At(start) = gcra.fit(owned.stretch, n, now, last) else {
                owned.put_back();
                continue;
            };
            let (rest, end) = (start + cost, owned.stretch.end());
            owned.release(Stretch { start: rest, len: end - rest });
            return Ok(start);
        }
    }

    /// Gives stretches that end where the word stands back to the word (rule 6). Lock-free.
    pub(super) fn absorb(&self, cell: &StateCell) {
        // PROGRESS: lock-free. Each round but the last has moved the word down, or has seen another thread move the word or change
        // the slot.
        loop {
            let word = cell.load();
            let Some((slot, seen)) = self.stretches().find(|(_, it)| it.end() == word) else { return };
            let Some(owned) = slot.own(seen.len) else { continue };
            if lower(cell, owned.stretch) {
                owned.empty();
            } else {
                owned.put_back();
            }
        }
    }

    /// Where `word` would stand after all that ends there was absorbed. Writes nothing.
    pub(super) fn lowered(&self, mut word: u64) -> u64 {
        // PROGRESS: at most as many steps as there are slots.
        for _ in &self.0 {
            let Some((_, stretch)) = self.stretches().find(|(_, it)| it.end() == word) else { break };
            word = stretch.start;
        }
        word
    }

    /// The most whole tokens that one call could take at `now`.
    pub(super) fn available(&self, gcra: &Gcra, now: Nanos) -> u64 {
        self.stretches().map(|(_, stretch)| gcra.available_in(stretch, now)).max().unwrap_or(0)
    }

    /// Whether there are `n` tokens that are due by `last`. If not, says when the first will be, if any. Writes nothing.
    pub(super) fn look(&self, gcra: &Gcra, n: u64, now: Nanos, last: Nanos) -> Result<(), Option<Hint>> {
        let mut later = None;
        for (_, stretch) in self.stretches() {
            match gcra.fit(stretch, n, now, last) {
                Fit::At(_) => return Ok(()),
                Fit::Later(hint) => later = Some(sooner(later, hint)),
                Fit::Never => {}
            }
        }
        Err(later)
    }
}

/// Moves the word from the end of `stretch`, which is the caller's, to its start, if it stands there (rules 3 and 6). Lock-free.
pub(super) fn lower(cell: &StateCell, stretch: Stretch) -> bool {
    cell.update(|word| if word == stretch.end() { Ok((stretch.start, ())) } else { Err(()) }).is_ok()
}

/// The sooner of two hints of one scale.
pub(super) fn sooner(one: Option<Hint>, other: Hint) -> Hint {
    one.filter(|one| one.position <= other.position).unwrap_or(other)
}
