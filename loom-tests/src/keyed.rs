//! [`Table`]: the keyed limiter's protocol in short, over the same words, with rules that can be taken out.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use word::{State, Word};

#[allow(dead_code)] // some of its steps are for the real table
#[path = "../../src/keyed/word.rs"]
mod word;

/// The rules of `tollgate::keyed`, by number. All of them together are the protocol.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // a switch for each rule
pub struct Rules {
    /// 2: after the word the tag is loaded once more.
    pub second_tag_load: bool,
    /// 3: a refusal loads the word once more, and counts if it has not changed.
    pub refusal_rechecked: bool,
    /// 4: the horizon is raised when an open slot is claimed or forgotten.
    pub horizon: bool,
    /// 4: the horizon is raised before the claim, not after it.
    pub horizon_before_claim: bool,
    /// 4: a claim acquires and releases.
    pub acquire_release_claim: bool,
    /// 5: the tag is stored while the slot is claimed, not when it is tentative already.
    pub claimed_phase: bool,
    /// 6: the fence between the tentative word and the look at the other slots.
    pub fence: bool,
    /// 6: the look at the other slots.
    pub rescan: bool,
    /// 6: a slot gives way to one that is tentative at a lower number.
    pub give_way: bool,
    /// 6: a slot that is tentative at a higher number is aborted.
    pub abort_higher: bool,
    /// 6: a caller that is not the owner settles as the owner does, and does not open the slot as it is.
    pub helper_settles: bool,
    /// 7: the horizon is loaded after the look at the other slots.
    pub horizon_after_rescan: bool,
    /// 7: where a caller that is not the owner is refused, it loads the word once more, as in rule 3.
    pub helper_refusal_rechecked: bool,
    /// 1 and 8: an aborted slot's word gets larger.
    pub abort_advances: bool,
    /// 1 and 8: a forgotten slot's word gets larger.
    pub forget_advances: bool,
}

impl Rules {
    /// The protocol.
    pub const ALL: Self = Self {
        second_tag_load: true,
        refusal_rechecked: true,
        horizon: true,
        horizon_before_claim: true,
        acquire_release_claim: true,
        claimed_phase: true,
        fence: true,
        rescan: true,
        give_way: true,
        abort_higher: true,
        helper_settles: true,
        horizon_after_rescan: true,
        helper_refusal_rechecked: true,
        abort_advances: true,
        forget_advances: true,
    };
}

/// Slots that are all candidates of every key, in this order; one token per nanosecond.
#[derive(Debug)]
pub struct Table<const SLOTS: usize> {
    words: [AtomicU64; SLOTS],
    tags: [AtomicU32; SLOTS],
    horizon: AtomicU64,
    burst: u64,
    rules: Rules,
}

impl<const SLOTS: usize> Table<SLOTS> {
    /// A table whose first slots are open for these keys (of 1 and up), each full at its instant.
    pub fn new(burst: u64, rules: Rules, open: &[(u32, u64)]) -> Self {
        let word = |i: usize| open.get(i).map_or(0, |&(_, full_at)| Word::new(full_at, State::Open).0);
        let tag = |i: usize| open.get(i).map_or(0, |&(key, _)| key);
        let words = core::array::from_fn(|i| AtomicU64::new(word(i)));
        let tags = core::array::from_fn(|i| AtomicU32::new(tag(i)));
        Self { words, tags, horizon: AtomicU64::new(0), burst, rules }
    }

    /// Whether `cost` tokens of `key` were admitted.
    pub fn acquire(&self, key: u32, cost: u64, now: u64) -> bool {
        loop {
            let decision = match (0..SLOTS).find_map(|i| self.find(i, key).map(|word| (i, word))) {
                Some((i, word)) if word.is_open() => self.charge(i, word, cost, now),
                Some((i, word)) => self.settle(i, word, key, cost, now, false),
                None => match (0..SLOTS).map(|i| (i, self.word(i))).find(|(_, word)| word.is_free(now)) {
                    Some((i, word)) => self.claim(i, word, key, cost, now),
                    None => return false, // the table is full
                },
            };
            if let Some(decision) = decision {
                return decision;
            }
        }
    }

    /// Frees the slot of a key that has recovered.
    pub fn forget(&self, key: u32, now: u64) {
        while let Some((i, word)) = (0..SLOTS).find_map(|i| self.find(i, key).map(|word| (i, word))) {
            if !word.is_open() || !word.is_free(now) {
                return;
            }
            if self.rules.horizon {
                self.horizon.fetch_max(word.instant(), Ordering::Release);
            }
            if self.step(i, word, vacant(word, self.rules.forget_advances), Ordering::Release) {
                return;
            }
        }
    }

