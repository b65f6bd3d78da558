//! A flood: keys that come once each, many more than there is room for.

use super::load::Load;
use super::population::row as case;
use super::resident::resident;
use crate::engine::keyed::Entry;
use crate::engine::label::Kind;
use crate::figures::outcome::Verdict;
use crate::figures::row::Row;
use crate::figures::stats::{median_index, mops};
use crate::run::timer::{Latencies, Timer, histogram};
use std::time::Instant;
use tollgate::Quota;

/// Keys that the table is made for.
pub const CAPACITY: u32 = 100_000;

/// Keys that come before the measurement, so that all memory is in use that ever will be.
const WARM_UP: u64 = 4 * CAPACITY as u64;

/// Calls between two looks at the memory.
const LOOK: u64 = 1 << 18;

/// What a limiter in fixed memory may grow: the odd page of its surroundings.
const FLAT: u64 = 2 << 20;

/// What one flood did to one engine.
#[derive(Clone, Debug)]
pub struct Flood {
    /// Nanoseconds of each call, with one reading of the timer in each.
    pub pauses: Latencies,
    /// Calls that were admitted.
    pub admitted: u64,
    /// Time of the whole, with timers.
    pub seconds: f64,
    /// What resident memory grew by at most since the warm-up, where the system says so.
    pub growth: Option<u64>,
}

/// The quota of each key: one call is forgotten after a millisecond, so that of a flood of 50 million keys a second the
/// table holds as many as it is made for.
fn quota() -> Quota {
    Quota::per_second(1_000).with_burst(10)
}

/// Has `keys` keys call once each.
///
/// # Panics
///
/// Never: the histogram takes all times.
pub fn flood(entry: &Entry, keys: u64) -> Flood {
    let engine = (entry.work.build_bounded)(quota(), CAPACITY);
    let clock = quanta::Clock::new();
    let mut pauses = histogram();
    for key in 0..WARM_UP {
        engine.try_acquire(key);
        pauses.saturating_record(key); // its memory, too, is in use from here on
    }
    pauses.reset();
    let before = resident();
    let mut highest = before;
    let mut admitted = 0;
    let start = Instant::now();
    for key in 0..keys {
        let from = clock.raw();
        let is_admitted = engine.try_acquire(WARM_UP + key);
        let pause = clock.delta_as_nanos(from, clock.raw());
        admitted += u64::from(is_admitted);
        pauses.saturating_record(pause.max(1));
        if key % LOOK == LOOK - 1 || key == keys - 1 {
            highest = highest.max(resident());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let growth = before.zip(highest).map(|(before, highest)| highest - before);
    Flood { pauses, admitted, seconds, growth }
}

impl Flood {
    /// Whether this can be right: an engine without a bound refuses nobody, and ours takes no memory.
    ///
    /// # Errors
    ///
    /// Says in words what is wrong.
    pub fn verify(&self, entry: &Entry) -> Verdict {
        let refused = self.pauses.len() - self.admitted;
        match self.growth {
            _ if refused > 0 && !entry.work.bounded => {
                Err(format!("{refused} keys were refused, though there is no bound"))
            }
            Some(growth) if growth > FLAT && entry.label.kind == Kind::Ours => {
                Err(format!("memory grew by {growth} bytes in a flood"))
            }
            _ => Ok(()),
        }
    }
}

/// The row of the flood with the median of the worst pauses.
///
/// # Panics
///
/// Without a flood.
#[allow(clippy::cast_precision_loss)] // nanoseconds of a pause
pub fn row(entry: &Entry, floods: &[Flood], timer: Timer) -> Row {
    let worst: Vec<_> = floods.iter().map(|flood| flood.pauses.max() as f64).collect();
    let flood = &floods[median_index(&worst).expect("at least one flood")];
    let ops = flood.pauses.len();
    let rates = floods.iter().map(|flood| mops(ops, flood.seconds));
    let row = Row {
        ops,
        seconds: flood.seconds,
        mops: mops(ops, flood.seconds),
        // Of the calls alone, with one reading of the timer in each.
        ns_per_op: flood.pauses.mean(),
        admitted: flood.admitted,
        verified: floods.iter().all(|flood| flood.verify(entry).is_ok()),
        repetitions: floods.len(),
        mops_min: rates.clone().fold(f64::INFINITY, f64::min),
        mops_max: rates.fold(0.0, f64::max),
        thread_min: ops,
        thread_max: ops,
        refused: Some(ops - flood.admitted),
        resident_growth: flood.growth,
        ..case(entry, Load::Admit, "flood", 1, ops)
    };
    timer.percentiles(&flood.pauses, row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::keyed::registry::{ENTRIES, named};

    #[test]
    fn floods_are_counted_and_judged() {
        let timer = Timer { overhead: 1, step: 1 };
        for entry in ENTRIES {
            let flood = flood(entry, 20_000);
            assert_eq!(flood.pauses.len(), 20_000);
            let row = row(entry, core::slice::from_ref(&flood), timer);
            assert_eq!((row.ops, row.admitted + row.refused.unwrap()), (20_000, 20_000));
            assert!(row.max_ns >= row.p999_ns && row.max_ns > Some(0) && row.pattern.as_deref() == Some("flood"));
            if !entry.work.bounded {
                assert_eq!(flood.verify(entry), Ok(()), "{}", entry.label.name);
                let short = Flood { admitted: 19_999, ..flood };
                assert!(short.verify(entry).is_err(), "{}", entry.label.name);
            }
        }
    }

    #[test]
    fn memory_that_grows_is_a_fault_of_ours_only() {
        let mut pauses = histogram();
        pauses.record(1).unwrap();
        let flood = |growth| Flood { pauses: pauses.clone(), admitted: 1, seconds: 1.0, growth: Some(growth) };
        let [keyed, map] = ["keyed", "mutex-hashmap"].map(named);
        assert!(flood(FLAT).verify(&keyed).is_ok() && flood(FLAT + 1).verify(&keyed).is_err());
        assert!(flood(1 << 30).verify(&map).is_ok());
    }

    #[test]
    fn the_row_is_that_of_the_median_worst_pause() {
        let flood = |worst| {
            let mut pauses = histogram();
            pauses.record(worst).unwrap();
            Flood { pauses, admitted: 1, seconds: 1.0, growth: None }
        };
        let timer = Timer { overhead: 1, step: 1 };
        let row = row(&named("keyed"), &[flood(900), flood(100), flood(500)], timer);
        assert_eq!((row.max_ns, row.repetitions, row.resident_growth), (Some(500), 3, None));
    }
}
