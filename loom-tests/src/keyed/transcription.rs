//! [`Table`]: the keyed limiter's protocol in short, over the same words, with rules that can be taken out.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use tollgate::loom_support::keyed::{State, Word};

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
    /// 4: the horizon raised is that of the key that leaves, not of the one that comes.
    pub horizon_of_the_leaver: bool,
    /// 4 and 9: a slot whose word was lowered is kept from others for longer.
    pub lowered_held: bool,
    /// 9: no word is lowered below the mark less that time.
    pub lowered_to_mark: bool,
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
    /// 6: a newcomer is refused by the horizon as it was before the look at the slots, not by a later one.
    pub horizon_before_look: bool,
    /// 7: where a caller that is not the owner is refused, it loads the word once more, as in rule 3.
    pub helper_refusal_rechecked: bool,
    /// 1 and 8: the word of a slot that is left gets larger.
    pub leaving_advances: bool,
    /// 8: a slot that is left loses its tag before it is open again.
    pub leaving_untags: bool,
    /// S1: what is in debt is told by the reading that the snapshot states, not by another one.
    pub one_reading: bool,
    /// S2: the word is loaded once more after the tag.
    pub scanned_twice: bool,
    /// S3: a slot that is claimed or tentative is passed over.
    pub unsettled_passed_over: bool,
    /// S4: the scan acquires the words that it sees.
    pub scan_acquires: bool,
    /// S4: the horizons are saved, too.
    pub horizons_saved: bool,
    /// S4: they are read after the slots, not before.
    pub horizons_last: bool,
    /// S5: a key that was seen twice is restored once, with the later instant.
    pub moved_merged: bool,
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
        horizon_before_look: true,
        helper_refusal_rechecked: true,
        leaving_advances: true,
        leaving_untags: true,
        horizon_of_the_leaver: true,
        lowered_held: true,
        lowered_to_mark: true,
        one_reading: true,
        scanned_twice: true,
        unsettled_passed_over: true,
        scan_acquires: true,
        horizons_saved: true,
        horizons_last: true,
        moved_merged: true,
    };
}

/// The tag of a slot that is nobody's.
const NOBODY: u32 = 0;

/// Slots that are all candidates of every key, in this order; one token per nanosecond.
#[derive(Debug)]
pub struct Table<const SLOTS: usize> {
    words: [AtomicU64; SLOTS],
    tags: [AtomicU32; SLOTS],
    horizons: [AtomicU64; 2],
    mark: AtomicU64,
    burst: u64,
    rules: Rules,
}

impl<const SLOTS: usize> Table<SLOTS> {
    /// A table whose first slots are open for these keys (of 1 and up), each full at its instant.
    pub fn new(burst: u64, rules: Rules, open: &[(u32, u64)]) -> Self {
        let word = |i: usize| open.get(i).map_or(0, |&(_, full_at)| Word::new(full_at, State::Open).0);
        let tag = |i: usize| open.get(i).map_or(NOBODY, |&(key, _)| key);
        let words = core::array::from_fn(|i| AtomicU64::new(word(i)));
        let tags = core::array::from_fn(|i| AtomicU32::new(tag(i)));
        let horizons = core::array::from_fn(|_| AtomicU64::new(0));
        Self { words, tags, horizons, mark: AtomicU64::new(0), burst, rules }
    }

    /// Whether `cost` tokens of `key` were admitted.
    pub fn acquire(&self, key: u32, cost: u64, now: u64) -> bool {
        loop {
            let early = self.horizon(key).load(Ordering::Acquire);
            let known = |early| {
                if self.rules.horizon_before_look { early } else { self.horizon(key).load(Ordering::Acquire) }
            };
            let decision = match (0..SLOTS).find_map(|i| self.find(i, key).map(|word| (i, word))) {
                Some((i, word)) if word.is_bucket() => self.charge(i, word, cost, now),
                Some((i, word)) => self.settle(i, word, key, cost, now, false),
                None => match (0..SLOTS).map(|i| (i, self.seen(i))).find(|&(_, seen)| self.is_free(seen, now)) {
                    Some(_) if self.charged(known(early).max(now), cost, now).is_none() => return false,
                    Some((i, seen)) => self.claim(i, seen, key, cost, now),
                    None => return false, // the table is full
                },
            };
            if let Some(decision) = decision {
                return decision;
            }
        }
    }

