//! What came of one stream.

use super::gauge::Gauge;
use super::log;
use super::sharded::Sharded;
use super::traffic::Scenario;
use crate::figures::error::{Error, Result};
use serde::Serialize;
use std::path::Path;
use tollgate::{Nanos, Quota};
use tollgate_replay::Algorithm;
use tollgate_replay::judge::comparison::Comparison;
use tollgate_replay::judge::tally::{Tally, share};

/// The name of the exact log in tables and rows.
pub(super) const EXACT_LOG: &str = "exact-log";

/// The name of the sharded bucket there.
pub(super) const SHARDED: &str = "sharded";

/// What every algorithm did with one stream.
#[derive(Debug)]
pub(super) struct Measured {
    /// Short; a log goes by its file's name.
    pub(super) name: String,
    pub(super) about: String,
    pub(super) quota: Quota,
    pub(super) keys: usize,
    pub(super) arrivals: u64,
    /// Without the sliding log where it would need too much memory.
    pub(super) tallies: Vec<(Algorithm, Tally)>,
    /// What the exact log did.
    pub(super) log: Tally,
    /// What a sharded bucket did, asked by its clock. Measured on made-up streams of one key.
    pub(super) sharded: Option<Tally>,
    /// The share of arrivals at which the sliding counter, as a gauge of what is asked for, errs about the limit. Not
    /// measured on logs.
    pub(super) gauge_errors: Option<f64>,
}

impl Measured {
    /// Runs a made-up stream.
    pub(super) fn stream(scenario: &Scenario) -> Result<Self> {
        let mut comparison = comparison(scenario.quota)?;
        let mut gauges: Vec<Gauge> = Vec::new();
        let mut errors = 0;
        let arrivals = (scenario.arrivals)();
        let one_key = arrivals.iter().all(|&(_, key)| key == 0);
        let mut sharded = one_key.then(|| Sharded::new(scenario.quota));
        for &(now, key) in &arrivals {
            let decided = comparison.arrive(key, 1, now);
            if let Some(sharded) = &mut sharded {
                sharded.arrive(now, decided.by_log);
            }
            if key == gauges.len() {
                gauges.push(Gauge::new());
            }
            errors += u64::from(gauges[key].errs(now, scenario.quota.tokens()));
        }
        let gauge_errors = Some(share(errors, arrivals.len() as u64));
        let measured = Self::new(scenario.name.to_owned(), scenario.about.clone(), &comparison, gauge_errors);
        Ok(Self { sharded: sharded.map(Sharded::tally), ..measured })
    }

    /// Runs a log.
    pub(super) fn log(path: &Path, quota: Quota) -> Result<Self> {
        let mut comparison = comparison(quota)?;
        for (now, key) in log::read(path)? {
            comparison.arrive(key, 1, now);
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let about = format!("a log, {} a minute for each key", quota.tokens());
        Ok(Self::new(name, about, &comparison, None))
    }

    /// Keeps the results and lets the limiters go.
    fn new(name: String, about: String, comparison: &Comparison, gauge_errors: Option<f64>) -> Self {
        Self {
            name,
            about,
            quota: comparison.quota(),
            keys: comparison.keys(),
            arrivals: comparison.arrivals(),
            tallies: comparison.algorithms().iter().copied().zip(comparison.tallies().cloned()).collect(),
            log: comparison.log_tally().clone(),
            sharded: None,
            gauge_errors,
        }
    }

    /// What this algorithm did.
    pub(super) fn tally(&self, algorithm: Algorithm) -> Option<&Tally> {
        self.tallies.iter().find(|(one, _)| *one == algorithm).map(|(_, tally)| tally)
    }
}

fn comparison(quota: Quota) -> Result<Comparison> {
    let comparison = Comparison::new(quota, Algorithm::SINGLE.to_vec(), 1);
    comparison.map_err(|(algorithm, why)| Error::Request(format!("{} cannot hold the limit: {why}", algorithm.name())))
}

/// Algorithms that decided alike in every stream, in their usual order.
pub(super) fn groups(measured: &[Measured]) -> Vec<Vec<Algorithm>> {
    let mut groups: Vec<Vec<Algorithm>> = Vec::new();
    for algorithm in Algorithm::SINGLE {
        let alike =
            |group: &&mut Vec<Algorithm>| measured.iter().all(|one| one.tally(algorithm) == one.tally(group[0]));
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(algorithm),
            None => groups.push(vec![algorithm]),
        }
    }
    groups
}

/// What one algorithm did with one stream, for machines.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a> {
    bench: &'static str,
    stream: &'a str,
    engine: &'static str,
    limit: u64,
    per_ns: u64,
    burst: u64,
    arrivals: u64,
    keys: usize,
    admitted: u64,
    denied: u64,
    share_denied: f64,
    most_in_a_period: u64,
    over: u64,
    under: u64,
    share_differing: f64,
    gauge_errors: Option<f64>,
    seed: u64,
}

impl<'a> Row<'a> {
    /// A row for each stream and algorithm, for the exact log, and for a sharded bucket where it was asked.
    pub(super) fn all(measured: &'a [Measured], seed: u64) -> Vec<Self> {
        let of_stream = |one: &'a Measured| {
            let named = one.tallies.iter().map(|(algorithm, tally)| (algorithm.name(), tally));
            let sharded = one.sharded.iter().map(|tally| (SHARDED, tally));
            named.chain([(EXACT_LOG, &one.log)]).chain(sharded).map(move |(engine, tally)| Row {
                bench: "accuracy",
                stream: &one.name,
                engine,
                limit: one.quota.tokens(),
                per_ns: Nanos::from(one.quota.period()).as_nanos(),
                burst: one.quota.burst(),
                arrivals: one.arrivals,
                keys: one.keys,
                admitted: tally.admitted,
                denied: tally.denied,
                share_denied: tally.share_denied(),
                most_in_a_period: tally.most_in_a_period,
                over: tally.over,
                under: tally.under,
                share_differing: tally.share_differing(),
                gauge_errors: one.gauge_errors.filter(|_| engine == Algorithm::SlidingCounter.name()),
                seed,
            })
        };
        measured.iter().flat_map(of_stream).collect()
    }
}
