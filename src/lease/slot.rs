//! [`Slot`]: an atomic word of credits. [`Refill`]: the right to add to it.

use super::quiet::Quiet;
use super::word::Word;
use crate::cell::StateCell;
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Ordering, fence};

/// A word of credits that one thread usually has to itself, and that any thread may take from.
///
/// Its modification order alone carries what the module proves about it; see [`StateCell`].
#[derive(Debug)]
pub(crate) struct Slot {
    credits: StateCell,
    /// A [`Quiet`].
    quiet: AtomicU64,
    /// When a call that is denied because of it would be admitted; 0 if there was none.
    due: AtomicU64,
}

impl Slot {
    pub(crate) fn new() -> Self {
        let (credits, quiet, due) = (StateCell::new(Word::EMPTY.0), AtomicU64::new(0), AtomicU64::new(0));
        Self { credits, quiet, due }
    }

    /// Credits that could be spent, as of some instant.
    #[inline]
    pub(crate) fn credits(&self) -> u64 {
        Word(self.credits.load()).credits()
    }

    /// Takes one credit (rule 1). Wait-free: no loop, and no undo if another thread was faster.
    #[inline]
    pub(crate) fn take_one(&self) -> bool {
        self.credits() > 0 && Word(self.credits.subtract(Word::ONE)).credits() > 0
    }

    /// Takes `n` credits or none (rules 1 and 4). Lock-free.
    #[inline]
    pub(crate) fn take(&self, n: u64) -> bool {
        if n == 1 {
            return self.take_one();
        }
        self.credits.update(|word| Word(word).take(n).map(|left| (left.0, ())).ok_or(())).is_ok()
    }

    /// Takes `n` credits or none; returns how many are left, or how few there were. Lock-free.
    pub(crate) fn take_leaving(&self, n: u64) -> Result<u64, u64> {
        let step = |word| Word(word).take(n).map(|left| (left.0, left.credits())).ok_or(Word(word).credits());
        self.credits.update(step)
    }

    /// Takes up to `n` credits; returns how many. Each is spent at once, so this gathers nothing. Lock-free.
    pub(crate) fn take_up_to(&self, n: u64) -> u64 {
        let taken = self.credits.update(|word| {
            let taken = Word(word).credits().min(n);
            Word(word).take(taken).map(|left| (left.0, taken)).ok_or(())
        });
        taken.unwrap_or(0)
    }

    /// Starts a refill (rule 2a), unless another is under way. Lock-free.
    #[inline]
    pub(crate) fn begin(&self) -> Option<Refill<'_>> {
        let begun = self.credits.update(|word| {
            let begun = Word(word).begin().ok_or(())?;
            Ok::<_, ()>((begun.0, Word(word).credits()))
        });
        Some(Refill::new(self, begun.ok()?))
    }

    /// Starts a refill that lasts, and takes out what credits there are (rule 7); returns how many. Lock-free.
    pub(crate) fn claim(&self) -> Option<u64> {
        let claimed = self.credits.update(|word| {
            let claimed = Word(word).claim().ok_or(())?;
            Ok::<_, ()>((claimed.0, Word(word).credits()))
        });
        claimed.ok()
    }

    /// When a call of cost 1 would be admitted that is denied at `now` without a look elsewhere, since there are no more
    /// than `news` since the last one and its pause, of `most` nanoseconds at most, is not over (rule 8).
    #[inline]
    pub(crate) fn quiet(&self, now: Nanos, news: u64, most: u64) -> Option<Nanos> {
        // ORDERING: acquire; pairs with the release in `hush`, so that the instant belongs to this pause or to a later one.
        let quiet = Quiet(self.quiet.load(Ordering::Acquire));
        // ORDERING: relaxed; as above.
        let due = Nanos(self.due.load(Ordering::Relaxed));
        (quiet.lasts(now, news, most) && now < due).then_some(due)
    }

    /// Lets calls be denied while `quiet` lasts, and tells them `due` (rule 8).
    pub(crate) fn hush(&self, quiet: Quiet, due: Nanos) {
        // ORDERING: relaxed; the store after it releases it.
        self.due.store(due.0, Ordering::Relaxed);
        // ORDERING: release; pairs with the acquire in `quiet`.
        self.quiet.store(quiet.0, Ordering::Release);
    }

    /// Adds `n` credits and clears the bit (rules 2d and 7). For whoever has set it. Lock-free.
    pub(crate) fn finish(&self, n: u64) {
        // ORDERING: release; with the write that follows it pairs with the acquire in `seen`: whoever sees these credits, or what
        // is left of them, sees that they were drawn (rule 9).
        fence(Ordering::Release);
        self.credits.apply(|word| (Word(word).finish(n).0, ()));
    }
}

/// Says that slots were looked at: what is looked at from here on is no older than what was put into them (rule 9).
pub(crate) fn seen() {
    // ORDERING: acquire; pairs with the release in `Slot::finish`, by the relaxed loads before it.
    fence(Ordering::Acquire);
}

/// The right to add credits to a slot: its REFILL bit. Dropping it clears the bit, whatever else goes wrong.
#[must_use]
#[derive(Debug)]
pub(crate) struct Refill<'a> {
    slot: &'a Slot,
    credits: u64,
    deposit: u64,
}

impl<'a> Refill<'a> {
    fn new(slot: &'a Slot, credits: u64) -> Self {
        Self { slot, credits, deposit: 0 }
    }

    /// What the slot held when the bit was set: no more than that is left (rule 2a).
    pub(crate) fn credits(&self) -> u64 {
        self.credits
    }

    /// Adds `n` credits and clears the bit (rule 2d). Lock-free.
    pub(crate) fn deposit(mut self, n: u64) {
        self.deposit = n;
    }
}

impl Drop for Refill<'_> {
    fn drop(&mut self) {
        self.slot.finish(self.deposit);
    }
}