    /// Leaves the slot of a key that has recovered.
    pub fn forget(&self, key: u32, now: u64) {
        while let Some((i, word)) = (0..SLOTS).find_map(|i| self.find(i, key).map(|word| (i, word))) {
            if !word.is_bucket() || !self.is_free((word, key), now) {
                return;
            }
            if self.rules.horizon {
                self.horizon(key).fetch_max(word.instant(), Ordering::Release);
            }
            if self.leave(i, word, key) {
                return;
            }
        }
    }

    /// Gives `n` tokens of a key back.
    pub fn refund(&self, key: u32, n: u64) {
        while let Some((i, word)) = (0..SLOTS).find_map(|i| self.find(i, key).map(|word| (i, word))) {
            if !word.is_bucket() {
                return;
            }
            let mark = self.mark.load(Ordering::Relaxed).max(word.instant());
            let lowest = if self.rules.lowered_to_mark { mark.saturating_sub(self.burst) } else { 0 };
            let full_at = word.instant().saturating_sub(n).max(lowest);
            if full_at >= word.instant() || self.lower(i, word, full_at) {
                return;
            }
        }
    }

    /// The table as it may be restored: a scan by the rules S1 to S5 at the reading `now`, and what is made of it.
    #[must_use]
    pub fn saved(&self, now: u64) -> Self {
        let order = if self.rules.scan_acquires { Ordering::Acquire } else { Ordering::Relaxed };
        let horizons = || core::array::from_fn::<u64, 2, _>(|i| self.horizons[i].load(order));
        let early = horizons();
        let now = if self.rules.one_reading { now } else { now + 2 };
        let mut debts: Vec<(u32, u64)> = Vec::new();
        for i in 0..SLOTS {
            let (word, tag) = loop {
                let (word, tag) = (Word(self.words[i].load(order)), self.tags[i].load(order));
                if !self.rules.scanned_twice || self.is_still(i, word) {
                    break (word, tag);
                }
            };
            let passed_over = !word.is_bucket() && self.rules.unsettled_passed_over;
            if tag == NOBODY || passed_over || word.instant() <= now {
                continue;
            }
            match debts.iter_mut().find(|(key, _)| *key == tag) {
                Some((_, full_at)) if self.rules.moved_merged => *full_at = word.instant().max(*full_at),
                _ => debts.push((tag, word.instant())),
            }
        }
        let late = horizons();
        let restored = Self::new(self.burst, self.rules, &debts);
        if self.rules.horizons_saved {
            for (horizon, saved) in restored.horizons.iter().zip(if self.rules.horizons_last { late } else { early }) {
                horizon.store(saved, Ordering::Relaxed);
            }
        }
        restored
    }

    /// When a key is full again, as its next call at `now` would find it.
    pub fn full_at(&self, key: u32, now: u64) -> u64 {
        let known = (0..SLOTS).find_map(|i| self.find(i, key).filter(|word| word.is_bucket()));
        known.map_or_else(|| self.horizon(key).load(Ordering::Acquire).max(now), |word| word.instant().max(now))
    }

    /// How many slots a key has.
    pub fn slots_of(&self, key: u32) -> usize {
        (0..SLOTS).filter(|&i| self.seen(i).1 == key).count()
    }

    /// For how long a slot whose word was lowered is kept from others: as long as any debt.
    fn hold(&self) -> u64 {
        if self.rules.lowered_held { self.burst } else { 0 }
    }

