//! A line in a plot for each engine.

use super::plot::Series;
use crate::engine::label::Kind;
use crate::engine::registry::kind;
use crate::figures::row::Row;

/// What the colours of such lines mean.
pub const COLOURS: &str = "Blue: this crate. Orange: other crates. Purple: mutexes. Green: the floor.";

/// A line for each engine in `rows` that passed its verification, on the clock that serves it best: on which it is fastest
/// with the fewest threads and keys. `points` are those of one row.
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
        let own = verified.iter().filter(|row| row.engine == name && row.clock == clock);
        let mut points: Vec<_> = own.flat_map(|row| points(row)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let kind = kind(name);
        Series { label: name.into(), ink: kind.into(), dashed: kind == Kind::Floor, points }
    };
    names.into_iter().map(line).collect()
}

/// The clock on which the engine is fastest with the fewest threads and keys.
fn best_clock<'a>(name: &str, rows: &[&'a Row]) -> &'a str {
    let own = rows.iter().filter(|row| row.engine == name);
    let fewest = own.clone().map(|row| (row.threads, row.keys)).min();
    let rivals = own.filter(|row| Some((row.threads, row.keys)) == fewest);
    rivals.max_by(|a, b| a.mops.total_cmp(&b.mops)).map_or("", |row| &row.clock)
}

#[cfg(test)]
mod tests {
    use super::super::svg::Ink;
    use super::*;

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
