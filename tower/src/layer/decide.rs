//! Deciding a request: all policies, or none.

use crate::answer::{Reason, Report};
use crate::limit::{Held, Said};
use crate::observe;
use crate::policy::Policy;
use http::request::Parts;

/// What all policies together say, and how they stand.
pub(super) struct Decision<'a> {
    pub(super) outcome: Outcome,
    pub(super) reports: Vec<Report<'a>>,
}

pub(super) enum Outcome {
    Pass,
    /// It passes once all of these are due.
    Wait(Vec<Box<dyn Held>>),
    /// It does not, because of the last policy reported, if it has a report.
    Refuse(Reason),
}

/// Puts a request to each policy in turn. What was taken goes back if one of them refuses.
pub(super) fn decide<'a>(policies: &'a [Policy], request: &Parts) -> Decision<'a> {
    let mut held: Vec<Box<dyn Held>> = Vec::new();
    let mut reports: Vec<Report<'a>> = Vec::with_capacity(policies.len());
    let mut costs = Vec::new(); // of what is held, with its report
    let last = policies.iter().rposition(|policy| !policy.observed);
    for (index, policy) in policies.iter().enumerate() {
        if !policy.concerns(request) {
            continue;
        }
        let cost = policy.cost(request);
        // Nobody can refuse after the last, so what it takes need not be held.
        let said = if policy.observed || Some(index) == last && !policy.limit.waits() {
            policy.limit.take(request, cost)
        } else {
            match policy.limit.hold(request, cost) {
                Said::Admitted(tokens, status) => {
                    held.push(tokens);
                    costs.push((reports.len(), cost));
                    Said::Admitted((), status)
                }
                Said::Denied(denied, status) => Said::Denied(denied, status),
                Said::NoKey => Said::NoKey,
                Said::Unlimited => Said::Unlimited,
            }
        };
        observe::said(policy, &said);
        let report = |status, denied| Report {
            name: &policy.name,
            quota: policy.limit.quota(),
            unit: policy.unit,
            status,
            denied,
            cost,
        };
        let reason = match said {
            Said::Admitted((), status) => {
                reports.push(report(status, None));
                continue;
            }
            Said::Denied(denied, status) => {
                reports.push(report(status, Some(denied)));
                Reason::Denied(denied)
            }
            Said::NoKey => Reason::NoKey,
            Said::Unlimited => continue,
        };
        if !policy.observed {
            // What is held goes back with it.
            for (index, cost) in costs {
                let status = &mut reports[index].status;
                status.remaining = status.remaining.saturating_add(cost).min(status.limit);
            }
            return Decision { outcome: Outcome::Refuse(reason), reports };
        }
    }
    let outcome = if held.iter().any(|tokens| !tokens.delay().is_zero()) {
        Outcome::Wait(held)
    } else {
        held.into_iter().for_each(Held::spend);
        Outcome::Pass
    };
    Decision { outcome, reports }
}
