//! [`Transcription`]: the protocol over the harness's atomics, with [`Rules`] to leave out.

use super::{Admission, Call, Limiter, Sum, Truth, World, real, slower};
use crate::sync::{AtomicU64, Ordering, fence};
use tollgate::algorithm::{Algorithm, Gcra};
use tollgate::loom_support::lease::{Quiet, Word};
use tollgate::{Nanos, Quota};

/// The rules, by number. All of them together are the protocol.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // a switch for each rule
pub struct Rules {
    /// 1: whoever took a credit that was not there leaves it at that.
    pub no_undo: bool,
    /// 2: a batch is sized by a reading taken after the bit was set, not by the one that the look at V used.
    pub clock_after_bit: bool,
    /// 2: each batch has a reading of its own.
    pub fresh_reading: bool,
    /// 2: credits are seen once, with the bit.
    pub credits_seen_once: bool,
    /// 2: a batch is smaller by the credits that are there.
    pub room_only: bool,
    /// 2: a deposit counts a negative number as none.
    pub negative_is_none: bool,
    /// 3: there is a bit.
    pub bit: bool,
    /// Not a rule: a deposit is cut down to the room that there is.
    pub capped_deposit: bool,
    /// 4: credits come from one slot or not at all.
    pub whole: bool,
    /// 4: what becomes of a draw.
    pub cancel: Cancel,
    /// 5: a deposit is counted after it was made.
    pub counted_after: bool,
    /// 5: a scan acquires the count of deposits.
    pub acquired: bool,
    /// 6: the central word's burst is less than the whole.
    pub reserve: bool,
    /// 7: a handle gives back what is left no later than its slot.
    pub given_back_first: bool,
    /// 8: what there is to tell is told after it was done.
    pub told_after: bool,
    /// 8: a deposit is told.
    pub deposit_told: bool,
    /// 8: the news are counted before the look, not after it.
    pub news_first: bool,
    /// 8: a look acquires the news.
    pub news_acquired: bool,
    /// 8: any news end the quiet.
    pub news_heeded: bool,
    /// 8: the quiet ends when a token is due.
    pub ends: bool,
    /// 9: whoever adds up what there is looks at the slots first.
    pub slots_first: bool,
    /// 9: it acquires what it has seen of them.
    pub slots_acquired: bool,
    /// 9: a deposit releases.
    pub deposit_released: bool,
    /// A call on a reading takes nothing but tokens from V.
    pub readings_from_central: bool,
}

/// What may become of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancel {
    /// It is spent and put away.
    Never,
    /// It is put back to V.
    ToCentral,
    /// What was to be spent of it is put into the slot.
    ToSlot,
}

impl Rules {
    /// The protocol.
    pub const ALL: Self = Self {
        no_undo: true,
        clock_after_bit: true,
        fresh_reading: true,
        credits_seen_once: true,
        room_only: true,
        negative_is_none: true,
        bit: true,
        capped_deposit: false,
        whole: true,
        cancel: Cancel::Never,
        counted_after: true,
        acquired: true,
        reserve: true,
        given_back_first: true,
        told_after: true,
        deposit_told: true,
        news_first: true,
        news_acquired: true,
        news_heeded: true,
        ends: true,
        slots_first: true,
        slots_acquired: true,
        deposit_released: true,
        readings_from_central: true,
    };
}

/// The protocol in short.
#[derive(Debug)]
pub struct Transcription {
    world: World,
    rules: Rules,
    gcra: Gcra,
    consumed: AtomicU64,
    deposits: AtomicU64,
    dry: AtomicU64,
    news: AtomicU64,
    slots: Vec<AtomicU64>,
    quiet: Vec<AtomicU64>,
    clock: AtomicU64,
    truth: Truth,
}

/// A thread: its slot, how far its clock is behind, a reading to be reused, credits of its own if it is a handle, and
/// what it was admitted.
#[derive(Debug)]
struct Caller {
    slot: usize,
    behind: u64,
    first: Option<Nanos>,
    held: Option<u64>,
    admitted: Vec<Admission>,
}

impl Caller {
    fn new(slot: usize) -> Self {
        Self { slot, behind: 0, first: None, held: None, admitted: Vec::new() }
    }

    fn admit(&mut self, from: Nanos, to: Nanos, cost: u64) -> bool {
        // Loom stops at accesses only: the instant after an access is the instant of the access.
        let from = if cfg!(loom) { to } else { from };
        self.admitted.push(Admission { from, to, cost });
        true
    }

    /// Notes an admission on a reading, which was taken a little later than it says.
    fn admit_at(&mut self, reading: Nanos, cost: u64) -> bool {
        let at = Nanos(reading.0 + self.behind);
        self.admit(at, at, cost)
    }
}

