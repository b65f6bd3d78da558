//! Made-up traffic: who asks, and when. Always the same for the same seed.

use core::hash::Hash;
use core::time::Duration;
use std::collections::HashMap;

use fastrand::Rng;
use tollgate::{Nanos, Quota};

/// The limit of every stream but the Zipf ones, in tokens per [`WINDOW`].
pub(super) const LIMIT: u64 = 100;

/// The window of every stream.
pub(super) const WINDOW: Duration = Duration::from_mins(1);

/// Where random streams start, in windows. Not at a window's boundary, which would put a saturated log in step with the
/// windows.
const START: f64 = 1.0 / 3.0;

/// A stream of arrivals of cost 1, in the order of time.
pub(super) type Arrivals = Vec<(Nanos, usize)>;

/// One stream and the limit that it meets.
pub(super) struct Scenario {
    /// Short, without spaces: it names the rows.
    pub(super) name: &'static str,
    /// What happens in it.
    pub(super) about: String,
    pub(super) quota: Quota,
    /// Makes the stream.
    pub(super) arrivals: Box<dyn Fn() -> Arrivals>,
}

/// Every made-up stream.
pub(super) fn scenarios(seed: u64, zipf: Zipf) -> Vec<Scenario> {
    let quota = |limit| Quota::per(limit, WINDOW);
    let mut all = vec![
        Scenario {
            name: "boundary-attack",
            about: "100 at the end of a window, 100 at 1 % of the next".to_owned(),
            quota: quota(LIMIT),
            arrivals: Box::new(boundary_attack),
        },
        Scenario {
            name: "packed-at-start",
            about: "100 in the first tenth of each window: the counter still counts what has left".to_owned(),
            quota: quota(LIMIT),
            arrivals: Box::new(move || packed_at_start(&mut Rng::with_seed(seed))),
        },
        Scenario {
            name: "packed-at-end",
            about: "100 in the last tenth of a window, 100 in the middle of the next: the counter forgets too soon"
                .to_owned(),
            quota: quota(LIMIT),
            arrivals: Box::new(move || packed_at_end(&mut Rng::with_seed(seed))),
        },
    ];
    for (name, load) in [("poisson-0.8", 0.8), ("poisson-1.0", 1.0), ("poisson-1.5", 1.5)] {
        all.push(Scenario {
            name,
            about: format!("independent arrivals at {load} of the limit"),
            quota: quota(LIMIT),
            arrivals: Box::new(move || poisson(&mut Rng::with_seed(seed), load)),
        });
    }
    all.push(Scenario {
        name: "bursty-0.8",
        about: "on for 10 s at 4.8 of the limit, off for 50 s, on average".to_owned(),
        quota: quota(LIMIT),
        arrivals: Box::new(move || bursty(&mut Rng::with_seed(seed))),
    });
    all.push(Scenario {
        name: "drained-136",
        about: "136 a minute, 200 at once each minute: each idle minute costs a sharded bucket its reserve".to_owned(),
        quota: quota(136),
        arrivals: Box::new(drained),
    });
    for (name, limit) in [("zipf-100", 100), ("zipf-1000", 1_000), ("zipf-8000", 8_000)] {
        all.push(Scenario {
            name,
            about: format!("many keys of Zipf popularity, {limit} a minute for each"),
            quota: quota(limit),
            arrivals: Box::new(move || zipf.arrivals(&mut Rng::with_seed(seed))),
        });
    }
    all
}

/// A window's worth at the last moment of one window, and one just after the next has begun.
fn boundary_attack() -> Arrivals {
    let end_of_first = Nanos::from(WINDOW).saturating_sub(Duration::from_millis(1));
    let start_of_second = Nanos::from(WINDOW).saturating_add(WINDOW / 100);
    let times = |at, n: u64| (0..n).map(move |_| (at, 0));
    times(end_of_first, LIMIT).chain(times(start_of_second, LIMIT)).collect()
}

/// Two hundred at once, then a window of rest, 500 times.
fn drained() -> Arrivals {
    (0..500).flat_map(|window| core::iter::repeat_n((windows(START + f64::from(window)), 0), 200)).collect()
}

/// A limit's worth at random instants of the first tenth of each of a thousand windows.
fn packed_at_start(rng: &mut Rng) -> Arrivals {
    (0..1_000).flat_map(|window| packed(rng, f64::from(window), 0.1)).collect()
}

/// A limit's worth in the last tenth of a window, one around the middle of the next, and a window of rest, 500 times.
fn packed_at_end(rng: &mut Rng) -> Arrivals {
    (0..500)
        .flat_map(|cycle| [f64::from(cycle) * 3.0 + 0.9, f64::from(cycle) * 3.0 + 1.45])
        .flat_map(|start| packed(rng, start, 0.1))
        .collect()
}

/// A limit's worth at random instants from `start` on, for `length`; both in windows.
fn packed(rng: &mut Rng, start: f64, length: f64) -> Arrivals {
    let mut instants: Vec<Nanos> = (0..LIMIT).map(|_| windows(start + length * rng.f64())).collect();
    instants.sort_unstable();
    instants.into_iter().map(|at| (at, 0)).collect()
}

