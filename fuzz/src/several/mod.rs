//! Sets of limits beside a model of each limit: a call takes of all of them or of none, and those that refuse are named.

mod spy;
mod subject;

use crate::input::read;
use crate::keyed::Spread;
use arbitrary::Arbitrary;
use core::cell::RefCell;
use core::time::Duration;
use spy::{Call, Event, Spy};
use std::sync::Arc;
use subject::{Held, STEP, Sort, Subject, Table, Terms};
use tollgate::{Denied, DeniedBy, KeyedLimiter, LimitSet, ManualClock, Nanos, RateLimitAt, Taken};

type Events = std::vec::IntoIter<Event>;

/// How many limits are in the set.
const LIMITS: usize = 5;

/// How many limiters there are that can stand anywhere in the set, and more than once; a log, which is last, comes on top.
const ANYWHERE: usize = 5;

/// Costs that are asked for: mostly what there is.
const COSTS: [u8; 12] = [1, 0, 1, 2, 1, 3, 1, 4, 2, 9, 1, 5];

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Other {
    subject: u8,
    cost: u8,
    /// How much later than the set's call, in steps.
    later: u8,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step {
    Forward(u8),
    /// Readings of clocks that are behind, from here on.
    Back(u8),
    Call([u8; LIMITS]),
    /// Before the limit is taken of, others call.
    CallAmid([u8; LIMITS], u8, [Other; 2]),
    Look([u8; LIMITS]),
    Beside(u8, u8),
    Hold(u8, u8),
    GiveBack(u8),
    /// Keys that nobody has seen before.
    Crowd(u8),
}

#[derive(Arbitrary, Debug)]
struct Input {
    limiters: [Terms; ANYWHERE],
    log: Terms,
    keys: Terms,
    crowded: bool,
    places: [u8; LIMITS],
    steps: Vec<Step>,
}

/// Nine days: later than the longest way of all steps back.
const START: Nanos = Nanos::from_secs(9 * 86_400);

struct Run {
    subjects: Vec<Subject>,
    /// Which subject each limit of the set is.
    places: [usize; LIMITS],
    table: Arc<Table>,
    clock: ManualClock,
    now: Nanos,
    held: Vec<(Held, Taken)>,
    newcomer: u16,
    /// The latest reading with which the table was called.
    latest: Nanos,
}

/// Calls of a set of limits, and of the limiters beside it, also in the middle of the set's own calls.
///
/// # Panics
///
/// If a call is admitted that a limit's model refuses, or the other way round; if one that is refused has asked for anything but a look, or, refused late,
/// has not given back all that it took, the last first; if the refusal names others than those that refuse, or its hint is not
/// the longest of theirs; if what is there afterwards is not what should be, or what was taken breaks a limit's bound.
pub fn limit_set(data: &[u8]) {
    let Some(input) = read::<Input>(data) else { return };
    let mut run = Run::new(&input);
    for &step in input.steps.iter().take(60) {
        run.take(step);
        run.each().for_each(|subject| subject.look(run.now));
    }
    run.each().for_each(Subject::judge_all);
}

fn cost(n: u8) -> u64 {
    COSTS[usize::from(n) % COSTS.len()].into()
}

fn later(now: Nanos, steps: u8) -> Nanos {
    // Mostly within a period or two, sometimes over many.
    now.saturating_add(STEP * if steps < 192 { u32::from(steps % 24) } else { u32::from(steps) })
}

impl Run {
    fn new(input: &Input) -> Self {
        let clock = ManualClock::starting_at(START);
        let spread = Spread::new(input.crowded);
        // Fifteen slots, all within reach of each key.
        let quota = Terms { sort: Sort::TokenBucket, ..input.keys }.quota();
        let table = Arc::new(KeyedLimiter::with_hasher_and_clock(quota, 1, spread, clock.clone()));
        let mut subjects: Vec<_> = input.limiters.map(|terms| Subject::new(terms, &table, &clock)).into();
        subjects.push(Subject::log(input.log, &clock));
        let (held, newcomer, latest) = (Vec::new(), 2, Nanos::ZERO);
        let mut run = Self { subjects, places: [0; LIMITS], table, clock, now: START, held, newcomer, latest };
        for (limit, &place) in input.places.iter().enumerate() {
            let last = limit == LIMITS - 1;
            run.places[limit] = run.same(usize::from(place) % (ANYWHERE + usize::from(last)));
        }
        run
    }

    /// Every limiter once.
    fn each(&self) -> impl Iterator<Item = &Subject> {
        self.subjects.iter().enumerate().filter(|&(place, _)| self.same(place) == place).map(|(_, subject)| subject)
    }

    /// The first subject that is this limiter: a key is one, however often it is named.
    fn same(&self, place: usize) -> usize {
        let key = self.subjects[place].key();
        self.subjects.iter().position(|other| key.is_some() && other.key() == key).unwrap_or(place)
    }

    /// A limiter that can be called beside the set.
    fn any(&self, number: u8) -> usize {
        self.same(usize::from(number) % self.subjects.len())
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Forward(steps) => self.set(later(self.now, steps)),
            Step::Back(steps) => {
                let back = later(Nanos::ZERO, steps).as_nanos();
                self.set(self.now.saturating_sub(Duration::from_nanos(back)));
            }
            Step::Call(costs) => self.call(costs.map(cost), None),
            Step::CallAmid(costs, limit, others) => {
                let others = others.map(|Other { subject, cost: n, later: steps }| Call {
                    subject: self.any(subject),
                    n: cost(n),
                    at: later(self.now, steps),
                });
                self.call(costs.map(cost), Some((usize::from(limit) % LIMITS, &others)));
            }
            Step::Look(costs) => self.look(costs.map(cost)),
            Step::Beside(subject, n) => {
                let call = Call { subject: self.any(subject), n: cost(n), at: self.now };
                let said = self.subjects[call.subject].limiter.try_acquire_n_at(call.n, call.at);
                self.called(call, said);
            }
            Step::Hold(subject, n) if self.held.len() < 9 => {
                let call = Call { subject: self.any(subject), n: cost(n), at: self.now };
                if !self.subjects[call.subject].limiter.takes_back() {
                    return;
                }
                match self.subjects[call.subject].limiter.take_n_at(call.n, call.at) {
                    Ok(taken) => {
                        let held = self.called(call, Ok(())).expect("it was admitted");
                        self.held.push((held, taken));
                    }
                    Err(denied) => _ = self.called(call, Err(denied)),
                }
            }
            Step::GiveBack(which) if !self.held.is_empty() => {
                let (held, taken) = self.held.remove(usize::from(which) % self.held.len());
                let subject = &mut self.subjects[held.subject];
                let taken_back = subject.limiter.give_back(taken);
                subject.given_back(held, self.now, taken_back);
            }
            Step::Crowd(n) => {
                for _ in 0..n % 20 {
                    let said = self.table.try_acquire_n_at(&self.newcomer, 1, self.now);
                    self.newcomer = self.newcomer.wrapping_add(1).max(2);
                    self.table_called(self.now, said);
                }
            }
            Step::Hold(..) | Step::GiveBack(_) => {}
        }
    }

    fn set(&mut self, now: Nanos) {
        self.now = now;
        self.clock.set(now);
    }

    /// A call with any key of the table.
    fn table_called(&mut self, at: Nanos, said: Result<(), Denied>) {
        if let Err(Denied::TableFull(_)) = said {
            // One line of five slots at least is full of keys in debt.
            let live = self.table.live_at(at);
            assert!(live >= 5 || at < self.latest, "the table is full with {live}");
        }
        self.latest = self.latest.max(at);
        for subject in self.subjects.iter_mut().filter(|subject| subject.is_key()) {
            subject.exact_from(at);
        }
    }

    /// Judges and notes a call on a subject.
    fn called(&mut self, call: Call, said: Result<(), Denied>) -> Option<Held> {
        let Call { subject: number, n, at } = call;
        let subject = &mut self.subjects[number];
        subject.judge(n, at, said);
        if subject.is_key() && n > 0 {
            if said.is_ok() {
                subject.charged_late(at);
            }
            self.table_called(at, said);
        }
        said.is_ok().then(|| self.subjects[number].took(number, n, at))
    }

    /// Lets a set of spies answer; returns what they have noted, too.
    fn spied<T>(
        &self,
        others: Option<(usize, &[Call])>,
        ask: impl FnOnce(LimitSet<&dyn RateLimitAt, LIMITS, &ManualClock>) -> T,
    ) -> (T, Events) {
        let events = RefCell::new(Vec::new());
        let spies: [Spy<'_>; LIMITS] = core::array::from_fn(|limit| Spy {
            limit,
            limiter: &*self.subjects[self.places[limit]].limiter,
            events: &events,
            others: others.filter(|&(at, _)| at == limit).map(|(_, others)| others).unwrap_or_default(),
            subjects: &self.subjects,
        });
        let limits = spies.each_ref().map(|spy| spy as &dyn RateLimitAt);
        let said = ask(LimitSet::try_with_clock(limits, &self.clock).expect("what takes nothing back is the last"));
        (said, events.take().into_iter())
    }

    /// A look at all limits: who refuses is named, and nobody is taken of.
    fn look(&self, costs: [u64; LIMITS]) {
        let (said, mut events) = self.spied(None, |set| set.check_n_at(costs, self.now));
        let refused = self.looked(&mut events, 0, costs);
        assert!(events.next().is_none(), "a look is all there is to it");
        judge(said, &refused, None);
    }

    /// A call of the set. What it asked of whom is gone through one after the other.
    fn call(&mut self, costs: [u64; LIMITS], others: Option<(usize, &[Call])>) {
        let now = self.now;
        let (said, mut events) = self.spied(others, |set| set.try_acquire_n_at(costs, now));
        let mut refused = self.looked(&mut events, 0, costs);
        if !refused.is_empty() {
            assert!(events.next().is_none(), "a refusal after the look takes of nobody");
            judge(said, &refused, None);
            return;
        }
        let mut held = Vec::new();
        while held.len() < LIMITS && refused.is_empty() {
            match events.next() {
                Some(Event::Other { call, said }) => _ = self.called(call, said),
                Some(Event::Take { limit, said }) if limit == held.len() => {
                    let call = Call { subject: self.places[limit], n: costs[limit], at: now };
                    match (self.called(call, said), said) {
                        (Some(taken), _) => held.push(taken),
                        (None, Err(denied)) => refused.push((limit, denied)),
                        (None, Ok(())) => unreachable!("what was admitted is held"),
                    }
                }
                event => panic!("limit {} is to be taken of: {event:?}", held.len()),
            }
        }
        if refused.is_empty() {
            assert!(events.next().is_none() && said.is_ok(), "all limits were taken of: {said:?}");
            return;
        }
        refused.extend(self.looked(&mut events, held.len() + 1, costs));
        let mut spent = Vec::new();
        while let Some(taken) = held.pop() {
            match events.next() {
                Some(Event::GiveBack { limit, taken_back }) if limit == held.len() => {
                    self.subjects[taken.subject].given_back(taken, now, taken_back);
                    if !taken_back {
                        spent.insert(0, limit);
                    }
                }
                event => panic!("limit {} is to be given back: {event:?}", held.len()),
            }
        }
        assert!(events.next().is_none(), "all that was taken was given back");
        judge(said, &refused, Some(&spent));
    }

    /// Looks at the limits from `first` on; returns who refuses.
    fn looked(&self, events: &mut Events, first: usize, costs: [u64; LIMITS]) -> Vec<(usize, Denied)> {
        let mut refused = Vec::new();
        for (limit, &n) in costs.iter().enumerate().skip(first) {
            match events.next() {
                Some(Event::Look { limit: looked_at, said }) if looked_at == limit => {
                    self.subjects[self.places[limit]].judge(n, self.now, said);
                    refused.extend(said.err().map(|denied| (limit, denied)));
                }
                event => panic!("limit {limit} is to be looked at: {event:?}"),
            }
        }
        refused
    }
}

/// Judges what the set says, where those have `refused`; late if there is anything that could stay `spent`.
fn judge(said: Result<(), DeniedBy>, refused: &[(usize, Denied)], spent: Option<&[usize]>) {
    let Err(denied) = said else {
        assert!(refused.is_empty(), "admitted, though {refused:?}");
        return;
    };
    assert!(denied.limits().eq(refused.iter().map(|&(limit, _)| limit)), "{denied}, where {refused:?}");
    let wait = |denied: &Denied| denied.retry_after().unwrap_or(Duration::MAX);
    let most = refused.iter().map(|(_, denied)| wait(denied)).max();
    let longest = refused.iter().find(|(_, denied)| Some(wait(denied)) == most);
    assert_eq!(Some(&(denied.longest(), denied.denied())), longest, "{refused:?}");
    assert_eq!(denied.is_late(), spent.is_some());
    assert!(denied.spent().eq(spent.unwrap_or_default().iter().copied()), "{denied:?}, where {spent:?}");
}
