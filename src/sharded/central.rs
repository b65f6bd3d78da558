//! [`Central`]: the word that all tokens come from, and what is known about the slots.

use crate::algorithm::{Algorithm, Gcra};
use crate::cell::StateCell;
use crate::decision::{Denied, Status};
use crate::lease::Pause;
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::sync::{AtomicU64, Ordering};
use crate::timeline::Hint;
use crossbeam_utils::CachePadded;

/// The central word `V` with its [`Gcra`], and beside it `deposits` and `dry` (rule 5 of the module).
///
/// What is written lies on a line of its own, all of it: a refill, which writes `V` and then `deposits`, fetches one line
/// from the core that refilled last. The constants, which it also needs, stay in every core's cache.
#[derive(Debug)]
pub(super) struct Central {
    gcra: Gcra,
    written: CachePadded<Written>,
    /// How often something came that a quiet slot must not miss (rule 8).
    news: CachePadded<AtomicU64>,
}

/// What refills and scans write.
#[derive(Debug)]
struct Written {
    /// `V`.
    consumed: StateCell,
    deposits: AtomicU64,
    dry: AtomicU64,
}

impl Central {
    /// A full bucket for `quota`. No scan has been made.
    pub(super) fn new(quota: Quota) -> Self {
        Self::with_word(Gcra::new(quota), Gcra::FRESH)
    }

