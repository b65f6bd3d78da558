//! [`Subject`]: a limiter beside the history of what was taken of it, from which its model is built anew for each question.

use super::spy::Boxed;
use arbitrary::Arbitrary;
use core::time::Duration;
use std::sync::Arc;
use tollgate::{
    AdjustableTokenBucket, Denied, FixedWindow, KeyedLimiter, ManualClock, Nanos, PackedTokenBucket, Quota,
    ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog, TokenBucket, WaitingTokenBucket,
};
use tollgate_testing::reference::Model;
use tollgate_testing::subject::Kind;
use tollgate_testing::trace::{Admission, first_violation};

/// Every instant is a whole number of these, and so is the time of a token: then a limiter that counts in units decides as
/// one that counts in fractions.
pub(super) const STEP: Duration = Duration::from_millis(100);

pub(super) type Table = KeyedLimiter<u16, super::Spread, ManualClock>;

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    TokenBucket,
    Unlimited,
    DenyAll,
    Packed,
    Window,
    Counter,
    Waiting,
    Adjustable,
    Sharded,
    /// Of a table that all keys share.
    Key(u8),
}

/// What a limiter is made from.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) sort: Sort,
    pub(super) tokens: u8,
    pub(super) steps: u8,
    pub(super) burst: u8,
}

impl Terms {
    /// So many tokens, each after so many steps.
    pub(super) fn quota(self) -> Quota {
        match self.sort {
            Sort::Unlimited => return Quota::UNLIMITED,
            Sort::DenyAll => return Quota::DENY_ALL,
            _ => {}
        }
        let tokens = u32::from(self.tokens % 5) + 1;
        // A packed bucket counts tokens, so that one comes each step.
        let steps = if self.sort == Sort::Packed { 1 } else { u32::from(self.steps % 8) + 1 };
        Quota::per(tokens.into(), STEP * steps * tokens).with_burst(u64::from(self.burst % 8) + 1)
    }
}

/// What was taken at once.
#[derive(Clone, Copy, Debug)]
struct Charge {
    id: usize,
    n: u64,
    at: Nanos,
    /// Came off the window that had counted it, after others had been counted there.
    taken_off: bool,
}

/// What has to be given back, or may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) subject: usize,
    id: usize,
    at: Nanos,
    /// The state that the take has left, and the one before.
    states: [usize; 2],
}

pub(super) struct Subject {
    pub(super) limiter: Boxed,
    kind: Kind,
    sort: Option<Sort>,
    quota: Quota,
    history: Vec<Charge>,
    /// Each state that the limiter was in has a number. The same number, the same state.
    state: usize,
    states: usize,
    /// From which reading on it has what its model has; at an earlier one it may have less.
    exact_from: Nanos,
    /// Only its bound is judged.
    loose: bool,
}

impl Subject {
    pub(super) fn new(terms: Terms, table: &Arc<Table>, clock: &ManualClock) -> Self {
        let (quota, clock) = (terms.quota(), clock.clone());
        let (kind, quota, limiter): (_, _, Boxed) = match terms.sort {
            Sort::TokenBucket | Sort::Unlimited | Sort::DenyAll => {
                (Kind::TokenBucket, quota, Box::new(TokenBucket::with_clock(quota, clock)))
            }
            Sort::Packed => (Kind::PackedTokenBucket, quota, Box::new(PackedTokenBucket::with_clock(quota, clock))),
            Sort::Window => (Kind::FixedWindow, quota, Box::new(FixedWindow::with_clock(quota, clock))),
            Sort::Counter => {
                (Kind::SlidingWindowCounter, quota, Box::new(SlidingWindowCounter::with_clock(quota, clock)))
            }
            Sort::Waiting => {
                (Kind::TokenBucket, quota, Box::new(WaitingTokenBucket::with_clock(quota, Duration::ZERO, clock)))
            }
            Sort::Adjustable => (Kind::TokenBucket, quota, Box::new(AdjustableTokenBucket::with_clock(quota, clock))),
            Sort::Sharded => {
                (Kind::TokenBucket, quota, Box::new(ShardedTokenBucket::with_shards_and_clock(quota, 4, clock)))
            }
            Sort::Key(key) => {
                (Kind::TokenBucket, table.quota(), Box::new(Arc::clone(table).line_owned(&u16::from(key % 2))))
            }
        };
        Self::of(limiter, kind, Some(terms.sort), quota)
    }

    pub(super) fn log(terms: Terms, clock: &ManualClock) -> Self {
        let quota = Terms { sort: Sort::Window, ..terms }.quota();
        Self::of(Box::new(SlidingWindowLog::with_clock(quota, clock.clone())), Kind::SlidingWindowLog, None, quota)
    }

    fn of(limiter: Boxed, kind: Kind, sort: Option<Sort>, quota: Quota) -> Self {
        let (history, exact_from) = (Vec::new(), Nanos::ZERO);
        Self { limiter, kind, sort, quota, history, state: 0, states: 0, exact_from, loose: false }
    }

    pub(super) fn is_key(&self) -> bool {
        matches!(self.sort, Some(Sort::Key(_)))
    }

    /// Which key it is, if it is one: several subjects may be the same.
    pub(super) fn key(&self) -> Option<u8> {
        if let Some(Sort::Key(key)) = self.sort { Some(key % 2) } else { None }
    }

    fn model(&self) -> Box<dyn Model> {
        let mut model = self.kind.model(self.quota);
        let mut latest = Nanos::ZERO;
        for charge in &self.history {
            // A window counts an older reading as the latest.
            latest = latest.max(charge.at);
            let at = if self.is_window() { latest } else { charge.at };
            model.charge(charge.n, at);
            if charge.taken_off {
                model.refund(charge.n, at);
            }
        }
        model
    }

