//! [`Spy`]: a limiter that notes what a set asks of it, and lets others call in between.

use super::subject::Subject;
use core::cell::RefCell;
use tollgate::{Denied, Nanos, Quota, RateLimit, RateLimitAt, Status, Taken};

pub(super) type Limiter = dyn RateLimitAt;
pub(super) type Boxed = Box<Limiter>;

/// What was done, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Look { limit: usize, said: Result<(), Denied> },
    Take { limit: usize, said: Result<(), Denied> },
    GiveBack { limit: usize, taken_back: bool },
    Other { call: Call, said: Result<(), Denied> },
}

/// A call of somebody else on a subject.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) subject: usize,
    pub(super) n: u64,
    pub(super) at: Nanos,
}

/// A limiter as one of a set.
pub(super) struct Spy<'a> {
    pub(super) limit: usize,
    pub(super) limiter: &'a Limiter,
    pub(super) events: &'a RefCell<Vec<Event>>,
    /// What others do when this limiter's turn has come, before it is taken of.
    pub(super) others: &'a [Call],
    pub(super) subjects: &'a [Subject],
}

impl Spy<'_> {
    fn note(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }
}

impl RateLimit for Spy<'_> {
    fn try_acquire_n(&self, _: u64) -> Result<(), Denied> {
        unreachable!("a set tells the time")
    }

    fn status(&self) -> Status {
        unreachable!("a set does not ask")
    }

    fn quota(&self) -> Quota {
        self.limiter.quota()
    }

    fn max_cost(&self) -> u64 {
        self.limiter.max_cost()
    }
}

impl RateLimitAt for Spy<'_> {
    fn try_acquire_n_at(&self, _: u64, _: Nanos) -> Result<(), Denied> {
        unreachable!("a set wants a receipt")
    }

    fn try_acquire_up_to_at(&self, _: u64, _: Nanos) -> u64 {
        unreachable!("all or nothing")
    }

    fn status_at(&self, _: Nanos) -> Status {
        unreachable!("a set does not ask")
    }

    fn takes_back(&self) -> bool {
        self.limiter.takes_back()
    }

    fn check_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        let said = self.limiter.check_n_at(n, now);
        self.note(Event::Look { limit: self.limit, said });
        said
    }

    fn take_n_at(&self, n: u64, now: Nanos) -> Result<Taken, Denied> {
        for &call in self.others {
            let said = self.subjects[call.subject].limiter.try_acquire_n_at(call.n, call.at);
            self.note(Event::Other { call, said });
        }
        let taken = self.limiter.take_n_at(n, now);
        self.note(Event::Take { limit: self.limit, said: taken.as_ref().map(|_| ()).map_err(|denied| *denied) });
        taken
    }

    fn give_back(&self, taken: Taken) -> bool {
        let taken_back = self.limiter.give_back(taken);
        self.note(Event::GiveBack { limit: self.limit, taken_back });
        taken_back
    }
}
