//! [`Ring`]: slots that are taken in turn, each until an instant of its own. The protocol's rules are in the
//! [module above](super).

use super::course::{Course, Position};
use super::records::{Group, Records};
use super::slot::{LATEST, Slot};
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Backoff, Ordering};
use alloc::boxed::Box;
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::convert::Infallible;

/// How a ring looks at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    /// How many slots are free, oldest first.
    pub(super) free: usize,
    /// When the next slot is free, or has been.
    pub(super) oldest: Nanos,
    /// When all slots are free, or have been.
    pub(super) newest: Nanos,
    /// Slots that are due by this instant are free.
    pub(super) forgiven: Nanos,
}

/// A ring of slots, and the position of the next unit.
#[derive(Debug)]
pub(super) struct Ring {
    head: AtomicU64,
    /// Slots that are due by this instant are free (rule 10).
    forgiven: AtomicU64,
    course: Course,
    slots: Box<[AtomicU64]>,
    records: Box<Records>,
}

impl Ring {
    /// `slots` slots, all free. At most 2^32.
    pub(super) fn try_new(slots: usize) -> Result<Self, TryReserveError> {
        let course = Course::new(slots);
        let mut ring = Vec::new();
        ring.try_reserve_exact(slots)?;
        ring.extend((0..slots).map(|_| AtomicU64::new(Slot::EMPTY.0)));
        Ok(Self {
            head: AtomicU64::new(course.start()),
            forgiven: AtomicU64::new(0),
            course,
            slots: ring.into_boxed_slice(),
            records: Box::new(Records::new()),
        })
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Takes `n` slots until `due`, or none, if they are free `lead` nanoseconds before `now`, and at 0 if that is earlier;
    /// `n` is at least 1 and at most [`len`](Self::len).
    ///
    /// # Errors
    ///
    /// When all `n` will be free.
    #[inline]
    pub(super) fn take(&self, n: usize, now: Nanos, lead: u64, due: Nanos) -> Result<(), Nanos> {
        self.admit(due, |first, front, forgiven| {
            let last = if n == 1 { front } else { self.look(self.course.slot_after(first, n - 1)) }.due();
            // A sum, which does not depend on the reading, instead of a difference, which does: a refusal is then one
            // comparison with `now`. What is due at 0 is forgiven at the latest. Both are below 2^63.
            if last <= forgiven || last.0 + lead <= now.0 { Ok((n, ())) } else { Err(last) }
        })
        .map(|_| ())
    }

    /// Whether [`take`](Self::take) would take `n` slots at `now`. Writes nothing.
    ///
    /// # Errors
    ///
    /// When all `n` will be free.
    pub(super) fn check(&self, n: usize, now: Nanos) -> Result<(), Nanos> {
        // PROGRESS: lock-free. A turn without an answer means that another call has been admitted or settled meanwhile.
        loop {
            let front = self.front();
            // A group counts as admitted once it is claimed (rule 2), whether or not it is written down.
            let claimed = front.claim.record().map(|record| self.records.read(record));
            let size = claimed.map_or(0, |group| group.size);
            let due = match claimed {
                Some(group) if n > self.len() - size => group.due,
                _ => self.look(self.course.slot_after(front.slot, size + n - 1)).due(),
            };
            let free_by = now.max(self.forgiven());
            if self.is_still(front) {
                return if due <= free_by { Ok(()) } else { Err(due) };
            }
        }
    }

    /// As [`take`](Self::take); returns beside the decision how the ring looks as of it, at `now`.
    ///
    /// What is looked at before the front is claimed is as it was when that happened, since nothing else changes while
    /// the front does not (rule 3).
    pub(super) fn take_and_survey(&self, n: usize, now: Nanos, due: Nanos) -> (Result<(), Nanos>, Survey) {
        let decided = self.admit(due, |first, front, forgiven| {
            let free = self.free_among(self.len(), first, now.max(forgiven));
            let newest = self.look(self.course.slot_before(first)).due();
            let before = Survey { free, oldest: front.due(), newest, forgiven };
            if n <= free {
                let next = (n < self.len()).then(|| self.look(self.course.slot_after(first, n)).due());
                Ok((n, (before, next)))
            } else {
                Err((self.look(self.course.slot_after(first, n - 1)).due(), before))
            }
        });
        match decided {
            Ok(((before, next), due)) => {
                let after = Survey { free: before.free - n, oldest: next.unwrap_or(due), newest: due, ..before };
                (Ok(()), after)
            }
            Err((due, survey)) => (Err(due), survey),
        }
    }

    /// Takes as many slots until `due` as are free at `now`, up to `n`; returns how many. Not for an empty ring.
    pub(super) fn take_up_to(&self, n: usize, now: Nanos, due: Nanos) -> usize {
        let n = n.min(self.len());
        let choose = |first, _, forgiven| {
            let taken = self.free_among(n, first, now.max(forgiven));
            Ok::<_, Infallible>((taken, taken))
        };
        let Ok((taken, _)) = self.admit(due, choose);
        taken
    }

    /// Makes all slots that are taken now free.
    pub(super) fn forgive(&self) {
        let newest = self.survey(Nanos::ZERO).newest.0.min(LATEST - 1); // so that there is a later instant
        // ORDERING: release, pairs with the acquire in `forgiven`: who finds the slots free has seen them taken.
        self.forgiven.fetch_max(newest, Ordering::Release);
    }

    /// Until when slots are free whatever the reading (rule 10).
    #[inline]
    pub(super) fn forgiven(&self) -> Nanos {
        // ORDERING: acquire, pairs with the release in `forgive`.
        Nanos(self.forgiven.load(Ordering::Acquire))
    }

    /// Takes slots until `due`, as many as `choose` says; it is given the first slot of those in question, its word, and
    /// until when slots are forgiven. Returns what `choose` said beside, and until when the slots are taken.
    #[inline]
    fn admit<T, E>(
        &self,
        due: Nanos,
        choose: impl Fn(usize, Slot, Nanos) -> Result<(usize, T), E>,
    ) -> Result<(T, Nanos), E> {
        let mut held = None;
        let mut backoff = Backoff::long();
        // PROGRESS: lock-free. Each turn but the last means that another call has been admitted or settled since the
        // turn before, or that a weak CAS failed spuriously.
        loop {
            let front = self.front();
            if front.position != front.head || front.claim.record().is_some() {
                self.help(front);
                backoff.spin();
                continue;
            }
            let forgiven = self.forgiven();
            let chosen = choose(front.slot, front.claim, forgiven);
            if !self.is_still(front) {
                backoff.spin();
                continue;
            }
            let (size, output) = chosen?;
            if size == 0 {
                return Ok((output, due));
            }
            // Rules 5 and 10. If the slot is out of date, so is the front, and the CAS fails.
            let before = self.look(self.course.slot_before(front.slot)).due();
            let due = due.max(before).max(Nanos(forgiven.0 + 1));
            let group = Group { size, due };
            let claim = if size == 1 {
                Slot::unit(front.lap, due)
            } else {
                let held = held.get_or_insert_with(|| self.records.hold());
                held.write(group);
                Slot::group(front.lap, held.index())
            };
            // ORDERING: release on success, pairs with the acquire in `look`: a helper finds the record written. Relaxed
            // on failure: nothing is made of the value. This is the admission (rule 2).
            let admitted = self.slots[front.slot].compare_exchange_weak(
                front.claim.0,
                claim.0,
                Ordering::Release,
                Ordering::Relaxed,
            );
            if admitted.is_ok() {
                self.settle(Front { claim, ..front }, group);
                return Ok((output, due)); // and only now is the record given back (rule 9)
            }
            backoff.spin();
        }
    }

    /// The first position that is not taken by a unit, by a walk from the head. Usually the head itself, or the next
    /// position (rule 8).
    #[inline]
    fn front(&self) -> Front {
        // ORDERING: acquire, pairs with the release in `advance`: every slot is seen at least as it was when the head
        // came here.
        let head = self.head.load(Ordering::Acquire);
        let mut position = head;
        // PROGRESS: at most twice round the ring, unless others go on admitting: a slot that is of one lap is not of the
        // next.
        loop {
            let (slot, lap) = (self.course.slot(position), self.course.lap(position));
            let claim = self.look(slot);
            if claim.record().is_some() || !claim.is_of(lap) {
                return Front { head, position, slot, lap, claim };
            }
            position = self.course.after(position, 1);
        }
    }

    /// Whether everything seen since `front` was looked up was there at once (rule 3).
    #[inline]
    fn is_still(&self, front: Front) -> bool {
        // ORDERING: relaxed. Had a slot been seen as it was after the front was claimed, or after the head moved on, then
        // the acquire in `look` would have made that claim or that move visible here.
        self.slots[front.slot].load(Ordering::Relaxed) == front.claim.0
            && self.head.load(Ordering::Relaxed) == front.head
    }

    /// Does what others have left to do before anything can be admitted (rule 4).
    #[cold]
    fn help(&self, front: Front) {
        let Some(record) = front.claim.record() else {
            return self.advance(front.head, front.position);
        };
        let group = self.records.read(record);
        // Had the record been read as written for a later group, the acquires in `read` would have made the end of this
        // one visible by now (rule 9).
        if self.is_still(front) {
            self.settle(front, group);
        }
    }

    /// Writes a claimed group down, and moves the head past it. Every step can be done by several calls at once, and
    /// long after it is out of date.
    #[inline]
    fn settle(&self, front: Front, group: Group) {
        if front.claim.record().is_some() {
            self.write_down(front, group);
        }
        self.advance(front.head, self.course.after(front.position, group.size));
    }

    /// Replaces the mark of a group by units.
    fn write_down(&self, front: Front, group: Group) {
        for n in 1..group.size {
            let lap = self.course.lap(self.course.after(front.position, n));
            self.raise(self.course.slot_after(front.slot, n), Slot::unit(lap, group.due));
        }
        let unit = Slot::unit(front.lap, group.due);
        // ORDERING: release on success, pairs with the acquire in `look`: who sees the group ended sees all of it.
        // Acquire on failure: another call has ended the group, and this one vouches for it when it moves the head.
        // A group's word never comes back (rule 7), so that a late call changes nothing.
        let _ = self.slots[front.slot].compare_exchange(front.claim.0, unit.0, Ordering::Release, Ordering::Acquire);
    }

    /// Writes `unit` into a slot, unless something as late or later stands there (rule 7).
    fn raise(&self, slot: usize, unit: Slot) {
        let mut seen = self.look(slot);
        // PROGRESS: at most a few steps: every failure means that the slot has grown (or was spurious), and it grows to
        // `unit` or above in one.
        while seen.due() < unit.due() {
            // ORDERING: release on success, pairs with the acquire in `look`, for those who vouch for this unit when
            // they move the head. Acquire on failure, for the same reason.
            match self.slots[slot].compare_exchange_weak(seen.0, unit.0, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return,
                Err(other) => seen = Slot(other),
            }
        }
    }

    /// Moves the head, unless another call has moved it since.
    #[inline]
    fn advance(&self, from: Position, to: Position) {
        // ORDERING: release on success, pairs with the acquires of the head: this thread has written all units up to
        // `to`, or has seen them with acquire. Relaxed on failure: nothing is made of the value.
        let _ = self.head.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed);
    }