    fn word(&self, i: usize) -> Word {
        Word(self.words[i].load(Ordering::Acquire))
    }

    fn step(&self, i: usize, from: Word, to: Word, order: Ordering) -> bool {
        self.words[i].compare_exchange(from.0, to.0, order, Ordering::Relaxed).is_ok()
    }

    /// Rule 2; open and tentative slots only.
    fn find(&self, i: usize, key: u32) -> Option<Word> {
        if self.tags[i].load(Ordering::Relaxed) != key {
            return None;
        }
        let word = self.word(i);
        if self.rules.second_tag_load && self.tags[i].load(Ordering::Acquire) != key {
            return None;
        }
        (word.is_open() || word.is_tentative()).then_some(word)
    }

    /// Rule 3.
    fn charge(&self, i: usize, word: Word, cost: u64, now: u64) -> Option<bool> {
        match self.charged(word.instant(), cost, now) {
            Some(full_at) => self.step(i, word, word.charged(full_at), Ordering::Relaxed).then_some(true),
            None => (!self.rules.refusal_rechecked || self.is_still(i, word)).then_some(false),
        }
    }

    /// Whether the word is what it was.
    fn is_still(&self, i: usize, word: Word) -> bool {
        self.words[i].load(Ordering::Relaxed) == word.0
    }

    fn charged(&self, full_at: u64, cost: u64, now: u64) -> Option<u64> {
        let full_at = full_at.max(now) + cost;
        (full_at <= now + self.burst).then_some(full_at)
    }

    /// Rules 4 and 5.
    fn claim(&self, i: usize, word: Word, key: u32, cost: u64, now: u64) -> Option<bool> {
        let raise = || {
            if self.rules.horizon && word.is_open() && self.horizon.load(Ordering::Relaxed) < word.instant() {
                self.horizon.fetch_max(word.instant(), Ordering::Release);
            }
        };
        if self.rules.horizon_before_claim {
            raise();
        }
        let tentative = word.claimed().tagged();
        let next = if self.rules.claimed_phase { word.claimed() } else { tentative };
        let order = if self.rules.acquire_release_claim { Ordering::AcqRel } else { Ordering::Relaxed };
        if !self.step(i, word, next, order) {
            return None;
        }
        if !self.rules.horizon_before_claim {
            raise();
        }
        self.tags[i].store(key, Ordering::Release);
        if self.rules.claimed_phase {
            self.words[i].store(tentative.0, Ordering::Release);
        }
        self.settle(i, tentative, key, cost, now, true)
    }

    fn abort(&self, i: usize, word: Word) -> bool {
        self.step(i, word, vacant(word, self.rules.abort_advances), Ordering::Relaxed)
    }

    /// Rules 6 and 7.
    fn settle(&self, mine: usize, word: Word, key: u32, cost: u64, now: u64, owner: bool) -> Option<bool> {
        let early = self.horizon.load(Ordering::Relaxed);
        if self.rules.rescan && (owner || self.rules.helper_settles) && !self.rescan(mine, word, key) {
            return None;
        }
        let late = self.horizon.load(Ordering::Acquire);
        let start = now.max(if self.rules.horizon_after_rescan { late } else { early });
        match self.charged(start, cost, now) {
            Some(full_at) => self.step(mine, word, word.committed(full_at), Ordering::Relaxed).then_some(true),
            None if owner => self.abort(mine, word).then_some(false),
            None => (!self.rules.helper_refusal_rechecked || self.is_still(mine, word)).then_some(false),
        }
    }

    /// Rule 6: whether no other slot is in the way.
    fn rescan(&self, mine: usize, word: Word, key: u32) -> bool {
        if self.rules.fence {
            fence(Ordering::SeqCst);
        }
        for i in (0..SLOTS).filter(|&i| i != mine) {
            loop {
                let other = self.word(i);
                if self.tags[i].load(Ordering::Acquire) != key {
                    break;
                }
                let in_the_way = match other.state() {
                    State::Vacant | State::Claimed => false,
                    State::Open => true,
                    State::Tentative if i < mine => self.rules.give_way,
                    State::Tentative => {
                        if self.rules.abort_higher && !self.abort(i, other) {
                            continue;
                        }
                        false
                    }
                };
                if in_the_way {
                    self.abort(mine, word);
                    return false;
                }
                break;
            }
        }
        true
    }
}

/// Rule 8: the word of a slot that is left, which gets larger if it `advances`.
fn vacant(word: Word, advances: bool) -> Word {
    if advances { word.vacated() } else { Word::new(word.instant(), State::Vacant) }
}
