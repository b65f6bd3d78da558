//! [`Table`]: the memory, and every step on a key that has a slot. Numbers of rules are those of the module above.

use super::all_classes::AllClasses;
use super::error::KeyedError;
use super::horizon::Horizons;
use super::identity::{CANDIDATES, FEWEST_LINES, Identity, MOST_LINES, NOBODY};
use super::line::{Line, MARK_ROUNDING, SLOTS, Slot};
use super::newcomers::Newcomers;
use super::pace::Pace;
use super::word::Word;
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::sync::Backoff;
use crate::timeline::Hint;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// One call: the key, what it costs at which pace, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) key: Identity,
    pub(super) pace: &'a Pace,
    /// In units of the pace; at least 1.
    pub(super) cost: u64,
    pub(super) now: Nanos,
}

/// A decision, and the very state that it was made on or has made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided {
    pub(super) decision: Result<(), Denied>,
    pub(super) left: Left,
}

/// What a decision leaves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Left {
    /// The key is full again at this instant.
    Bucket(u64),
    /// There is no slot for the key; newcomers share a bucket, which has this word.
    Shared(u64),
    /// There is no slot for the key.
    Nothing,
}

impl Decided {
    /// Admitted on the key's own bucket, which is full again at `full_at`.
    pub(super) const fn admitted(full_at: u64) -> Self {
        Self { decision: Ok(()), left: Left::Bucket(full_at) }
    }

    /// Refused on the key's own bucket, which is full again at `full_at`.
    pub(super) fn refused(full_at: u64, call: &Call<'_>) -> Self {
        let denied = call.pace.refusal(full_at, call.cost, call.now);
        Self { decision: Err(denied), left: Left::Bucket(full_at) }
    }

    /// The same, of a call whose own reading is `now` and counts as `counted`.
    #[inline]
    pub(super) fn read_at(self, now: Nanos, counted: Nanos) -> Self {
        if now < counted { self.as_of(now) } else { self }
    }

    /// The same, of a call whose own reading is older than the one that counts.
    #[cold]
    fn as_of(self, now: Nanos) -> Self {
        let decision = self.decision.map_err(|denied| match denied {
            Denied::TryAfter(hint) => Denied::TryAfter(Hint { now, ..hint }),
            Denied::TableFull(hint) => Denied::TableFull(Hint { now, ..hint }),
            denied => denied,
        });
        Self { decision, ..self }
    }
}

/// Slots for many keys, in fixed memory.
#[derive(Debug)]
pub(super) struct Table {
    lines: Box<[Line]>,
    pub(super) horizons: Horizons,
    pub(super) classes: AllClasses,
    /// For how long a slot whose word was lowered is kept from others (rules 4 and 9): as long as any debt can last, and
    /// what rounding adds to a mark.
    pub(super) hold: u64,
    /// What newcomers share while there is no slot for them.
    pub(super) newcomers: Option<Newcomers>,
}

impl Table {
    /// A table of twice as many slots as there are to be live keys, none of which is ever in debt for longer than `longest`.
    pub(super) fn try_new(capacity: usize, longest: u64, classes: AllClasses) -> Result<Self, KeyedError> {
        // What lines can be numbered, and what memory there can be.
        const LARGEST: usize = {
            let (numbered, addressed) = (MOST_LINES / 2, isize::MAX as usize / size_of::<Line>() / 2);
            (if numbered < addressed { numbered } else { addressed }).saturating_mul(SLOTS)
        };
        if capacity == 0 {
            return Err(KeyedError::ZeroCapacity);
        }
        if capacity > LARGEST {
            return Err(KeyedError::CapacityTooLarge { largest: LARGEST });
        }
        let count = (2 * capacity).div_ceil(SLOTS).max(FEWEST_LINES);
        let mut lines = Vec::new();
        if lines.try_reserve_exact(count).is_err() {
            return Err(KeyedError::OutOfMemory { bytes: count.saturating_mul(size_of::<Line>()) });
        }
        lines.extend(core::iter::repeat_with(Line::new).take(count));
        let (lines, horizons) = (lines.into_boxed_slice(), Horizons::try_new(count)?);
        Ok(Self { lines, horizons, classes, hold: longest + 2 * MARK_ROUNDING, newcomers: None })
    }

