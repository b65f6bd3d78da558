//! [`Scenario`]: a small world of threads, slots and time; and what must hold in each of its states.

use crate::memory::Memory;
use crate::protocol::Step;
use tollgate::algorithm::{Algorithm, Gcra};
use tollgate::loom_support::lease::Word;
use tollgate::{Nanos, Quota};

/// Words of the memory: the central word, the two beside it, the slots, the news, and each slot's quiet.
pub(crate) const V: usize = 0;
pub(crate) const DEPOSITS: usize = 1;
pub(crate) const DRY: usize = 2;
pub(crate) const SLOTS: usize = 3;
pub(crate) const NEWS: usize = 5;
pub(crate) const QUIET: usize = 6;

/// What a thread is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    /// Take so many tokens.
    Acquire(u64),
    /// Take so many tokens from the own slot, or give up: a call that a thief may make.
    Spend(u64),
    /// Take so many tokens as of a reading of the clock taken before.
    AcquireAt(u64),
    /// Give a token back.
    Refund,
    /// Become the handle of the last slot, and acquire through it from now on; take so many tokens first.
    Claim,
    /// Drop the handle.
    Drop,
}

/// A rule to leave out, or a liberty to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Nothing,
    /// 1: whoever took a credit that was not there puts it back.
    Undo,
    /// 2: the reading that the look at V used also sizes the batch.
    ClockBeforeBit,
    /// 2: the first reading after a bit serves the next batches too.
    ReadingReused,
    /// 2: credits are seen again after the clock was read.
    CreditsReloaded,
    /// 2: a batch is `q`, whatever is there.
    NoCap,
    /// 2: a deposit pays a negative count back.
    PaidBack,
    /// 3: everybody refills.
    NoBit,
    /// 3: everybody refills, and deposits no more than there is room for.
    NoBitButCap,
    /// 4: a cost is put together from several slots, and the pieces are put back if they do not suffice.
    Gathered,
    /// 4: a draw may be cancelled, and goes back to V.
    CancelledToCentral,
    /// 4: a draw may be cancelled, and goes to the slot.
    CancelledToSlot,
    /// 5: a deposit is counted before it is made.
    CountedFirst,
    /// 5: a scan does not acquire the count of deposits.
    NotAcquired,
    /// 6: the central word has the whole burst.
    WholeBurst,
    /// 6: the central word has the whole burst whenever the slots are seen to be empty.
    WholeBurstWhenEmpty,
    /// 7: a handle frees its slot, and gives back what is left only then.
    FreedFirst,
    /// 7: the first reading that a handle takes sizes the next batches too.
    HandleReadingReused,
    /// 8: news is told before it has happened.
    ToldFirst,
    /// 8: the news are counted after the look.
    NewsAfterLook,
    /// 8: a look does not acquire the news.
    NewsNotAcquired,
    /// 8: the quiet goes on whatever comes.
    NewsIgnored,
    /// 8: a deposit is not told, although nothing settles.
    DepositNotTold,
    /// 8: the quiet ends with news alone.
    NeverEnds,
    /// A call on a reading spends credits.
    CreditsAsOf,
}

/// What must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// In some window more was admitted than the bound allows.
    OverAdmission,
    /// In the end, what was drawn is neither spent nor there.
    TokensLostOrMade,
    /// In the end, a slot is being refilled by nobody.
    BitLeftBehind,
    /// In the end, denials would not look for the credits that there are.
    DryWithCredits,
    /// In the end, a slot is quiet although there are tokens, and nothing settles.
    Missed,
}

/// How long a tick takes, in nanoseconds: so long that a token is more than a unit.
const TICK: u64 = 16;

/// The instant after so many ticks.
pub(crate) fn instant(ticks: u64) -> Nanos {
    Nanos(TICK * ticks)
}

/// A small world. In each tick of its clock the burst of the central word falls due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario<'a> {
    /// Each thread's own slot, and its calls.
    pub(crate) threads: &'a [(usize, &'a [Call])],
    pub(crate) slots: usize,
    /// The most credits per slot.
    pub(crate) batch: u64,
    /// The burst of the central word, and what of it has been consumed at the start.
    pub(crate) central: u64,
    pub(crate) consumed: u64,
    /// Credits in each slot at the start.
    pub(crate) credits: u64,
    /// For how many ticks tokens are left to settle after a denial; `None`: no slot is ever quiet.
    pub(crate) settling: Option<u64>,
    /// How often the clock ticks, at whatever moments.
    pub(crate) ticks: u64,
    pub(crate) broken: Broken,
}

/// The access that a thread makes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum At {
    #[default]
    Start,
    TakeOwn,
    Undo(usize),
    News,
    Look,
    Quiet,
    Central,
    Begin,
    Clock,
    Reload,
    Draw,
    Exact,
    Cancel,
    Finish,
    Count,
    Dry,
    DryNow,
    Scan(usize),
    TakeFrom(usize),
    SetDry,
    NewsLate,
    Hush,
    Tell,
    Gather(usize),
    PutBack(usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    pub(crate) call: usize,
    pub(crate) at: At,
    pub(crate) reading: u64,
    /// Credits seen with the bit; tokens in hand; whether V was short after the bit was set.
    pub(crate) seen: u64,
    pub(crate) hand: u64,
    pub(crate) short: bool,
    /// What a scan began with, and whether all slots were empty so far.
    pub(crate) began: u64,
    pub(crate) dry: bool,
    /// The news counted, and when V would have a token again.
    pub(crate) news: u64,
    pub(crate) due: u64,
    /// Pieces gathered, by slot.
    pub(crate) pieces: [u64; 2],
    /// What outlasts a call: a reading to be reused, a handle and its credits.
    pub(crate) first: Option<u64>,
    pub(crate) handle: bool,
    pub(crate) held: u64,
}

