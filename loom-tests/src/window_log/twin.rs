//! [`Twin`]: a transcription of the protocol whose rules can be taken away.

use super::{Outcome, PERIOD, Subject};
use crate::cell::Op;
use crate::sync::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use core::array;
use core::time::Duration;
use tollgate::{Nanos, Status};

/// The rules that can be taken away, by their numbers in the library.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // a switch for each rule
pub struct Rules {
    /// Rule 2; without it, a slot is checked, and then written.
    pub one_cas: bool,
    /// Rule 3; without it, the front is taken for what it was when it was seen first.
    pub look_again: bool,
    /// Rule 4; without it, a call that meets another one half done waits for it.
    pub help: bool,
    /// Rule 4; without it, the head moves past a group before the group is written down.
    pub written_first: bool,
    /// Rule 5; without it, a unit is due a period after its own reading, however old that is.
    pub clamp: bool,
    /// Rule 6; without it, a cost above 1 is decided on the first slot alone.
    pub all_of_them: bool,
    /// Rule 6; without it, a reading older than the newest unit counts as that.
    pub own_reading: bool,
    /// Rule 7; without it, a group is written over whatever stands in its slots.
    pub grow: bool,
    /// Rule 8; without it, a unit of this lap passes for one of the last.
    pub lap: bool,
    /// Rule 9; without it, a group's record is given back as soon as the group is claimed.
    pub kept: bool,
    /// Rule 9; without it, a record is believed although its group may have ended.
    pub still_there: bool,
}

impl Rules {
    /// The protocol as it is.
    pub const ALL: Self = Self {
        one_cas: true,
        look_again: true,
        help: true,
        written_first: true,
        clamp: true,
        all_of_them: true,
        own_reading: true,
        grow: true,
        lap: true,
        kept: true,
        still_there: true,
    };
}

/// Where a call stops for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// It holds a record, and has claimed nothing yet.
    Unclaimed,
    /// It has claimed the front.
    Claimed,
    /// It has written one slot of its group.
    Begun,
    /// It has written its group down, but not moved the head.
    Written,
    /// Nowhere.
    Never,
}

/// After so many turns a call is taken to be stuck: each turn takes another call's progress, and there are few calls.
const STUCK: usize = 50;

/// The flag of a group's mark.
const GROUP: u64 = 1 << 63;

/// How many records there are: one for each call that may be in the middle, and one more.
const RECORDS: usize = 3;

/// A ring of slots; positions are counted from the first lap on, which has number 1.
#[derive(Debug)]
pub struct Twin {
    rules: Rules,
    head: AtomicU64,
    slots: Vec<AtomicU64>,
    held: AtomicU64,
    /// Size and due.
    records: [[AtomicU64; 2]; RECORDS],
}

/// A position, its slot's word and the head from which it was found.
#[derive(Clone, Copy, Debug)]
struct Front {
    head: u64,
    position: u64,
    word: u64,
}

impl Twin {
    /// A log of `limit` units per [`PERIOD`], with nothing in it.
    pub fn new(limit: u64, rules: Rules) -> Self {
        let word = || AtomicU64::new(0);
        Self {
            rules,
            head: AtomicU64::new(limit),
            slots: (0..limit).map(|_| word()).collect(),
            held: AtomicU64::new(0),
            records: array::from_fn(|_| array::from_fn(|_| word())),
        }
    }

    /// Begins to take `n` units on the reading `at`, and stops.
    pub fn take_and_stop(&self, n: u64, at: u64, stop: Stop) {
        let _ = self.admit(at, stop, |position, word| self.room_for(n, position, word, at));
    }

    fn limit(&self) -> u64 {
        self.slots.len() as u64
    }

    fn slot(&self, position: u64) -> &AtomicU64 {
        &self.slots[usize::try_from(position % self.limit()).unwrap()]
    }

    fn unit(&self, position: u64, due: u64) -> u64 {
        (due << 1) | ((position / self.limit()) & 1)
    }

    fn is_of_this_lap(&self, position: u64, word: u64) -> bool {
        word & GROUP != 0 || self.rules.lap && word & 1 == self.unit(position, 0)
    }

    fn front(&self) -> Front {
        let head = self.head.load(Acquire);
        let mut position = head;
        loop {
            let word = self.slot(position).load(Acquire);
            if word & GROUP != 0 || !self.is_of_this_lap(position, word) {
                return Front { head, position, word };
            }
            position += 1;
        }
    }

    fn is_still(&self, front: Front) -> bool {
        self.slot(front.position).load(Relaxed) == front.word && self.head.load(Relaxed) == front.head
    }

    /// The reading that decides.
    fn reading(&self, position: u64, at: u64) -> u64 {
        let newest = due(self.slot(position - 1).load(Acquire)).saturating_sub(PERIOD);
        if self.rules.own_reading { at } else { at.max(newest) }
    }

    fn room_for(&self, n: u64, position: u64, word: u64, at: u64) -> Result<u64, u64> {
        let last = match n {
            2.. if self.rules.all_of_them => self.slot(position + n - 1).load(Acquire),
            _ => word,
        };
        if due(last) <= self.reading(position, at) { Ok(n) } else { Err(due(last)) }
    }

    fn room(&self, n: u64, position: u64, at: u64) -> u64 {
        (0..n).take_while(|&i| due(self.slot(position + i).load(Acquire)) <= at).count() as u64
    }

    fn admit<E>(&self, at: u64, stop: Stop, choose: impl Fn(u64, u64) -> Result<u64, E>) -> Result<u64, E> {
        let mut record = None;
        let result = self.admit_with(at, stop, choose, &mut record);
        if let (Some(record), true) = (record, stop == Stop::Never && self.rules.kept) {
            self.give_back(record);
        }
        result
    }

