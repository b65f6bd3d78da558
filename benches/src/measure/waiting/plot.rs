//! How late tasks are, as a drawing.

use super::load::Load;
use super::row::Row;
use crate::show::axis::Axis;
use crate::show::plot::{Panel, Plot, Series};

/// One in how many is later, where a percentile is drawn, and its name.
const QUANTILES: [(f64, &str); 4] = [(2.0, "50 %"), (10.0, "90 %"), (100.0, "99 %"), (1e3, "99.9 %")];

/// Lateness over percentiles: a panel for each load, a line for each limiter whose count was right.
pub(super) fn plot(rows: &[Row]) -> Plot {
    let x = Axis::named("admissions that are no later", QUANTILES);
    let y = Axis::log("ms", rows.iter().flat_map(|row| points(row).into_iter().map(|(_, late)| late)));
    let panels = Load::ALL.into_iter().map(|load| Panel {
        title: load.title().into(),
        x: x.clone(),
        y: y.clone(),
        shaded: None,
        series: rows.iter().filter(|row| row.load == load && row.verified).map(series).collect(),
    });
    Plot {
        title: "How late tasks are that wait".into(),
        subtitle: "Milliseconds behind one token each millisecond. Blue: this crate. Orange: other crates. Purple: a \
                   semaphore with a task that refills it."
            .into(),
        panels: panels.collect(),
    }
}

fn series(row: &Row) -> Series {
    Series {
        label: format!("{} {:.0}/s", row.engine, row.admitted_per_second),
        ink: row.kind.into(),
        dashed: false,
        points: points(row),
    }
}

/// What is not late at all has no place on a logarithmic axis and stands at a microsecond.
#[allow(clippy::cast_precision_loss)] // three digits are shown
fn points(row: &Row) -> Vec<(f64, f64)> {
    let late = [row.late_p50_ns, row.late_p90_ns, row.late_p99_ns, row.late_p999_ns];
    let points = QUANTILES.into_iter().zip(late);
    points.filter_map(|((place, _), ns)| Some((place, ns?.max(1_000) as f64 / 1e6))).collect()
}