    fn is_window(&self) -> bool {
        matches!(self.kind, Kind::FixedWindow | Kind::SlidingWindowCounter)
    }

    pub(super) fn exact_from(&mut self, at: Nanos) {
        self.exact_from = self.exact_from.max(at);
    }

    /// A call at `at` is about to be judged that may leave a key with less than its model has, if it is late.
    pub(super) fn charged_late(&mut self, at: Nanos) {
        self.loose |= at < self.exact_from;
    }

    fn is_exact(&self, now: Nanos) -> bool {
        !self.loose && now >= self.exact_from
    }

    /// Judges what the limiter says of a cost.
    pub(super) fn judge(&self, n: u64, now: Nanos, said: Result<(), Denied>) {
        let what = || format!("{:?} of {:?}: {n} at {now:?}", self.sort, self.quota);
        let most = self.limiter.max_cost();
        match said {
            Err(denied @ Denied::ExceedsBurst { cost, max_cost }) => {
                assert!((cost, max_cost) == (n, most) && n > most, "{}: {denied}", what());
            }
            Err(Denied::TableFull(hint)) => assert!(self.is_key() && !hint.retry_after().is_zero(), "{}", what()),
            _ if !self.is_exact(now) => {}
            Ok(()) => assert!(self.model().would_admit(n, now), "{} is not there", what()),
            Err(denied) => {
                let model = self.model();
                // A unit of a sharded bucket is kept in reserve, so that a token comes a little later.
                let sharded = u64::from(self.sort == Some(Sort::Sharded));
                assert!(!model.would_admit(n + sharded, now), "{} is there: {denied}", what());
                let told = denied.retry_after();
                let due = model.earliest(n, now).map(|due| due.saturating_since(now));
                match self.sort {
                    Some(Sort::Sharded) => {}
                    // Its units are longer than a nanosecond, and a token may come a unit early.
                    Some(Sort::Adjustable) => {
                        let early = told.zip(due).map(|(told, due)| due.checked_sub(told));
                        let early = early.map(|early| early.is_some_and(|early| early < Duration::from_nanos(100)));
                        assert!(
                            early != Some(false) && told.is_some() == due.is_some(),
                            "{}: {told:?} {due:?}",
                            what()
                        );
                    }
                    _ => assert_eq!(told, due, "{}", what()),
                }
            }
        }
    }

    /// Notes what was taken.
    pub(super) fn took(&mut self, subject: usize, n: u64, at: Nanos) -> Held {
        let before = self.state;
        if n > 0 && !self.quota.is_unlimited() {
            self.states += 1;
            self.state = self.states;
            self.history.push(Charge { id: self.states, n, at, taken_off: false });
        }
        Held { subject, id: self.state, at, states: [before, self.state] }
    }

    /// Judges whether the limiter took back what is held; notes what became of it.
    pub(super) fn given_back(&mut self, held: Held, now: Nanos, taken_back: bool) {
        let what = || format!("{:?} of {:?}: {held:?} at {now:?}, taken back: {taken_back}", self.sort, self.quota);
        let [before, after] = held.states;
        if before == after {
            assert!(taken_back, "{}", what());
            return;
        }
        let untouched = self.state == after;
        match self.sort {
            // A key whose debt is over by somebody's reading may have lost its slot: then there is nothing to give back.
            Some(Sort::Key(_)) if untouched && now.max(self.exact_from) > held.at => {}
            _ if untouched => assert!(taken_back, "{}", what()),
            Some(Sort::Window | Sort::Counter) => assert!(taken_back, "{}", what()),
            Some(Sort::Waiting) => {} // if its pool has room
            _ => assert!(!taken_back, "{}", what()),
        }
        if !taken_back {
            return;
        }
        let place = self.history.iter().position(|charge| charge.id == held.id).expect("it was not given back before");
        if self.is_window() && !untouched {
            self.history[place].taken_off = true;
        } else {
            self.history.remove(place);
        }
        if untouched {
            self.state = before;
        } else {
            self.states += 1;
            self.state = self.states;
            // What lies in a pool is found by one call, and not beside the rest by another.
            self.loose |= self.sort == Some(Sort::Waiting);
        }
        if matches!(self.sort, Some(Sort::Waiting | Sort::Key(_))) {
            self.exact_from(held.at);
        }
    }

    /// What is there is what should be: nothing is lost and nothing is minted.
    pub(super) fn look(&self, now: Nanos) {
        if !self.is_exact(now) {
            return;
        }
        let (shown, there) = (self.limiter.available_at(now), self.model().available(now));
        let reserve = u64::from(self.sort == Some(Sort::Sharded));
        assert!(
            (there.saturating_sub(reserve)..=there).contains(&shown),
            "{:?} of {:?} shows {shown} at {now:?} and has {there}: {:?}",
            self.sort,
            self.quota,
            self.history
        );
    }

    /// What was taken and kept is within the bound, in any window of readings.
    pub(super) fn judge_all(&self) {
        if self.is_window() || self.quota.is_unlimited() {
            return; // by readings that go back a window may have more, and what is counted was judged at each step
        }
        let run: Vec<_> = self.history.iter().map(|charge| Admission::new(charge.n, charge.at)).collect();
        let quota = match self.kind {
            Kind::PackedTokenBucket => self.quota.with_burst(self.quota.burst() + 1),
            _ => self.quota,
        };
        let breach = if self.kind == Kind::SlidingWindowLog {
            self.kind.first_breach(self.quota, &run)
        } else {
            first_violation(&run, quota).map(|window| window.to_string())
        };
        assert!(breach.is_none(), "{:?} of {:?}: {breach:?}", self.sort, self.quota);
    }
}
