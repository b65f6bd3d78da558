//! [`Row`]: what came of one run.

use crate::client::Tally;
use crate::engine::Engine;
use crate::load::Load;
use serde::{Deserialize, Serialize};

/// One engine under one load by so many processes. The fields, in this order, are the columns of the csv.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) bench: String,
    pub(crate) load: Load,
    pub(crate) engine: Engine,
    pub(crate) processes: u32,
    /// Tasks that call, in each process.
    pub(crate) callers: u32,
    /// There are more threads that want to run than cores.
    pub(crate) oversubscribed: bool,
    pub(crate) seconds: f64,
    pub(crate) decisions: u64,
    pub(crate) admitted: u64,
    /// Calls that came to no decision.
    pub(crate) failed: u64,
    pub(crate) decisions_per_second: f64,
    pub(crate) admitted_per_second: f64,
    pub(crate) p50_ns: u64,
    pub(crate) p99_ns: u64,
    pub(crate) p999_ns: u64,
    /// As the server counted them.
    pub(crate) round_trips: u64,
    pub(crate) round_trips_per_1000: f64,
    /// What was admitted of what fell due, or of what was asked for if that is less.
    pub(crate) admitted_share: Option<f64>,
    /// What the process that got least got, of an equal share.
    pub(crate) least_share: f64,
    /// Nothing above the engine's bound over the whole run.
    pub(crate) verified: bool,
    pub(crate) repetitions: usize,
}

impl Row {
    #[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
    pub(crate) fn new(
        engine: Engine,
        load: Load,
        callers: u32,
        seconds: f64,
        tallies: &[Tally],
        round_trips: u64,
    ) -> Self {
        let mut all = Tally::new();
        for tally in tallies {
            all.add(tally);
        }
        let quantile = |quantile| all.nanos.value_at_quantile(quantile);
        let least = tallies.iter().map(|tally| tally.admitted).min().unwrap_or(0) as f64;
        let wanted = load.offered().map(|offered| offered.min(load.quota().tokens() as f64) * seconds);
        let processes = u32::try_from(tallies.len()).expect("few processes");
        Self {
            bench: "distributed".into(),
            load,
            engine,
            processes,
            callers,
            // The server is one more.
            oversubscribed: tallies.len() >= tollgate_bench::run::cores(),
            seconds,
            decisions: all.decisions,
            admitted: all.admitted,
            failed: all.failed,
            decisions_per_second: all.decisions as f64 / seconds,
            admitted_per_second: all.admitted as f64 / seconds,
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            round_trips,
            round_trips_per_1000: round_trips as f64 * 1e3 / all.decisions.max(1) as f64,
            admitted_share: wanted.map(|wanted| all.admitted as f64 / wanted),
            least_share: least * f64::from(processes) / all.admitted.max(1) as f64,
            verified: all.total <= most(engine, load, &all),
            repetitions: 1,
        }
    }

    pub(crate) fn case(&self) -> String {
        let callers = if self.callers > 1 { format!(" x {}", self.callers) } else { String::new() };
        format!("{}, {}{callers}, {} processes", self.load.name(), self.engine.name(), self.processes)
    }
}

/// The most that the engine's bound allows between the first call of a run and the last.
fn most(engine: Engine, load: Load, all: &Tally) -> u64 {
    let quota = load.quota();
    match engine {
        Engine::FixedWindow => (all.last / 1_000_000 - all.first / 1_000_000 + 1) * quota.tokens(),
        _ => quota.burst() + (quota.tokens() * (all.last - all.first)).div_ceil(1_000_000),
    }
}
