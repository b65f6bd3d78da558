//! [`Table`]: the lines, and how a key's bucket is found and charged. Numbers of rules are those of the module above.

use super::error::KeyedError;
use super::identity::{CANDIDATES, FEWEST_LINES, Identity, MOST_LINES};
use super::line::{Line, SLOTS, Slot};
use super::pace::Pace;
use super::word::Word;
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Backoff, Ordering};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The horizon is raised in steps of 2^16 ns where time has come so far, so that it is seldom written.
const GRAIN: u64 = 1 << 16;

/// One call: the key, what it costs at which pace, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) key: Identity,
    pub(super) pace: &'a Pace,
    /// In units of the pace; at least 1.
    pub(super) cost: u64,
    pub(super) now: Nanos,
}

/// Slots for many keys, in fixed memory.
#[derive(Debug)]
pub(super) struct Table {
    lines: Box<[Line]>,
    /// `H` of the protocol: no key that comes anew starts full before this instant.
    horizon: Horizon,
}

impl Table {
    /// A table of twice as many slots as there are to be live keys.
    pub(super) fn try_new(capacity: usize) -> Result<Self, KeyedError> {
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
        Ok(Self { lines: lines.into_boxed_slice(), horizon: Horizon(AtomicU64::new(0)) })
    }

    /// All lines.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The number of lines.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most `MOST_LINES`
    pub(super) fn count(&self) -> u32 {
        self.lines.len() as u32
    }

    /// One of a key's lines.
    #[inline]
    pub(super) fn line(&self, key: Identity, candidate: usize) -> &Line {
        &self.lines[key.line(candidate, self.count())]
    }

    /// Decides a call: charges the key's bucket, which it opens if there is none. `line` is the key's first.
    ///
    /// Nearly always, a unit is a nanosecond, the key lives in its first line, and nobody else is charging it just now.
    /// This function does that and no more; others take over where it is otherwise.
    #[inline(always)]
    #[allow(clippy::inline_always)] // what a call would store for it must reach memory before the CAS can
    pub(super) fn acquire(&self, line: &Line, pace: &Pace, key: Identity, cost: u64, now: Nanos) -> Result<(), Denied> {
        let tag = key.tag(0);
        if !pace.is_whole() {
            return self.acquire_again(pace, key, cost, now);
        }
        let Some((slot, word)) = line.open(line.glance(tag), tag) else {
            return self.acquire_in_second(pace, key, cost, now);
        };
        let full_at = pace.charge_whole(word.instant(), cost, now);
        let refusal = || pace.refusal(word.instant(), cost, now);
        attempt(slot, word, full_at, refusal).unwrap_or_else(|| self.acquire_again(pace, key, cost, now))
    }

    /// As [`acquire`](Self::acquire), after a glance at the key's first line and for any unit.
    #[inline]
    pub(super) fn acquire_at(&self, glance: usize, call: &Call<'_>) -> Result<(), Denied> {
        let Call { key, pace, cost, now } = *call;
        let Some((slot, word)) = self.line(key, 0).open(glance, key.tag(0)) else {
            return self.acquire_in_second(pace, key, cost, now);
        };
        let refusal = || pace.refusal(word.instant(), cost, now);
        attempt(slot, word, pace.charge(word.instant(), cost, now), refusal)
            .unwrap_or_else(|| self.acquire_again(pace, key, cost, now))
    }

    /// As [`acquire`](Self::acquire), for any unit, and for as many attempts as it takes.
    #[inline(never)]
    fn acquire_again(&self, pace: &Pace, key: Identity, cost: u64, now: Nanos) -> Result<(), Denied> {
        let call = Call { key, pace, cost, now };
        self.charge_in(0, &call).unwrap_or_else(|| self.acquire_in_second(pace, key, cost, now))
    }

    /// As [`acquire`](Self::acquire), but for the key's second line.
    #[inline(never)]
    fn acquire_in_second(&self, pace: &Pace, key: Identity, cost: u64, now: Nanos) -> Result<(), Denied> {
        let call = Call { key, pace, cost, now };
        self.charge_in(1, &call).unwrap_or_else(|| self.acquire_anywhere(&call))
    }

