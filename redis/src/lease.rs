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
/// another word, and reads again. Only whoever asks the centre deposits, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Leases([AtomicU64; 2]);

const TOKENS: u32 = 20;
const MASK: u64 = (1 << TOKENS) - 1;
const TICK: u32 = 6;

/// The most tokens in a lease.
pub(crate) const MOST: u64 = MASK;

/// Tokens of `word` that can be spent at `now` microseconds.
fn valid(word: u64, now: u64) -> u64 {
    if now >> TICK < word >> TOKENS { word & MASK } else { 0 }
}

impl Leases {
    /// Takes `n` tokens from one lease at the instant that `clock` reads; says what that lease has left. Lock-free.
    #[inline]
    pub(crate) fn spend(&self, n: u64, clock: impl Fn() -> u64) -> Option<u64> {
        // PROGRESS: again only if another thread has spent, or a lease has come.
        'again: loop {
            // ORDERING: Relaxed: a word is a lease's whole state, its modification order carries the proof.
            let words = self.0.each_ref().map(|slot| slot.load(Ordering::Relaxed));
            // After the words: the reading that allows a spend is no older than the lease it is from.
            let now = clock();
            let first = usize::from(words[1] >> TOKENS < words[0] >> TOKENS);
            for slot in [first, 1 - first] {
                if valid(words[slot], now) < n {
                    continue;
                }
                let left = words[slot] - n;
                // ORDERING: Relaxed on both outcomes, as above.
                let taken = self.0[slot].compare_exchange(words[slot], left, Ordering::Relaxed, Ordering::Relaxed);
                if taken.is_ok() {
                    return Some(left & MASK);
                }
                continue 'again;
            }
            return None;
        }
    }

    /// Adds a lease in place of the one with the fewest tokens, which are void if there are any.
    pub(crate) fn deposit(&self, tokens: u64, end: u64, now: u64) {
        debug_assert!(tokens <= MOST);
        // ORDERING: Relaxed, as in `spend`; deposits follow each other by the lock of whoever asks.
        let [a, b] = self.0.each_ref().map(|slot| valid(slot.load(Ordering::Relaxed), now));
        // ORDERING: Relaxed, as in `spend`.
        self.0[usize::from(b < a)].store((end >> TICK) << TOKENS | tokens, Ordering::Relaxed);
    }

    /// Tokens that can be spent at `now`.
    pub(crate) fn held(&self, now: u64) -> u64 {
        // ORDERING: Relaxed: a snapshot.
        self.0.iter().map(|slot| valid(slot.load(Ordering::Relaxed), now)).sum()
    }

    /// Whether a lease could come without voiding another.
    pub(crate) fn has_room(&self, now: u64) -> bool {
        // ORDERING: Relaxed: a snapshot; whoever deposits next looks again.
        self.0.iter().any(|slot| valid(slot.load(Ordering::Relaxed), now) == 0)
    }

    /// Whether the lease of `tokens` that ends (or ended) at `end` has all of them left.
    pub(crate) fn is_untouched(&self, tokens: u64, end: u64) -> bool {
        // ORDERING: Relaxed: a snapshot.
        self.0.iter().any(|slot| slot.load(Ordering::Relaxed) == (end >> TICK) << TOKENS | tokens)
    }

    /// Takes all tokens of the lease that ends at `end`.
    pub(crate) fn take_all(&self, end: u64, now: u64) -> u64 {
        let mut taken = 0;
        for slot in &self.0 {
            // ORDERING: Relaxed: see `spend`.
            let word = slot.load(Ordering::Relaxed);
            if word >> TOKENS == end >> TICK {
                // ORDERING: Relaxed, as in `spend`.
                taken += valid(slot.swap(0, Ordering::Relaxed), now);
            }
        }
        taken
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
        assert!(!leases.has_room(6_399) && leases.has_room(6_400));
        assert_eq!(leases.spend(1, || 0), Some(1));
        assert_eq!(leases.spend(3, || 0), Some(2));
        assert_eq!(leases.spend(3, || 0), None);
        assert_eq!(leases.spend(2, || 6_400), Some(0));
        leases.deposit(9, 19_200, 6_400);
        assert_eq!((leases.take_all(19_200, 19_199), leases.held(6_400)), (9, 0));
        leases.deposit(9, 19_200, 6_400);
        assert_eq!(leases.take_all(19_200, 19_200), 0);
    }
}