impl Transcription {
    /// A full bucket in `world`.
    pub fn new(world: World, rules: Rules) -> Self {
        let whole = world.quota(0);
        let central = if rules.reserve { whole.with_burst(world.central) } else { whole };
        Self {
            world,
            rules,
            gcra: Gcra::new(slower(central)),
            consumed: AtomicU64::new(0),
            deposits: AtomicU64::new(0),
            dry: AtomicU64::new(u64::MAX),
            news: AtomicU64::new(0),
            quiet: (0..world.shards + world.handles).map(|_| AtomicU64::new(0)).collect(),
            slots: (0..world.shards + world.handles).map(|_| AtomicU64::new(Word::EMPTY.0)).collect(),
            clock: AtomicU64::new(0),
            truth: Truth::default(),
        }
    }

    /// A reading that is as old as the thread's clock is behind: a load might be older.
    fn now(&self, me: &Caller) -> Nanos {
        Nanos(self.clock.fetch_add(0, Ordering::Relaxed).saturating_sub(me.behind))
    }

    /// The loop of a CAS: the word before, or `None` if `step` gave up.
    fn update(word: &AtomicU64, mut step: impl FnMut(u64) -> Option<u64>) -> Option<u64> {
        let mut before = word.load(Ordering::Relaxed);
        loop {
            let next = step(before)?;
            match word.compare_exchange(before, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(before),
                Err(won) => before = won,
            }
        }
    }

    fn change(&self, slot: usize, mut step: impl FnMut(Word) -> Option<Word>) -> Option<Word> {
        Self::update(&self.slots[slot], |word| Some(step(Word(word))?.0)).map(Word)
    }

    /// Rule 2c: the tokens drawn, at least `n`, at most `most`.
    fn draw(&self, n: u64, most: u64, now: Nanos) -> Option<u64> {
        let mut drawn = 0;
        Self::update(&self.consumed, |word| {
            drawn = self.gcra.available(word, real(now)).min(most).max(n);
            self.gcra.acquire(word, drawn, real(now)).ok()
        })?;
        Some(drawn)
    }

    /// Rules 1 and 4: takes `n` credits out of one slot.
    fn take(&self, me: &mut Caller, slot: usize, n: u64) -> bool {
        let from = self.truth.now();
        let word = &self.slots[slot];
        let taken = if n != 1 {
            self.change(slot, |word| word.take(n)).is_some()
        } else if Word(word.load(Ordering::Relaxed)).credits() == 0 {
            false
        } else if Word(word.fetch_sub(Word::ONE, Ordering::Relaxed)).credits() > 0 {
            true
        } else {
            if !self.rules.no_undo {
                word.fetch_add(Word::ONE, Ordering::Relaxed);
            }
            false
        };
        taken && me.admit(from, self.truth.now(), n)
    }

    /// Rules 2 and 3, after the look at V.
    fn refill(&self, me: &mut Caller, n: u64, now: Nanos) -> bool {
        let (slot, q, rules) = (me.slot, self.world.batch, self.rules);
        let begun = if rules.bit {
            self.change(slot, Word::begin)
        } else {
            Some(Word(self.slots[slot].load(Ordering::Relaxed)))
        };
        let Some(begun) = begun else { return self.draw_exactly(me, n, now) };
        let now = match me.first {
            Some(first) if !rules.fresh_reading => first,
            _ if !rules.clock_after_bit => now,
            _ => self.now(me),
        };
        me.first = Some(now);
        let mut credits = begun.credits();
        if !rules.credits_seen_once {
            credits = Word(self.slots[slot].load(Ordering::Relaxed)).credits();
        }
        let drawn = self.draw(n, if rules.room_only { n + q.saturating_sub(credits) } else { n + q }, now);
        match drawn {
            Some(drawn) if rules.cancel == Cancel::Never => {
                self.put_away(slot, drawn - n);
                me.admit_at(now, n)
            }
            Some(drawn) if rules.cancel == Cancel::ToSlot => {
                self.change(slot, |word| Some(Word(word.0 + n * Word::ONE)));
                self.put_away(slot, drawn - n);
                false
            }
            Some(drawn) => {
                let cost = self.gcra.acquire(0, drawn, Nanos::ZERO).expect("it was drawn");
                self.consumed.fetch_sub(cost, Ordering::Relaxed);
                self.put_away(slot, 0);
                false
            }
            None => {
                self.put_away(slot, 0);
                false
            }
        }
    }

