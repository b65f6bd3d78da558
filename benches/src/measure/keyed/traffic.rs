//! [`Traffic`]: whose calls come, in which order.

use core::fmt;
use std::sync::Arc;

/// Calls made between two looks at a stop flag; a multiple of the size of a batch.
pub const CHUNK: usize = 256;

/// Calls in a stream before it begins anew: many more than one measurement makes, so that none meets the keys of the one
/// before it in the same order.
const LENGTH: usize = 1 << 21;

/// How calls are spread over the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Pattern {
    /// Every key as often as every other.
    Uniform,
    /// The k-th key about 1/k as often as the first: P(k) = ln(1 + 1/k) / ln(n + 1).
    Zipf,
    /// All calls for one key, in a table that holds the others too.
    Hot,
}

impl Pattern {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Uniform, Self::Zipf, Self::Hot];

    /// The name in csv files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Zipf => "zipf",
            Self::Hot => "hot",
        }
    }

    /// A key below `keys`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a positive number below `keys`
    fn draw(self, keys: u32, random: &mut fastrand::Rng) -> u32 {
        match self {
            Self::Uniform => random.u32(..keys),
            Self::Zipf => ((f64::from(keys) + 1.0).powf(random.f64()) as u32).clamp(1, keys) - 1,
            Self::Hot => keys / 2,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A stream of keys, drawn beforehand: four bytes for each call, read one after the other. It is the same for all engines,
/// so that what it costs is in all figures alike.
#[derive(Clone, Debug)]
pub struct Traffic(Arc<[u32]>);

impl Traffic {
    /// Calls for keys below `keys`, the same on each run of the program.
    pub fn new(pattern: Pattern, keys: u32) -> Self {
        let mut random = fastrand::Rng::with_seed(u64::from(keys));
        Self((0..LENGTH).map(|_| pattern.draw(keys, &mut random)).collect())
    }

    /// The chunk of this number; after the last comes the first.
    #[inline]
    pub fn chunk(&self, number: usize) -> &[u32] {
        let place = number % (self.0.len() / CHUNK) * CHUNK;
        &self.0[place..place + CHUNK]
    }

    /// Where a thread begins in this round: threads far apart from each other, rounds too.
    pub fn start(&self, thread: usize, threads: usize, round: usize) -> usize {
        let chunks = self.0.len() / CHUNK;
        chunks / threads.max(1) * thread + round * (chunks / 7)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pattern: Pattern, keys: u32) -> Vec<usize> {
        let traffic = Traffic::new(pattern, keys);
        let mut counts = vec![0; keys as usize];
        (0..LENGTH / CHUNK).flat_map(|number| traffic.chunk(number)).for_each(|&key| counts[key as usize] += 1);
        assert_eq!(counts.iter().sum::<usize>(), LENGTH);
        counts
    }

    #[test]
    fn uniform_keys_come_equally_often() {
        let counts = counts(Pattern::Uniform, 100);
        let mean = LENGTH / 100;
        assert!(counts.iter().all(|&count| count.abs_diff(mean) < mean / 20), "{counts:?}");
    }

    #[test]
    #[allow(clippy::cast_precision_loss)] // counts
    fn zipf_keys_come_as_often_as_the_formula_says() {
        let counts = counts(Pattern::Zipf, 1_000);
        for k in [1_u32, 2, 10, 100] {
            let share = (1.0 + 1.0 / f64::from(k)).ln() / 1_001_f64.ln();
            let seen = counts[k as usize - 1] as f64 / LENGTH as f64;
            assert!((seen / share - 1.0).abs() < 0.1, "key {k}: {seen} instead of {share}");
        }
        assert!(counts[999] > 0);
    }

    #[test]
    fn one_hot_key_is_all_there_is() {
        assert_eq!(counts(Pattern::Hot, 1_000)[500], LENGTH);
    }

    #[test]
    fn threads_and_rounds_begin_far_apart_and_chunks_go_round() {
        let traffic = Traffic::new(Pattern::Uniform, 1_000);
        let starts = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(thread, round)| traffic.start(thread, 2, round));
        for (index, start) in starts.iter().enumerate() {
            assert!(starts[..index].iter().all(|other| other.abs_diff(*start) > 500), "{starts:?}");
        }
        assert_eq!(traffic.chunk(3), traffic.chunk(3 + LENGTH / CHUNK));
        assert_ne!(traffic.chunk(3), traffic.chunk(4));
    }
}
