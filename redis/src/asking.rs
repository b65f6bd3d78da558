//! [`Asking`]: what a process knows of the centre, and of its own requests. Pure: instants are given, nothing is sent.

use crate::centre::{Answer, Request, Seen};
use crate::terms::Terms;

/// The part of a lease that is given up for clocks whose rates differ, and for the rounding of its end: one in this many.
const MARGIN: u64 = 100;

/// The state of whoever asks the centre: one at a time.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) terms: Terms,
    pub(crate) instance: u64,
    /// The process that drew `instance`. A fork has another, and must not ask under the same number.
    process: u32,
    pub(crate) sequence: u64,
    pub(crate) seen: Seen,
    /// A request whose answer has not come, and this clock from before it was sent.
    pending: Option<(Request, u64)>,
    /// The last positions granted here without a gap, for giving back: only the end of them can be.
    run: Option<Run>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    epoch: u64,
    start: u64,
    end: u64,
}

/// Tokens that an answer brought, and the instant of this clock at which they are void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) tokens: u64,
    pub(crate) end: u64,
}

/// A number that no other process draws, and no fork of this one: from the system, not from a generator that is copied.
fn draw_instance() -> u64 {
    let random = getrandom::u64().unwrap_or_else(|_| fastrand::u64(..) ^ u64::from(std::process::id()) << 21);
    random % ((1 << 53) - 1) + 1
}

impl Asking {
    pub(crate) fn new(terms: Terms) -> Self {
        let process = std::process::id();
        let seen = Seen::default();
        Self { terms, instance: draw_instance(), process, sequence: 0, seen, pending: None, run: None }
    }

    /// Whether this is another process than the one that asked before: a fork. It begins anew; leases it has are not its own.
    pub(crate) fn is_forked(&mut self) -> bool {
        let forked = self.process != std::process::id();
        if forked {
            *self = Self { seen: self.seen, ..Self::new(self.terms) };
        }
        forked
    }

    /// A request to be sent: the pending one, if its answer may still be of use at `now`.
    pub(crate) fn again(&mut self, now: u64) -> Option<Request> {
        self.pending = self.pending.filter(|&(_, noted)| now < noted + self.terms.patience());
        self.pending.map(|(request, _)| request)
    }

    /// A request to be sent, which is pending from now on. Rule 8: noted before it is sent.
    ///
    /// `unspent` tokens are given back, as far as they are at the end of what was drawn (rule 6).
    pub(crate) fn request(&mut self, least: u64, most: u64, unspent: u64, now: u64) -> Request {
        self.sequence += 1;
        let run = self.run.filter(|run| (run.epoch, run.end) == (self.seen.epoch, self.seen.position));
        let back = run.map_or(0, |run| unspent.min(run.end - run.start));
        if back > 0 {
            self.run = None;
        }
        let Self { instance, sequence, seen, .. } = *self;
        let request = Request { instance, sequence, least, most, back, seen };
        self.pending = Some((request, now));
        request
    }

    /// No answer will come: the centre refused to execute.
    pub(crate) fn forget(&mut self) {
        self.pending = None;
    }

    /// Takes an answer, if it answers the pending request (rule 9).
    pub(crate) fn take(&mut self, answer: Answer) -> Option<Grant> {
        let (request, noted) = self.pending?;
        let ours = (answer.instance, answer.sequence) == (request.instance, request.sequence);
        if !ours || answer.granted > request.most {
            return None;
        }
        self.pending = None;
        self.seen = if self.seen.epoch == answer.seen.epoch { self.seen.max(answer.seen) } else { answer.seen };
        let (epoch, end) = (answer.seen.epoch, answer.seen.position);
        let start = end - answer.granted;
        if answer.granted > 0 {
            let run = self.run.filter(|run| (run.epoch, run.end) == (epoch, start));
            self.run = Some(Run { epoch, start: run.map_or(start, |run| run.start), end });
        }
        let Terms { lease, .. } = self.terms;
        Some(Grant { tokens: answer.granted, end: noted + lease - lease / MARGIN })
    }

    /// The microseconds from the last answer until the centre holds `tokens`, if nobody else draws.
    pub(crate) fn wait(&self, tokens: u64) -> u64 {
        let due = self.seen.epoch + self.terms.lease + self.terms.until(self.seen.position + tokens);
        due.saturating_sub(self.seen.instant)
    }
}