    /// Rules 2d and 5: the end of a refill.
    fn put_away(&self, slot: usize, deposit: u64) {
        if deposit > 0 && !self.rules.counted_after {
            self.deposits.fetch_add(1, Ordering::Release);
        }
        if self.rules.deposit_released {
            fence(Ordering::Release);
        }
        self.change(slot, |word| {
            let room = self.world.batch.saturating_sub(word.credits());
            let deposit = if self.rules.capped_deposit { deposit.min(room) } else { deposit };
            let paid_back = Word((word.0 & !1).wrapping_add(deposit * Word::ONE));
            Some(if self.rules.negative_is_none { word.finish(deposit) } else { paid_back })
        });
        if deposit > 0 && self.rules.counted_after {
            self.deposits.fetch_add(1, Ordering::Release);
        }
        if deposit > 0 && self.rules.deposit_told {
            self.news.fetch_add(1, Ordering::Release);
        }
    }

    /// Rule 3: tokens that nobody has to reserve room for.
    fn draw_exactly(&self, me: &mut Caller, n: u64, now: Nanos) -> bool {
        self.draw(n, n, now).is_some() && me.admit_at(now, n)
    }

    /// Rules 4 and 5: V is short.
    fn steal(&self, me: &mut Caller, n: u64) -> bool {
        let order = if self.rules.acquired { Ordering::Acquire } else { Ordering::Relaxed };
        let deposits = self.deposits.load(order);
        if self.dry.load(Ordering::Relaxed) == deposits {
            return false;
        }
        let mut dry = true;
        for slot in 0..self.slots.len() {
            let credits = Word(self.slots[slot].load(Ordering::Relaxed)).credits();
            if credits >= n && self.take(me, slot, n) {
                return true;
            }
            dry &= credits == 0;
        }
        if dry {
            self.dry.store(deposits, Ordering::Relaxed);
        }
        !self.rules.whole && self.gather(me, n)
    }

    /// What rule 4 forbids.
    fn gather(&self, me: &mut Caller, n: u64) -> bool {
        let mut pieces = Vec::new();
        let mut missing = n;
        for slot in 0..self.slots.len() {
            let mut piece = 0;
            self.change(slot, |word| {
                piece = word.credits().min(missing);
                word.take(piece)
            });
            pieces.push(piece);
            missing -= piece;
        }
        if missing == 0 {
            let now = self.truth.now();
            return me.admit(now, now, n);
        }
        for (slot, piece) in pieces.into_iter().enumerate().filter(|&(_, piece)| piece > 0) {
            self.slots[slot].fetch_add(piece * Word::ONE, Ordering::Relaxed);
        }
        false
    }

    /// Rule 7: a handle's call.
    fn acquire_as_handle(&self, me: &mut Caller, n: u64, held: u64) -> bool {
        if n <= held {
            me.held = Some(held - n);
            let now = self.truth.now();
            return me.admit(now, now, n);
        }
        let reused = me.first.filter(|_| !self.rules.fresh_reading);
        let now = reused.unwrap_or_else(|| self.now(me));
        me.first = Some(now);
        match self.draw(n, n + self.world.batch - held, now) {
            Some(drawn) => {
                me.held = Some(held + drawn - n);
                me.admit_at(now, n)
            }
            None => self.steal(me, n),
        }
    }

    fn acquire(&self, me: &mut Caller, n: u64) -> bool {
        if let Some(held) = me.held {
            return self.acquire_as_handle(me, n, held);
        }
        if self.take(me, me.slot, n) {
            return true;
        }
        let mut news = self.news();
        let now = self.now(me);
        if n == 1 && self.is_quiet(me.slot, now, news) {
            return false;
        }
        let consumed = self.consumed.load(Ordering::Relaxed);
        let Err(denied) = self.gcra.acquire(consumed, n, real(now)) else {
            return self.refill(me, n, now) || self.steal(me, n);
        };
        if self.steal(me, n) {
            return true;
        }
        if !self.rules.news_first {
            news = self.news();
        }
        if n == 1 && self.dry.load(Ordering::Relaxed) == self.deposits.load(Ordering::Relaxed) {
            let until = real(now).0 + u64::try_from(denied.retry_after().expect("some time").as_nanos()).expect("soon");
            self.quiet[me.slot].store(Quiet::new(Nanos(until), news).0, Ordering::Relaxed);
        }
        false
    }

    /// Rule 8.
    fn news(&self) -> u64 {
        self.news.load(if self.rules.news_acquired { Ordering::Acquire } else { Ordering::Relaxed })
    }

    /// Rule 8. In a model every pause is a short one; without its end it lasts as long as there are no news.
    fn is_quiet(&self, slot: usize, now: Nanos, news: u64) -> bool {
        let quiet = Quiet(self.quiet[slot].load(Ordering::Relaxed));
        let seen = quiet.0 & 0xffff;
        let news = if self.rules.news_heeded { news } else { seen };
        if self.rules.ends { quiet.lasts(real(now), news, 10_000) } else { quiet.0 != 0 && seen == news }
    }

