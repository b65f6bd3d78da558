//! The figures of `keyed` as a picture.

use super::table::sizes;
use crate::figures::row::{Row, only, plural, threads};
use crate::run::cores;
use crate::show::axis::Axis;
use crate::show::compare::is_floor;
use crate::show::lines::{COLOURS, lines};
use crate::show::plot::{Panel, Plot};

/// Time over keys, a panel for each number of threads, and memory over keys: a line for each engine, on the clock that
/// serves it best. Uniform keys, every call admitted; or what there is.
pub fn plot(rows: &[Row]) -> Plot {
    let rows = only(rows, |row| row.bytes_per_key.is_some() && row.load == "admit" && row.verified);
    let uniform = only(&rows, |row| row.pattern.as_deref() == Some("uniform"));
    let rows = if uniform.is_empty() { rows } else { uniform };
    let threads = threads(&rows);
    let x = Axis::named("keys", sizes(&rows).into_iter().map(|keys| (place(keys), power(keys))));
    let y = Axis::log("ns/op", rows.iter().map(|row| row.ns_per_op));
    let panel = |&threads: &usize| Panel {
        title: format!("Time of a call, {}", plural(threads)),
        x: x.clone(),
        y: y.clone(),
        shaded: None,
        series: lines(&only(&rows, |row| row.threads == threads), |row| point(row, Some(row.ns_per_op))),
    };
    let mut panels: Vec<_> = threads.iter().map(panel).collect();
    let engines = only(&rows, |row| !is_floor(row) && Some(&row.threads) == threads.first());
    if !engines.is_empty() {
        panels.push(Panel {
            title: "Memory".into(),
            x: x.clone(),
            y: Axis::log("bytes/key", engines.iter().filter_map(|row| row.bytes_per_key)),
            shaded: None,
            series: lines(&engines, |row| point(row, row.bytes_per_key)),
        });
    }
    let subtitle = format!("Every call is admitted, on {} cores. {COLOURS}", cores());
    Plot { title: "Rate limits by key".into(), subtitle, panels }
}

/// The figure over the number of keys.
fn point(row: &Row, figure: Option<f64>) -> Vec<(f64, f64)> {
    row.keys.zip(figure).map(|(keys, figure)| (place(keys), figure)).into_iter().collect()
}

#[allow(clippy::cast_precision_loss)] // numbers of keys
fn place(keys: u64) -> f64 {
    keys as f64
}

/// `1e6` for a million, `25000` for what is no power of ten.
fn power(keys: u64) -> String {
    match keys.checked_ilog10() {
        Some(power) if power >= 3 && keys == 10_u64.pow(power) => format!("1e{power}"),
        _ => keys.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::svg::Ink;

    fn row(engine: &str, clock: &str, keys: u64, ns_per_op: f64) -> Row {
        Row {
            engine: engine.into(),
            clock: clock.into(),
            load: "admit".into(),
            pattern: Some("uniform".into()),
            threads: 1,
            keys: Some(keys),
            ns_per_op,
            mops: 1e3 / ns_per_op,
            bytes_per_key: Some(ns_per_op * 2.0),
            verified: true,
            ..Row::default()
        }
    }

    #[test]
    fn an_engine_has_one_line_on_its_faster_clock_and_the_floor_has_no_memory() {
        let rows = [
            row("rate-net-keyed", "std", 1_000, 60.0),
            row("rate-net-keyed", "std", 25_000, 90.0),
            row("rate-net-keyed", "quanta", 25_000, 80.0),
            row("rate-net-keyed", "quanta", 1_000, 50.0),
            row("floor-line", "none", 1_000, 5.0),
            Row { verified: false, ..row("keyed", "quanta", 1_000, 1.0) },
            Row { pattern: Some("hot".into()), ..row("mutex-hashmap", "quanta", 1_000, 1.0) },
        ];
        let plot = plot(&rows);
        assert_eq!(plot.panels.len(), 2, "one number of threads, and memory");
        let [time, memory] = [0, 1].map(|panel: usize| &plot.panels[panel].series);
        let labels: Vec<_> = time.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(labels, ["rate-net-keyed", "floor-line"]);
        assert_eq!(time[0].points, [(1_000.0, 50.0), (25_000.0, 80.0)]);
        assert!(time[1].dashed && time[1].ink == Ink::Floor);
        assert_eq!(memory.len(), 1);
        assert_eq!(memory[0].points[1], (25_000.0, 160.0));
        let svg = plot.svg();
        assert!(svg.contains(">1e3<") && svg.contains(">25000<") && svg.contains("bytes/key"), "{svg}");
    }

    #[test]
    fn a_picture_of_nothing_is_a_picture() {
        assert!(plot(&[]).svg().starts_with("<svg"));
    }
}
