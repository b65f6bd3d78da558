//! The sharded protocol, one access at a time, over [`Memory`].
//!
//! Rules are those of `src/sharded/mod.rs`. A CAS loop is one access: it either succeeds on the last value of the word, or
//! gives up on a value that a load may return.

use crate::memory::Memory;
use crate::world::{At, Broken, Call, DEPOSITS, DRY, NEWS, QUIET, SLOTS, Scenario, State, Thread, V, instant};
use tollgate::algorithm::{Algorithm, Gcra};
use tollgate::loom_support::lease::Word;

/// One thread's next access.
pub(crate) struct Step<'a> {
    pub(crate) world: &'a Scenario<'a>,
    pub(crate) state: &'a State,
    pub(crate) id: usize,
    pub(crate) call: Call,
    /// Every state that may come of it.
    pub(crate) next: Vec<State>,
}

impl Step<'_> {
    /// Goes on with the call.
    fn go(&mut self, memory: Memory, at: At, change: impl FnOnce(&mut Thread)) {
        let mut state = State { memory, ..self.state.clone() };
        state.threads[self.id].at = at;
        change(&mut state.threads[self.id]);
        self.next.push(state);
    }

    /// Ends the call, with `n` tokens admitted as of `instant`.
    fn end(&mut self, memory: Memory, n: u64, instant: u64, change: impl FnOnce(&mut Thread)) {
        self.go(memory, At::Start, |me| {
            change(me);
            let Thread { call, first, handle, held, .. } = *me;
            *me = Thread { call: call + 1, first, handle, held, ..Thread::default() };
        });
        self.admit(n, instant);
    }

    /// Notes an admission in the state pushed last.
    fn admit(&mut self, n: u64, instant: u64) {
        let state = self.next.last_mut().expect("a state pushed before");
        state.spent += n;
        state.admitted[usize::try_from(instant).unwrap()] += i64::try_from(n).unwrap();
    }

    fn denied(&mut self, memory: Memory) {
        self.end(memory, 0, 0, |_| {});
    }

    fn broken(&self, rule: Broken) -> bool {
        self.world.broken == rule
    }

    /// Every value that a load of `word` may return, with the memory after it.
    fn loads(&self, word: usize) -> Vec<(u64, Memory)> {
        self.state.memory.loads(self.id, word, false).collect()
    }

    /// The memory after a read-modify-write that left `value` in `word`.
    fn updated(&self, word: usize, value: u64) -> Memory {
        let mut memory = self.state.memory.clone();
        memory.update(self.id, word, value, word == DEPOSITS || word == NEWS);
        memory
    }

    fn last(&self, word: usize) -> Word {
        Word(self.state.memory.last(word))
    }

    pub(crate) fn take(&mut self, me: &Thread) {
        let own = SLOTS + if me.handle { self.world.slots - 1 } else { self.world.threads[self.id].0 };
        let memory = self.state.memory.clone();
        let now = self.state.now;
        match (self.call, me.at) {
            (Call::Acquire(n), At::Start) if me.handle && n <= me.held => {
                self.end(memory, n, now, |me| me.held -= n);
            }
            (Call::Acquire(_), At::Start) if me.handle => {
                let reading = me.first.filter(|_| self.broken(Broken::HandleReadingReused)).unwrap_or(now);
                self.go(memory, At::Draw, |me| (me.reading, me.first, me.seen) = (reading, Some(reading), me.held));
            }
            (Call::Acquire(n) | Call::Spend(n), At::Start) => self.look_at_own(n, own),
            (Call::Acquire(n) | Call::Spend(n), At::TakeOwn) => self.take_from(n, own, now, self.elsewhere()),
            (Call::Spend(_), _) => self.denied(memory),
            (Call::Acquire(_), At::Undo(word)) => {
                let memory = self.updated(word, self.last(word).0.wrapping_add(Word::ONE));
                self.go(memory, if word == own { self.elsewhere() } else { At::Scan(word + 1) }, |me| me.dry = false);
            }
            (_, At::News | At::NewsLate | At::Quiet | At::Hush | At::Tell) => self.keep_quiet(own, me),
            (Call::Acquire(n), At::Look) => {
                let at = if n == 1 && self.world.settling.is_some() { At::Quiet } else { At::Central };
                self.go(memory, at, |me| me.reading = now);
            }
            (Call::Acquire(n), At::Central) => {
                for (value, memory) in self.loads(V) {
                    let enough = self.available(value, me.reading) >= n;
                    let due = self.due(value, me.reading);
                    self.go(memory, if enough { At::Begin } else { At::Dry }, |me| me.due = due);
                }
            }
            (Call::Acquire(_), At::Begin) => self.begin(own),
            (Call::Acquire(_), At::Clock) => {
                let reading = match self.world.broken {
                    Broken::ClockBeforeBit => me.reading,
                    Broken::ReadingReused => me.first.unwrap_or(now),
                    _ => now,
                };
                let at = if self.broken(Broken::CreditsReloaded) { At::Reload } else { At::Draw };
                self.go(memory, at, |me| (me.reading, me.first) = (reading, Some(reading)));
            }
            (Call::Acquire(_), At::Reload) => {
                for (value, memory) in self.loads(own) {
                    self.go(memory, At::Draw, |me| me.seen = Word(value).credits());
                }
            }
            (Call::Acquire(n), At::Draw) => self.draw(n, me),
            (Call::Acquire(n), At::Cancel) => self.cancel(n, me),
            (Call::Acquire(_), At::Finish) => self.finish(own, me),
            (Call::Acquire(_) | Call::Drop, At::Count) => {
                let memory = self.updated(DEPOSITS, self.state.memory.last(DEPOSITS) + 1);
                if self.broken(Broken::CountedFirst) {
                    self.go(memory, At::Finish, |_| {});
                } else if self.tells() {
                    self.go(memory, At::Tell, |_| {});
                } else {
                    self.denied(memory); // what was admitted has been noted
                }
            }
            (Call::Acquire(n) | Call::AcquireAt(n), At::Exact) => self.draw_exactly(n, me),
            (Call::Acquire(n), _) => self.look_elsewhere(n, me),
            (Call::AcquireAt(n), At::TakeOwn) => self.take_from(n, own, me.reading, At::Exact),
            (Call::AcquireAt(_), _) => {
                let at = if self.broken(Broken::CreditsAsOf) { At::TakeOwn } else { At::Exact };
                self.go(memory, at, |me| me.reading = now);
            }
            (Call::Refund, At::Start) => {
                let at = if self.broken(Broken::ToldFirst) { At::Tell } else { At::Central };
                self.go(memory, at, |me| me.reading = now);
            }
            (Call::Refund, _) => {
                let value = self.gcra().refund(memory.last(V), 1, instant(me.reading));
                let memory = self.updated(V, value);
                if self.world.settling.is_some() && !self.broken(Broken::ToldFirst) {
                    self.go(memory, At::Tell, |_| {});
                } else {
                    self.denied(memory);
                }
                self.next.last_mut().unwrap().admitted[usize::try_from(now).unwrap()] -= 1;
            }
            (Call::Claim, _) => match self.last(SLOTS + self.world.slots - 1) {
                word if word.is_refilling() => self.denied(memory),
                word => {
                    let memory = self.updated(SLOTS + self.world.slots - 1, word.claim().unwrap().0);
                    self.end(memory, 0, 0, |me| (me.handle, me.held) = (true, word.credits()));
                }
            },
            (Call::Drop, _) => self.drop_handle(own, me),
        }
    }

    /// Where a call goes on whose slot is short.
    fn elsewhere(&self) -> At {
        if self.world.settling.is_some() { At::News } else { At::Look }
    }

    /// Whether a deposit is told (rule 8).
    fn tells(&self) -> bool {
        let told = self.world.settling == Some(0) && !self.broken(Broken::DepositNotTold);
        told || matches!(self.call, Call::Drop) && self.world.settling.is_some()
    }

    /// Rule 8: a slot that need not look, one that need not look from now on, and news for those.
    fn keep_quiet(&mut self, own: usize, me: &Thread) {
        let word = own - SLOTS + QUIET;
        match me.at {
            At::Quiet => {
                for (value, memory) in self.loads(word) {
                    if self.world.is_quiet(value, me.reading, me.news) {
                        self.denied(memory);
                    } else {
                        self.go(memory, At::Central, |_| {});
                    }
                }
            }
            At::Hush => {
                let mut memory = self.state.memory.clone();
                let until = me.due.max(me.reading + self.world.settling.unwrap_or(0));
                memory.store(self.id, word, Scenario::hushed(until, me.news));
                self.denied(memory);
            }
            At::Tell => {
                let memory = self.updated(NEWS, self.state.memory.last(NEWS) + 1);
                if matches!(self.call, Call::Refund) && self.broken(Broken::ToldFirst) {
                    self.go(memory, At::Central, |_| {});
                } else {
                    self.denied(memory); // what was admitted has been noted
                }
            }
            _ => self.count_news(me),
        }
    }

    /// Rule 8: the news, before the clock is read.
    fn count_news(&mut self, me: &Thread) {
        let acquire = !self.broken(Broken::NewsNotAcquired);
        let at = if me.at == At::News { At::Look } else { At::Hush };
        for (news, memory) in self.state.memory.loads(self.id, NEWS, acquire).collect::<Vec<_>>() {
            self.go(memory, at, |me| me.news = news);
        }
    }

    /// Ends a call that found nothing anywhere; before that, hushes its slot (rule 8) if it looked at V for one token and
    /// did not lose a race.
    fn deny(&mut self, memory: Memory, n: u64) {
        let me = &self.state.threads[self.id];
        if n != 1 || me.handle || me.due <= me.reading || self.world.settling.is_none() {
            self.denied(memory);
        } else {
            let at = if self.broken(Broken::NewsAfterLook) { At::NewsLate } else { At::Hush };
            self.go(memory, at, |_| {});
        }
    }

    /// The first tick, from `reading` on, at which V has a token.
    fn due(&self, value: u64, reading: u64) -> u64 {
        (reading..reading + 9).find(|&tick| self.available(value, tick) > 0).expect("a tick")
    }

    /// The central word's algorithm, as this access sees it.
    fn gcra(&self) -> Gcra {
        let mut slots = SLOTS..SLOTS + self.world.slots;
        let empty = slots.all(|slot| self.last(slot).credits() == 0 && !self.last(slot).is_refilling());
        if empty && self.broken(Broken::WholeBurstWhenEmpty) { self.world.whole() } else { self.world.gcra() }
    }

    fn available(&self, value: u64, reading: u64) -> u64 {
        self.gcra().available(value, instant(reading))
    }

    /// Rule 1, first half: a load of the own slot.
    fn look_at_own(&mut self, n: u64, own: usize) {
        for (value, memory) in self.loads(own) {
            let enough = Word(value).credits() >= n;
            let at = if enough { At::TakeOwn } else { self.elsewhere() };
            self.go(memory, at, |_| {});
        }
    }

    /// Rules 1 and 4: takes `n` credits from a slot in which they were seen, as of `instant`; or goes on to `otherwise`.
    fn take_from(&mut self, n: u64, word: usize, instant: u64, otherwise: At) {
        let last = self.last(word);
        let taken = Word(last.0.wrapping_sub(n * Word::ONE));
        if last.credits() >= n {
            self.end(self.updated(word, taken.0), n, instant, |_| {});
        } else if n == 1 {
            let at = if self.broken(Broken::Undo) { At::Undo(word) } else { otherwise };
            self.go(self.updated(word, taken.0), at, |me| me.dry = false);
        } else {
            self.go(self.state.memory.clone(), otherwise, |me| me.dry = false);
        }
    }

    /// Rule 2a, or 3 if somebody else is refilling.
    fn begin(&mut self, own: usize) {
        if matches!(self.world.broken, Broken::NoBit | Broken::NoBitButCap) {
            for (value, memory) in self.loads(own) {
                self.go(memory, At::Clock, |me| me.seen = Word(value).credits());
            }
            return;
        }
        for (value, memory) in self.loads(own) {
            if Word(value).is_refilling() {
                self.go(memory, At::Exact, |_| {});
            }
        }
        let last = self.last(own);
        if let Some(begun) = last.begin() {
            self.go(self.updated(own, begun.0), At::Clock, |me| me.seen = last.credits());
        }
    }

    /// Rule 2c.
    fn draw(&mut self, n: u64, me: &Thread) {
        let q = self.world.batch;
        let most = if self.broken(Broken::NoCap) { n + q } else { (n + q).wrapping_sub(me.seen) };
        let (last, now) = (self.state.memory.last(V), instant(me.reading));
        let drawn = self.available(last, me.reading).min(most);
        if drawn >= n {
            let memory = self.updated(V, self.gcra().acquire(last, drawn, now).unwrap());
            if matches!(self.world.broken, Broken::CancelledToCentral | Broken::CancelledToSlot) {
                self.go(memory.clone(), At::Cancel, |me| me.hand = drawn);
                self.next.last_mut().unwrap().drawn += drawn;
            }
            if me.handle {
                self.end(memory, n, me.reading, |me| me.held += drawn - n);
            } else {
                let at = if self.broken(Broken::CountedFirst) { At::Count } else { At::Finish };
                self.go(memory, at, |me| me.hand = drawn - n);
                self.admit(n, me.reading);
            }
            self.next.last_mut().unwrap().drawn += drawn;
        }
        for (value, memory) in self.loads(V) {
            if self.available(value, me.reading) < n {
                let at = if me.handle { At::Dry } else { At::Finish };
                self.go(memory, at, |me| me.short = true);
            }
        }
    }

    /// Puts a whole draw back to V, or its `n` to the slot although they were not reserved there.
    fn cancel(&mut self, n: u64, me: &Thread) {
        let own = SLOTS + self.world.threads[self.id].0;
        if self.broken(Broken::CancelledToSlot) {
            let memory = self.updated(own, self.last(own).0 + n * Word::ONE);
            self.go(memory, At::Finish, |me| me.hand -= n);
        } else {
            let value = self.state.memory.last(V) - me.hand * self.world.unit();
            self.go(self.updated(V, value), At::Finish, |me| me.hand = 0);
            self.next.last_mut().unwrap().drawn -= me.hand;
        }
    }

    /// Rule 2d.
    fn finish(&mut self, own: usize, me: &Thread) {
        let word = self.last(own);
        let (memory, lost) = match self.world.broken {
            Broken::NoBitButCap => {
                let room = me.hand.min(self.world.batch.saturating_sub(word.credits()));
                (self.updated(own, word.finish(room).0), me.hand - room)
            }
            Broken::PaidBack => (self.updated(own, (word.0 & !1).wrapping_add(me.hand * Word::ONE)), 0),
            _ => (self.updated(own, word.finish(me.hand).0), 0),
        };
        if me.short {
            self.go(memory, At::Dry, |_| {});
        } else if me.hand > 0 && !self.broken(Broken::CountedFirst) {
            self.go(memory, At::Count, |_| {});
        } else {
            self.denied(memory); // what was admitted has been noted
        }
        self.next.last_mut().unwrap().drawn -= lost; // thrown away: no fault of over-admission
    }

    /// Rule 3, and calls on a reading.
    fn draw_exactly(&mut self, n: u64, me: &Thread) {
        let last = self.state.memory.last(V);
        if let Ok(value) = self.gcra().acquire(last, n, instant(me.reading)) {
            self.end(self.updated(V, value), n, me.reading, |_| {});
            self.next.last_mut().unwrap().drawn += n;
        }
        for (value, memory) in self.loads(V) {
            if self.available(value, me.reading) < n {
                match self.call {
                    Call::AcquireAt(_) => self.denied(memory),
                    _ => self.go(memory, At::Dry, |_| {}),
                }
            }
        }
    }

    /// Rules 4 and 5: V is short.
    fn look_elsewhere(&mut self, n: u64, me: &Thread) {
        match me.at {
            At::Dry => {
                let acquire = !self.broken(Broken::NotAcquired);
                for (value, memory) in self.state.memory.loads(self.id, DEPOSITS, acquire).collect::<Vec<_>>() {
                    self.go(memory, At::DryNow, |me| (me.began, me.dry) = (value, true));
                }
            }
            At::DryNow => {
                for (value, memory) in self.loads(DRY) {
                    if value == me.began { self.deny(memory, n) } else { self.go(memory, At::Scan(SLOTS), |_| {}) }
                }
            }
            At::Scan(word) if word < SLOTS + self.world.slots => {
                for (value, memory) in self.loads(word) {
                    let slot = Word(value);
                    let at = if slot.credits() >= n { At::TakeFrom(word) } else { At::Scan(word + 1) };
                    let dry = slot.credits() == 0;
                    self.go(memory, at, |me| me.dry &= dry);
                }
            }
            At::Scan(_) if me.dry => self.go(self.state.memory.clone(), At::SetDry, |_| {}),
            At::Scan(_) if self.broken(Broken::Gathered) => {
                self.go(self.state.memory.clone(), At::Gather(SLOTS), |me| me.pieces = [0; 2]);
            }
            At::SetDry => {
                let mut memory = self.state.memory.clone();
                memory.store(self.id, DRY, me.began);
                self.deny(memory, n);
            }
            At::TakeFrom(word) => self.take_from(n, word, self.state.now, At::Scan(word + 1)),
            At::Gather(_) | At::PutBack(_) => self.gather(n, me),
            _ => self.denied(self.state.memory.clone()),
        }
    }

    /// Takes pieces from every slot until there are `n`, and puts them back if there are not.
    fn gather(&mut self, n: u64, me: &Thread) {
        match me.at {
            At::Gather(word) if word < SLOTS + self.world.slots => {
                let piece = self.last(word).credits().min(n - me.hand);
                let memory = self.updated(word, self.last(word).0 - piece * Word::ONE);
                if me.hand + piece == n {
                    self.end(memory, n, self.state.now, |_| {});
                } else {
                    self.go(memory, At::Gather(word + 1), |me| {
                        me.hand += piece;
                        me.pieces[word - SLOTS] = piece;
                    });
                }
            }
            At::PutBack(word) if word < SLOTS + self.world.slots => {
                let memory = self.updated(word, self.last(word).0 + me.pieces[word - SLOTS] * Word::ONE);
                self.go(memory, At::PutBack(word + 1), |_| {});
            }
            At::Gather(_) => self.go(self.state.memory.clone(), At::PutBack(SLOTS), |_| {}),
            _ => self.denied(self.state.memory.clone()),
        }
    }

    /// Rule 7.
    fn drop_handle(&mut self, own: usize, me: &Thread) {
        match me.at {
            At::Start if self.broken(Broken::FreedFirst) => {
                self.go(self.updated(own, self.last(own).finish(0).0), At::PutBack(own), |me| me.handle = false);
            }
            At::PutBack(own) => {
                let memory = self.updated(own, self.last(own).0.wrapping_add(me.held * Word::ONE));
                self.go(memory, At::Count, |me| me.held = 0);
            }
            At::Start if !me.handle => self.denied(self.state.memory.clone()),
            _ if me.held == 0 => {
                let memory = self.updated(own, self.last(own).finish(0).0);
                self.end(memory, 0, 0, |me| me.handle = false);
            }
            _ => {
                let memory = self.updated(own, self.last(own).finish(me.held).0);
                self.go(memory, At::Count, |me| (me.handle, me.held) = (false, 0));
            }
        }
    }
}