    /// Rule 9.
    fn credits(&self) -> u64 {
        let credits = self.slots.iter().map(|slot| Word(slot.load(Ordering::Relaxed)).credits()).sum();
        if self.rules.slots_acquired {
            fence(Ordering::Acquire);
        }
        credits
    }

    fn left(&self, now: Nanos) -> u64 {
        self.gcra.available(self.consumed.load(Ordering::Relaxed), real(now))
    }

    /// Rule 9.
    fn sum(&self, now: Nanos) -> u64 {
        if self.rules.slots_first {
            let credits = self.credits();
            return credits + self.left(now);
        }
        let left = self.left(now);
        self.credits() + left
    }

    /// A draw of exactly `n` from V, or a theft, and the sum that it has left.
    fn acquire_told(&self, me: &mut Caller, n: u64) -> [u64; 2] {
        let now = self.now(me);
        let before = if self.rules.slots_first { self.credits() } else { 0 };
        let drawn = Self::update(&self.consumed, |word| self.gcra.acquire(word, n, real(now)).ok());
        match drawn {
            Some(word) => {
                let word = self.gcra.acquire(word, n, real(now)).expect("it was drawn");
                let credits = if self.rules.slots_first { before } else { self.credits() };
                [n, self.gcra.available(word, real(now)) + credits]
            }
            None => [if self.steal(me, n) { n } else { 0 }, self.sum(now)],
        }
    }

    fn refund(&self, me: &Caller) {
        let now = self.now(me);
        if !self.rules.told_after {
            self.news.fetch_add(1, Ordering::Release);
        }
        Self::update(&self.consumed, |word| Some(self.gcra.refund(word, 1, real(now))));
        if self.rules.told_after {
            self.news.fetch_add(1, Ordering::Release);
        }
    }

    fn acquire_at(&self, me: &mut Caller, n: u64) -> bool {
        let now = self.now(me);
        if !self.rules.readings_from_central && self.change(me.slot, |word| word.take(n)).is_some() {
            return me.admit_at(now, n);
        }
        self.draw_exactly(me, n, now)
    }

    /// Whatever there is, from wherever it is: each piece is spent at once.
    fn up_to(&self, me: &mut Caller, n: u64) {
        if self.acquire(me, n) {
            return;
        }
        let now = self.now(me);
        let mut missing = n;
        if let Some(drawn) = self.draw(0, n, now) {
            me.admit_at(now, drawn);
            missing -= drawn;
        }
        for slot in 0..self.slots.len() {
            let from = self.truth.now();
            let mut piece = 0;
            self.change(slot, |word| {
                piece = word.credits().min(missing);
                word.take(piece)
            });
            me.admit(from, self.truth.now(), piece);
            missing -= piece;
        }
    }

    fn claim(&self, me: &mut Caller) {
        let mut slots = self.world.shards..self.slots.len();
        me.held = slots.find_map(|slot| {
            me.slot = slot;
            Some(self.change(slot, Word::claim)?.credits())
        });
    }

    fn release(&self, me: &mut Caller) {
        let Some(held) = me.held.take() else { return };
        if self.rules.given_back_first {
            self.put_away(me.slot, held);
        } else {
            self.put_away(me.slot, 0);
            self.slots[me.slot].fetch_add(held * Word::ONE, Ordering::Relaxed);
            self.deposits.fetch_add(1, Ordering::Release);
        }
    }
}

impl Limiter for Transcription {
    fn perform(&self, shard: usize, calls: &[Call]) -> Vec<Admission> {
        let mut me = Caller::new(shard);
        for &call in calls {
            match call {
                Call::Acquire(n) => drop(self.acquire(&mut me, n)),
                Call::AcquireAt(n) => drop(self.acquire_at(&mut me, n)),
                Call::UpTo(n) => self.up_to(&mut me, n),
                Call::Refund => self.refund(&me),
                Call::Claim => self.claim(&mut me),
                Call::Release => self.release(&mut me),
                Call::Tick(by) => {
                    self.clock.fetch_add(by, Ordering::Relaxed);
                    self.truth.tick(by);
                }
                Call::FallBehind => me.behind = self.world.skew,
            }
        }
        self.release(&mut me);
        me.admitted
    }

    fn available(&self) -> u64 {
        self.sum(Nanos(self.clock.load(Ordering::Relaxed)))
    }

    fn told(&self, shard: usize, sum: Sum) -> [u64; 2] {
        let mut me = Caller::new(shard);
        match sum {
            Sum::Available | Sum::Snapshot => [0, self.sum(self.now(&me))],
            Sum::Status(n) => self.acquire_told(&mut me, n),
        }
    }

    fn bound(&self) -> Quota {
        self.world.bound(0)
    }
}
