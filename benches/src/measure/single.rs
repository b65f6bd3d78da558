//! A single caller, timed without threads: what criterion repeats.

use crate::engine::Engine;
use crate::engine::label::Kind;
use crate::engine::load::Load;
use crate::engine::registry::Visitor;
use crate::run::slice::drain;
use core::time::Duration;
use std::time::Instant;

/// Times a number of calls under a load.
#[derive(Debug)]
pub struct Single;

impl Visitor for Single {
    type Work = fn(Load, u64) -> Duration;

    fn visit<E: Engine>() -> Self::Work {
        time::<E>
    }
}

/// The time that `calls` calls take one thread that has the engine to itself, without building or draining it.
///
/// # Panics
///
/// If a call is not answered as the load demands.
fn time<E: Engine>(load: Load, calls: u64) -> Duration {
    let quota = E::quota(load);
    let floor = E::LABEL.kind == Kind::Floor;
    // An engine that cannot admit so many is built anew, with the clock stopped.
    let most = if load == Load::Admit { E::supply(quota) } else { u64::MAX };
    let (mut left, mut spent) = (calls, Duration::ZERO);
    while left > 0 {
        let batch = left.min(most);
        let engine = E::build(quota);
        if load == Load::Deny && !floor {
            drain(&engine, quota.burst());
        }
        let call = engine.caller();
        let start = Instant::now();
        let admitted = drive(call, batch);
        spent += start.elapsed();
        let wrong = match load {
            Load::Admit => admitted != batch,
            Load::Deny => admitted != 0 && !floor,
            _ => admitted == 0,
        };
        assert!(!wrong, "{}: {admitted} of {batch} calls admitted under {load}", E::LABEL.name);
        left -= batch;
    }
    spent
}

#[inline(never)]
fn drive(mut call: impl FnMut() -> bool, calls: u64) -> u64 {
    (0..calls).map(|_| u64::from(call())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::registry::engines;

    #[test]
    fn every_engine_answers_as_every_load_demands() {
        for entry in engines::<Single>() {
            for load in Load::ALL {
                assert!((entry.work)(load, 1_000) > Duration::ZERO, "{} {load}", entry.label.name);
            }
        }
    }
}
