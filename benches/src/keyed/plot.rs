//! The figures of `keyed` as a picture.

use super::kind;
use super::table::sizes;
use crate::engine::Kind;
use crate::plan::cores;
use crate::plot::axis::Axis;
use crate::plot::{Panel, Plot, Series};
use crate::row::{Row, threads};

/// Time over keys, a panel for each number of threads, and memory over keys: a line for each engine, on the clock that
/// serves it best. Uniform keys, every call admitted; or what there is.
pub fn plot(rows: &[Row]) -> Plot {
    let timed = |row: &&Row| row.bytes_per_key.is_some() && row.load == "admit" && row.verified;
    let rows: Vec<_> = rows.iter().filter(timed).cloned().collect();
    let uniform: Vec<_> = rows.iter().filter(|row| row.pattern.as_deref() == Some("uniform")).cloned().collect();
    let rows = if uniform.is_empty() { rows } else { uniform };
    let threads = threads(&rows);
    let x = Axis::named("keys", sizes(&rows).into_iter().map(|keys| (place(keys), power(keys))));
    let y = Axis::log("ns/op", rows.iter().map(|row| row.ns_per_op));
    let panel = |&threads: &usize| Panel {
        title: format!("Time of a call, {threads} thread{}", if threads == 1 { "" } else { "s" }),
        x: x.clone(),
        y: y.clone(),
        shaded: None,
        series: lines(&rows, threads, |row| row.ns_per_op),
    };
    let mut panels: Vec<_> = threads.iter().map(panel).collect();
    let is_engine = |row: &&Row| kind(row) != Kind::Floor;
    let engines: Vec<_> = rows.iter().filter(is_engine).cloned().collect();
    panels.extend(threads.first().map(|&fewest| Panel {
        title: "Memory".into(),
        x: x.clone(),
        y: Axis::log("bytes/key", engines.iter().filter_map(|row| row.bytes_per_key)),
        shaded: None,
        series: lines(&engines, fewest, |row| row.bytes_per_key.unwrap_or_default()),
    }));
    Plot {
        title: "Rate limits by key".into(),
        subtitle: format!(
            "Every call is admitted, on {} cores. Blue: this crate. Orange: other crates. Purple: mutexes. Green: one \
             random line.",
            cores()
        ),
        panels,
    }
}

/// A line for each engine on its faster clock.
fn lines(rows: &[Row], threads: usize, figure: impl Fn(&Row) -> f64) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    let of_threads: Vec<_> = rows.iter().filter(|row| row.threads == threads).collect();
    for row in &of_threads {
        if lines.iter().any(|line| line.label == row.engine) {
            continue;
        }
        let own: Vec<_> = of_threads.iter().filter(|other| other.engine == row.engine).collect();
        let fastest =
            own.iter().min_by(|a, b| (a.keys, a.ns_per_op).partial_cmp(&(b.keys, b.ns_per_op)).expect("times"));
        let clock = &fastest.expect("this row at least").clock;
        let on_clock = own.iter().filter(|row| row.clock == *clock);
        let mut points: Vec<_> = on_clock.map(|row| (place(row.keys.unwrap_or_default()), figure(row))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        lines.push(Series {
            label: row.engine.clone(),
            ink: kind(row).into(),
            dashed: kind(row) == Kind::Floor,
            points,
        });
    }
    lines
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
    use crate::plot::Ink;

    fn row(engine: &str, clock: &str, keys: u64, ns_per_op: f64) -> Row {
        Row {
            engine: engine.into(),
            clock: clock.into(),
            load: "admit".into(),
            pattern: Some("uniform".into()),
            threads: 1,
            keys: Some(keys),
            ns_per_op,
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
        assert!(svg.contains("\n1e3\n") && svg.contains("\n25000\n") && svg.contains("bytes/key"), "{svg}");
    }

    #[test]
    fn a_picture_of_nothing_is_a_picture() {
        assert!(plot(&[]).svg().starts_with("<svg"));
    }
}
