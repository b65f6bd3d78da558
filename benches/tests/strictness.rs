//! Are they strict? Every engine that takes a clock, under `tollgate_testing::hammer`, held to the token bucket's bound.
//!
//! `cargo test -p tollgate-bench --test strictness -- --nocapture --include-ignored` prints what is found. Clocks agree
//! here and never go back: the hammer only holds up threads between their reading of the clock and what they do with it,
//! as any scheduler may. For peers, what is found depends on luck, so nothing is asserted about it.

use core::time::Duration;
use std::time::Instant;
use tollgate::{Clock, LeakyBucket, Nanos, PackedTokenBucket, Quota, ShardedTokenBucket, TokenBucket};
use tollgate_testing::hammer::{Hammer, HammerClock, Verdict};
use tollgate_testing::trace::{Admission, first_violation};

/// Which all peers can represent.
const QUOTA: Quota = Quota::per_second(1_000).with_burst(20);

fn hammer() -> Hammer {
    // Packed tokens come in wholes.
    Hammer::new(QUOTA).costs(1).forgiving_less_than_one_in(1)
}

fn report(name: &str, verdict: &Verdict) {
    let Verdict { rounds, calls, admitted, violation } = verdict;
    assert!(*admitted > 0, "{name} is not driven as it should be");
    let found = violation.map_or_else(|| "nothing found".into(), |window| window.to_string());
    println!("{name}: {found} ({rounds} rounds, {calls} calls, {admitted} admitted)");
}

#[test]
fn ours_are_strict() {
    let verdicts = [
        ("token-bucket", hammer().strike(|clock| TokenBucket::with_clock(QUOTA, clock))),
        ("leaky-bucket", hammer().strike(|clock| LeakyBucket::with_clock(QUOTA, clock))),
        ("packed", hammer().strike(|clock| PackedTokenBucket::with_clock(QUOTA, clock))),
        // Credits are spent without a reading, and stolen after one.
        ("sharded", hammer().by_the_whole_call().strike(|clock| ShardedTokenBucket::with_sizes(QUOTA, 2, 2, 3, clock))),
    ];
    for (name, verdict) in verdicts {
        report(name, &verdict);
        assert!(verdict.violation.is_none(), "{name}: {verdict:?}");
    }
}

/// The hammer's clock in the forms that peers accept.
#[derive(Clone, Debug)]
struct PeerClock {
    clock: HammerClock,
    origin: Instant,
}

impl PeerClock {
    fn new(clock: HammerClock) -> Self {
        Self { clock, origin: Instant::now() }
    }

    fn since_origin(&self) -> Duration {
        self.clock.now().saturating_since(Nanos::ZERO)
    }
}

impl governor::clock::Clock for PeerClock {
    type Instant = governor::nanos::Nanos;

    fn now(&self) -> Self::Instant {
        self.since_origin().into()
    }
}

impl ratelimit::Clock for PeerClock {
    fn elapsed(&self) -> Duration {
        self.since_origin()
    }
}

impl clock_lib::Clock for PeerClock {
    fn now(&self) -> clock_lib::Monotonic {
        clock_lib::Monotonic::from(self.origin + self.since_origin())
    }

    fn wall(&self) -> clock_lib::Wall {
        clock_lib::Wall::from(std::time::SystemTime::UNIX_EPOCH + self.since_origin())
    }
}

#[test]
#[ignore = "what it finds in other crates is a report, and a matter of luck"]
fn peers_on_the_hammers_clock() {
    for (judged, hammer) in [("by the whole call", hammer().by_the_whole_call()), ("by readings", hammer())] {
        println!("{judged}:");
        let quota = tollgate_bench::engine::peer::governor::governor_quota(QUOTA);
        let governor = hammer.strike_with(
            |clock| governor::RateLimiter::direct_with_clock(quota, PeerClock::new(clock)),
            |limiter, _| limiter.check().is_ok(),
        );
        report("governor", &governor);

        let ratelimit = hammer.strike_with(
            |clock| {
                let builder = ratelimit::Builder::with_clock(QUOTA.tokens(), PeerClock::new(clock));
                builder.max_tokens(QUOTA.burst()).initial_available(QUOTA.burst()).build().unwrap()
            },
            |limiter, _| limiter.try_wait().is_ok(),
        );
        report("ratelimit", &ratelimit);

        let better_bucket = hammer.strike_with(
            |clock| {
                let builder = better_bucket::Bucket::builder().capacity(20).refill(1_000, QUOTA.period()).initial(20);
                builder.build_with_clock(PeerClock::new(clock)).unwrap()
            },
            |bucket, _| bucket.try_acquire(1),
        );
        report("better-bucket", &better_bucket);
    }
}

/// `leaky-bucket` reads its own clock, so it is run in real time. An admission counts at the end of its call, and the
/// bound is widened by what falls due during the longest call.
#[test]
#[ignore = "what it finds in other crates is a report, and a matter of luck"]
fn leaky_bucket_in_real_time() {
    let start = Instant::now();
    let builder = &mut leaky_bucket::RateLimiter::builder();
    let limiter = builder.max(20).initial(20).refill(1).interval(Duration::from_millis(1)).build();
    let (run, longest) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let (mut run, mut longest) = (Vec::new(), Duration::ZERO);
                    while start.elapsed() < Duration::from_secs(1) {
                        let before = start.elapsed();
                        let admitted = limiter.try_acquire(1);
                        let after = start.elapsed();
                        if admitted {
                            longest = longest.max(after.saturating_sub(before));
                            run.push(Admission::new(1, Nanos::from(after)));
                        }
                    }
                    (run, longest)
                })
            })
            .collect();
        let parts = threads.into_iter().map(|thread| thread.join().unwrap());
        parts.reduce(|(a, x), (b, y)| ([a, b].concat(), x.max(y))).unwrap()
    });
    // One more, since it counts whole intervals.
    let late = u64::try_from(longest.as_millis()).unwrap() + 1;
    let window = first_violation(&run, QUOTA.with_burst(20 + 1 + late));
    let found = window.map_or_else(|| "nothing found".into(), |window| window.to_string());
    println!("leaky-bucket-crate: {found} ({} admitted in 1 s, bound widened by {late} tokens)", run.len());
    assert!(!run.is_empty());
}
