//! The figures of `contention` as a picture.

use super::table::kind;
use crate::engine::Kind;
use crate::load::Load;
use crate::plan::cores;
use crate::plot::axis::Axis;
use crate::plot::{Panel, Plot, Series};
use crate::row::{Row, threads};

/// Throughput over threads: a panel for each load, a line for each engine on the clock that serves it best.
#[allow(clippy::cast_precision_loss)] // thread counts
pub fn plot(rows: &[Row]) -> Plot {
    let threads = threads(rows);
    let x = Axis::at("threads", threads.iter().map(|&threads| threads as f64));
    let y = Axis::log("Mops/s", rows.iter().map(|row| row.mops));
    let shaded =
        threads.iter().any(|&threads| threads > cores()).then(|| (cores() as f64, "more threads than cores".into()));
    let panels =
        Load::ALL.into_iter().filter(|load| rows.iter().any(|row| row.load == load.name())).map(|load| Panel {
            title: title(load).into(),
            x: x.clone(),
            y: y.clone(),
            shaded: shaded.clone(),
            series: {
                let rows: Vec<_> = rows.iter().filter(|row| row.load == load.name()).cloned().collect();
                lines(&rows, |row| vec![(row.threads as f64, row.mops)])
            },
        });
    Plot {
        title: "Threads that share one rate limiter".into(),
        subtitle: format!(
            "Decisions per second of all threads together, on {} cores. Blue: this crate. Orange: other crates. \
             Purple: mutexes. Green: the floor.",
            cores()
        ),
        panels: panels.collect(),
    }
}

fn title(load: Load) -> &'static str {
    match load {
        Load::Admit => "Every call is admitted",
        Load::Deny => "Every call is denied",
        Load::Mixed => "More calls than the rate allows",
    }
}

/// A line for each engine in `rows` that passed its verification, on the clock that serves it best; `points` are those
/// of one row.
pub fn lines(rows: &[Row], points: impl Fn(&Row) -> Vec<(f64, f64)>) -> Vec<Series> {
    let verified: Vec<_> = rows.iter().filter(|row| row.verified).collect();
    let mut names: Vec<&str> = Vec::new();
    for row in &verified {
        if !names.contains(&row.engine.as_str()) {
            names.push(&row.engine);
        }
    }
    let line = |name: &str| {
        let clock = best_clock(name, &verified);
        let own: Vec<_> = verified.iter().filter(|row| row.engine == name && row.clock == clock).collect();
        let kind = kind(own[0]);
        Series {
            label: name.into(),
            ink: kind.into(),
            dashed: kind == Kind::Floor,
            points: own.into_iter().flat_map(|row| points(row)).collect(),
        }
    };
    names.into_iter().map(line).collect()
}

/// The clock on which the engine is fastest with the fewest threads.
fn best_clock<'a>(name: &str, rows: &[&'a Row]) -> &'a str {
    let own = rows.iter().filter(|row| row.engine == name);
    let fewest = own.clone().map(|row| row.threads).min();
    let rivals = own.filter(|row| Some(row.threads) == fewest);
    rivals.max_by(|a, b| a.mops.total_cmp(&b.mops)).map_or("", |row| &row.clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Ink;

    fn row(engine: &str, clock: &str, threads: usize, mops: f64) -> Row {
        let (engine, clock, load) = (engine.into(), clock.into(), "admit".into());
        Row { engine, clock, load, threads, mops, verified: true, ..Row::default() }
    }

    #[test]
    fn an_engine_has_one_line_on_its_best_clock() {
        let rows = [
            row("governor", "quanta", 1, 50.0),
            row("governor", "std", 1, 30.0),
            row("floor-rmw", "none", 1, 200.0),
            row("governor", "quanta", 2, 20.0),
            row("governor", "std", 2, 25.0),
            Row { verified: false, ..row("ratelimit", "std", 1, 900.0) },
        ];
        #[allow(clippy::cast_precision_loss)] // thread counts
        let lines = lines(&rows, |row| vec![(row.threads as f64, row.mops)]);
        let labels: Vec<_> = lines.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(labels, ["governor", "floor-rmw"], "what was not verified is not drawn");
        assert_eq!(lines[0].points, [(1.0, 50.0), (2.0, 20.0)]);
        assert!(lines[1].dashed && lines[1].ink == Ink::Floor);
    }
}
