//! The figures of `latency` as a picture.

use crate::contention::plot::lines;
use crate::plot::axis::Axis;
use crate::plot::{Panel, Plot};
use crate::row::{Row, threads};

/// The share of calls that are slower, where a percentile is drawn, and its name.
const QUANTILES: [(f64, &str); 5] = [(2.0, "50 %"), (10.0, "90 %"), (100.0, "99 %"), (1e3, "99.9 %"), (1e4, "99.99 %")];

/// Latency over percentiles of an admit load: a panel for each number of threads, a line for each engine on the clock
/// that serves it best. (One chart of admissions is enough: the csv has the other loads.)
pub fn plot(rows: &[Row]) -> Plot {
    let load = rows.first().map_or("", |row| row.load.as_str());
    let shown: Vec<_> = rows.iter().filter(|row| row.load == load).cloned().collect();
    let threads = threads(&shown);
    let y = Axis::log("ns", shown.iter().flat_map(|row| points(row).into_iter().map(|(_, ns)| ns)));
    let x = Axis::named("calls that take no longer", QUANTILES);
    let panels = threads.into_iter().map(|threads| {
        let rows: Vec<_> = shown.iter().filter(|row| row.threads == threads).cloned().collect();
        let plural = if threads == 1 { "" } else { "s" };
        Panel {
            title: format!("{threads} thread{plural}"),
            x: x.clone(),
            y: y.clone(),
            shaded: None,
            series: lines(&rows, points),
        }
    });
    let timer = shown.first().and_then(|row| row.timer_ns).unwrap_or(0);
    Plot {
        title: format!("Time of single calls, {load}"),
        subtitle: format!(
            "Nanoseconds, with the {timer} ns of the timer. Blue: this crate. Orange: other crates. Purple: mutexes. \
             Green: the floor."
        ),
        panels: panels.collect(),
    }
}

#[allow(clippy::cast_precision_loss)] // three digits are shown
fn points(row: &Row) -> Vec<(f64, f64)> {
    let values = [row.p50_ns, row.p90_ns, row.p99_ns, row.p999_ns, row.p9999_ns];
    let points = QUANTILES.into_iter().zip(values);
    points.filter_map(|((place, _), ns)| Some((place, ns? as f64))).collect()
}
