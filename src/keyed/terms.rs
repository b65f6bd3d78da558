//! [`Terms`]: the quota of a class, which can be changed while any number of threads use it.
//!
//! ```text
//! LAYOUT   version | sequence: 60 bits | frozen: 1 bit | fraction: 1 bit | bank: 2 bits |
//!
//! bank       where the pace in force is, once it has been changed
//! fraction   set from the beginning where a unit of the first pace is not a nanosecond
//! frozen     somebody is about to change it
//! ```
//!
//! Rules:
//!
//! Q1. **Read the clock, then the version.** A call that finds the old version has taken its reading before the change was
//!     announced. Of a changed class, the pace is read between two loads of the version that find the same (rule 1 of the
//!     module `banks`). Every step of the version has a new sequence number, so none comes back.
//! Q2. **Freeze, then read the clock.** A change freezes the version, reads the clock, writes the pace of that instant into a
//!     bank of its own, and unfreezes the version with that bank's number, by a CAS from the very version that it has frozen.
//!     Who meets a frozen version waits for a moment and then unfreezes it with the old bank: the change has to start over.
//! Q3. **What words can be keeps its meaning.** A word that a call under an earlier pace may have left, or may still leave, stands
//!     for as many tokens under the new one; what only later words can be is free to mean what suits.
//! Q4. **As usual, once that is past.** From the instant on after which every word is what it says, a call of which a unit is a
//!     nanosecond needs unit and burst alone. It reads them, and from when on that is so, as Q1 says; where it cannot, or
//!     finds a version that is frozen, it goes the long way.
//!
//! # Why it is strict
//!
//! Count a class's tokens from the clock's origin: `D(t)` have fallen due by `t`, at the first rate until the first change, at
//! the second until the next. A key's word stands for a position on the same scale, `P(word)`: for which a bucket is full once
//! `D(t)` has come there. By Q3 `P` is the same for every call that can meet the word, whichever pace it was decided on, and
//! so the calls of a key take stretches of positions that have nothing in common: each charge begins at `P` of the word it
//! finds, or at `D` of its reading, whichever is later, and ends at `P` of the word that it leaves. One that is decided on
//! the pace of a stretch of time, with a reading `t`, ends no later than `D(t)` and the burst of that pace. By Q1 and Q2 `t` is
//! not after the change which ended the stretch, however long the caller sleeps before its CAS. So calls with readings in `[s, t]`
//! take, between `D(s)` and the largest burst above `D(t)`, at most what the rates have brought and the larger burst.
//!
//! `P` is kept to a unit, that is to less than 2 ns' worth, against the key in its own pace. So a change may cost a key a unit or give
//! it one, and so may a call that was decided before the change and lands after others that were decided after it.
//!
//! A clock that runs ahead of another by `e` when both are read in this order makes that `e` times the old rate more, as it
//! does elsewhere.
//!
//! # Where a word lies
//!
//! As long as words that were left at the old rate are in use, the class has to read them at the old rate. So after the first instant
//! of the change, `since`, the line of the [`Course`](super::course::Course) has the slope `old rate / new rate` up to what words can
//! be, and as far again, lest the next change find a corner in the middle. By then word and instant are apart; the rest of the line
//! leads back to where they are the same.

use super::pace::Pace;
use super::usual::Usual;
use crate::banks::{Banks, named};
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Backoff, Ordering, fence};
use alloc::boxed::Box;

const FRACTION: u64 = 1 << 2;
const FROZEN: u64 = 1 << 3;
const NEXT: u64 = 1 << 4;

/// How many times a frozen version is looked at before the change has to start over: some microseconds. In a model check,
/// once.
const PATIENCE: usize = if cfg!(all(loom, feature = "loom")) { 0 } else { 300 };

/// A class's pace, and those it may be given.
#[derive(Debug)]
pub(super) struct Terms {
    /// What the class was built with: to be used as it is while the version says that it was never changed.
    first: Pace,
    version: AtomicU64,
    banks: Box<Banks<{ Pace::WORDS }>>,
}

/// A version that is no longer frozen, with the bank that it had.
const fn unfrozen(version: u64) -> u64 {
    (version & !FROZEN) + NEXT
}

/// A version that is no longer frozen, with another bank.
const fn naming(version: u64, bank: u64) -> u64 {
    (version & !(NEXT - 1)) + NEXT + bank
}

impl Terms {
    pub(super) fn new(first: Pace) -> Self {
        let version = AtomicU64::new(if first.is_whole() { 0 } else { FRACTION });
        Self { first, version, banks: Box::new(Banks::new(first.to_words())) }
    }

    /// The same terms for keys that start with `tokens`.
    pub(super) fn start_with(&mut self, tokens: u64) {
        let changed = self.changed().map(|pace| pace.starting_with(tokens));
        *self = Self::new(self.first.starting_with(tokens));
        if let Some(pace) = changed {
            (self.version, self.banks) = (AtomicU64::new(NEXT), Box::new(Banks::new(pace.to_words())));
        }
    }

    /// What the class was built with.
    #[inline]
    pub(super) const fn first(&self) -> &Pace {
        &self.first
    }

