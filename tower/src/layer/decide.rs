//! Deciding a request: all policies, or none.

use crate::answer::{Reason, Report};
use crate::limit::{Asked, Held, Said, Seen};
use crate::observe;
use crate::policy::Policy;
use tollgate::{Denied, Status};

/// What all policies together say.
pub(super) enum Outcome<'a> {
    Pass,
    /// It passes once all of these are due.
    Wait(Vec<Held>),
    /// It does not, and because of which policy.
    Refuse(Reason, &'a Policy),
}

/// Puts a request to all policies. How those stand that were asked is added to `reports`, in order, if somebody is told.
pub(super) fn decide<'a>(
    request: Seen<'_>,
    reports: &mut Option<Vec<Report<'a>>>,
    policies: &'a [Policy],
) -> Outcome<'a> {
    Deciding { request, reports }.decide(policies, false)
}

/// A request on its way through the policies.
struct Deciding<'a, 'r> {
    request: Seen<'r>,
    reports: &'r mut Option<Vec<Report<'a>>>,
}

impl<'a> Deciding<'a, '_> {
    /// Puts the request to each policy in turn. What was taken goes back if one of them refuses: it is held on the stack
    /// meanwhile, by one call for each. `waits` says whether the request will have to wait for what is held already.
    fn decide(&mut self, policies: &'a [Policy], waits: bool) -> Outcome<'a> {
        let mut left = policies.iter();
        while let Some(policy) = left.next() {
            if !policy.concerns(self.request) {
                continue;
            }
            let (others, cost) = (left.as_slice(), policy.cost(self.request));
            // What is taken need not be held if nothing can go wrong any more: the request goes on at once, and nobody
            // refuses it.
            let keeps = policy.observed || !waits && others.iter().all(|other| other.observed);
            let mut status = None;
            let said = self.ask(policy, cost, keeps, &mut status);
            observe::said(policy, &said);
            let denied = if let Said::Denied(denied) = &said { Some(*denied) } else { None };
            self.report(policy, cost, status, denied);
            match said {
                Said::Admitted(Some(held)) => return self.decide_others(others, waits, held, cost),
                Said::Denied(denied) if !policy.observed => return Outcome::Refuse(Reason::Denied(denied), policy),
                Said::NoKey if !policy.observed => return Outcome::Refuse(Reason::NoKey, policy),
                _ => {}
            }
        }
        Outcome::Pass
    }

    /// Puts the request to one policy. What it takes is held, unless it `keeps` it in any case.
    fn ask(&self, policy: &Policy, cost: u64, keeps: bool, status: &mut Option<Status>) -> Said<Option<Held>> {
        let (limit, request, told) = (&*policy.limit, self.request, self.reports.is_some());
        if keeps {
            let said = limit.take(Asked { request, cost, status: told.then_some(&mut *status) });
            if policy.observed || !matches!(said, Said::Denied(_)) || !limit.waits() {
                return said.map(|()| None);
            }
        }
        limit.hold(Asked { request, cost, status: told.then_some(status) }).map(Some)
    }

    /// Puts the request to the other policies, while tokens of one are held.
    fn decide_others(&mut self, others: &'a [Policy], waits: bool, held: Held, cost: u64) -> Outcome<'a> {
        let report = self.reports.as_ref().map_or(0, Vec::len);
        let waits = waits || !held.is_due();
        match self.decide(others, waits) {
            Outcome::Pass if waits => Outcome::Wait(vec![held]),
            Outcome::Pass => {
                held.spend();
                Outcome::Pass
            }
            Outcome::Wait(mut all) => {
                all.push(held);
                Outcome::Wait(all)
            }
            refused @ Outcome::Refuse(..) => {
                let is_back = held.give_back();
                let report = self.reports.as_mut().and_then(|reports| reports.get_mut(report - 1));
                if let Some(Report { status, .. }) = report.filter(|_| is_back) {
                    status.remaining = status.remaining.saturating_add(cost).min(status.limit);
                }
                refused
            }
        }
    }

    /// Adds a report, if somebody reads it.
    fn report(&mut self, policy: &'a Policy, cost: u64, status: Option<Status>, denied: Option<Denied>) {
        if let (Some(reports), Some(status)) = (&mut *self.reports, status) {
            let (name, quota, unit) = (&*policy.name, policy.limit.quota(), policy.unit);
            reports.push(Report { name, quota, unit, status, denied, cost });
        }
    }
}