    /// How many of `n` slots from `first` on are free at `now`. They are free in order: a binary search.
    fn free_among(&self, n: usize, first: usize, now: Nanos) -> usize {
        let (mut free, mut end) = (0, n);
        // PROGRESS: halves the stretch in each step.
        while free < end {
            let middle = free + (end - free) / 2;
            if self.look(self.course.slot_after(first, middle)).due() <= now {
                free = middle + 1;
            } else {
                end = middle;
            }
        }
        free
    }

    /// The ring at one instant, and what is free at `now`. Writes nothing. Not for an empty ring.
    pub(super) fn survey(&self, now: Nanos) -> Survey {
        // PROGRESS: lock-free. A turn without an answer means that another call has been admitted or settled meanwhile.
        loop {
            let front = self.front();
            // A group counts as admitted once it is claimed (rule 2), whether or not it is written down.
            let claimed = match front.claim.record() {
                Some(record) => self.records.read(record),
                None => Group { size: 0, due: self.look(self.course.slot_before(front.slot)).due() },
            };
            let settled = self.len() - claimed.size;
            let oldest = self.course.slot_after(front.slot, claimed.size);
            let forgiven = self.forgiven();
            let free_by = now.max(forgiven);
            let free = self.free_among(settled, oldest, free_by);
            let survey = Survey {
                free: if free == settled && claimed.due <= free_by { self.len() } else { free },
                oldest: if settled == 0 { claimed.due } else { self.look(oldest).due() },
                newest: claimed.due,
                forgiven,
            };
            if self.is_still(front) {
                return survey;
            }
        }
    }

