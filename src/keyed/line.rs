//! [`Line`]: a cache line of slots.

use super::identity::NOBODY;
use super::word::{State, Word};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Slots in a line: as many words and tags as 64 bytes hold. Model checks use one, so that few operations fill a table.
pub(super) const SLOTS: usize = if cfg!(all(loom, feature = "loom")) { 1 } else { 5 };

/// The unit of a line's mark, as a power of two: about a second. Model checks count it in nanoseconds.
const GRAIN: u32 = if cfg!(all(loom, feature = "loom")) { 0 } else { 30 };

/// What rounding adds to a mark at most.
pub(super) const MARK_ROUNDING: u64 = 1 << GRAIN;

/// A cache line of slots.
///
/// ```text
/// LAYOUT   | 5 words of 64 bits | 5 tags of 32 bits | mark of 32 bits |
/// ```
#[repr(C, align(64))]
#[derive(Debug)]
pub(super) struct Line {
    words: [AtomicU64; SLOTS],
    tags: [AtomicU32; SLOTS],
    /// `M` of the protocol: no life of a key whose word was lowered has had a later instant (rule 9). In units of about a
    /// second, rounded up.
    mark: AtomicU32,
}

impl Line {
    /// A line of slots that are nobody's.
    pub(super) fn new() -> Self {
        let words = core::array::from_fn(|_| AtomicU64::new(0));
        Self { words, tags: core::array::from_fn(|_| AtomicU32::new(NOBODY)), mark: AtomicU32::new(0) }
    }

    /// The first slot whose tag is `tag` at a glance, or `SLOTS`: where to look first. No branches.
    #[inline]
    pub(super) fn glance(&self, tag: u32) -> usize {
        let mut found = SLOTS;
        for (i, slot) in self.tags.iter().enumerate().rev() {
            // ORDERING: relaxed; pairs with nothing. A tag that is missed here was being stored just now, and whoever
            // goes on to insert the key looks again (rule 6).
            found = if slot.load(Ordering::Relaxed) == tag { i } else { found };
        }
        found
    }

    /// The slot of a glance, with its word, if it is the tag's and a bucket (rule 2).
    #[inline]
    pub(super) fn bucket(&self, glance: usize, tag: u32) -> Option<(Slot<'_>, Word)> {
        let slot = self.get(glance)?;
        Some((slot, slot.find(tag).filter(|word| word.is_bucket())?))
    }

    /// A slot by its number, if there is one of that number.
    #[inline]
    pub(super) fn get(&self, i: usize) -> Option<Slot<'_>> {
        Some(Slot { word: self.words.get(i)?, tag: self.tags.get(i)?, mark: &self.mark })
    }

    /// All slots.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot<'_>> {
        self.words.iter().zip(&self.tags).map(|(word, tag)| Slot { word, tag, mark: &self.mark })
    }
}

/// A word and its tag; and the mark of its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<'a> {
    word: &'a AtomicU64,
    tag: &'a AtomicU32,
    mark: &'a AtomicU32,
}