    /// All lines.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.lines) + self.horizons.bytes()
    }

    /// One of a key's lines.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most `MOST_LINES`
    pub(super) fn line(&self, key: Identity, candidate: usize) -> &Line {
        &self.lines[key.line(candidate, self.lines.len() as u32)]
    }

    /// When a slot that was read as `word` and `tag` may be claimed, if that is not in somebody's hands (rule 4).
    pub(super) fn free_from(&self, (word, tag): (Word, u32)) -> Option<u64> {
        if tag == NOBODY { word.vacant_from() } else { word.free_from(self.hold) }
    }

    /// Decides a call on a slot that may be the key's; `None` if it is not, or has no bucket (rules 2 and 3).
    pub(super) fn charge(slot: Slot<'_>, tag: u32, call: &Call<'_>) -> Option<Decided> {
        let mut backoff = Backoff::new();
        // PROGRESS: lock-free. The CAS fails, or the word of a refusal changes, only if another call made a step.
        loop {
            let word = slot.find(tag).filter(|word| word.is_bucket())?;
            let decision = if let Some(full_at) = call.pace.charge(word.instant(), call.cost, call.now) {
                slot.step(word, word.charged(full_at)).then_some(Decided::admitted(full_at))
            } else {
                (slot.word() == word).then(|| Decided::refused(word.instant(), call))
            };
            if decision.is_some() {
                return decision;
            }
            backoff.spin();
        }
    }

    /// The slot of a key and its word, if it has a bucket.
    pub(super) fn find(&self, key: Identity) -> Option<(Slot<'_>, Word)> {
        (0..CANDIDATES).find_map(|candidate| {
            let (line, tag) = (self.line(key, candidate), key.tag(candidate));
            line.slots().find_map(|slot| Some((slot, slot.find(tag).filter(|word| word.is_bucket())?)))
        })
    }

    /// When a key is full again, as its next call at `now` would find it.
    pub(super) fn full_at(&self, key: Identity, pace: &Pace, now: Nanos) -> u64 {
        match self.find(key) {
            Some((_, word)) => word.instant(),
            None => pace.opening(self.horizons.get(key.tag(0)), now),
        }
    }

    /// Cuts the debt of a key from one that lasts until an instant to one that lasts until what `cut` makes of it (rule 9).
    /// Returns until when it lasts now; `None` if the key has no slot.
    pub(super) fn lower(&self, key: Identity, cut: impl Fn(u64) -> u64) -> Option<u64> {
        // PROGRESS: lock-free. The CAS fails only if another call made a step on the same slot.
        loop {
            let (slot, word) = self.find(key)?;
            let lowest = slot.mark(word.instant()).saturating_sub(self.hold);
            let full_at = cut(word.instant()).max(lowest);
            if full_at >= word.instant() {
                return Some(word.instant());
            }
            if slot.lower(word, full_at) {
                return Some(full_at);
            }
        }
    }

    /// Lifts all that a key owes whose word is later than `idle`; whether it owes nothing then. Where the mark allows no cut as deep as that, the slot
    /// is left as it is, and nobody uses it until the debt would have drained.
    pub(super) fn forgive(&self, key: Identity, idle: u64) -> bool {
        // PROGRESS: lock-free. The CAS fails only if another call made a step on the same slot.
        while let Some((slot, word)) = self.find(key) {
            let lowest = slot.mark(word.instant()).saturating_sub(self.hold);
            if word.instant() <= idle
                || lowest <= idle && slot.lower(word, idle)
                || lowest > idle && self.leave(slot, word)
            {
                break;
            }
        }
        self.find(key).map_or(self.horizons.get(key.tag(0)), |(_, word)| word.instant()) <= idle
    }

    /// Frees the slot of a key whose word is no later than `idle` (rule 8); whether the key has no slot now.
    pub(super) fn forget(&self, key: Identity, idle: u64) -> bool {
        // PROGRESS: lock-free. The CAS fails only if another call made a step on the same slot.
        while let Some((slot, word)) = self.find(key) {
            if word.free_from(self.hold).is_none_or(|free_from| free_from > idle) {
                return false;
            }
            self.horizons.raise(key.tag(0), word.instant());
            if self.leave(slot, word) {
                return true;
            }
        }
        true
    }

    /// Rule 8: leaves a slot to nobody, unless it has changed.
    pub(super) fn leave(&self, slot: Slot<'_>, word: Word) -> bool {
        let claimed = word.claimed(self.hold);
        let mine = slot.claim(word, claimed);
        if mine {
            slot.vacate(claimed);
        }
        mine
    }
}

