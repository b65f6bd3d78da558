//! How a call is decided: the way of nearly every call, and of the others.
//!
//! There are three entries, because a call of a key that is known costs a few nanoseconds and each test on the way is
//! felt. [`Table::acquire`] is for one call: the pace is the [usual](Usual), the key lives in its first line, and nobody
//! else is charging it just now. [`Table::acquire_at`] is the same for a batch, which has
//! looked at the line before and takes any pace. Where anything is otherwise, [`Table::acquire_again`] takes over.

use super::identity::{CANDIDATES, Identity};
use super::line::Line;
use super::pace::Pace;
use super::table::{Call, Decided, Table};
use super::usual::Usual;
use crate::decision::Denied;
use crate::nanos::Nanos;

impl Table {
    /// Decides a call at the usual pace on the key's bucket in `line`, the key's first; `None` if the bucket is not there, or if
    /// somebody else is charging it just now.
    #[inline(always)]
    #[allow(clippy::inline_always)] // what a call would store for it must reach memory before the CAS can
    pub(super) fn acquire(
        line: &Line,
        pace: Usual,
        key: Identity,
        cost: u64,
        now: Nanos,
    ) -> Option<Result<(), Denied>> {
        let tag = key.tag(0);
        let (slot, word) = line.bucket(line.glance(tag), tag)?;
        match pace.charge(word.instant(), cost, now) {
            Some(full_at) if slot.step(word, word.charged(full_at)) => Some(Ok(())),
            None if slot.word() == word => Some(Err(pace.refusal(word.instant(), cost, now))),
            _ => None,
        }
    }

    /// As [`acquire`](Self::acquire), after a glance at the key's first line and for any unit.
    #[inline]
    pub(super) fn acquire_at(&self, glance: usize, call: &Call<'_>) -> Result<(), Denied> {
        let Call { key, pace, cost, now } = *call;
        let Some((slot, word)) = self.line(key, 0).bucket(glance, key.tag(0)) else {
            return self.acquire_again(pace, key, cost, now).decision;
        };
        match pace.charge(word.instant(), cost, now) {
            Some(full_at) if slot.step(word, word.charged(full_at)) => Ok(()),
            None if slot.word() == word => Err(pace.refusal(word.instant(), cost, now)),
            _ => self.acquire_again(pace, key, cost, now).decision,
        }
    }

    /// Decides a call wherever the key lives, and for as many attempts as it takes.
    #[inline(never)]
    pub(super) fn acquire_again(&self, pace: &Pace, key: Identity, cost: u64, now: Nanos) -> Decided {
        let call = Call { key, pace, cost, now };
        for candidate in 0..CANDIDATES {
            let (line, tag) = (self.line(key, candidate), key.tag(candidate));
            if let Some(decision) = line.get(line.glance(tag)).and_then(|slot| Self::charge(slot, tag, &call)) {
                return decision;
            }
        }
        self.insert(&call)
    }
}
