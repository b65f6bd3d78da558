//! The figures of `contention` as tables.

use crate::engine::Kind;
use crate::registry::ENTRIES;
use crate::row::Row;
use crate::stats::ratio;
use comfy_table::{Cell, CellAlignment, Table, presets};
use core::fmt::Write;

/// The part that the engine of `row` plays.
pub fn kind(row: &Row) -> Kind {
    ENTRIES.iter().find(|entry| entry.name == row.engine).map_or(Kind::Peer, |entry| entry.kind)
}

/// The throughput of the plain mutex that `row` competes with: same load, same threads, same run.
pub fn mutex(row: &Row, rows: &[Row]) -> Option<f64> {
    rows.iter().find(|other| rivals(row, other) && other.engine == "mutex-std").map(|other| other.mops)
}

/// The throughput of the best peer under the same load with as many threads in the same run, on whichever clock.
pub fn best_peer(row: &Row, rows: &[Row]) -> Option<f64> {
    let peers = rows.iter().filter(|other| rivals(row, other) && kind(other) == Kind::Peer && other.verified);
    peers.map(|peer| peer.mops).reduce(f64::max)
}

fn rivals(row: &Row, other: &Row) -> bool {
    (&row.bench, &row.load, row.threads) == (&other.bench, &other.load, other.threads)
}

/// One table for each load and number of threads, the fastest first, the floor at the top.
pub fn tables(rows: &[Row]) -> String {
    let mut cases: Vec<_> = rows.iter().map(|row| (row.load.as_str(), row.threads, row.oversubscribed)).collect();
    cases.sort_by_key(|&(load, threads, _)| (load, threads));
    cases.dedup();
    let mut text = String::new();
    for (load, threads, oversubscribed) in cases {
        let plural = if threads == 1 { "" } else { "s" };
        let note = if oversubscribed { " (more than cores: oversubscribed)" } else { "" };
        let of_case = |row: &&Row| row.load == load && row.threads == threads;
        let table = table(&rows.iter().filter(of_case).cloned().collect::<Vec<_>>());
        let _ = writeln!(text, "\n{load}, {threads} thread{plural}{note}\n{table}"); // a string takes it all
    }
    text
}

/// The rows of one load and number of threads.
fn table(rows: &[Row]) -> Table {
    let mut order: Vec<_> = rows.iter().collect();
    order.sort_by(|a, b| (kind(b) == Kind::Floor).cmp(&(kind(a) == Kind::Floor)).then(b.mops.total_cmp(&a.mops)));
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["engine", "version", "clock", "Mops/s", "ns/op", "x mutex-std", "x best peer", "fair"]);
    for column in 3..8 {
        table.column_mut(column).expect("eight columns").set_cell_alignment(CellAlignment::Right);
    }
    for row in order {
        let compared = kind(row) != Kind::Floor;
        let times = |base: Option<f64>| match ratio(row.mops, base).filter(|_| compared) {
            Some(ratio) => format!("{ratio:.2}"),
            None => "-".into(),
        };
        let name = if row.verified { row.engine.clone() } else { format!("{} (WRONG COUNT)", row.engine) };
        table.add_row([
            Cell::new(name),
            Cell::new(&row.version),
            Cell::new(&row.clock),
            Cell::new(format!("{:.1}", row.mops)),
            Cell::new(format!("{:.1}", row.ns_per_op)),
            Cell::new(times(mutex(row, rows))),
            Cell::new(times(best_peer(row, rows))),
            Cell::new(fairness(row)),
        ]);
    }
    table
}

/// The share of the slowest thread in what the fastest one got: 1 is fair.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
fn fairness(row: &Row) -> String {
    match ratio(row.thread_min as f64, Some(row.thread_max as f64)) {
        Some(share) if row.threads > 1 => format!("{share:.2}"),
        _ => "-".into(),
    }
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
        assert_eq!(mutex(&ours, &rows), Some(10.0));
        assert_eq!(best_peer(&ours, &rows), Some(40.0), "the best verified peer; the floor is no peer");
        assert_eq!(best_peer(&row("token-bucket", "admit", 2, 1.0), &rows), None);
    }

    #[test]
    fn a_table_shows_the_ratios_and_marks_a_wrong_count() {
        let rows = [
            row("mutex-std", "admit", 1, 10.0),
            Row { verified: false, ..row("governor", "admit", 1, 25.0) },
            row("ratelimit", "admit", 1, 20.0),
        ];
        let text = tables(&rows);
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(line("governor").contains("WRONG COUNT"));
        assert!(line("ratelimit").contains("2.00") && line("ratelimit").contains("1.00"), "{text}");
        assert!(text.find("governor").unwrap() < text.find("ratelimit").unwrap(), "the fastest first");
    }
}
