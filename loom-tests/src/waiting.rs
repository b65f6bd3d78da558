//! [`Line`]: the waiting bucket's protocol in short, with rules that can be taken out; and what must hold, [`audit`].

use crate::assert_bounded;
use crate::sync::{AtomicU64, Ordering};
use core::time::Duration;
use tollgate::{Line as Pointer, Nanos, Place, Quota, loom_support};

const EMPTY: u64 = 0;
const BUSY: u64 = u64::MAX;

/// The rules of `tollgate`'s module `wait`, by number. All of them together are the protocol.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // a switch for each rule
pub struct Rules {
    /// 3: a place goes back to the word by a CAS from its end; not by a subtraction, wherever the word may stand.
    pub lowered_by_cas: bool,
    /// 4: whoever owns an expired slot loads the start again before it is filled.
    pub second_look_before_put: bool,
    /// 4: the length is stored with release.
    pub length_released: bool,
    /// 5: whoever owns a slot loads the start again, and decides again.
    pub second_look: bool,
    /// 5: a slot is owned with acquire.
    pub owned_with_acquire: bool,
    /// 5: what has dropped out of the bucket is not used.
    pub expired_dropped: bool,
    /// 5: a stretch counts at its own instant, even if that is later than the call.
    pub own_instant: bool,
    /// 6: a slot is owned before the word is moved down past it.
    pub owned_before_absorbed: bool,
    /// 6: where the word has moved on, the length is put back.
    pub put_back: bool,
    /// 8: the last place is followed for as long as the slack only.
    pub followed_within_slack: bool,
    /// 8: nobody follows a place as of an instant that is still to come.
    pub followed_by_now: bool,
}

impl Rules {
    /// The protocol.
    pub const ALL: Self = Self {
        lowered_by_cas: true,
        second_look_before_put: true,
        length_released: true,
        second_look: true,
        owned_with_acquire: true,
        expired_dropped: true,
        own_instant: true,
        owned_before_absorbed: true,
        put_back: true,
        followed_within_slack: true,
        followed_by_now: true,
    };
}

/// Positions of one's own, and the instant at which they count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first position.
    pub start: u64,
    /// The position after the last.
    pub end: u64,
    /// When they are due.
    pub due: u64,
}

impl Span {
    /// That of a real place, of a limiter with such a quota.
    pub fn of<L: Pointer>(place: &Place<L>) -> Self {
        // Two units are a token, since a unit takes half a nanosecond at most.
        let end = loom_support::end_of(place) / 2;
        Self { start: end - place.cost(), end, due: place.due().0 }
    }
}

/// A word and a pool; one token, and one position, per nanosecond.
#[derive(Debug)]
pub struct Line<const SLOTS: usize> {
    word: AtomicU64,
    slots: [Slot; SLOTS],
    burst: u64,
    rules: Rules,
}

#[derive(Debug)]
struct Slot {
    len: AtomicU64,
    start: AtomicU64,
}

impl<const SLOTS: usize> Line<SLOTS> {
    /// A full bucket with nobody in line.
    pub fn new(burst: u64, rules: Rules) -> Self {
        let slots = core::array::from_fn(|_| Slot { len: AtomicU64::new(EMPTY), start: AtomicU64::new(0) });
        Self { word: AtomicU64::new(0), slots, burst, rules }
    }

    /// `n` tokens that are due by `now + wait`.
    pub fn reserve(&self, n: u64, wait: u64, now: u64) -> Option<Span> {
        let start = self
            .advance(n, now, now)
            .or_else(|| {
                self.absorb();
                self.take(n, now, now + wait)
            })
            .or_else(|| self.advance(n, now, now + wait))?;
        let due = (start + n).saturating_sub(self.burst).max(now);
        Some(Span { start, end: start + n, due: if self.rules.own_instant { due } else { now } })
    }

    /// One token for a caller who had the last at `last`, due by `now + wait` (rule 8).
    pub fn follow(&self, last: Option<u64>, slack: u64, wait: u64, now: u64) -> Option<Span> {
        let mut as_of = last.unwrap_or(now);
        if self.rules.followed_within_slack {
            as_of = as_of.max(now.saturating_sub(slack));
        }
        if self.rules.followed_by_now {
            as_of = as_of.min(now);
        }
        self.reserve(1, wait + now.saturating_sub(as_of), as_of)
    }

    /// Whether the tokens can be had again.
    pub fn give_back(&self, span: Span, now: u64) -> bool {
        let (start, len) = (span.start, span.end - span.start);
        let kept = self.lower(start, span.end) || self.put(start, len, now);
        if kept {
            self.absorb();
        }
        kept
    }

