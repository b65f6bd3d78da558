//! [`Entry`]: the engines as a list that can be searched and run.

use crate::contention::slice::{self, Sample, Slice};
use crate::engine::baseline::mutex_log::MutexLog;
use crate::engine::baseline::mutex_parking_lot::MutexParkingLot;
use crate::engine::baseline::mutex_same_step::MutexSameStep;
use crate::engine::baseline::mutex_std::MutexStd;
use crate::engine::floor::clock::FloorClock;
use crate::engine::floor::rmw::FloorRmw;
use crate::engine::ours::fixed_window::FixedWindow;
use crate::engine::ours::handle::Handle;
use crate::engine::ours::interval::Interval;
use crate::engine::ours::leaky_bucket::LeakyBucket;
use crate::engine::ours::packed::Packed;
use crate::engine::ours::sharded::Sharded;
use crate::engine::ours::sliding_counter::SlidingCounter;
use crate::engine::ours::sliding_log::SlidingLog;
use crate::engine::ours::token_bucket::TokenBucket;
use crate::engine::peer::better_bucket::BetterBucket;
use crate::engine::peer::governor::Governor;
use crate::engine::peer::leaky_bucket::LeakyBucketCrate;
use crate::engine::peer::quanta_clock::QuantaClock;
use crate::engine::peer::rate_net::RateNet;
use crate::engine::peer::ratelimit::Ratelimit;
use crate::engine::{Engine, Kind};
use crate::latency::sample::{self, Latencies};
use crate::load::Load;
use crate::pool::Pool;
use crate::{single, writes};
use ::governor::clock::MonotonicClock;
use core::time::Duration;

/// An engine on one clock, with the functions that measure it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The engine's name.
    pub name: &'static str,
    /// The version of the crate it comes from.
    pub version: &'static str,
    /// The clock it reads.
    pub clock: &'static str,
    /// Its part in the comparison.
    pub kind: Kind,
    /// Measures its throughput once.
    pub contention: fn(&Pool, Slice) -> Sample,
    /// Measures its latencies once.
    pub latency: fn(&Pool, Slice) -> Latencies,
    /// Times a number of calls by one thread.
    pub single: fn(Load, u64) -> Duration,
    /// Makes the calls whose memory accesses are watched.
    pub watched: fn(Load),
}

impl Entry {
    /// The entry for an engine.
    pub const fn of<E: Engine>() -> Self {
        Self {
            name: E::NAME,
            version: E::VERSION,
            clock: E::CLOCK,
            kind: E::KIND,
            contention: slice::measure::<E>,
            latency: sample::measure::<E>,
            single: single::time::<E>,
            watched: writes::watched::<E>,
        }
    }
}

/// Every engine on every clock, in the order in which they are shown. An engine stands there twice where it accepts
/// another clock: first on the one it comes with.
pub const ENTRIES: &[Entry] = &[
    Entry::of::<FloorRmw>(),
    Entry::of::<FloorClock>(),
    Entry::of::<TokenBucket>(),
    Entry::of::<TokenBucket<tollgate::MonotonicClock>>(),
    Entry::of::<LeakyBucket>(),
    Entry::of::<Packed>(),
    Entry::of::<Sharded>(),
    Entry::of::<Handle>(),
    Entry::of::<FixedWindow>(),
    Entry::of::<Interval>(),
    Entry::of::<SlidingCounter>(),
    Entry::of::<SlidingLog>(),
    Entry::of::<MutexStd>(),
    Entry::of::<MutexParkingLot>(),
    Entry::of::<MutexSameStep>(),
    Entry::of::<MutexLog>(),
    Entry::of::<Governor>(),
    Entry::of::<Governor<MonotonicClock>>(),
    Entry::of::<Ratelimit>(),
    Entry::of::<Ratelimit<QuantaClock>>(),
    Entry::of::<BetterBucket>(),
    Entry::of::<BetterBucket<QuantaClock>>(),
    Entry::of::<RateNet>(),
    Entry::of::<RateNet<QuantaClock>>(),
    Entry::of::<LeakyBucketCrate>(),
];

/// The `entries` whose name is among `names` (all of them if there are none) and whose clock is among `clocks`
/// (likewise).
///
/// # Errors
///
/// If a name or a clock is not known, or nothing is left; the message lists what there is.
pub fn select(entries: &[Entry], names: &[String], clocks: &[String]) -> Result<Vec<Entry>, String> {
    let known = |what, given: &[String], of: fn(&Entry) -> &'static str| {
        let mut all: Vec<_> = entries.iter().map(of).collect();
        all.dedup();
        match given.iter().find(|name| !all.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(format!("no {what} is called {name}; there are: {}", all.join(" "))),
        }
    };
    known("engine", names, |entry| entry.name)?;
    known("clock", clocks, |entry| entry.clock)?;
    let wanted = |given: &[String], name: &str| given.is_empty() || given.iter().any(|wanted| wanted == name);
    let chosen = entries.iter().filter(|entry| wanted(names, entry.name) && wanted(clocks, entry.clock));
    let chosen: Vec<_> = chosen.copied().collect();
    if chosen.is_empty() { Err("none of these engines reads that clock".into()) } else { Ok(chosen) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.into()).collect()
    }

    #[test]
    fn engines_are_found_by_name_and_clock() {
        assert_eq!(select(ENTRIES, &[], &[]).unwrap().len(), ENTRIES.len());
        let governors = select(ENTRIES, &names(&["governor"]), &[]).unwrap();
        assert_eq!(governors.iter().map(|entry| entry.clock).collect::<Vec<_>>(), ["quanta", "std"]);
        assert_eq!(select(ENTRIES, &names(&["governor"]), &names(&["std"])).unwrap().len(), 1);
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        assert!(select(ENTRIES, &names(&["guvernor"]), &[]).unwrap_err().contains("governor"));
        assert!(select(ENTRIES, &[], &names(&["sundial"])).unwrap_err().contains("quanta"));
        assert!(select(ENTRIES, &names(&["floor-rmw"]), &names(&["std"])).is_err());
    }

    #[test]
    fn no_engine_is_listed_twice() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            let same = |other: &Entry| (other.name, other.clock) == (entry.name, entry.clock);
            assert_eq!(ENTRIES.iter().position(same), Some(index));
        }
    }
}