#[cfg(test)]
mod tests {
    use crate::sync::injected::counting_writes;
    use crate::{Denied, KeyedLimiter, ManualClock, Nanos, Quota};
    use alloc::vec::Vec;

    /// Wherever the key lives, and whether or not a unit is a nanosecond.
    #[test]
    fn a_charge_writes_once_and_a_refusal_not_at_all() {
        for quota in [Quota::per_hour(1).with_burst(2), Quota::per_second(3).with_burst(2)] {
            let limiter = KeyedLimiter::<u64>::with_clock(quota, 1, ManualClock::new());
            let writes = |key| counting_writes(|| limiter.try_acquire(&key));
            let known: Vec<u64> = (0..1_000).filter(|key| limiter.try_acquire(key).is_ok()).collect();
            assert_eq!(known.len(), 15, "all slots of all lines");
            for &key in &known {
                assert_eq!(writes(key), (Ok(()), 1), "key {key}");
            }
            for &key in &known {
                assert!(matches!(writes(key), (Err(Denied::TryAfter(_)), 0)), "key {key}");
                assert_eq!(counting_writes(|| (limiter.status(&key).remaining, limiter.forget(&key))), ((0, false), 0));
            }
            let (decision, written) = writes(1_000);
            assert!(matches!(decision, Err(Denied::TableFull(_))) && written == 0, "{decision:?}, {written} writes");
        }
    }

    /// Who claims a slot raises the horizon to where its last key was full, not to what the claimer's clock says.
    #[test]
    fn a_clock_that_is_far_ahead_does_not_hold_up_newcomers() {
        let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_second(1), 1, ManualClock::new());
        let at = |key, secs| limiter.try_acquire_n_at(&key, 1, Nanos::from_secs(secs));
        assert_eq!((0..1_000).filter(|&key| at(key, 0).is_ok()).count(), 15, "all slots of all lines");
        assert!(at(1_000, 3_600).is_ok());
        assert!(at(1_001, 2).is_ok());
    }

    /// However many others there are and whatever they owe: no call sweeps.
    #[test]
    fn a_newcomer_writes_four_times_at_most() {
        let clock = ManualClock::new();
        let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_second(1), 1_000, clock.clone());
        let mut most = 0;
        for round in 0..4 {
            clock.set(Nanos::from_secs(round));
            for key in 0..1_000 {
                let (decision, written) = counting_writes(|| limiter.try_acquire(&(round * 1_000 + key)));
                assert!(decision.is_ok() && written >= 3, "a claim, a tag, a commitment: {decision:?}, {written}");
                most = most.max(written);
            }
        }
        assert_eq!(most, 4, "and the horizon, where a key has lost its slot");
    }

    /// A newcomer whom the horizon holds up is refused before it takes anything.
    #[test]
    fn a_refused_newcomer_writes_nothing() {
        // The second class does not start full, so to be forgotten gives a slot up and leaves a horizon.
        let quotas = [Quota::per_second(1), Quota::per_second(2)];
        let limiter = KeyedLimiter::<u64>::with_clock(quotas, 1, ManualClock::new()).with_initial(1);
        let at = |key, secs| limiter.try_acquire_n_at(&key, 1, Nanos::from_secs(secs));
        assert!(at(1, 0).is_ok() && limiter.forget_at(&1, Nanos::from_secs(1)));
        let (decision, written) = counting_writes(|| at(1, 0));
        assert!(matches!(decision, Err(Denied::TryAfter(_))) && written == 0, "{decision:?}, {written} writes");
    }
}
