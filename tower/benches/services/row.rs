//! [`Row`]: what was measured of one engine.

use crate::engine::Engine;
use serde::Serialize;

/// The fields, in this order, are the columns of the csv.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) engine: Engine,
    /// Of one request that is handed to the router directly.
    pub(crate) in_process_ns: f64,
    /// More than without a layer, in the same round.
    pub(crate) overhead_ns: f64,
    /// Machine instructions of one request, where there is valgrind.
    pub(crate) instructions: Option<f64>,
    pub(crate) requests_per_second: f64,
    pub(crate) p99_us: f64,
    pub(crate) bytes_per_client: f64,
}
