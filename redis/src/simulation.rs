//! Many processes at the pure centre, in virtual time: what they come to in the long run, and each beside the others.

use crate::asking::Asking;
use crate::centre::Centre;
use crate::terms::Terms;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::time::Duration;
use tollgate::Quota;

const SECOND: u64 = 1_000_000;

/// What a process does next, at its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Ask,
    Arrive,
    Take,
}

/// Processes of unlimited demand, each with a way to the store of its own: microseconds there, and as many back.
struct World {
    quota: Quota,
    lease: Duration,
    ways: Vec<Range<u64>>,
    seconds: u64,
}

impl World {
    /// Tokens that each process spent, once the centre had something to give; never more in any interval than the bound.
    fn run(&self, seed: u64) -> Vec<u64> {
        let terms = Terms::new(self.quota, self.lease).unwrap();
        let batch = terms.due(terms.lease).clamp(1, terms.burst);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut centre = Centre::default();
        let mut processes: Vec<_> = self.ways.iter().map(|_| (Asking::new(terms), None)).collect();
        // The marker: filling begins a lease after the first request.
        let start = 1_000 * SECOND;
        let mut agenda: BinaryHeap<_> =
            (0..processes.len()).map(|who| Reverse((start + random.u64(0..1_000), who, Next::Ask))).collect();
        let mut spent = vec![0; processes.len()];
        let (mut level, mut last) = (0.0_f64, start);
        #[allow(clippy::cast_precision_loss)] // small numbers
        let rate = terms.tokens as f64 / terms.micros as f64;
        while let Some(Reverse((now, who, next))) = agenda.pop() {
            if now >= start + self.seconds * SECOND {
                break;
            }
            let (asking, answer) = &mut processes[who];
            match next {
                Next::Ask => {
                    let most = if terms.lease == 0 { 1 } else { batch };
                    let request = asking.again(now).unwrap_or_else(|| asking.request(1, most, 0, now));
                    *answer = Some(Err(request));
                    agenda.push(Reverse((now + random.u64(self.ways[who].clone()), who, Next::Arrive)));
                }
                Next::Arrive => {
                    let Some(Err(request)) = *answer else { unreachable!() };
                    *answer = Some(Ok(centre.draw(terms, "a", now, request).unwrap()));
                    agenda.push(Reverse((now + random.u64(self.ways[who].clone()), who, Next::Take)));
                }
                Next::Take => {
                    let Some(Ok(answer)) = answer.take() else { unreachable!() };
                    let grant = asking.take(answer).unwrap();
                    if terms.lease == 0 || now < grant.end {
                        spent[who] += grant.tokens;
                        #[allow(clippy::cast_precision_loss)] // small numbers
                        {
                            let at = if terms.lease == 0 { answer.seen.instant.max(last) } else { now };
                            level = (level - (at - last) as f64 * rate).max(0.0) + grant.tokens as f64;
                            last = at;
                            assert!(level <= self.quota.burst() as f64 + 1e-6, "{level} above the bound");
                        }
                    }
                    let quiet = asking.quiet(1, grant.tokens, batch).map_or(0, |(_, wait)| wait);
                    agenda.push(Reverse((now + quiet + random.u64(1..500), who, Next::Ask)));
                }
            }
        }
        spent
    }

    /// At least 99 % of what falls due is spent, and by no process less than half of an equal share.
    fn judge(&self, seed: u64) {
        let spent = self.run(seed);
        let total: u64 = spent.iter().sum();
        let lease = u64::try_from(self.lease.as_micros()).unwrap();
        let due = Terms::new(self.quota, self.lease).unwrap().due(self.seconds * SECOND - lease);
        let (fewest, equal) = (*spent.iter().min().unwrap(), total / spent.len() as u64);
        assert!(total * 100 >= due * 99, "{total} of {due}: {spent:?}");
        assert!(fewest * 2 >= equal, "{fewest} of {equal}: {spent:?}");
    }
}

fn alike(quota: Quota, lease: u64, processes: usize) -> World {
    World { quota, lease: Duration::from_millis(lease), ways: vec![30..300; processes], seconds: 20 }
}

#[test]
fn all_that_falls_due_is_spent_in_fair_parts() {
    for seed in 0..2 {
        for processes in [1, 2, 8] {
            alike(Quota::per_second(10_000), 100, processes).judge(seed);
            alike(Quota::per_second(2_000).with_burst(1_600), 100, processes).judge(seed);
            alike(Quota::per_second(1_000_000).with_burst(500_000), 40, processes).judge(seed);
        }
    }
}

#[test]
fn among_many_too() {
    alike(Quota::per_second(10_000), 100, 32).judge(7);
}

#[test]
fn in_exact_mode_too() {
    for seed in 0..2 {
        for processes in [1, 2, 8] {
            alike(Quota::per_second(50), 0, processes).judge(seed);
            alike(Quota::per_second(500).with_burst(20), 0, processes).judge(seed);
        }
    }
}

#[test]
fn a_long_way_to_the_store_costs_no_process_its_part() {
    for seed in 0..2 {
        let mut world = alike(Quota::per_second(10_000), 200, 4);
        world.ways[3] = 3_000..9_000;
        world.judge(seed);
    }
}