/// What leads from one state to the next.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)] // read by way of `Debug`
pub(crate) enum Event {
    Tick,
    Access { thread: usize, call: Call, at: At, now: u64 },
}

/// Everything that there is at one moment.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) memory: Memory,
    pub(crate) threads: [Thread; 3],
    pub(crate) now: u64,
    /// Admissions less refunds, by the instant at which they count.
    pub(crate) admitted: [i64; 4],
    pub(crate) drawn: u64,
    pub(crate) spent: u64,
}

impl Scenario<'_> {
    pub(crate) fn start(&self) -> State {
        let slot = Word::EMPTY.finish(self.credits).0;
        State {
            memory: Memory::new([self.unit() * self.consumed, 0, u64::MAX, slot, slot, 0, 0, 0]),
            threads: [Thread::default(); 3],
            now: 0,
            admitted: [0; 4],
            drawn: self.credits * self.slots as u64,
            spent: 0,
        }
    }

    fn burst(&self) -> u64 {
        self.central + self.slots as u64 * self.batch
    }

    pub(crate) fn gcra(&self) -> Gcra {
        if self.broken == Broken::WholeBurst { self.whole() } else { self.with_burst(self.central) }
    }

    /// A central word that leaves no room for credits.
    pub(crate) fn whole(&self) -> Gcra {
        self.with_burst(self.burst())
    }

    fn with_burst(&self, burst: u64) -> Gcra {
        Gcra::new(Quota::per(self.central, core::time::Duration::from_nanos(TICK)).with_burst(burst))
    }

    /// What a token adds to V.
    pub(crate) fn unit(&self) -> u64 {
        self.gcra().acquire(0, 1, Nanos::ZERO).unwrap()
    }

    /// A slot's quiet until the tick `until`, at so many news. More than this is another's.
    pub(crate) fn hushed(until: u64, news: u64) -> u64 {
        1 + 16 * until + news
    }

    /// Whether a slot whose quiet is this word looks at nothing at the tick `now`.
    pub(crate) fn is_quiet(&self, word: u64, now: u64, news: u64) -> bool {
        let Some(quiet) = word.checked_sub(1) else { return false };
        (quiet % 16 == news || self.broken == Broken::NewsIgnored)
            && (now < quiet / 16 || self.broken == Broken::NeverEnds)
    }

    /// Every state that may come next, and what led there.
    pub(crate) fn next(&self, state: &State) -> Vec<(Event, State)> {
        let mut next = Vec::new();
        if state.now < self.ticks && !self.done(state) {
            next.push((Event::Tick, State { now: state.now + 1, ..state.clone() }));
        }
        for (id, &(_, calls)) in self.threads.iter().enumerate() {
            if let Some(&call) = calls.get(state.threads[id].call) {
                let mut step = Step { world: self, state, id, call, next: Vec::new() };
                step.take(&state.threads[id]);
                let event = Event::Access { thread: id, call, at: state.threads[id].at, now: state.now };
                next.extend(step.next.into_iter().map(|state| (event, state)));
            }
        }
        for (_, state) in &mut next {
            let threads = state.threads;
            state.memory.forget(|id| self.is_done(id, &threads[id]));
        }
        next
    }

    fn is_done(&self, id: usize, thread: &Thread) -> bool {
        self.threads.get(id).is_none_or(|(_, calls)| calls.len() == thread.call)
    }

    fn done(&self, state: &State) -> bool {
        state.threads.iter().enumerate().all(|(id, thread)| self.is_done(id, thread))
    }

    /// How many more tokens could have been admitted in the fullest window; negative is over-admission.
    pub(crate) fn slack(&self, state: &State) -> i64 {
        let admitted = &state.admitted[..=usize::try_from(self.ticks).unwrap()];
        let windows = (0..admitted.len()).flat_map(|from| (from..admitted.len()).map(move |to| (from, to)));
        let slack = |(from, to): (usize, usize)| {
            (self.burst() + self.central * (to - from) as u64).cast_signed() - admitted[from..=to].iter().sum::<i64>()
        };
        windows.map(slack).min().unwrap_or(0)
    }

    /// What is wrong with a state, if it is what is looked for.
    pub(crate) fn fault(&self, state: &State, looked_for: impl Fn(Fault) -> bool) -> Option<Fault> {
        let slots = || (SLOTS..SLOTS + self.slots).map(|slot| Word(state.memory.last(slot)));
        let credits: u64 = slots().map(Word::credits).sum();
        let held: u64 = state.threads.iter().map(|thread| thread.held).sum();
        let bits = slots().filter(|slot| slot.is_refilling()).count();
        let handles = state.threads.iter().filter(|thread| thread.handle).count();
        let dry = state.memory.last(DEPOSITS) == state.memory.last(DRY);
        let (done, found) = (self.done(state), |is, fault| (is && looked_for(fault)).then_some(fault));
        found(self.slack(state) < 0, Fault::OverAdmission)
            .or_else(|| found(done && state.drawn != state.spent + credits + held, Fault::TokensLostOrMade))
            .or_else(|| found(done && bits != handles, Fault::BitLeftBehind))
            .or_else(|| found(done && dry && credits > 0, Fault::DryWithCredits))
            .or_else(|| found(done && self.misses(state, credits), Fault::Missed))
    }

    fn misses(&self, state: &State, credits: u64) -> bool {
        let central = self.gcra().available(state.memory.last(V), instant(state.now));
        let mut slots = QUIET..QUIET + self.slots;
        let is_quiet = |word| self.is_quiet(state.memory.last(word), state.now, state.memory.last(NEWS));
        self.settling == Some(0) && central + credits > 0 && slots.any(is_quiet)
    }
}
