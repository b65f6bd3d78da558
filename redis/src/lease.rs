//! [`Leases`]: tokens drawn from the centre, until they are spent or their lease ends.

use std::sync::atomic::{AtomicU64, Ordering};

/// Two leases at most: one is spent while the next is fetched.
///
/// ```text
/// LAYOUT   | end: 44 bits, in 64 us of the holder's clock, rounded down | tokens: 20 bits |
/// ```
///
/// A lease's end and its tokens are one word, so a compare-and-swap that takes a token at a reading takes it from a lease
/// that had not ended then, whatever happened meanwhile: a thread that slept between its reading and its swap finds
/// another word, and reads again, or the same word, and its spend counts at its reading. Only whoever asks the centre
/// deposits, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    slots: [AtomicU64; 2],
    /// The low-water mark: half of what was deposited last.
    low: AtomicU64,
}

/// What came of a spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spent {
    /// Taken; the lease has reached its low-water mark by it, or has no more for a call like this.
    Low,
    /// Taken.
    Enough,
    /// Not taken: no lease had it, at this reading of the clock.
    Nothing(u64),
}

pub(crate) const TOKENS: u32 = 20;
pub(crate) const MASK: u64 = (1 << TOKENS) - 1;
pub(crate) const TICK: u32 = 6;

/// The most tokens in a lease.
pub(crate) const MOST: u64 = MASK;

/// Tokens of `word` that can be spent at `now` microseconds.
fn valid(word: u64, now: u64) -> u64 {
    if now >> TICK < word >> TOKENS { word & MASK } else { 0 }
}