    fn with_word(gcra: Gcra, word: u64) -> Self {
        let (consumed, deposits, dry) = (StateCell::new(word), AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let written = CachePadded::new(Written { consumed, deposits, dry });
        Self { gcra, written, news: CachePadded::new(AtomicU64::new(0)) }
    }

    /// A bucket for the same quota that holds `tokens` at `now`. No scan has been made.
    pub(super) fn holding(&self, tokens: u64, now: Nanos) -> Self {
        let central = Self::with_word(self.gcra, Gcra::FRESH);
        central.draw_up_to(self.max_cost().saturating_sub(tokens), now);
        central
    }

    /// How many tokens could be drawn at `now`, if at least `n`. Writes nothing.
    #[inline]
    pub(super) fn look(&self, n: u64, now: Nanos) -> Result<u64, Denied> {
        let word = self.written.consumed.load();
        self.gcra.acquire(word, n, now).map(|_| self.gcra.available(word, now))
    }

    /// Draws at least `n` and at most `most` tokens at `now` (rule 2c); returns how many. Lock-free.
    #[inline]
    pub(super) fn draw(&self, n: u64, most: u64, now: Nanos) -> Result<u64, Denied> {
        self.written.consumed.update(|word| {
            let drawn = self.gcra.available(word, now).clamp(n, most);
            Ok((self.gcra.acquire(word, drawn, now)?, drawn))
        })
    }

    /// Draws `n` tokens at `now`, or none; returns beside the decision the status of the very word that it has left.
    pub(super) fn draw_with_status(&self, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        let (decision, word) = self.written.consumed.decide(|word| self.gcra.acquire(word, n, now));
        (decision, self.gcra.status(word, now))
    }

    /// Draws as many tokens as there are at `now`, up to `n`; returns how many. Lock-free.
    pub(super) fn draw_up_to(&self, n: u64, now: Nanos) -> u64 {
        self.draw(0, n, now).unwrap_or(0)
    }

    /// Takes `n` tokens back at `now`; see [`Algorithm::refund`]. Lock-free.
    ///
    /// `dry` stays as it is: it speaks of slots, and a denial looks at `V` itself.
    pub(super) fn refund(&self, n: u64, now: Nanos) {
        self.written.consumed.apply(|word| (self.gcra.refund(word, n, now), ()));
        self.tell();
    }

    /// Full again. Lock-free. `dry` stays as it is, as for a refund.
    pub(super) fn forgive(&self) {
        self.written.consumed.apply(|_| (Gcra::FRESH, ()));
        self.tell();
    }

    /// Tokens that could be drawn at `now`.
    pub(super) fn available(&self, now: Nanos) -> u64 {
        self.gcra.available(self.written.consumed.load(), now)
    }

    /// Everything there is to know about `V` at `now`.
    pub(super) fn status(&self, now: Nanos) -> Status {
        self.gcra.status(self.written.consumed.load(), now)
    }

    /// `V`, for those who reserve ahead of now.
    pub(super) fn word(&self) -> (&Gcra, &StateCell) {
        (&self.gcra, &self.written.consumed)
    }

    /// Says that `V` was lowered, or that credits came that quiet slots are to see (rule 8).
    pub(super) fn tell(&self) {
        // ORDERING: release; pairs with the acquire in `news`: whoever counts this news sees what it is about.
        self.news.fetch_add(1, Ordering::Release);
    }

    /// How much news there has been: read before the clock and before a look (rule 8).
    #[inline]
    pub(super) fn news(&self) -> u64 {
        // ORDERING: acquire; pairs with the release in `tell`, and with those before it, by the release sequence. Without it
        // a look could miss what it has counted, and the slot be quiet in spite of it.
        self.news.load(Ordering::Acquire)
    }

    /// Until when a slot is quiet after a look at `hint.now` that found `V` short of one token by this hint, and when the
    /// next call is admitted (rule 8). `None` if none ever is.
    pub(super) fn pause(&self, hint: Hint, pause: Pause) -> Option<(Nanos, Nanos)> {
        let after = |nanos| Nanos(hint.now.0.saturating_add(nanos));
        let settled = after(pause.least);
        // The one division is for tokens that are not due by then.
        let due = if self.gcra.timeline().position(settled) >= hint.position { settled } else { hint.due() };
        (due < Nanos::MAX).then(|| (due.min(after(pause.most)), due))
    }

    /// The most that can be drawn at once: `Bc`.
    #[inline]
    pub(super) fn max_cost(&self) -> u64 {
        self.gcra.max_cost()
    }

    /// Says that a deposit has been made.
    #[inline]
    pub(super) fn count_deposit(&self) {
        // ORDERING: release; pairs with the acquire in `deposits`: whoever counts this deposit sees it in its slot, or
        // what became of it.
        self.written.deposits.fetch_add(1, Ordering::Release);
    }

    /// How many deposits have been made: read before a scan.
    #[inline]
    pub(super) fn deposits(&self) -> u64 {
        // ORDERING: acquire; pairs with the release in `count_deposit`, and with those before it, since read-modify-writes
        // carry a release sequence on. Without it a scan could miss a deposit that it has counted.
        self.written.deposits.load(Ordering::Acquire)
    }

    /// Whether a scan has found no credits since the last deposit, so that another would find none either.
    #[inline]
    pub(super) fn is_dry(&self) -> bool {
        // ORDERING: relaxed, both; they pair with nothing. A deposit that happens before this call has been counted, so
        // that no number of an older scan is equal.
        self.written.dry.load(Ordering::Relaxed) == self.written.deposits.load(Ordering::Relaxed)
    }

    /// Says that a scan that began after `deposits` deposits found no credits.
    pub(super) fn set_dry(&self, deposits: u64) {
        // ORDERING: relaxed, as above. An older scan may overwrite a newer one's number: the next denial scans again.
        self.written.dry.store(deposits, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests {
    use super::*;
    use core::mem::{align_of, offset_of, size_of};

    #[test]
    fn a_refill_writes_one_line_and_nothing_else_is_on_it() {
        const LINE: usize = 64;
        let (consumed, deposits, dry) =
            (offset_of!(Written, consumed), offset_of!(Written, deposits), offset_of!(Written, dry));
        assert!([consumed, deposits, dry].iter().all(|at| at / LINE == consumed / LINE));
        // The constants are at least as far away as processors fetch ahead.
        let (constants, written) = (offset_of!(Central, gcra), offset_of!(Central, written));
        assert!(align_of::<Central>() >= LINE && align_of::<CachePadded<Written>>() >= LINE);
        assert_ne!(constants / align_of::<Central>(), written / align_of::<Central>());
        assert_eq!(constants / LINE, (constants + size_of::<Gcra>() - 1) / LINE);
    }
}
