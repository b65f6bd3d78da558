//! Insertion: how a key gets a slot, and only one. Numbers of rules are those of the module above.

use super::identity::{CANDIDATES, NOBODY};
use super::line::{SLOTS, Slot};
use super::table::{Call, Decided, Left, Table};
use super::word::{State, Word};
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::sync::{Ordering, fence};
use crate::timeline::Hint;

/// A slot of a key: number, what was seen there, tag of the key in its line.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The key's slots are numbered: first those of its first line, then of its second, then of its third.
    number: usize,
    slot: Slot<'a>,
    word: Word,
    seen: u32,
    tag: u32,
}

/// How long the two free slots of a line that have rested longest have done so, and the first of them.
#[derive(Clone, Copy, Default)]
struct Rest<'a> {
    /// In nanoseconds, and one more; 0 if there is no such slot.
    first: u64,
    second: u64,
    place: Option<Place<'a>>,
}

impl<'a> Rest<'a> {
    fn add(&mut self, time: u64, place: Place<'a>) {
        if time > self.first {
            *self = Self { first: time, second: self.first, place: Some(place) };
        } else {
            self.second = self.second.max(time);
        }
    }
}

/// What a look at all of a key's slots has shown.
enum Survey<'a> {
    /// The call was decided on the key's open slot.
    Decided(Decided),
    /// A slot is tentative for the key.
    Tentative(Place<'a>),
    /// The key has no slot; this one is the best for it.
    Free(Place<'a>),
    /// The key has no slot, and there is none for it until this instant.
    Full(u64),
}

impl Table {
    /// Decides a call of a key that seems to have no bucket.
    #[cold]
    #[inline(never)]
    pub(super) fn insert(&self, call: &Call<'_>) -> Decided {
        // PROGRESS: lock-free. Whenever a turn ends without a decision, another thread made a step on one of the key's
        // candidates; and a slot that is tentative for the key is settled here, not waited for.
        loop {
            // The key, if the survey then finds that it has no slot, cannot have started any earlier (rule 6).
            let start = self.start(call);
            let decision = match self.survey(call) {
                Survey::Decided(decision) => Some(decision),
                Survey::Tentative(place) => self.settle(place, call, false),
                Survey::Free(place) => match call.pace.charge(start, call.cost, call.now) {
                    None if !call.pace.starts_short() => Some(Decided::refused(start, call)),
                    _ => self.claim(place, call),
                },
                Survey::Full(until) => Some(self.without_slot(call, until)),
            };
            if let Some(decision) = decision {
                return decision;
            }
        }
    }

    /// When the call's key, if nobody knows it, will be full (rule 7).
    fn start(&self, call: &Call<'_>) -> u64 {
        call.pace.opening(self.horizons.get(call.key.tag(0)), call.now)
    }

    /// Decides a call of a newcomer for which there is no slot until an instant.
    fn without_slot(&self, call: &Call<'_>, until: u64) -> Decided {
        let start = call.pace.opening(self.horizons.get(call.key.tag(0)), Nanos(until));
        let room = match call.pace.charge(start, call.cost, Nanos(until)) {
            None if !call.pace.starts_short() => call.pace.hint(start, call.cost, Nanos(until)).due(),
            _ => Nanos(until),
        };
        let (due, left) = match &self.newcomers {
            None => (room, Left::Nothing),
            Some(newcomers) => match newcomers.acquire(call.pace.tokens_in(call.cost), call.now) {
                (Ok(()), word) => return Decided { decision: Ok(()), left: Left::Shared(word) },
                (Err(due), word) => (due.map_or(room, |due| due.min(room)), Left::Shared(word)),
            },
        };
        Decided { decision: Err(Denied::TableFull(Hint::at(due, call.now))), left }
    }

    /// The slots of the key's line `candidate`, with their numbers and tags.
    fn places(&self, call: &Call<'_>, candidate: usize) -> impl Iterator<Item = (usize, Slot<'_>, u32)> {
        let tag = call.key.tag(candidate);
        let slots = self.line(call.key, candidate).slots();
        slots.enumerate().map(move |(i, slot)| (candidate * SLOTS + i, slot, tag))
    }

    /// Looks at all of a key's slots.
    ///
    /// A newcomer goes to the first of its lines with two free slots that have rested at least half as long as those of
    /// any other, so that most keys live in their first line, but not at the price of another that will come back;
    /// where no line has two free slots, to any that is free. In that line, it takes the slot that has rested longest.
    fn survey(&self, call: &Call<'_>) -> Survey<'_> {
        let mut rests = [Rest::default(); CANDIDATES];
        let idle = self.classes.idle(call.now);
        let mut until = u64::MAX;
        for (candidate, rest) in rests.iter_mut().enumerate() {
            for (number, slot, tag) in self.places(call, candidate) {
                let (word, seen) = slot.read();
                let place = Place { number, slot, word, seen, tag };
                if seen == tag {
                    if let Some(decision) = Self::charge(slot, tag, call) {
                        return Survey::Decided(decision);
                    }
                    if word.is_tentative() {
                        return Survey::Tentative(place);
                    }
                }
                match self.free_from((word, seen)) {
                    Some(from) if from <= idle => rest.add(idle - from + 1, place),
                    Some(from) => until = until.min(from),
                    None => {}
                }
            }
        }
        let longest = rests.iter().map(|rest| rest.second).max().unwrap_or(0);
        let ample = rests.iter().find(|rest| longest > 0 && 2 * rest.second >= longest);
        let any = rests.iter().rev().max_by_key(|rest| rest.first);
        match ample.or(any).and_then(|rest| rest.place) {
            Some(place) => Survey::Free(place),
            // Where every slot is being claimed just now: at once.
            None => Survey::Full(if until == u64::MAX { call.now.0 } else { self.classes.recovered(until) }),
        }
    }

    /// Rules 4 and 5, then settles.
    fn claim(&self, place: Place<'_>, call: &Call<'_>) -> Option<Decided> {
        if place.seen != NOBODY {
            self.horizons.raise(place.seen, place.word.instant());
        }
        let claimed = place.word.claimed(self.hold);
        if !place.slot.claim(place.word, claimed) {
            return None;
        }
        let word = place.slot.publish(claimed, place.tag);
        self.settle(Place { word, ..place }, call, true)
    }

    /// Rules 6 and 7: opens a tentative slot, unless its key has another; `None` if the call is to start over.
    fn settle(&self, mine: Place<'_>, call: &Call<'_>, owner: bool) -> Option<Decided> {
        // ORDERING: sequentially consistent; pairs with itself in the threads that settle other slots of this key. Both
        // have seen their slots tentative before the fence; the later of the two sees the other's after it.
        fence(Ordering::SeqCst);
        for candidate in 0..CANDIDATES {
            for (number, slot, tag) in self.places(call, candidate) {
                // PROGRESS: lock-free. The CAS fails only if another thread made a step on the slot.
                while number != mine.number
                    && let Some(word) = slot.find(tag)
                {
                    match word.state() {
                        State::Claimed => break,
                        State::Tentative if number > mine.number => {
                            if self.leave(slot, word) {
                                break;
                            }
                        }
                        State::Tentative | State::Open | State::Lowered => {
                            self.leave(mine.slot, mine.word);
                            return None;
                        }
                    }
                }
            }
        }
        let start = self.start(call);
        if let Some(full_at) = call.pace.charge(start, call.cost, call.now) {
            return mine.slot.step(mine.word, mine.word.committed(full_at)).then_some(Decided::admitted(full_at));
        }
        let settled = if call.pace.starts_short() {
            // The key is known from now on, and its bucket fills: what the refusal says comes true.
            mine.slot.step(mine.word, mine.word.committed(start))
        } else if owner {
            self.leave(mine.slot, mine.word)
        } else {
            mine.slot.word() == mine.word
        };
        settled.then(|| Decided::refused(start, call))
    }
}
