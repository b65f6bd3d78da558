//! The sharded protocol in every interleaving, every load as stale as a relaxed load may be: an explicit-state search.
//!
//! Beside the loom models of the real type this explores a transcription of the protocol, a step per access, and looks at
//! every state that can be reached. Rules left out must be found out.

#![cfg(not(loom))] // it explores states itself

mod memory;
mod protocol;
mod world;

use std::collections::HashSet;
use std::rc::Rc;
use world::{Broken, Broken::*, Call::*, Event, Fault, Fault::*, Scenario, State};

/// How a state was reached.
struct Path(Event, Option<Rc<Path>>);

/// What a search has found.
struct Found {
    states: usize,
    /// The least room that any state had left in its fullest window.
    slack: i64,
    fault: Option<(Fault, Vec<Event>)>,
}

fn search(world: &Scenario<'_>, looked_for: impl Fn(Fault) -> bool) -> Found {
    let mut seen = HashSet::new();
    let mut open: Vec<(State, Option<Rc<Path>>)> = vec![(world.start(), None)];
    let mut slack = i64::MAX;
    while let Some((state, path)) = open.pop() {
        slack = slack.min(world.slack(&state));
        if let Some(fault) = world.fault(&state, &looked_for) {
            let mut steps: Vec<_> =
                core::iter::successors(path.as_ref(), |path| path.1.as_ref()).map(|path| path.0).collect();
            steps.reverse();
            return Found { states: seen.len(), slack, fault: Some((fault, steps)) };
        }
        for (event, next) in world.next(&state) {
            if seen.insert(next.clone()) {
                open.push((next, Some(Rc::new(Path(event, path.clone())))));
            }
        }
    }
    Found { states: seen.len(), slack, fault: None }
}

/// The protocol as it is has no fault in `world`, and comes as close to the bound as `short`; each twin has the fault that
/// it is said to have.
fn check(name: &str, world: Scenario<'_>, short: i64, twins: &[(Broken, Fault)]) {
    let Found { states, slack, fault } = search(&world, |_| true);
    println!("{name}: {states} states, {slack} short of the bound");
    assert!(fault.is_none(), "{name}: {fault:#?}");
    assert_eq!(slack, short, "{name}: tokens short of the bound");
    for &(broken, fault) in twins {
        let found = search(&Scenario { broken, ..world }, |found| found == fault);
        println!("{name}: {fault:?} with {broken:?} after {} states", found.states);
        assert!(found.fault.is_some(), "{name}: {broken:?} does no harm");
    }
}

/// What scenarios have in common.
const WORLD: Scenario<'_> = Scenario {
    threads: &[],
    slots: 1,
    batch: 1,
    central: 4,
    consumed: 0,
    credits: 0,
    settling: None,
    ticks: 1,
    broken: Nothing,
};

#[test]
fn two_refillers_of_one_slot() {
    let threads = &[(0, &[Acquire(1)][..]), (0, &[Acquire(1)]), (0, &[Spend(1), Spend(1), AcquireAt(4)])];
    let twins = [NoBit, NoBitButCap].map(|broken| (broken, OverAdmission));
    check("two refillers", Scenario { threads, ..WORLD }, 0, &twins);
}

#[test]
fn two_refills_in_a_row() {
    let threads = &[(0, &[Acquire(1), Acquire(1)][..]), (0, &[Spend(1), Spend(1), AcquireAt(4)])];
    check("two refills", Scenario { threads, ..WORLD }, 0, &[(ReadingReused, OverAdmission)]);
}

#[test]
fn spending_goes_on_beside_a_refill() {
    let threads = &[(0, &[Acquire(2)][..]), (0, &[Spend(1), Spend(1)]), (0, &[AcquireAt(3)])];
    let twins = [ClockBeforeBit, CreditsReloaded, NoCap].map(|broken| (broken, OverAdmission));
    check("spending", Scenario { threads, central: 3, credits: 1, ..WORLD }, 0, &twins);
}

#[test]
fn three_want_the_last_credit() {
    let threads = &[(0, &[Acquire(1)][..]), (0, &[Acquire(1)]), (0, &[Acquire(1)])];
    let world = Scenario { threads, central: 1, credits: 1, ..WORLD };
    check("last credit", world, 0, &[(Undo, OverAdmission), (WholeBurst, OverAdmission)]);
    check("last credit, with refills", Scenario { central: 2, ..world }, 0, &[(PaidBack, TokensLostOrMade)]);
}

/// What idle periods do not give back, since nobody can tell when the last credits were spent.
#[test]
fn that_slots_are_empty_now_is_no_reason_to_draw_more() {
    let threads = &[(0, &[Spend(1)][..]), (0, &[AcquireAt(4), AcquireAt(1)])];
    check("empty slots", Scenario { threads, credits: 1, ..WORLD }, 0, &[(WholeBurstWhenEmpty, OverAdmission)]);
}

