//! [`Transcription`]: the protocol with switches.

use super::{Call, Limiter, Terms};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicU64, fence};
use core::array;

/// The rules, each of which can be left out; see `src/operate/adjustable/mod.rs`.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // a switch for each rule
pub struct Rules {
    /// Rule 1; without it, terms are believed as they were read.
    pub second_look: bool,
    /// Rule 2; without it, a change writes into the bank that is in use.
    pub spare: bool,
    /// Rule 3; without it, a change reads the clock before it looks.
    pub look_first: bool,
    /// Rule 4; without it, a change leaves the position where the debt puts it.
    pub onward: bool,
    /// Rule 5; without it, refunds leave no trace.
    pub peak: bool,
    /// Rule 6; without it, the old bank is given back before the word names the new one.
    pub hand_over_last: bool,
    /// What is owed beyond the new burst stays owed; without it, that is forgotten.
    pub excess: bool,
}

impl Rules {
    /// The protocol as it is.
    pub const ALL: Self = Self {
        second_look: true,
        spare: true,
        look_first: true,
        onward: true,
        peak: true,
        hand_over_last: true,
        excess: true,
    };
}

const BANKS: u64 = 4;

/// What a bank holds: unit, burst, start and base.
type Bank = [AtomicU64; 4];

/// Terms as a bank holds them. A token is `interval` units, so that one unit falls due each nanosecond.
#[derive(Clone, Copy, Debug)]
struct Scale {
    unit: u64,
    burst: u64,
    start: u64,
    base: u64,
}

impl Scale {
    fn due(&self, now: u64) -> u64 {
        self.base + now.saturating_sub(self.start)
    }
}

/// The protocol over whole units.
#[derive(Debug)]
pub struct Transcription {
    word: AtomicU64,
    peak: AtomicU64,
    in_use: AtomicU64,
    banks: [Bank; 4],
    clock: AtomicU64,
    rules: Rules,
}

impl Transcription {
    /// A full bucket.
    pub fn new(terms: Terms, rules: Rules) -> Self {
        let first = [terms.interval, terms.burst * terms.interval, 0, 0];
        Self {
            word: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            in_use: AtomicU64::new(1),
            banks: array::from_fn(|_| first.map(AtomicU64::new)),
            clock: AtomicU64::new(0),
            rules,
        }
    }

    fn bank(&self, word: u64) -> &Bank {
        &self.banks[usize::try_from(word % BANKS).unwrap()]
    }

    fn look(&self) -> (u64, Scale) {
        let mut seen = self.word.load(Acquire);
        loop {
            let [unit, burst, start, base] = array::from_fn(|index| self.bank(seen)[index].load(Relaxed));
            let scale = Scale { unit, burst, start, base };
            fence(Acquire);
            if !self.rules.second_look {
                return (seen, scale);
            }
            match self.word.load(Acquire) {
                again if again == seen => return (seen, scale),
                again => seen = again,
            }
        }
    }

    fn update(&self, step: impl Fn(&Scale, u64) -> Option<u64>) -> bool {
        loop {
            let (seen, scale) = self.look();
            let position = seen / BANKS;
            let Some(next) = step(&scale, position) else { return false };
            if next == position {
                return true;
            }
            if next < position && self.rules.peak {
                self.peak.fetch_max(position, Relaxed);
            }
            let next = next * BANKS + seen % BANKS;
            if self.word.compare_exchange(seen, next, Release, Relaxed).is_ok() {
                return true;
            }
        }
    }

    fn set(&self, terms: Terms) {
        let early = self.clock.load(Relaxed);
        let claimed = loop {
            let in_use = self.in_use.load(Relaxed);
            let bank = u64::from((!in_use).trailing_zeros());
            if self.in_use.compare_exchange(in_use, in_use | 1 << bank, Acquire, Relaxed).is_ok() {
                break bank;
            }
        };
        loop {
            let (seen, old) = self.look();
            let now = if self.rules.look_first { self.clock.load(Relaxed) } else { early };
            let owed = (seen / BANKS).saturating_sub(old.due(now));
            let most = if self.rules.excess { u64::MAX } else { terms.burst * terms.interval };
            let debt = (owed * terms.interval).div_ceil(old.unit).min(most);
            let floor = if self.rules.onward { self.peak.load(Relaxed).max(seen / BANKS) + 1 } else { seen / BANKS };
            let position = floor + debt;
            let bank = if self.rules.spare { claimed } else { seen % BANKS };
            fence(Release);
            let words = [terms.interval, terms.burst * terms.interval, now, position - debt];
            for (cell, value) in self.bank(bank).iter().zip(words) {
                cell.store(value, Relaxed);
            }
            if !self.rules.hand_over_last {
                self.in_use.fetch_and(!(1 << (seen % BANKS)), Release);
            }
            if self.word.compare_exchange(seen, position * BANKS + bank, Release, Relaxed).is_ok() {
                if self.rules.hand_over_last && self.rules.spare {
                    self.in_use.fetch_and(!(1 << (seen % BANKS)), Release);
                }
                return;
            }
        }
    }
}

impl Limiter for Transcription {
    fn perform(&self, call: Call) -> bool {
        match call {
            Call::Take(n) => {
                let now = self.clock.load(Relaxed);
                return self.update(|scale, position| {
                    let next = position.max(scale.due(now)) + n * scale.unit;
                    (next <= scale.due(now) + scale.burst).then_some(next)
                });
            }
            Call::Refund(n) => {
                let now = self.clock.load(Relaxed);
                self.update(|scale, position| {
                    Some(position.saturating_sub(n * scale.unit).max(scale.due(now)).min(position))
                });
            }
            Call::Set(terms) => self.set(terms),
            Call::Tick(nanos) => {
                self.clock.fetch_add(nanos, Relaxed);
            }
        }
        true
    }

    fn available(&self) -> u64 {
        let (seen, scale) = self.look();
        let owed = (seen / BANKS).saturating_sub(scale.due(self.clock.load(Relaxed)));
        scale.burst.saturating_sub(owed) / scale.unit
    }
}