/// 100,000 arrivals, each independent of the others, at this multiple of the limit.
fn poisson(rng: &mut Rng, load: f64) -> Arrivals {
    let mut now = START;
    (0..100_000)
        .map(|_| {
            now += exponential(rng) / (per_window(LIMIT) * load);
            (windows(now), 0)
        })
        .collect()
}

/// 100,000 arrivals from a source that is on for a sixth of a window and off for five sixths, on average.
fn bursty(rng: &mut Rng) -> Arrivals {
    const ON: f64 = 1.0 / 6.0;
    const OFF: f64 = 5.0 / 6.0;
    let rate = per_window(LIMIT) * 0.8 / ON;
    let (mut now, mut on_until) = (START, START + ON * exponential(rng));
    (0..100_000)
        .map(|_| {
            now += exponential(rng) / rate;
            // What is left of a wait that outlives its burst begins again in the next: exponential waits have no
            // memory.
            while now > on_until {
                now = on_until + OFF * exponential(rng);
                on_until = now + ON * exponential(rng);
                now += exponential(rng) / rate;
            }
            (windows(now), 0)
        })
        .collect()
}

/// Arrivals at random instants from keys of unequal popularity: the k-th asks 1/k as often as the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zipf {
    pub(super) arrivals: u32,
    pub(super) keys: u32,
    /// How long the stream is, in windows.
    pub(super) windows: f64,
}

impl Zipf {
    fn arrivals(&self, rng: &mut Rng) -> Arrivals {
        let mut up_to = 0.0;
        let cumulated: Vec<f64> = (1..=self.keys)
            .map(|rank| {
                up_to += 1.0 / f64::from(rank);
                up_to
            })
            .collect();
        let mut numbers = Numbers::default();
        let mut now = START;
        (0..self.arrivals)
            .map(|_| {
                now += exponential(rng) * self.windows / f64::from(self.arrivals);
                let drawn = rng.f64() * up_to;
                (windows(now), numbers.of(cumulated.partition_point(|&sum| sum <= drawn)))
            })
            .collect()
    }
}

/// Numbers keys from 0 in the order in which they are first seen.
#[derive(Debug)]
pub(super) struct Numbers<K>(HashMap<K, usize>);

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash> Numbers<K> {
    pub(super) fn of(&mut self, key: K) -> usize {
        let next = self.0.len();
        *self.0.entry(key).or_insert(next)
    }
}

/// An exponential variate of mean 1, by inversion.
fn exponential(rng: &mut Rng) -> f64 {
    -(1.0 - rng.f64()).ln()
}

/// A number of windows as an instant.
fn windows(n: f64) -> Nanos {
    Nanos::from(WINDOW.mul_f64(n))
}

#[allow(clippy::cast_precision_loss)] // limits are small
fn per_window(limit: u64) -> f64 {
    limit as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Zipf = Zipf { arrivals: 20_000, keys: 1_000, windows: 5.0 };

    #[test]
    fn streams_are_ordered_and_the_same_for_the_same_seed() {
        for (scenario, again) in scenarios(7, SMALL).into_iter().zip(scenarios(7, SMALL)) {
            let arrivals = (scenario.arrivals)();
            assert!(arrivals.is_sorted_by_key(|&(at, _)| at), "{}", scenario.name);
            let expected = match scenario.name {
                "boundary-attack" => 200,
                name if name.starts_with("zipf") => 20_000,
                _ => 100_000,
            };
            assert_eq!(arrivals.len(), expected, "{}", scenario.name);
            assert_eq!(arrivals, (again.arrivals)(), "{}", scenario.name);
        }
        assert_ne!(poisson(&mut Rng::with_seed(1), 1.0), poisson(&mut Rng::with_seed(2), 1.0));
    }

    /// Length of a stream in windows, from its first arrival to its last.
    fn length(arrivals: &Arrivals) -> f64 {
        arrivals[arrivals.len() - 1].0.saturating_since(arrivals[0].0).div_duration_f64(WINDOW)
    }

    #[test]
    fn loads_are_what_they_are_called() {
        // 100,000 arrivals at 100 a window: 1000 windows, give or take 1 % (three standard deviations).
        for load in [0.8, 1.0, 1.5] {
            let windows = length(&poisson(&mut Rng::with_seed(3), load)) * load;
            assert!((990.0..1010.0).contains(&windows), "{load}: {windows}");
        }
        // A burst brings 80 arrivals on average, so that 1250 bursts vary the load by about 4 %.
        let windows = length(&bursty(&mut Rng::with_seed(3))) * 0.8;
        assert!((880.0..1120.0).contains(&windows), "{windows}");
    }

    #[test]
    fn keys_are_numbered_as_they_come_and_unequal() {
        let arrivals = SMALL.arrivals(&mut Rng::with_seed(3));
        let mut counts = Vec::new();
        for &(_, key) in &arrivals {
            assert!(key <= counts.len());
            if key == counts.len() {
                counts.push(0_u32);
            }
            counts[key] += 1;
        }
        counts.sort_unstable();
        counts.reverse();
        // The sum of 1/k to 1000 is 7.485: the first key has 2672 of 20,000 arrivals, the second half as many.
        assert!((2_450..2_900).contains(&counts[0]), "{counts:?}");
        assert!((1_180..1_490).contains(&counts[1]), "{counts:?}");
    }
}