impl Slot<'_> {
    /// The word, if the slot is that of `tag` (rule 2).
    #[inline]
    pub(super) fn find(self, tag: u32) -> Option<Word> {
        let (word, seen) = self.read();
        if seen == tag { Some(word) } else { None }
    }

    /// The word, and the tag of its version or of a later one (rule 2).
    #[inline]
    pub(super) fn read(self) -> (Word, u32) {
        // ORDERING: acquire; pairs with the releases in `claim`, `release` and `lower`, directly or through the
        // read-modify-writes in between. The tag loaded below is then no older than the word; and whoever loads the
        // horizon or the mark afterwards sees it where the slot's past has raised it (rules 7 and 9).
        let word = Word(self.word.load(Ordering::Acquire));
        // ORDERING: acquire; pairs with the release of the tag in `publish`: who sees a tag sees that its slot was
        // claimed for it, in a load of the word that comes after this one (rule 3).
        (word, self.tag.load(Ordering::Acquire))
    }

    /// The word and the tag in one life of the slot, if that is a key's (S2 of `saved`).
    pub(super) fn settled(self) -> Option<(Word, u32)> {
        // PROGRESS: lock-free. Another round means that another thread made a step on the slot.
        loop {
            let (word, tag) = self.read();
            if !word.is_bucket() || tag == NOBODY {
                return None;
            }
            if self.word() == word {
                return Some((word, tag));
            }
        }
    }

    /// The word alone.
    #[inline]
    pub(super) fn word(self) -> Word {
        // ORDERING: relaxed; pairs with nothing. After `read`, its acquire of the tag keeps this load in its place; for
        // statistics, any value is good.
        Word(self.word.load(Ordering::Relaxed))
    }

    /// Whether a key lives here that is not full at `now`. For statistics: word and tag may be of different versions.
    pub(super) fn is_in_debt(self, now: u64) -> bool {
        let (word, tag) = self.read();
        tag != NOBODY && word.is_bucket() && word.instant() > now
    }

    /// One step of the key's own word: charge or commit.
    #[inline]
    pub(super) fn step(self, from: Word, to: Word) -> bool {
        // ORDERING: relaxed; pairs with nothing. The word was loaded with acquire, and releases nothing new; a
        // read-modify-write hands on what its predecessors have released.
        self.word.compare_exchange(from.0, to.0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Lowers the word to `instant`, once the mark is at least where it comes from (rule 9).
    pub(super) fn lower(self, from: Word, instant: u64) -> bool {
        self.raise_mark(from.instant());
        // ORDERING: release; pairs with `read`: whoever sees the word sees the mark.
        self.word.compare_exchange(from.0, from.lowered(instant).0, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Raises the mark to `instant` at least.
    #[allow(clippy::cast_possible_truncation)] // at most `u32::MAX`, which is the last instant of a word
    fn raise_mark(self, instant: u64) {
        let units = instant.div_ceil(MARK_ROUNDING).min(u64::from(u32::MAX)) as u32;
        // ORDERING: relaxed, here and below; pairs with nothing. The mark only grows, and what this thread has seen of it is
        // handed on by the release of `lower`.
        if self.mark.load(Ordering::Relaxed) < units {
            self.mark.fetch_max(units, Ordering::Relaxed);
        }
    }

    /// The mark, or `instant` if that is later: no earlier than anything that this slot's word was in the life of which
    /// `read` has returned a word.
    pub(super) fn mark(self, instant: u64) -> u64 {
        // ORDERING: relaxed; pairs with nothing itself. The acquire of the word in `read` comes before it.
        (u64::from(self.mark.load(Ordering::Relaxed)) * MARK_ROUNDING).max(instant)
    }

    /// Makes the caller the owner of a slot, by the word that is `claimed`: one that was free as of `from` (rule 4), or
    /// that is to be left (rule 8).
    pub(super) fn claim(self, from: Word, claimed: Word) -> bool {
        // ORDERING: acquire, so that the tag stored next comes after the slot's earlier ones; release, so that whoever
        // sees the slot claimed sees the horizon raised. Pairs with `read` and with itself.
        self.word.compare_exchange(from.0, claimed.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Stores the tag of a slot that the caller owns by the word `claimed`; returns the tentative word (rule 5).
    pub(super) fn publish(self, claimed: Word, tag: u32) -> Word {
        self.release(tag, claimed.tagged());
        claimed.tagged()
    }

    /// Leaves a slot that the caller owns by the word `claimed` to nobody (rule 8).
    pub(super) fn vacate(self, claimed: Word) {
        self.release(NOBODY, claimed.vacated());
    }

    /// Opens the slot for the key of `tag`, full again at `instant`. Only while nobody else has the table.
    pub(super) fn put(self, tag: u32, instant: u64) {
        self.release(tag, Word::new(instant, State::Open));
    }

    fn release(self, tag: u32, word: Word) {
        // ORDERING: release; pairs with the acquire of the tag in `read`: the claim comes before it.
        self.tag.store(tag, Ordering::Release);
        // ORDERING: release; pairs with the acquire of the word in `read`: the tag comes before it. A plain store, for
        // nobody else writes to a claimed slot.
        self.word.store(word.0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_cache_line() {
        assert_eq!((size_of::<Line>(), align_of::<Line>()), (64, 64));
    }

    #[test]
    fn a_glance_finds_the_first_slot_with_the_tag() {
        let line = Line::new();
        for slot in line.slots().skip(2).step_by(2) {
            assert!(slot.claim(Word(0), Word(0).claimed(0)));
            let _ = slot.publish(Word(0).claimed(0), 77);
        }
        assert_eq!([0, 77, 78].map(|tag| line.glance(tag)), [0, 2, SLOTS]);
        assert!(line.get(2).is_some_and(|slot| slot.find(77).is_some_and(Word::is_tentative)));
        assert!(line.get(4).is_some_and(|slot| slot.find(78).is_none()));
        assert!(line.get(SLOTS).is_none());
    }
}
