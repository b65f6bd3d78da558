//! [`Transcription`]: the protocol with switches.

use super::{BURST, Counter, Limiter};
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use crate::sync::{AtomicU64, fence};
use core::array;
use tollgate::Clock;

/// The rules, each of which can be left out; see `src/keyed/terms.rs`.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // a switch for each rule
pub struct Rules {
    /// Q1; without it, a call looks at the quota before it reads the clock.
    pub clock_first: bool,
    /// Q1; without it, a pace is believed as it was read.
    pub second_look: bool,
    /// Q2; without it, a change reads the clock with the version as it was.
    pub freeze: bool,
    /// Q2; without it, who meets a frozen version goes on under the old quota and leaves it frozen.
    pub unfreeze: bool,
    /// Q3; without it, words are instants at every rate.
    pub keep: bool,
    /// Q4; without it, a call is as usual as soon as the quota has changed.
    pub settled: bool,
    /// Q4; without it, the few words of a usual call are believed as they were read.
    pub usual_second_look: bool,
    /// Rule 2 of the banks; without it, a change writes into the bank in force.
    pub spare: bool,
}

impl Rules {
    /// The protocol as it is.
    pub const ALL: Self = Self {
        clock_first: true,
        second_look: true,
        freeze: true,
        unfreeze: true,
        keep: true,
        settled: true,
        usual_second_look: true,
        spare: true,
    };
}

const BANKS: u64 = 4;
const FROZEN: u64 = BANKS;
const NEXT: u64 = 2 * BANKS;

/// A pace as a bank holds it: a token each `interval`, so many nanoseconds of them at once, from `start` on; and three corners of
/// the line from words to instants.
#[derive(Clone, Copy, Debug)]
struct Pace {
    interval: u64,
    burst: u64,
    start: u64,
    corners: [(u64, u64); 3],
}

impl Pace {
    const WORDS: usize = 9;

    fn new(interval: u64) -> Self {
        Self { interval, burst: BURST * interval, start: 0, corners: [(0, 0); 3] }
    }

    fn to_words(self) -> [u64; Self::WORDS] {
        let [since, far, back] = self.corners;
        [self.interval, self.burst, self.start, since.0, since.1, far.0, far.1, back.0, back.1]
    }

    fn from_words([interval, burst, start, corners @ ..]: [u64; Self::WORDS]) -> Self {
        Self { interval, burst, start, corners: array::from_fn(|i| (corners[2 * i], corners[2 * i + 1])) }
    }

    /// The instant of a word.
    fn instant(&self, word: u64) -> u64 {
        let mut before = self.corners[0];
        for corner in self.corners {
            if word <= corner.0 {
                let (run, rise) = (corner.0 - before.0, corner.1 - before.1);
                return before.1 + if run == 0 { 0 } else { ((word - before.0) * rise).div_ceil(run) };
            }
            before = corner;
        }
        word
    }

    /// The first word of this instant or a later one.
    fn word(&self, instant: u64) -> u64 {
        (0..=instant.max(self.corners[2].0)).find(|&word| self.instant(word) >= instant).expect("the line rises")
    }

    fn charge(&self, word: u64, n: u64, now: u64) -> Option<u64> {
        let now = now.max(self.start);
        let spent = self.instant(word).max(now) + n * self.interval;
        (spent <= now + self.burst).then(|| self.word(spent))
    }

    fn changed(&self, interval: u64, now: u64, keep: bool) -> Self {
        let now = now.max(self.start);
        let since = self.word(now + 1) - 1;
        let far = self.word(now + 2 * self.burst);
        let end = now + ((self.instant(far) - now) * interval).div_ceil(self.interval);
        let back = if far == end { end } else { end + 2 * far.abs_diff(end).max(BURST * interval) };
        let corners = if keep { [(since, now), (far, end), (back, back)] } else { [(0, 0); 3] };
        Self { start: now, corners, ..Self::new(interval) }
    }
}

/// The protocol, for one key.
#[derive(Debug)]
pub struct Transcription {
    word: AtomicU64,
    version: AtomicU64,
    in_use: AtomicU64,
    banks: [[AtomicU64; Pace::WORDS]; 4],
    clock: Counter,
    rules: Rules,
}

