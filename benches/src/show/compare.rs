//! Engines held against each other: within one run, under one load, with as many threads.

use crate::engine::label::Kind;
use crate::engine::registry::kind;
use crate::figures::row::Row;
use crate::figures::stats::ratio;
use core::cmp::Ordering;

/// The plain mutex that `row` competes with.
pub fn mutex<'a>(row: &Row, rows: &'a [Row]) -> Option<&'a Row> {
    rows.iter().find(|other| rivals(row, other) && other.engine == "mutex-std")
}

/// The fastest of this part that `row` competes with, on whichever clock.
pub fn best<'a>(part: Kind, row: &Row, rows: &'a [Row]) -> Option<&'a Row> {
    let rivals = rows.iter().filter(|other| rivals(row, other) && other.verified && kind(&other.engine) == part);
    rivals.max_by(|a, b| a.mops.total_cmp(&b.mops))
}

fn rivals(row: &Row, other: &Row) -> bool {
    (&row.bench, &row.load, row.threads) == (&other.bench, &other.load, other.threads)
}

/// How many times as fast as `base` this row is.
pub fn times(row: &Row, base: Option<&Row>) -> String {
    ratio(row.mops, base.map(|base| base.mops)).map_or("-".into(), |ratio| format!("{ratio:.2}"))
}

/// `row` as a multiple of the plain mutex, and of the best other crate; floors are not compared.
pub fn ratios(row: &Row, rows: &[Row]) -> [String; 2] {
    if is_floor(row) {
        return ["-".into(), "-".into()];
    }
    [mutex(row, rows), best(Kind::Peer, row, rows)].map(|base| times(row, base))
}

/// Whether the engine is a floor.
pub fn is_floor(row: &Row) -> bool {
    kind(&row.engine) == Kind::Floor
}

/// Floors first, then the fastest.
pub fn fastest_first(a: &Row, b: &Row) -> Ordering {
    is_floor(b).cmp(&is_floor(a)).then(b.mops.total_cmp(&a.mops))
}

/// The engine's name, with its version if it is another crate's.
pub fn name(row: &Row) -> String {
    if kind(&row.engine) == Kind::Peer { format!("{} {}", row.engine, row.version) } else { row.engine.clone() }
}

/// What stands behind the name of an engine whose count cannot be right.
pub fn remark(row: &Row) -> &'static str {
    if row.verified { "" } else { " (WRONG COUNT)" }
}

/// The share of the slowest thread in what the fastest one got: 1 is fair.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
pub fn fairness(row: &Row) -> String {
    match ratio(row.thread_min as f64, Some(row.thread_max as f64)) {
        Some(share) if row.threads > 1 => format!("{share:.2}"),
        _ => "-".into(),
    }
}

/// What was admitted of what the bound allows, where that is less than 99 %.
pub fn lost(row: &Row) -> String {
    let share = row.admitted_share.filter(|&share| share < 0.99);
    share.map_or(String::new(), |share| format!(" ({:.0}%)", (share * 100.0).floor()))
}

/// Loads and numbers of threads in `rows`, in order, without repetition.
pub fn cases(rows: &[Row]) -> Vec<(&str, usize)> {
    let mut cases: Vec<_> = rows.iter().map(|row| (row.load.as_str(), row.threads)).collect();
    cases.sort_unstable();
    cases.dedup();
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &str, load: &str, threads: usize, mops: f64) -> Row {
        let (engine, load) = (engine.into(), load.into());
        Row { engine, load, threads, mops, verified: true, ..Row::default() }
    }

    #[test]
    fn ratios_are_to_rivals_under_the_same_load_with_as_many_threads() {
        let rows = [
            row("mutex-std", "admit", 1, 10.0),
            row("mutex-std", "deny", 1, 20.0),
            row("mutex-std", "admit", 2, 5.0),
            row("governor", "admit", 1, 30.0),
            row("ratelimit", "admit", 1, 40.0),
            row("floor-rmw", "admit", 1, 900.0),
            row("better-bucket", "deny", 1, 800.0),
            Row { verified: false, ..row("rate-net", "admit", 1, 700.0) },
        ];
        let ours = row("token-bucket", "admit", 1, 60.0);
        assert_eq!(ratios(&ours, &rows), ["6.00", "1.50"], "the best verified peer; the floor is no peer");
        assert_eq!(ratios(&row("token-bucket", "admit", 2, 1.0), &rows), ["0.20", "-"]);
        assert_eq!(ratios(&rows[5], &rows), ["-", "-"]);
        assert_eq!(cases(&rows), [("admit", 1), ("admit", 2), ("deny", 1)]);
    }

    #[test]
    fn what_is_lost_is_said_below_99_percent() {
        let lost = |share| lost(&Row { admitted_share: share, ..Row::default() });
        assert_eq!([None, Some(1.0), Some(0.99), Some(0.9899)].map(lost), ["", "", "", " (98%)"]);
    }
}
