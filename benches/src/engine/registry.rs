//! The engines as a list. Whatever is done with engines implements [`Visitor`], which is shown their types one by one.

use super::Engine;
use super::floor::{FloorClock, FloorRmw, Reading, StdInstant};
use super::keyed::registry as keyed;
use super::label::{Entry, Kind};
use super::mutex::{MutexLog, MutexParkingLot, MutexSameStep, MutexStd};
use super::ours::{Handles, Interval, Leaky, Places, ThreeLimits};
use super::peer::better_bucket::BetterBucket;
use super::peer::governor::{Governor, GovernorThrice};
use super::peer::leaky_bucket::LeakyBucketCrate;
use super::peer::quanta_clock::QuantaClock as PeerQuantaClock;
use super::peer::rate_net::RateNet;
use super::peer::ratelimit::Ratelimit;
use governor::clock::MonotonicClock as GovernorMonotonic;
use tollgate::{
    AdjustableFixedWindow, AdjustableTokenBucket, CoarseClock, Counted, FixedWindow, Monotone, MonotonicClock,
    PackedTokenBucket, QuantaClock, ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog, TokenBucket, WallClock,
};

/// Something that can be done with any engine.
pub trait Visitor {
    /// A function that does it with one engine.
    type Work;
    /// The function for this engine.
    fn visit<E: Engine>() -> Self::Work;
}

macro_rules! list {
    ($visitor:ty: $($engine:ty,)*) => {
        vec![$(Entry { label: <$engine>::LABEL, work: <$visitor>::visit::<$engine>() },)*]
    };
}

/// Every engine on every clock, in the order in which they are shown. An engine stands there twice where it accepts
/// another clock: first on the one it comes with.
pub fn engines<V: Visitor>() -> Vec<Entry<V::Work>> {
    list![V:
        FloorRmw,
        FloorClock,
        TokenBucket,
        TokenBucket<MonotonicClock>,
        Leaky,
        AdjustableTokenBucket,
        AdjustableFixedWindow,
        Counted<TokenBucket>,
        Places,
        ThreeLimits,
        PackedTokenBucket,
        ShardedTokenBucket,
        Handles,
        FixedWindow,
        Interval,
        SlidingWindowCounter,
        SlidingWindowLog,
        MutexStd,
        MutexParkingLot,
        MutexSameStep,
        MutexLog,
        Governor,
        Governor<GovernorMonotonic>,
        GovernorThrice,
        Ratelimit,
        Ratelimit<PeerQuantaClock>,
        BetterBucket,
        BetterBucket<PeerQuantaClock>,
        RateNet,
        RateNet<PeerQuantaClock>,
        LeakyBucketCrate,
    ]
}

/// Every clock, as an engine that admits whenever it is read. The coarse clock, whose thread then runs for good, comes
/// last.
pub fn clocks<V: Visitor>() -> Vec<Entry<V::Work>> {
    list![V:
        FloorClock,
        Reading<QuantaClock>,
        Reading<Monotone<QuantaClock>>,
        Reading<StdInstant>,
        Reading<MonotonicClock>,
        Reading<WallClock>,
        Reading<CoarseClock>,
    ]
}

/// Nothing is done: for those who want the labels.
impl Visitor for () {
    type Work = ();
    fn visit<E: Engine>() {}
}

/// The part that the engine of this name plays, by key or not; what is not in a list is another crate's.
pub fn kind(name: &str) -> Kind {
    let engines = engines::<()>().into_iter().map(|entry| entry.label);
    let mut labels = engines.chain(keyed::ENTRIES.iter().map(|entry| entry.label));
    labels.find(|label| label.name == name).map_or(Kind::Peer, |label| label.kind)
}

#[cfg(test)]
mod tests {
    use super::super::label::select;
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.into()).collect()
    }

    #[test]
    fn engines_are_found_by_name_and_clock() {
        let all = engines::<()>;
        assert_eq!(select(all(), &[], &[]).unwrap().len(), all().len());
        let governors = select(all(), &names(&["governor"]), &[]).unwrap();
        assert_eq!(governors.iter().map(|entry| entry.label.clock).collect::<Vec<_>>(), ["quanta", "std"]);
        assert_eq!(select(all(), &names(&["governor"]), &names(&["std"])).unwrap().len(), 1);
        let keyed = select(keyed::ENTRIES.to_vec(), &names(&["rate-net-keyed", "keyed"]), &[]).unwrap();
        assert_eq!(keyed.len(), 3, "on two clocks");
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let refused = |engines: &[&str], clocks: &[&str]| {
            select(super::engines::<()>(), &names(engines), &names(clocks)).unwrap_err().to_string()
        };
        assert!(refused(&["guvernor"], &[]).contains("governor"));
        assert!(refused(&[], &["sundial"]).contains("quanta"));
        assert!(refused(&["floor-rmw"], &["std"]).contains("none of these"));
    }

    #[test]
    fn no_engine_is_listed_twice_and_each_plays_its_part() {
        let engines = engines::<()>().into_iter().map(|entry| entry.label);
        let labels: Vec<_> = engines.chain(keyed::ENTRIES.iter().map(|entry| entry.label)).collect();
        for (index, label) in labels.iter().enumerate() {
            let same = labels.iter().position(|other| (other.name, other.clock) == (label.name, label.clock));
            assert_eq!(same, Some(index), "{label:?}");
            assert_eq!(kind(label.name), label.kind);
        }
        assert_eq!(kind("unheard-of"), Kind::Peer);
    }
}