impl Transcription {
    /// A full bucket that gets a token each so many nanoseconds.
    pub fn new(interval: u64, rules: Rules) -> Self {
        let first = Pace::new(interval).to_words();
        Self {
            word: AtomicU64::new(0),
            version: AtomicU64::new(0),
            in_use: AtomicU64::new(1),
            banks: array::from_fn(|_| first.map(AtomicU64::new)),
            clock: Counter::new(),
            rules,
        }
    }

    fn bank(&self, version: u64) -> &[AtomicU64; Pace::WORDS] {
        &self.banks[usize::try_from(version % BANKS).unwrap()]
    }

    fn look(&self) -> (u64, Pace) {
        let mut seen = self.version.load(Acquire);
        loop {
            if seen & FROZEN != 0 && self.rules.unfreeze {
                let next = (seen & !FROZEN) + NEXT;
                seen = self.version.compare_exchange(seen, next, AcqRel, Acquire).map_or_else(|now| now, |_| next);
                continue;
            }
            let pace = Pace::from_words(array::from_fn(|index| self.bank(seen)[index].load(Relaxed)));
            fence(Acquire);
            if !self.rules.second_look {
                return (seen, pace);
            }
            match self.version.load(Acquire) {
                again if again == seen => return (seen, pace),
                again => seen = again,
            }
        }
    }

    /// The pace in force at `now` without its corners, if it is not the first and they are past.
    fn usual(&self, now: u64) -> Option<Pace> {
        let seen = self.version.load(Acquire);
        let [interval, burst, start, back] =
            [0, 1, 2, Pace::WORDS - 1].map(|index| self.bank(seen)[index].load(Relaxed));
        fence(Acquire);
        let in_force = seen & FROZEN == 0 && (!self.rules.usual_second_look || self.version.load(Acquire) == seen);
        let past = start <= now && (back <= now || !self.rules.settled);
        (seen > 0 && in_force && past).then(|| Pace { burst, ..Pace::new(interval) })
    }

    fn claim(&self) -> u64 {
        loop {
            let in_use = self.in_use.load(Relaxed);
            let bank = u64::from((!in_use).trailing_zeros());
            if self.in_use.compare_exchange(in_use, in_use | 1 << bank, Acquire, Relaxed).is_ok() {
                return bank;
            }
        }
    }
}

impl Limiter for Transcription {
    fn clock(&self) -> &Counter {
        &self.clock
    }

    fn take(&self, n: u64) -> (u64, bool) {
        let (now, pace) = if self.rules.clock_first {
            let now = self.clock.now().0;
            (now, self.usual(now).unwrap_or_else(|| self.look().1))
        } else {
            let pace = self.look().1;
            (self.clock.now().0, pace)
        };
        loop {
            let word = self.word.load(Relaxed);
            match pace.charge(word, n, now) {
                Some(next) if self.word.compare_exchange(word, next, Relaxed, Relaxed).is_ok() => return (now, true),
                Some(_) => {}
                None => return (now, false),
            }
        }
    }

    fn set(&self, interval: u64) {
        let claimed = self.claim();
        loop {
            let (seen, old) = self.look();
            let frozen = if self.rules.freeze { (seen + NEXT) | FROZEN } else { seen };
            if self.version.compare_exchange(seen, frozen, AcqRel, Relaxed).is_err() {
                continue;
            }
            fence(SeqCst);
            let pace = old.changed(interval, self.clock.now().0, self.rules.keep);
            let bank = if self.rules.spare { claimed } else { seen % BANKS };
            fence(Release);
            for (cell, value) in self.bank(bank).iter().zip(pace.to_words()) {
                cell.store(value, Relaxed);
            }
            let next = (frozen & !(NEXT - 1)) + NEXT + bank;
            if self.version.compare_exchange(frozen, next, Release, Relaxed).is_ok() {
                if self.rules.spare {
                    self.in_use.fetch_and(!(1 << (seen % BANKS)), Release);
                }
                return;
            }
        }
    }
}
