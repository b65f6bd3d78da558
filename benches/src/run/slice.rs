//! One timed run of one engine.

use super::pool::Pool;
use super::sample::Sample;
use super::stage::{Signal, Tally, stage};
use super::verdict::verify;
use crate::engine::Engine;
use crate::engine::label::Kind;
use crate::engine::load::Load;
use core::time::Duration;
use crossbeam_utils::CachePadded;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// The kind of traffic.
    pub load: Load,
    /// Threads that call the engine.
    pub threads: usize,
    /// For how long.
    pub length: Duration,
}

/// How a thread calls an engine until it is stopped, and what it looks at meanwhile.
pub trait Drive {
    /// What it has seen beside its tally.
    type Detail: Send + 'static;

    /// The timed loop: makes calls until the signal is over, but at most `most`.
    fn drive(call: impl FnMut() -> bool, signal: &Signal, most: u64) -> (Tally, Self::Detail);
}

/// Builds an engine, has threads drive it, and judges what it admitted.
///
/// # Panics
///
/// If the operating system has no more threads to give.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
pub fn run<E: Engine, D: Drive>(pool: &Pool, slice: Slice) -> Sample<D::Detail> {
    let Slice { load, threads, length } = slice;
    let is_floor = matches!(E::LABEL.kind, Kind::Floor);
    let quota = E::quota(load);
    let engine = CachePadded::new(E::build(quota));
    if load == Load::Deny && !is_floor {
        drain::<E>(&engine, quota.burst());
    }
    let most = if load == Load::Admit { E::supply(quota) / threads as u64 } else { u64::MAX };
    let run = stage(pool, threads, length, move |_, signal| {
        let call = engine.caller();
        signal.begin();
        D::drive(call, signal, most)
    });
    let (seen, due) = (run.seen, E::due(quota, run.seen.elapsed));
    let is_mixed = !matches!(load, Load::Admit | Load::Deny) && !is_floor;
    // A floor admits everything, whatever the load.
    let judged = if is_floor { Load::Admit } else { load };
    Sample {
        ops: seen.ops,
        admitted: seen.admitted,
        seconds: seen.elapsed.as_secs_f64(),
        thread_min: run.thread_min,
        thread_max: run.thread_max,
        admitted_share: is_mixed.then(|| (seen.admitted as f64 / due.max(1) as f64).min(1.0)),
        verdict: verify(judged, quota, E::bound(quota, seen.elapsed), seen),
        details: run.details,
    }
}

/// Takes tokens until there are none.
///
/// # Panics
///
/// If there were none to begin with.
pub fn drain<E: Engine>(engine: &E, burst: u64) {
    let mut call = engine.caller();
    let taken = (0..=burst).take_while(|_| call()).count();
    assert!(taken > 0, "{} was empty before it was drained", E::LABEL.name);
}
