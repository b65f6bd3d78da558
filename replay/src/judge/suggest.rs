//! Limits that would have denied little, found by search.

use core::time::Duration;

use tollgate::{Nanos, Quota, TokenBucket};

use super::comparison::Comparison;
use super::tally::share;

/// The shares of arrivals that may be denied, each of which is searched for.
pub const TARGETS: [f64; 3] = [0.0, 0.001, 0.01];

/// Arrivals that are kept for a search; 12 bytes for each, 20 where costs differ from 1.
const MOST: usize = 1 << 26;

/// Every arrival of a log, kept to be judged again.
#[derive(Debug, Default)]
pub struct Traffic {
    keys: Vec<u32>,
    times: Vec<u64>,
    /// Empty as long as every cost is 1.
    costs: Vec<u64>,
    incomplete: bool,
}

/// A token bucket for each key, and what it would have done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suggestion {
    /// The share of arrivals that it was to deny at most.
    pub target: f64,
    /// The limit.
    pub quota: Quota,
    /// Arrivals denied.
    pub denied: u64,
    /// The share of arrivals denied.
    pub share_denied: f64,
    /// Keys denied at least once.
    pub keys_denied: u64,
}

impl Traffic {
    /// Keeps an arrival; they come in the order of time.
    pub fn record(&mut self, key: usize, cost: u64, now: Nanos) {
        let Ok(key) = u32::try_from(key) else { return self.incomplete = true };
        if self.keys.len() == MOST {
            return self.incomplete = true;
        }
        if cost != 1 && self.costs.is_empty() {
            self.costs.resize(self.keys.len(), 1);
        }
        if cost != 1 || !self.costs.is_empty() {
            self.costs.push(cost);
        }
        self.keys.push(key);
        self.times.push(now.as_nanos());
    }

    /// Whether the log had more arrivals than are kept, so that nothing can be said of them.
    pub fn incomplete(&self) -> bool {
        self.incomplete
    }

    /// For each share in [`TARGETS`], the smallest round limit a `period` that denies no more, with a burst of one
    /// period's tokens; and the smallest that does with the same burst, if that is less. Nothing of a log without
    /// arrivals, or of one that is [incomplete](Self::incomplete).
    ///
    /// `judged` has been put the same arrivals with the same period: it knows the most that each key asked for within it,
    /// and a key that never asked for more than a limit cannot be denied by it.
    pub fn suggestions(&self, judged: &Comparison, period: Duration) -> Vec<Suggestion> {
        let most = judged.busiest().most;
        if self.incomplete || most == 0 {
            return Vec::new();
        }
        let by_key = self.by_key(judged);
        let ladder = round_numbers(most);
        let mut found: Vec<Suggestion> = Vec::new();
        for target in TARGETS {
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let allowed = (target * self.keys.len() as f64) as u64;
            let fits = |limit, burst| by_key.judge(limit, burst, period, allowed);
            let smallest = |rungs: &[u64], burst: Option<u64>| {
                let place = rungs.partition_point(|&limit| fits(limit, burst.unwrap_or(limit)).is_none());
                let limit = *rungs.get(place)?;
                fits(limit, burst.unwrap_or(limit)).map(|verdict| (limit, verdict))
            };
            let Some((limit, verdict)) = smallest(&ladder, None) else { continue };
            let below = &ladder[..ladder.partition_point(|&rung| rung < limit)];
            let lower = smallest(below, Some(limit)).map(|(lower, verdict)| (lower, limit, verdict));
            for (rate, burst, (denied, keys_denied)) in [(limit, limit, verdict)].into_iter().chain(lower) {
                let Ok(quota) = Quota::try_new(rate, period, burst) else { continue };
                if found.iter().all(|one| one.quota != quota) {
                    let share_denied = share(denied, self.keys.len() as u64);
                    found.push(Suggestion { target, quota, denied, share_denied, keys_denied });
                }
            }
        }
        found
    }

    fn by_key(&self, judged: &Comparison) -> ByKey<'_> {
        let mut starts = vec![0; judged.keys() + 1];
        for &key in &self.keys {
            starts[key as usize + 1] += 1;
        }
        for key in 0..judged.keys() {
            starts[key + 1] += starts[key];
        }
        let mut next = starts.clone();
        let mut places = vec![0; self.keys.len()];
        for (place, &key) in (0_u32..).zip(&self.keys) {
            places[next[key as usize]] = place;
            next[key as usize] += 1;
        }
        let mut busiest_first: Vec<(u64, usize)> =
            (0..judged.keys()).map(|key| (judged.most_asked_by(key), key)).collect();
        busiest_first.sort_unstable_by(|a, b| b.cmp(a));
        ByKey { traffic: self, starts, places, busiest_first }
    }
}

/// The arrivals of each key together.
struct ByKey<'a> {
    traffic: &'a Traffic,
    /// Where the places of each key begin in `places`, and where the last one's end.
    starts: Vec<usize>,
    places: Vec<u32>,
    /// The most that each key asked for within a period.
    busiest_first: Vec<(u64, usize)>,
}