    /// Whether the first pace is in force, and a unit of it is a nanosecond. To be asked after the clock is read (Q1).
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        // ORDERING: acquire; pairs with the freeze in `change`: a thread that has read the clock after a change did finds it
        // under way. The first pace never changes, so nothing else is published by this.
        self.version.load(Ordering::Acquire) == 0
    }

    /// Whether the first pace is in force. To be asked after the clock is read (Q1).
    #[inline]
    pub(super) fn is_first(&self) -> bool {
        // ORDERING: acquire; as in `is_plain`.
        self.version.load(Ordering::Acquire) & !FRACTION == 0
    }

    /// Lends the pace in force to `decide`. To be called after the clock is read (Q1).
    #[inline]
    pub(super) fn with<T>(&self, decide: impl FnOnce(&Pace) -> T) -> T {
        self.at(Nanos::ZERO, |pace, _| decide(pace))
    }

    /// Lends the pace in force to `decide`, and the reading `now` as that counts it. `now` is no later than any class lasts that was
    /// never changed, and was read before (Q1).
    #[inline]
    pub(super) fn at<T>(&self, now: Nanos, decide: impl FnOnce(&Pace, Nanos) -> T) -> T {
        if self.is_first() { decide(&self.first, now) } else { self.at_changed(now, decide) }
    }

    /// As [`at`](Self::at), out of the way of classes that were never changed.
    #[cold]
    #[inline(never)]
    fn at_changed<T>(&self, now: Nanos, decide: impl FnOnce(&Pace, Nanos) -> T) -> T {
        let pace = self.look().1;
        decide(&pace, pace.within(now))
    }

    /// What the usual call needs at `now` of a pace that is not the first any more, if instants are what they say by then. Wait-free.
    /// To be called after the clock is read (Q1).
    #[inline]
    pub(super) fn usual(&self, now: Nanos) -> Option<Usual> {
        // ORDERING: acquire; as in `look`.
        let seen = self.version.load(Ordering::Acquire);
        let [unit, burst, from, end] = self.banks.read_first(named(seen));
        // ORDERING: acquire; as in `look`.
        let again = self.version.load(Ordering::Acquire);
        let in_force = seen & FROZEN == 0 && again == seen;
        (in_force && (from..=end).contains(&now.0)).then_some(Usual { unit, burst })
    }

    /// The pace in force, if it is not the first any more. To be called after the clock is read (Q1).
    #[inline]
    pub(super) fn changed(&self) -> Option<Pace> {
        if self.is_first() { None } else { Some(self.look().1) }
    }

    /// The version, and the pace that it names (Q1). Lock-free.
    fn look(&self) -> (u64, Pace) {
        // ORDERING: acquire; pairs with the release that put this bank's number into the version.
        let mut seen = self.version.load(Ordering::Acquire);
        // PROGRESS: lock-free. It goes round only if another thread has changed the version, or has not for a while.
        loop {
            if seen & FROZEN != 0 {
                seen = self.unfreeze(seen);
                continue;
            }
            let pace = Pace::from_words(self.banks.read(named(seen)));
            // ORDERING: acquire, as above, since the next round may start from it. The fence in `read` comes before it.
            let again = self.version.load(Ordering::Acquire);
            if again == seen {
                return (seen, pace);
            }
            seen = again;
        }
    }

    /// Q2: waits a moment for whoever has frozen the version, and then goes on without.
    #[cold]
    fn unfreeze(&self, frozen: u64) -> u64 {
        // PROGRESS: at most `PATIENCE` steps.
        for _ in 0..PATIENCE {
            core::hint::spin_loop();
            // ORDERING: acquire; as in `look`.
            let now = self.version.load(Ordering::Acquire);
            if now != frozen {
                return now;
            }
        }
        let next = unfrozen(frozen);
        // ORDERING: release, so that whoever names a bank next does so after this; acquire on both outcomes, as in `look`.
        match self.version.compare_exchange(frozen, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => next,
            Err(now) => now,
        }
    }

    /// Changes the pace. `make` is told the old one, and reads the clock (Q2); it is called again if another thread has not
    /// waited for it. `Ok(false)` if three others are in the middle of a change.
    ///
    /// Lock-free: a change may have to start over again and again, but holds up nobody for more than a moment.
    pub(super) fn change<E>(&self, mut make: impl FnMut(&Pace) -> Result<Pace, E>) -> Result<bool, E> {
        let Some(claim) = self.banks.claim() else { return Ok(false) };
        let mut backoff = Backoff::new();
        // PROGRESS: lock-free. It goes round only if another thread has changed the version.
        loop {
            let (seen, old) = self.look();
            let frozen = (seen + NEXT) | FROZEN;
            // ORDERING: acquire and release; pairs with the loads of the version: who has read the clock after this thread has
            // finds it frozen.
            if self.version.compare_exchange(seen, frozen, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                // ORDERING: sequentially consistent, so that the clock is not read before the version is frozen for all to see.
                fence(Ordering::SeqCst);
                let changed = make(&old);
                let next = match &changed {
                    Ok(pace) => {
                        claim.write(pace.to_words());
                        naming(frozen, claim.number())
                    }
                    Err(_) => unfrozen(frozen),
                };
                // ORDERING: release; pairs with the acquire loads of the version: whoever sees this bank's number sees its pace.
                let in_time = self.version.compare_exchange(frozen, next, Ordering::Release, Ordering::Relaxed).is_ok();
                if changed.map(|_| in_time)? {
                    claim.hand_over(named(seen));
                    return Ok(true);
                }
            }
            backoff.spin();
        }
    }
}
