//! [`worst_window`]: the fullest window of a recorded run, found exactly.

use tollgate::{Nanos, Quota};

/// A call that was admitted: it counts at some instant from `from` to `to`, nobody knows which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    pub(crate) from: Nanos,
    pub(crate) to: Nanos,
    pub(crate) cost: u64,
}

/// The most by which any window `[s, t]` is over `burst + rate * (t - s)`, counting what must lie in it; in tokens times
/// the quota's period. Negative if there is room left in every window.
///
/// Goes through the calls in the order in which they end. A tree over all possible starts `s` holds, for each, what has
/// been admitted since, plus `rate * s`; the greatest of these less `burst + rate * t` is the answer at `t`. Takes
/// O(n log n).
pub(crate) fn worst_window(run: &[Admission], quota: Quota) -> i128 {
    let (tokens, period) = (i128::from(quota.tokens()), quota.period().as_nanos().cast_signed());
    let mut starts: Vec<Nanos> = run.iter().map(|admission| admission.from).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut ends: Vec<(Nanos, usize, u64)> = run
        .iter()
        .map(|admission| (admission.to, starts.partition_point(|&start| start <= admission.from), admission.cost))
        .collect();
    ends.sort_unstable();
    let mut tree = Tree::new(&starts.iter().map(|start| tokens * i128::from(start.0)).collect::<Vec<_>>());
    let mut worst = i128::MIN;
    for ends in ends.chunk_by(|a, b| a.0 == b.0) {
        for &(_, starts, cost) in ends {
            tree.add(starts, i128::from(cost) * period);
        }
        for &(end, starts, _) in ends {
            let due = i128::from(quota.burst()) * period + tokens * i128::from(end.0);
            worst = worst.max(tree.max(starts) - due);
        }
    }
    worst
}

/// Numbers in a row, with additions to, and maxima over, the first few of them.
struct Tree {
    /// Leaves in the second half; a node's maximum is that of its children plus what was added to all under it.
    max: Vec<i128>,
    added: Vec<i128>,
    leaves: usize,
}

impl Tree {
    fn new(values: &[i128]) -> Self {
        let leaves = values.len().next_power_of_two();
        let mut max = vec![i128::MIN / 2; 2 * leaves];
        max[leaves..leaves + values.len()].copy_from_slice(values);
        for node in (1..leaves).rev() {
            max[node] = max[2 * node].max(max[2 * node + 1]);
        }
        Self { max, added: vec![0; 2 * leaves], leaves }
    }

    /// Adds to the first `count` numbers: to every left neighbour on the way from leaf `count` to the root.
    fn add(&mut self, count: usize, value: i128) {
        let mut node = self.leaves + count;
        if count == self.leaves {
            self.added[1] += value;
            self.max[1] += value;
            return;
        }
        while node > 1 {
            if node % 2 == 1 {
                self.added[node - 1] += value;
                self.max[node - 1] += value;
            }
            node /= 2;
            self.max[node] = self.max[2 * node].max(self.max[2 * node + 1]) + self.added[node];
        }
    }

    /// The greatest of the first `count` numbers.
    fn max(&self, count: usize) -> i128 {
        if count == self.leaves {
            return self.max[1];
        }
        let mut node = self.leaves + count;
        let mut max = i128::MIN / 2;
        while node > 1 {
            if node % 2 == 1 {
                max = max.max(self.max[node - 1]);
            }
            node /= 2;
            max += self.added[node];
        }
        max
    }
}

/// Every pair of a start and an end, for comparison.
fn naive(run: &[Admission], quota: Quota) -> i128 {
    let (tokens, period) = (i128::from(quota.tokens()), quota.period().as_nanos().cast_signed());
    let mut worst = i128::MIN;
    for last in run {
        for first in run.iter().filter(|first| first.from <= last.from) {
            let within = run.iter().filter(|one| first.from <= one.from && one.to <= last.to);
            let passed: i128 = within.map(|one| i128::from(one.cost)).sum();
            let due = i128::from(quota.burst()) * period + tokens * i128::from(last.to.0 - first.from.0);
            worst = worst.max(passed * period - due);
        }
    }
    worst
}

#[test]
fn the_tree_finds_what_all_pairs_find() {
    let mut random = fastrand::Rng::with_seed(7);
    for size in 1..60 {
        let run: Vec<_> = (0..size)
            .map(|_| {
                let from = random.u64(..40);
                Admission { from: Nanos(from), to: Nanos(from + random.u64(..10)), cost: random.u64(..4) }
            })
            .collect();
        let quota = Quota::per(random.u64(1..=3), core::time::Duration::from_nanos(random.u64(1..=7)));
        assert_eq!(worst_window(&run, quota), naive(&run, quota), "{run:?} {quota:?}");
    }
}