    /// When each slot will be free, of those that are not at `now`; in no order.
    ///
    /// A slot that a call had taken before this one began counts as taken until then at least, and one that was taken meanwhile
    /// may. Writes nothing of its own, but may complete what others have begun.
    pub(super) fn held(&self, now: Nanos) -> impl Iterator<Item = Nanos> {
        (0..self.len()).map(|slot| self.settled(slot)).filter(move |&due| due > now)
    }

    /// When a slot will be free, after all groups were written down that had been claimed before.
    fn settled(&self, slot: usize) -> Nanos {
        // PROGRESS: lock-free. A turn without an answer means that a group was claimed and written down meanwhile.
        loop {
            let front = self.front();
            if front.claim.record().is_some() {
                self.help(front);
                continue;
            }
            let seen = self.look(slot);
            if seen.record().is_none() {
                return seen.due();
            }
        }
    }

    #[inline]
    fn look(&self, slot: usize) -> Slot {
        // ORDERING: acquire, pairs with the releases of every CAS on a slot: what its writer had seen of the head, and
        // had written into a record, is seen here from now on.
        Slot(self.slots[slot].load(Ordering::Acquire))
    }
}

/// The first position that is not taken by a settled unit, and what was seen on the way there.
#[derive(Clone, Copy, Debug)]
struct Front {
    head: Position,
    position: Position,
    slot: usize,
    lap: u64,
    /// What the slot holds: a unit of the lap before, or a group.
    claim: Slot,
}
