//! [`Row`]: what came of one run, for machines.

use super::admissions::{Admissions, fairness, percentile};
use super::load::{Load, QUOTA};
use crate::engine::label::{Kind, Label};
use crate::figures::outcome::Verdict;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// One limiter under one load. The fields, in this order, are the columns of the csv.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    bench: String,
    pub(super) load: Load,
    pub(super) engine: String,
    pub(super) version: String,
    clock: String,
    tokens: u64,
    per_ns: u128,
    burst: u64,
    tasks: u32,
    seconds: f64,
    pub(super) admitted: u64,
    /// Waits that were given up before they were served.
    pub(super) dropped: u64,
    pub(super) admitted_per_second: f64,
    /// Against the grid that the first admission begins; 90 % are at most so late.
    pub(super) late_p50_ns: Option<u64>,
    pub(super) late_p90_ns: Option<u64>,
    pub(super) late_p99_ns: Option<u64>,
    pub(super) late_p999_ns: Option<u64>,
    pub(super) late_max_ns: Option<u64>,
    /// Admissions of the task that got fewest, of those that give nothing up.
    task_min: u64,
    /// Of the one that got most.
    task_max: u64,
    pub(super) fairness: f64,
    pub(super) verified: bool,
    /// Bytes of memory for each of many waits at once, with its timer.
    pub(super) bytes_per_wait: Option<f64>,
    /// The part of them that is the runtime's timer.
    pub(super) timer_bytes: Option<u32>,
    /// Which part the limiter plays.
    pub(super) kind: Kind,
}

impl Row {
    pub(super) fn new(
        label: Label,
        load: Load,
        length: Duration,
        admissions: &Admissions,
        period: Duration,
        verdict: &Verdict,
    ) -> Self {
        let late = admissions.lateness(period);
        let late = |per_mille| percentile(&late, per_mille).and_then(|late| u64::try_from(late.as_nanos()).ok());
        let (task_min, task_max) = admissions.extremes();
        #[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
        let admitted_per_second = admissions.count() as f64 / length.as_secs_f64();
        Self {
            bench: "waiting".into(),
            load,
            engine: label.name.into(),
            version: label.version.into(),
            clock: label.clock.into(),
            tokens: QUOTA.tokens(),
            per_ns: QUOTA.period().as_nanos(),
            burst: QUOTA.burst(),
            tasks: load.tasks(),
            seconds: length.as_secs_f64(),
            admitted: admissions.count(),
            dropped: admissions.dropped(),
            admitted_per_second,
            late_p50_ns: late(500),
            late_p90_ns: late(900),
            late_p99_ns: late(990),
            late_p999_ns: late(999),
            late_max_ns: late(1_000),
            task_min,
            task_max,
            fairness: fairness((task_min, task_max)),
            verified: verdict.is_ok(),
            bytes_per_wait: None,
            timer_bytes: None,
            kind: label.kind,
        }
    }
}