    /// Rule 1.
    fn advance(&self, n: u64, now: u64, last: u64) -> Option<u64> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let start = word.max(now);
            if start + n > last + self.burst {
                return None;
            }
            match self.word.compare_exchange(word, start + n, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(start),
                Err(won) => word = won,
            }
        }
    }

    /// Rule 3.
    fn lower(&self, start: u64, end: u64) -> bool {
        if self.word.load(Ordering::Relaxed) != end {
            return false;
        }
        if !self.rules.lowered_by_cas {
            self.word.fetch_sub(end - start, Ordering::Relaxed);
            return true;
        }
        self.word.compare_exchange(end, start, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Rule 4.
    fn put(&self, start: u64, len: u64, now: u64) -> bool {
        let free = |start: u64, len: u64| len == EMPTY || start + len <= now;
        for slot in &self.slots {
            let Some((seen_start, seen_len)) = slot.look() else { continue };
            if free(seen_start, seen_len) && self.own(slot, seen_len) {
                let certain = slot.start.load(Ordering::Relaxed);
                if !self.rules.second_look_before_put || free(certain, seen_len) {
                    self.release(slot, start, len);
                    return true;
                }
                self.release(slot, certain, seen_len);
            }
        }
        false
    }

    /// Rule 5.
    fn take(&self, n: u64, now: u64, last: u64) -> Option<u64> {
        let fit = |start: u64, len: u64| {
            let first = if self.rules.expired_dropped { start.max(now) } else { start };
            (first + n <= start + len && first + n <= last + self.burst).then_some(first)
        };
        loop {
            let stretches = self.slots.iter().filter_map(|slot| slot.look().map(|(start, len)| (slot, start, len)));
            let fitting =
                stretches.filter_map(|(slot, start, len)| fit(start, len).map(|first| (first, slot, start, len)));
            let (_, slot, seen, len) = fitting.min_by_key(|&(first, ..)| first)?;
            if !self.own(slot, len) {
                continue;
            }
            let start = if self.rules.second_look { slot.start.load(Ordering::Relaxed) } else { seen };
            let Some(first) = fit(start, len) else {
                self.release(slot, start, len);
                continue;
            };
            self.release(slot, first + n, start + len - first - n);
            return Some(first);
        }
    }

    /// Rule 6.
    fn absorb(&self) {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            let stretches = self.slots.iter().filter_map(|slot| slot.look().map(|(start, len)| (slot, start, len)));
            let Some((slot, seen, len)) = { stretches }.find(|&(_, start, len)| len > 0 && start + len == word) else {
                return;
            };
            if !self.rules.owned_before_absorbed {
                if self.lower(seen, word) && self.own(slot, len) {
                    self.release(slot, 0, EMPTY);
                }
                continue;
            }
            if !self.own(slot, len) {
                continue;
            }
            let start = slot.start.load(Ordering::Relaxed);
            if self.lower(start, start + len) {
                self.release(slot, 0, EMPTY);
            } else if self.rules.put_back {
                self.release(slot, start, len);
            } else {
                self.release(slot, 0, EMPTY);
            }
        }
    }

    fn own(&self, slot: &Slot, len: u64) -> bool {
        let order = if self.rules.owned_with_acquire { Ordering::Acquire } else { Ordering::Relaxed };
        slot.len.compare_exchange(len, BUSY, order, Ordering::Relaxed).is_ok()
    }

    fn release(&self, slot: &Slot, start: u64, len: u64) {
        slot.start.store(start, Ordering::Relaxed);
        let order = if self.rules.length_released { Ordering::Release } else { Ordering::Relaxed };
        slot.len.store(len, order);
    }
}

impl Slot {
    /// Start and length, of which the start may be a later one.
    fn look(&self) -> Option<(u64, u64)> {
        let len = self.len.load(Ordering::Acquire);
        if len == BUSY { None } else { Some((self.start.load(Ordering::Relaxed), len)) }
    }
}

/// The quota of every body: one token per nanosecond, so that instants and positions are the same small numbers.
pub fn quota(burst: u64) -> Quota {
    Quota::per(1, Duration::from_nanos(1)).with_burst(burst)
}

/// No position is spent twice, none outside its time, and what was neither spent nor reported as lost has been spent at `end`,
/// the latest reading that there was.
///
/// # Panics
///
/// If that is not so.
pub fn audit(mut spent: Vec<Span>, lost: &[Span], burst: u64, end: u64) {
    spent.sort_unstable();
    for pair in spent.windows(2) {
        assert!(pair[0].end <= pair[1].start, "spent twice: {pair:?} of {spent:?}");
    }
    for &Span { start, end, due } in &spent {
        assert!(due <= start && end <= due + burst, "spent outside its time: {start}..{end} at {due}");
    }
    let admitted: Vec<_> = spent.iter().map(|span| (Nanos(span.due), span.end - span.start)).collect();
    assert_bounded(&admitted, quota(burst));
    // Whatever could still be spent then has been, but for what was said to be lost.
    let within = |spans: &[Span]| {
        spans.iter().map(|span| span.end.clamp(end, end + burst) - span.start.clamp(end, end + burst)).sum::<u64>()
    };
    assert_eq!(within(&spent) + within(lost), burst, "tokens are lost, beside {lost:?}: {spent:?}");
}