impl ByKey<'_> {
    /// How many arrivals, and of how many keys, a token bucket for each key denies; nothing if they are more than allowed,
    /// or if no bucket holds these numbers.
    fn judge(&self, limit: u64, burst: u64, period: Duration, allowed: u64) -> Option<(u64, u64)> {
        let quota = Quota::try_new(limit, period, burst).ok()?;
        let (mut denied, mut keys_denied) = (0, 0);
        for &(most, key) in &self.busiest_first {
            // Within any k periods it asked for at most k times that, of which k - 1 times the limit has come back.
            if most <= limit.min(burst) {
                break;
            }
            let bucket = TokenBucket::try_new(quota).ok()?;
            let before = denied;
            for &place in &self.places[self.starts[key]..self.starts[key + 1]] {
                let cost = self.traffic.costs.get(place as usize).copied().unwrap_or(1);
                let now = Nanos::from_nanos(self.traffic.times[place as usize]);
                denied += u64::from(bucket.try_acquire_n_at(cost, now).is_err());
                if denied > allowed {
                    return None;
                }
            }
            keys_denied += u64::from(denied > before);
        }
        Some((denied, keys_denied))
    }
}

/// Numbers that a person would choose as a limit, up to the first that is not below `most`.
fn round_numbers(most: u64) -> Vec<u64> {
    const STEPS: [u64; 10] = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80];
    let mut numbers = vec![1, 2, 3, 4, 5, 6, 8];
    let mut scale = 1_u64;
    loop {
        for step in STEPS {
            if numbers.last().is_some_and(|&last| last >= most) {
                let enough = numbers.partition_point(|&number| number < most);
                numbers.truncate(enough + 1);
                return numbers;
            }
            match step.checked_mul(scale) {
                Some(number) => numbers.push(number),
                None => return numbers,
            }
        }
        let Some(larger) = scale.checked_mul(10) else { return numbers };
        scale = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::algorithm::Algorithm;

    const MINUTE: Duration = Duration::from_mins(1);

    /// Arrivals at milliseconds, judged by any limit a minute.
    fn suggestions(arrivals: &[(usize, u64, u64)]) -> Vec<Suggestion> {
        let mut judged = Comparison::new(Quota::per(60, MINUTE), vec![Algorithm::TokenBucket], 1).unwrap();
        let mut traffic = Traffic::default();
        for &(key, cost, milli) in arrivals {
            judged.arrive(key, cost, Nanos::from_millis(milli));
            traffic.record(key, cost, Nanos::from_millis(milli));
        }
        traffic.suggestions(&judged, MINUTE)
    }

    #[test]
    fn round_numbers_end_with_enough() {
        assert_eq!(round_numbers(1), [1]);
        assert_eq!(round_numbers(7), [1, 2, 3, 4, 5, 6, 8]);
        assert_eq!(round_numbers(11), [1, 2, 3, 4, 5, 6, 8, 10, 12]);
        assert_eq!(round_numbers(1_001).last(), Some(&1_200));
        assert!(round_numbers(u64::MAX).is_sorted());
    }

    #[test]
    fn a_burst_allows_a_lower_rate() {
        // Sixty at once, then one each 1.5 s: 40 a minute.
        let mut arrivals: Vec<_> = (0..60).map(|_| (0, 1, 0)).collect();
        arrivals.extend((1..=400).map(|n| (0, 1, n * 1_500)));
        let found = suggestions(&arrivals);
        let none_denied: Vec<_> = found.iter().filter(|one| one.target == 0.0).collect();
        assert_eq!(none_denied[0].quota, Quota::per(60, MINUTE), "{found:?}");
        assert_eq!(none_denied[1].quota, Quota::per(40, MINUTE).with_burst(60), "{found:?}");
        assert!(none_denied.iter().all(|one| one.denied == 0 && one.keys_denied == 0));
    }

    /// Each suggestion, put to the arrivals again by itself, denies what it says, and no more than its target.
    #[test]
    fn suggestions_are_true_and_the_next_smaller_limit_is_not_enough() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut now = 0;
        let arrivals: Vec<_> = (0..20_000)
            .map(|_| {
                now += rng.u64(..40);
                let most = rng.usize(1..60);
                let key = rng.usize(..most);
                (key, rng.u64(1..3), now)
            })
            .collect();
        let mut numbers = std::collections::HashMap::new();
        let arrivals: Vec<_> = arrivals
            .into_iter()
            .map(|(key, cost, at)| {
                let next = numbers.len();
                (*numbers.entry(key).or_insert(next), cost, at)
            })
            .collect();
        let found = suggestions(&arrivals);
        assert!(found.len() >= 3, "{found:?}");
        let denied = |quota| {
            let buckets: Vec<_> = numbers.values().map(|_| TokenBucket::new(quota)).collect();
            let denies = |&&(key, cost, at): &&(usize, u64, u64)| {
                buckets[key].try_acquire_n_at(cost, Nanos::from_millis(at)).is_err()
            };
            arrivals.iter().filter(denies).count() as u64
        };
        for one in &found {
            assert_eq!(denied(one.quota), one.denied);
            assert!(one.share_denied <= one.target, "{one:?}");
            if one.quota.burst() == one.quota.tokens() {
                let ladder = round_numbers(1 << 20);
                let place = ladder.iter().position(|&rung| rung == one.quota.tokens()).unwrap();
                let smaller = denied(Quota::per(ladder[place - 1], MINUTE));
                assert!(share(smaller, 20_000) > one.target, "{one:?}");
            }
        }
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert_eq!(suggestions(&[]), []);
        assert_eq!(suggestions(&[(0, 0, 0)]), []);
        let incomplete = Traffic { incomplete: true, ..Traffic::default() };
        let judged = Comparison::new(Quota::per(60, MINUTE), Vec::new(), 1).unwrap();
        assert_eq!(incomplete.suggestions(&judged, MINUTE), []);
    }
}