    /// Decides a call on the slot that seems to be the key's in its line `candidate`; `None` if it is not, or is not open.
    #[inline]
    fn charge_in(&self, candidate: usize, call: &Call<'_>) -> Option<Result<(), Denied>> {
        let (line, tag) = (self.line(call.key, candidate), call.key.tag(candidate));
        Self::charge(line.get(line.glance(tag))?, tag, call)
    }

    /// Decides a call wherever the key lives, and whatever others do meanwhile.
    #[inline(never)]
    fn acquire_anywhere(&self, call: &Call<'_>) -> Result<(), Denied> {
        for candidate in 0..CANDIDATES {
            let (line, tag) = (self.line(call.key, candidate), call.key.tag(candidate));
            for slot in line.slots() {
                if let Some(decision) = Self::charge(slot, tag, call) {
                    return decision;
                }
            }
        }
        self.insert(call)
    }

    /// Decides a call on a slot that may be the key's; `None` if it is not, or is not open (rules 2 and 3).
    pub(super) fn charge(slot: Slot<'_>, tag: u32, call: &Call<'_>) -> Option<Result<(), Denied>> {
        let mut backoff = Backoff::new();
        // PROGRESS: lock-free. The CAS fails, or the word of a refusal changes, only if another call made a step.
        loop {
            let word = slot.find(tag).filter(|word| word.is_open())?;
            let refusal = || call.pace.refusal(word.instant(), call.cost, call.now);
            let decision = attempt(slot, word, call.pace.charge(word.instant(), call.cost, call.now), refusal);
            if decision.is_some() {
                return decision;
            }
            backoff.spin();
        }
    }

    /// The open slot of a key and its word, if it has one.
    pub(super) fn find(&self, key: Identity) -> Option<(Slot<'_>, Word)> {
        (0..CANDIDATES).find_map(|candidate| {
            let (line, tag) = (self.line(key, candidate), key.tag(candidate));
            line.slots().find_map(|slot| Some((slot, slot.find(tag).filter(|word| word.is_open())?)))
        })
    }

    /// Frees the slot of a key that has recovered (rule 8); whether the key has no slot now.
    pub(super) fn forget(&self, key: Identity, now: Nanos) -> bool {
        // PROGRESS: lock-free. The CAS fails only if another call made a step on the same slot.
        while let Some((slot, word)) = self.find(key) {
            if !word.is_free(now.0) {
                return false;
            }
            self.horizon.raise(word.instant(), now);
            if slot.vacate(word) {
                return true;
            }
        }
        true
    }

    /// The horizon.
    #[inline]
    pub(super) fn horizon(&self) -> &Horizon {
        &self.horizon
    }
}

/// One attempt at rule 3 from `word`, which is full again at `full_at` if the call fits: the decision, or `None` if the
/// word has changed.
#[inline]
fn attempt(
    slot: Slot<'_>,
    word: Word,
    full_at: Option<u64>,
    refusal: impl FnOnce() -> Denied,
) -> Option<Result<(), Denied>> {
    match full_at {
        Some(full_at) => slot.step(word, word.charged(full_at)).then_some(Ok(())),
        None => (slot.word() == word).then(|| Err(refusal())),
    }
}

/// The instant up to which lives of keys may have ended (rules 4, 7 and 8).
#[derive(Debug)]
pub(super) struct Horizon(AtomicU64);

impl Horizon {
    /// Raises the horizon to `instant` at least; to the end of its step if `now`, which is no earlier, has come so far.
    /// No farther: a clock that is far ahead must not hold up the newcomers of all others.
    pub(super) fn raise(&self, instant: u64, now: Nanos) {
        // ORDERING: relaxed; pairs with nothing. The horizon only grows, and what this thread has seen of it is handed on
        // by the release that follows.
        if self.0.load(Ordering::Relaxed) < instant {
            // ORDERING: release; pairs with `get`: whoever sees the rise sees what this thread had opened before it.
            self.0.fetch_max((instant | (GRAIN - 1)).min(now.0), Ordering::Release);
        }
    }

    /// The horizon, to be loaded after the key's candidates (rule 7).
    pub(super) fn get(&self) -> u64 {
        // ORDERING: acquire; pairs with `raise`, so that a refusal for a rise that came after the slot was opened finds
        // the word changed (rule 3). The acquire loads of the candidates keep it in its place, and tell of every rise
        // that matters to an admission.
        self.0.load(Ordering::Acquire)
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
}
