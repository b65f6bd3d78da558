//! A single caller, timed without threads: what criterion repeats.

use crate::engine::{Caller, Engine, Kind};
use crate::load::Load;
use core::time::Duration;
use std::time::Instant;

/// The time that `calls` calls take one thread that has the engine to itself, without building or draining it.
///
/// # Panics
///
/// If a call is not answered as the load demands.
pub fn time<E: Engine>(load: Load, calls: u64) -> Duration {
    let quota = E::quota(load);
    let floor = E::KIND == Kind::Floor;
    // An engine that cannot admit so many is built anew, with the clock stopped.
    let most = if load == Load::Admit { E::supply(quota) } else { u64::MAX };
    let (mut left, mut spent) = (calls, Duration::ZERO);
    while left > 0 {
        let batch = left.min(most);
        let engine = E::build(quota);
        let mut caller = engine.caller();
        if load == Load::Deny && !floor {
            while caller.try_acquire() {}
        }
        let start = Instant::now();
        let admitted = drive::<E>(&mut caller, batch);
        spent += start.elapsed();
        let wrong = match load {
            Load::Admit => admitted != batch,
            Load::Deny => admitted != 0 && !floor,
            Load::Mixed => admitted == 0,
        };
        assert!(!wrong, "{}: {admitted} of {batch} calls admitted under {load}", E::NAME);
        left -= batch;
    }
    spent
}

#[inline(never)]
fn drive<E: Engine>(caller: &mut E::Caller<'_>, calls: u64) -> u64 {
    (0..calls).map(|_| u64::from(caller.try_acquire())).sum()
}

#[cfg(test)]
mod tests {
    use crate::load::Load;
    use crate::registry::ENTRIES;
    use core::time::Duration;

    #[test]
    fn every_engine_answers_as_every_load_demands() {
        for entry in ENTRIES {
            for load in Load::ALL {
                assert!((entry.single)(load, 1_000) > Duration::ZERO, "{} {load}", entry.name);
            }
        }
    }
}