#[test]
fn a_crowd_with_time_to_refill_twice() {
    let threads = &[(0, &[Acquire(1), Acquire(1)][..]), (0, &[Acquire(1), Acquire(1)])];
    check("crowd", Scenario { threads, central: 2, credits: 1, ticks: 2, ..WORLD }, 0, &[]);
}

#[test]
fn a_cost_comes_from_one_place() {
    let threads = &[(0, &[Acquire(3), Acquire(4)][..]), (0, &[Acquire(1), Acquire(2)])];
    check("pieces", Scenario { threads, consumed: 2, credits: 1, ..WORLD }, 0, &[(Gathered, OverAdmission)]);
}

#[test]
fn what_was_drawn_is_not_put_back() {
    let threads = &[(0, &[Acquire(1), Acquire(2)][..]), (0, &[Acquire(4)])];
    check("put back to a slot", Scenario { threads, ..WORLD }, 1, &[(CancelledToSlot, OverAdmission)]);
    let threads = &[(0, &[Acquire(2)][..]), (0, &[Acquire(3), Acquire(3)])];
    check("put back to V", Scenario { threads, central: 3, ..WORLD }, 1, &[(CancelledToCentral, OverAdmission)]);
}

#[test]
fn thieves_take_whole_costs_from_other_slots() {
    let threads = &[(0, &[Acquire(1)][..]), (1, &[Acquire(1)]), (1, &[Acquire(2)])];
    check("thieves", Scenario { threads, slots: 2, central: 2, ..WORLD }, 1, &[]);
}

#[test]
fn denials_know_when_there_is_nothing() {
    let threads = &[(0, &[Acquire(1)][..]), (1, &[Acquire(1), Acquire(1)])];
    let twins = [CountedFirst, NotAcquired].map(|broken| (broken, DryWithCredits));
    check("denials", Scenario { threads, slots: 2, central: 2, ticks: 0, ..WORLD }, 2, &twins);
}

#[test]
fn handles_hold_and_give_back() {
    let threads = &[(0, &[Claim, Drop][..]), (0, &[Claim, Acquire(1), Acquire(1)]), (0, &[Spend(1), AcquireAt(3)])];
    check("handles", Scenario { threads, central: 3, credits: 1, ..WORLD }, 0, &[(FreedFirst, OverAdmission)]);
    let threads = &[(0, &[Claim, Acquire(1), Acquire(1), Acquire(1), Acquire(1), Drop][..]), (0, &[Acquire(4)])];
    check("a handle's batches", Scenario { threads, ..WORLD }, 0, &[(HandleReadingReused, OverAdmission)]);
}

#[test]
fn calls_on_a_reading_keep_to_it() {
    let threads = &[(0, &[AcquireAt(1)][..]), (0, &[Acquire(1), Acquire(1)]), (0, &[Acquire(4)])];
    check("calls on a reading", Scenario { threads, credits: 1, ..WORLD }, 0, &[(CreditsAsOf, OverAdmission)]);
}

#[test]
fn refunds_come_at_any_time() {
    let threads = &[(0, &[Acquire(1), Refund][..]), (0, &[Acquire(1), Acquire(3)])];
    check("refunds", Scenario { threads, central: 3, ..WORLD }, 0, &[]);
}

/// A slot that is quiet misses nothing: neither a refund, nor a deposit, nor a token that falls due.
#[test]
fn nothing_is_missed_in_the_quiet() {
    let quiet = Scenario { settling: Some(0), central: 2, consumed: 2, slots: 2, ticks: 0, ..WORLD };
    let threads = &[(0, &[Refund][..]), (1, &[Acquire(1), Acquire(1)])];
    let twins = [ToldFirst, NewsAfterLook, NewsNotAcquired, NewsIgnored].map(|broken| (broken, Missed));
    check("a refund in the quiet", Scenario { threads, ..quiet }, 4, &twins);
    let threads = &[(0, &[Acquire(1)][..]), (1, &[Acquire(1)])];
    let world = Scenario { threads, consumed: 0, ..quiet };
    check("a deposit in the quiet", world, 2, &[(DepositNotTold, Missed)]);
    let threads = &[(0, &[Acquire(1)][..]), (1, &[Acquire(1)])];
    check("a token in the quiet", Scenario { threads, ticks: 1, ..quiet }, 2, &[(NeverEnds, Missed)]);
}

/// Tokens that settle are drawn as credits, and no window has more for it.
#[test]
fn what_has_settled_keeps_the_bound() {
    let threads = &[(0, &[Acquire(1), Acquire(1)][..]), (0, &[Acquire(1), Acquire(1)])];
    let world = Scenario { threads, central: 2, credits: 1, ticks: 2, settling: Some(1), ..WORLD };
    check("settling", world, 0, &[]);
}