    fn admit_with<E>(
        &self,
        at: u64,
        stop: Stop,
        choose: impl Fn(u64, u64) -> Result<u64, E>,
        held: &mut Option<u64>,
    ) -> Result<u64, E> {
        for _ in 0..STUCK {
            let front = self.front();
            if front.position != front.head || front.word & GROUP != 0 {
                if self.rules.help {
                    self.help(front);
                } else {
                    crate::sync::yield_now();
                }
                continue;
            }
            let chosen = choose(front.position, front.word);
            if self.rules.look_again && !self.is_still(front) {
                continue;
            }
            let size = chosen?;
            if size == 0 {
                return Ok(0);
            }
            let before = due(self.slot(front.position - 1).load(Acquire));
            let due = if self.rules.clamp { before.max(at + PERIOD) } else { at + PERIOD };
            let claim = if size == 1 {
                self.unit(front.position, due)
            } else {
                let record = *held.get_or_insert_with(|| self.hold());
                let [its_size, its_due] = &self.records[usize::try_from(record).unwrap()];
                its_size.store(size, Release);
                its_due.store(due, Release);
                // The library adds as much of the lap as fits; here, all of it does.
                GROUP | (front.position << 4) | record
            };
            if stop == Stop::Unclaimed {
                return Ok(size);
            }
            if self.claim(front, claim) {
                if let (Some(record), false) = (*held, self.rules.kept) {
                    self.give_back(record);
                }
                if stop > Stop::Claimed {
                    self.settle(Front { word: claim, ..front }, size, due, stop);
                }
                return Ok(size);
            }
        }
        panic!("stuck");
    }

    fn claim(&self, front: Front, claim: u64) -> bool {
        let slot = self.slot(front.position);
        if self.rules.one_cas {
            return slot.compare_exchange(front.word, claim, Release, Relaxed).is_ok();
        }
        let same = slot.load(Acquire) == front.word;
        if same {
            slot.store(claim, Release);
        }
        same
    }

    fn help(&self, front: Front) {
        if front.word & GROUP == 0 {
            return self.advance(front.head, front.position);
        }
        let [size, due] = &self.records[usize::try_from(front.word & 15).unwrap()];
        let (size, due) = (size.load(Acquire), due.load(Acquire));
        if !self.rules.still_there || self.is_still(front) {
            self.settle(front, size, due, Stop::Never);
        }
    }

    fn settle(&self, front: Front, size: u64, due: u64, stop: Stop) {
        let next = front.position + size;
        if !self.rules.written_first {
            self.advance(front.head, next);
        }
        if front.word & GROUP != 0 {
            for position in front.position + 1..next {
                self.write(position, due);
                if stop == Stop::Begun {
                    return;
                }
            }
            let unit = self.unit(front.position, due);
            let _ = self.slot(front.position).compare_exchange(front.word, unit, Release, Acquire);
        }
        if stop == Stop::Never {
            self.advance(front.head, next);
        }
    }

    fn write(&self, position: u64, at: u64) {
        let (slot, unit) = (self.slot(position), self.unit(position, at));
        let mut seen = slot.load(Acquire);
        while !self.rules.grow || due(seen) < at {
            match slot.compare_exchange(seen, unit, Release, Acquire) {
                Ok(_) => return,
                Err(other) => seen = other,
            }
        }
    }

    fn advance(&self, from: u64, to: u64) {
        let _ = self.head.compare_exchange(from, to, Release, Relaxed);
    }

    fn hold(&self) -> u64 {
        let mut held = self.held.load(Relaxed);
        loop {
            let record = u64::from(held.trailing_ones());
            assert!(record < RECORDS as u64, "stuck");
            match self.held.compare_exchange(held, held | (1 << record), Acquire, Relaxed) {
                Ok(_) => return record,
                Err(other) => held = other,
            }
        }
    }

    fn give_back(&self, record: u64) {
        self.held.fetch_and(!(1 << record), Release);
    }
}

fn due(word: u64) -> u64 {
    word >> 1
}

impl Subject for Twin {
    fn apply(&self, op: Op, at: Nanos) -> Outcome {
        let Nanos(now) = at;
        match op {
            Op::Take(n) => match self.admit(now, Stop::Never, |position, word| self.room_for(n, position, word, now)) {
                Ok(taken) => Outcome::Taken(taken),
                Err(due) => Outcome::Denied(Duration::from_nanos(due - now)),
            },
            Op::UpTo(n) => {
                let n = n.min(self.limit());
                let all = |position, _| Ok::<_, ()>(self.room(n, position, now));
                Outcome::Taken(self.admit(now, Stop::Never, all).expect("nothing is denied"))
            }
            Op::Refund(_) => unreachable!("a log takes nothing back"),
            Op::Look => Outcome::Seen(self.look(at)),
        }
    }

    fn look(&self, Nanos(now): Nanos) -> Status {
        for _ in 0..STUCK {
            let front = self.front();
            let (size, newest) = if front.word & GROUP == 0 {
                (0, due(self.slot(front.position - 1).load(Acquire)))
            } else {
                let [size, due] = &self.records[usize::try_from(front.word & 15).unwrap()];
                (size.load(Acquire), due.load(Acquire))
            };
            let (oldest, settled) = (front.position + size, self.limit() - size);
            let free = self.room(settled, oldest, now);
            let next = if settled == 0 { newest } else { due(self.slot(oldest).load(Acquire)) };
            if self.rules.look_again && !self.is_still(front) {
                continue;
            }
            let remaining = if free == settled && newest <= now { self.limit() } else { free };
            let [next, newest] = [next, newest].map(|due| Nanos(due).saturating_since(Nanos(now)));
            return Status::new(self.limit(), remaining, Some(next), newest);
        }
        panic!("stuck");
    }
}
