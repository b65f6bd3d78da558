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
        let enough = answer.granted == 0 || answer.granted >= request.least;
        if !ours || !enough || answer.granted > request.most {
            return None;
        }
        self.pending = None;
        // No less than what the request showed, but for what was given back (rule 7).
        self.seen = answer.seen;
        let (epoch, end) = (answer.seen.epoch, answer.seen.position);
        let start = end - answer.granted;
        if answer.granted > 0 {
            let run = self.run.filter(|run| (run.epoch, run.end) == (epoch, start));
            self.run = Some(Run { epoch, start: run.map_or(start, |run| run.start), end });
        }
        let Terms { lease, .. } = self.terms;
        // Two more, for what two clocks of whole microseconds may hide.
        let margin = lease / MARGIN + 2;
        Some(Grant { tokens: answer.granted, end: noted + lease.saturating_sub(margin) })
    }

    /// Below this the centre is not worth asking: a quarter of a batch, or of what falls due in a lease if that is less. Then a
    /// process that wants more than there is makes some four trips for a batch or a lease, not one for each token.
    pub(crate) fn quantum(&self, batch: u64) -> u64 {
        (batch.min(self.terms.due(self.terms.lease)) / 4).max(1)
    }

    /// After an answer that granted some tokens: from which cost on, and for how many microseconds, the centre has too little.
    pub(crate) fn quiet(&self, least: u64, granted: u64, batch: u64) -> Option<(u64, u64)> {
        match self.wait(self.quantum(batch)) {
            0 => (granted < least).then(|| (least, self.wait(least))),
            wait => Some((1, wait)),
        }
    }

    /// The microseconds from the last answer until the centre holds `tokens`, if nobody else draws.
    pub(crate) fn wait(&self, tokens: u64) -> u64 {
        let start = self.seen.epoch + self.terms.lease;
        let due = start.saturating_add(self.terms.until(self.seen.position + tokens));
        due.saturating_sub(self.seen.instant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tollgate::Quota;

    fn asking(lease: u64) -> Asking {
        Asking::new(Terms::new(Quota::per_second(1_000), Duration::from_millis(lease)).unwrap())
    }

    fn answer(request: Request, granted: u64, position: u64) -> Answer {
        let Request { instance, sequence, .. } = request;
        Answer { instance, sequence, granted, seen: Seen { epoch: 1, instant: 2_000_000, position } }
    }

    #[test]
    fn a_fork_asks_under_a_number_of_its_own() {
        let mut asking = asking(100);
        assert!(!asking.is_forked());
        let request = asking.request(1, 9, 0, 50);
        assert_eq!(asking.again(51), Some(request));
        asking.process ^= 1; // as in a child, which has a copy of all this
        assert!(asking.is_forked() && !asking.is_forked());
        assert_eq!(asking.again(51), None);
        let next = asking.request(1, 9, 0, 52);
        assert!(next.instance != request.instance && next.sequence == 1);
    }

    #[test]
    fn an_answer_is_taken_once_and_only_if_it_is_to_the_request() {
        let mut asking = asking(100);
        let request = asking.request(1, 9, 0, 50);
        let strange = [
            Answer { sequence: 2, ..answer(request, 5, 5) },
            Answer { instance: request.instance ^ 1, ..answer(request, 5, 5) },
            answer(request, 10, 10),
        ];
        assert!(strange.into_iter().all(|answer| asking.take(answer).is_none()));
        let answer = answer(request, 5, 5);
        assert_eq!(asking.take(answer), Some(Grant { tokens: 5, end: 50 + 98_998 }));
        assert_eq!(asking.take(answer), None);
    }

    #[test]
    fn a_request_is_sent_again_as_long_as_its_answer_is_of_use() {
        let mut leased = asking(100);
        let request = leased.request(1, 9, 0, 50);
        assert_eq!((leased.again(100_049), leased.again(100_050), leased.again(0)), (Some(request), None, None));
        let mut exact = asking(0);
        let request = exact.request(1, 1, 0, 50);
        assert_eq!((exact.again(1_000_049), exact.again(1_000_050)), (Some(request), None));
    }

    #[test]
    fn only_the_end_of_what_was_drawn_without_a_gap_goes_back() {
        let mut asking = asking(100);
        let mut draw = |unspent, granted, position| {
            let request = asking.request(0, 9, unspent, 0);
            asking.take(answer(request, granted, position)).unwrap();
            request.back
        };
        assert_eq!(draw(7, 5, 5), 0); // nothing was drawn
        assert_eq!(draw(0, 4, 9), 0);
        assert_eq!(draw(10, 2, 2), 9); // two draws without a gap, and no more than they were
        assert_eq!(draw(10, 3, 5), 2); // [0, 2), not what went back before
        assert_eq!(draw(1, 0, 8), 1);
        assert_eq!(draw(1, 5, 13), 0); // another was last
        assert_eq!(draw(6, 5, 30), 5); // a gap: [8, 13) only
        assert_eq!(draw(0, 0, 40), 0);
        assert_eq!(draw(3, 0, 40), 0); // another has drawn since
    }

    #[test]
    fn a_grant_of_less_than_was_asked_for_is_none() {
        for granted in 0..12 {
            let mut asking = asking(100);
            let request = asking.request(3, 10, 0, 50);
            let taken = asking.take(answer(request, granted, 20));
            assert_eq!(taken.map(|grant| grant.tokens), matches!(granted, 0 | 3..=10).then_some(granted));
        }
    }

    #[test]
    fn every_lease_ends_for_its_holder_before_it_does_for_the_centre() {
        // Both clocks count whole microseconds, and their rates differ by 1 in 10 000 at most.
        for lease in (1..2_000).chain([1_000_000, 3_600_000_000]) {
            let mut asking = Asking::new(Terms { tokens: 1, micros: 1_000, burst: 1_000, lease });
            let request = asking.request(0, 10, 0, 777);
            let end = asking.take(answer(request, 10, 20)).unwrap().end - 777;
            assert!(end + 1 + end.div_ceil(10_000) <= lease || end == 0, "{end} of {lease}");
        }
    }

    #[test]
    fn a_wait_of_longer_than_can_be_counted_is_the_longest_one() {
        let quota = Quota::per(1, Duration::from_secs(31_557_600)).with_burst(1 << 21);
        let mut asking = Asking::new(Terms::new(quota, Duration::ZERO).unwrap());
        let request = asking.request(1, 1, 0, 50);
        asking.take(answer(request, 1, 20)).unwrap();
        assert!(asking.wait(1 << 20) > u64::MAX / 2);
    }
}
