//! [`explore`] and [`must_fail`]: run a model's body in every way there is.

use core::any::Any;
use core::fmt::Write as _;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicU64, Ordering};
use std::io::Write as _;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;

type Panic = Box<dyn Any + Send>;

/// How one way of running a body went.
struct Tally {
    /// What was special about it.
    way: &'static str,
    executions: u64,
    failure: Option<Panic>,
}

/// Runs `body` in every interleaving, and panics if any of them does; prints how many there were.
///
/// Loom explores the model twice: with loads as they are, and with each load as a `fetch_add(0)`, because loom skips
/// interleavings of plain loads that it takes for redundant. `preemption_bound` is how many times in one execution a
/// thread may be interrupted where it could have gone on, and once more the second way; `None` explores all.
///
/// Without loom, the body runs a thousand times on real threads.
///
/// # Panics
///
/// As the body does in the first execution that fails; and if there was only one execution either way, for then nothing
/// raced. (Loom can take all plain loads of a model for redundant and run it once; then the second way is the proof.)
pub fn explore(name: &str, preemption_bound: Option<usize>, body: impl Fn() + Send + Sync + 'static) {
    let tallies = in_every_way(preemption_bound, &Arc::new(body));
    report(name, "", &tallies);
    let raced = tallies.iter().any(|tally| tally.executions > 1);
    for tally in tallies {
        if let Some(panic) = tally.failure {
            resume_unwind(panic);
        }
    }
    assert!(raced, "{name}: there is one execution only, so nothing races in it");
}

/// Runs a broken twin, and panics unless some execution of it fails with a message that contains `symptom`.
///
/// It is enough if one of the two ways to model loads finds the failure; what is printed says which did. On real
/// threads luck decides, so mark the test
/// `#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]`.
///
/// # Panics
///
/// If no execution fails, or if one fails with another symptom.
pub fn must_fail(name: &str, preemption_bound: Option<usize>, symptom: &str, body: impl Fn() + Send + Sync + 'static) {
    let tallies = in_every_way(preemption_bound, &Arc::new(body));
    report(name, "broken twin, ", &tallies);
    let mut seen = false;
    for panic in tallies.into_iter().filter_map(|tally| tally.failure) {
        let said = message(&panic);
        assert!(said.contains(symptom), "{name}: failed, but not with {symptom:?}: {said}");
        seen = true;
    }
    assert!(seen, "{name}: the twin is broken, and no execution shows it");
}

/// Printed past the test runner's capture: the figures belong in every log.
fn report(name: &str, kind: &str, tallies: &[Tally]) {
    let mut line = format!("{name}: {kind}");
    for (i, Tally { way, executions, failure }) in tallies.iter().enumerate() {
        let separator = if i == 0 { "" } else { ", " };
        let end = if failure.is_some() { " until it failed" } else { "" };
        let _ = write!(line, "{separator}{executions} executions {way}{end}");
    }
    // A closed stream must not fail a proof.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn message(panic: &Panic) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(a panic without a message)")
}

/// Counts the calls of `body` while `run` makes them.
fn tally(way: &'static str, body: &Arc<impl Fn() + Send + Sync + 'static>, run: impl FnOnce(Counted)) -> Tally {
    let executions = Arc::new(AtomicU64::new(0));
    let counted = {
        let (executions, body) = (Arc::clone(&executions), Arc::clone(body));
        move || {
            executions.fetch_add(1, Ordering::Relaxed);
            body();
        }
    };
    let failure = catch_unwind(AssertUnwindSafe(|| run(Box::new(counted)))).err();
    Tally { way, executions: executions.load(Ordering::Relaxed), failure }
}

type Counted = Box<dyn Fn() + Send + Sync>;

#[cfg(loom)]
fn in_every_way(preemption_bound: Option<usize>, body: &Arc<impl Fn() + Send + Sync + 'static>) -> Vec<Tally> {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 10_000; // exceeding it is a panic, not an early end
    // Whatever the environment says: either of these would end a model early and let it pass.
    builder.max_permutations = None;
    builder.max_duration = None;
    [(false, "with plain loads"), (true, "with loads as read-modify-writes")]
        .map(|(as_rmw, way)| {
            builder.preemption_bound = preemption_bound.map(|bound| bound + usize::from(as_rmw)); // cheap that way
            crate::sync::loads_as_rmw(as_rmw);
            let tally = tally(way, body, |counted| builder.check(counted));
            crate::sync::loads_as_rmw(false);
            tally
        })
        .into()
}

#[cfg(not(loom))]
fn in_every_way(_preemption_bound: Option<usize>, body: &Arc<impl Fn() + Send + Sync + 'static>) -> Vec<Tally> {
    const RUNS: u32 = if cfg!(miri) { 10 } else { 1_000 };
    vec![tally("on real threads", body, |counted| (0..RUNS).for_each(|_| counted()))]
}