impl Leases {
    /// Takes `n` tokens from one lease at the instant that `clock` reads. Lock-free.
    #[inline]
    pub(crate) fn spend(&self, n: u64, clock: impl Fn() -> u64) -> Spent {
        // PROGRESS: again only if another thread has spent, or a lease has come.
        'again: loop {
            // ORDERING: Relaxed: a word is a lease's whole state, its modification order carries the proof.
            let words = self.slots.each_ref().map(|slot| slot.load(Ordering::Relaxed));
            // After the words: the reading that allows a spend is no older than the lease it is from.
            let now = clock();
            let first = usize::from(words[1] >> TOKENS < words[0] >> TOKENS);
            for slot in [first, 1 - first] {
                if valid(words[slot], now) < n {
                    continue;
                }
                let left = words[slot] - n;
                // ORDERING: Relaxed on both outcomes, as above.
                let taken = self.slots[slot].compare_exchange(words[slot], left, Ordering::Relaxed, Ordering::Relaxed);
                if taken.is_err() {
                    continue 'again;
                }
                // ORDERING: Relaxed: a hint for when to ask.
                let low = self.low.load(Ordering::Relaxed);
                let (before, left) = (words[slot] & MASK, left & MASK);
                return if left < n || before > low && left <= low { Spent::Low } else { Spent::Enough };
            }
            return Spent::Nothing(now);
        }
    }

    /// Adds a lease in place of the one with the fewest tokens, which are void if there are any.
    pub(crate) fn deposit(&self, tokens: u64, end: u64, now: u64) {
        debug_assert!(tokens <= MOST);
        // ORDERING: Relaxed, as in `spend`; deposits follow each other by the lock of whoever asks.
        let [a, b] = self.slots.each_ref().map(|slot| valid(slot.load(Ordering::Relaxed), now));
        // ORDERING: Relaxed: a hint, as in `spend`.
        self.low.store(tokens / 2, Ordering::Relaxed);
        // ORDERING: Relaxed, as in `spend`.
        self.slots[usize::from(b < a)].store((end >> TICK) << TOKENS | tokens, Ordering::Relaxed);
    }

    /// Tokens that can be spent at `now`.
    pub(crate) fn held(&self, now: u64) -> u64 {
        // ORDERING: Relaxed: a snapshot.
        self.slots.iter().map(|slot| valid(slot.load(Ordering::Relaxed), now)).sum()
    }

    /// Whether it is time to fetch the next lease: each of the two is down to the low-water mark, and the one with more
    /// tokens counts as empty if it ends by `soon`.
    ///
    /// Little is void for it: calls that fit are served from the lease that ends first, so it has less left than they take.
    pub(crate) fn is_low(&self, now: u64, soon: u64) -> bool {
        // ORDERING: Relaxed: a snapshot; whoever deposits next looks again.
        let low = self.low.load(Ordering::Relaxed);
        // ORDERING: Relaxed, as above.
        let words = self.slots.each_ref().map(|slot| slot.load(Ordering::Relaxed));
        let [fewer, more] = if valid(words[0], now) <= valid(words[1], now) { words } else { [words[1], words[0]] };
        valid(fewer, now) <= low && valid(more, soon) <= low
    }

    /// Whether the lease of `tokens` that ends (or ended) at `end` has all of them left.
    pub(crate) fn is_untouched(&self, tokens: u64, end: u64) -> bool {
        // ORDERING: Relaxed: a snapshot.
        self.slots.iter().any(|slot| slot.load(Ordering::Relaxed) == (end >> TICK) << TOKENS | tokens)
    }

    /// Takes all tokens there are; says how many of them could be spent as of the reading of `clock`.
    pub(crate) fn take_all(&self, clock: impl FnOnce() -> u64) -> u64 {
        // ORDERING: Relaxed, as in `spend`.
        let words = self.slots.each_ref().map(|slot| slot.swap(0, Ordering::Relaxed));
        // After the words: when these were taken from leases that had not ended, all earlier spends were, too.
        let now = clock();
        words.into_iter().map(|word| valid(word, now)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_spent_before_its_end_only_and_the_earlier_one_first() {
        let leases = Leases::default();
        leases.deposit(2, 6_400, 0);
        leases.deposit(5, 12_800, 0);
        assert_eq!((leases.held(6_399), leases.held(6_400), leases.held(12_800)), (7, 5, 0));
        assert_eq!(leases.spend(1, || 0), Spent::Enough);
        assert_eq!(leases.spend(3, || 0), Spent::Low); // of the later one, which has two left
        assert_eq!(leases.spend(3, || 0), Spent::Nothing(0));
        assert_eq!(leases.spend(2, || 6_400), Spent::Low);
        leases.deposit(9, 19_200, 6_400);
        assert_eq!((leases.take_all(|| 19_199), leases.held(6_400)), (9, 0));
        leases.deposit(9, 19_200, 6_400);
        assert_eq!((leases.take_all(|| 19_200), leases.held(6_400)), (0, 0));
    }

    /// Else a thread that sleeps between the two counts tokens of a lease that has ended, while others went on to spend of
    /// a later one.
    #[test]
    fn what_is_taken_is_judged_by_a_reading_from_after_it_was_taken() {
        let leases = Leases::default();
        leases.deposit(5, 6_400, 0);
        let taken = leases.take_all(|| {
            assert_eq!(leases.spend(1, || 0), Spent::Nothing(0));
            6_399
        });
        assert_eq!(taken, 5);
    }

    #[test]
    fn the_next_lease_is_due_at_half_of_the_last_ones_tokens_or_time() {
        let leases = Leases::default();
        assert!(leases.is_low(0, 6_400));
        leases.deposit(100, 12_800, 0);
        assert!(!leases.is_low(0, 6_400) && !leases.is_low(6_399, 12_799) && leases.is_low(6_400, 12_800));
        assert_eq!(leases.spend(49, || 0), Spent::Enough);
        assert!(!leases.is_low(0, 6_400));
        assert_eq!(leases.spend(1, || 0), Spent::Low);
        assert!(leases.is_low(0, 6_400));
        assert_eq!(leases.spend(1, || 0), Spent::Enough); // said once
        leases.deposit(80, 19_200, 0);
        assert!(!leases.is_low(0, 6_400) && !leases.is_low(12_800, 19_199) && leases.is_low(12_800, 19_200));
        assert_eq!(leases.spend(49, || 0), Spent::Low); // none are left in the first
        assert!(!leases.is_low(0, 6_400));
        assert_eq!(leases.spend(40, || 0), Spent::Low);
        assert!(leases.is_low(0, 6_400));
    }
}