    fn horizon(&self, key: u32) -> &AtomicU64 {
        &self.horizons[key as usize % 2]
    }

    fn word(&self, i: usize) -> Word {
        Word(self.words[i].load(Ordering::Acquire))
    }

    fn seen(&self, i: usize) -> (Word, u32) {
        (self.word(i), self.tags[i].load(Ordering::Acquire))
    }

    fn is_free(&self, (word, tag): (Word, u32), now: u64) -> bool {
        let from = if tag == NOBODY { word.vacant_from() } else { word.free_from(self.hold()) };
        from.is_some_and(|from| from <= now)
    }

    fn step(&self, i: usize, from: Word, to: Word, order: Ordering) -> bool {
        self.words[i].compare_exchange(from.0, to.0, order, Ordering::Relaxed).is_ok()
    }

    fn lower(&self, i: usize, from: Word, to: u64) -> bool {
        self.mark.fetch_max(from.instant(), Ordering::Relaxed);
        self.step(i, from, from.lowered(to), Ordering::Release)
    }

    /// Rule 2; buckets and tentative slots only.
    fn find(&self, i: usize, key: u32) -> Option<Word> {
        if self.tags[i].load(Ordering::Relaxed) != key {
            return None;
        }
        let word = self.word(i);
        if self.rules.second_tag_load && self.tags[i].load(Ordering::Acquire) != key {
            return None;
        }
        (word.is_bucket() || word.is_tentative()).then_some(word)
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
    fn claim(&self, i: usize, (word, tag): (Word, u32), key: u32, cost: u64, now: u64) -> Option<bool> {
        let raise = || {
            let horizon = self.horizon(if self.rules.horizon_of_the_leaver { tag } else { key });
            if self.rules.horizon && tag != NOBODY && horizon.load(Ordering::Relaxed) < word.instant() {
                horizon.fetch_max(word.instant(), Ordering::Release);
            }
        };
        if self.rules.horizon_before_claim {
            raise();
        }
        let tentative = word.claimed(self.hold()).tagged();
        let next = if self.rules.claimed_phase { word.claimed(self.hold()) } else { tentative };
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

    /// Rule 8.
    fn leave(&self, i: usize, word: Word, key: u32) -> bool {
        let claimed = word.claimed(self.hold());
        let mine = self.step(i, word, claimed, Ordering::AcqRel);
        if mine {
            self.tags[i].store(if self.rules.leaving_untags { NOBODY } else { key }, Ordering::Release);
            let vacated = claimed.vacated();
            let stale = Word::new(claimed.instant(), State::Open);
            self.words[i].store(if self.rules.leaving_advances { vacated.0 } else { stale.0 }, Ordering::Release);
        }
        mine
    }

    /// Rules 6 and 7.
    fn settle(&self, mine: usize, word: Word, key: u32, cost: u64, now: u64, owner: bool) -> Option<bool> {
        let early = self.horizon(key).load(Ordering::Relaxed);
        if self.rules.rescan && (owner || self.rules.helper_settles) && !self.rescan(mine, word, key) {
            return None;
        }
        let late = self.horizon(key).load(Ordering::Acquire);
        let start = now.max(if self.rules.horizon_after_rescan { late } else { early });
        match self.charged(start, cost, now) {
            Some(full_at) => self.step(mine, word, word.committed(full_at), Ordering::Relaxed).then_some(true),
            None if owner => self.leave(mine, word, key).then_some(false),
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
                let (other, tag) = self.seen(i);
                if tag != key {
                    break;
                }
                let in_the_way = match other.state() {
                    State::Claimed => false,
                    State::Open | State::Lowered => true,
                    State::Tentative if i < mine => self.rules.give_way,
                    State::Tentative => {
                        if self.rules.abort_higher && !self.leave(i, other, key) {
                            continue;
                        }
                        false
                    }
                };
                if in_the_way {
                    self.leave(mine, word, key);
                    return false;
                }
                break;
            }
        }
        true
    }
}
