//! The figures of `latency` as tables.

use crate::contention::table::kind;
use crate::engine::Kind;
use crate::row::Row;
use comfy_table::{Cell, CellAlignment, Table, presets};
use core::fmt::Write;

/// One table for each load and number of threads, the lowest 99th percentile first, the floor at the top.
pub fn tables(rows: &[Row]) -> String {
    let mut cases: Vec<_> = rows.iter().map(|row| (row.threads, row.load.as_str())).collect();
    cases.sort_unstable();
    cases.dedup();
    let mut text = String::new();
    for (threads, load) in cases {
        let mut order: Vec<_> = rows.iter().filter(|row| row.threads == threads && row.load == load).collect();
        order.sort_by_key(|row| (kind(row) != Kind::Floor, row.p99_ns, row.p50_ns));
        let plural = if threads == 1 { "" } else { "s" };
        let _ = writeln!(text, "\n{load}, {threads} thread{plural}\n{}", table(&order)); // a string takes it all
    }
    text
}

fn table(rows: &[&Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["engine", "version", "clock", "p50", "p90", "p99", "p99.9", "p99.99", "max"]);
    for row in rows {
        let name = if row.verified { row.engine.clone() } else { format!("{} (WRONG COUNT)", row.engine) };
        let mut cells = vec![Cell::new(name), Cell::new(&row.version), Cell::new(&row.clock)];
        let quantiles = [row.p50_ns, row.p90_ns, row.p99_ns, row.p999_ns, row.p9999_ns, row.max_ns];
        cells.extend(quantiles.map(|ns| Cell::new(ns.map_or("-".into(), brief)).set_alignment(CellAlignment::Right)));
        table.add_row(cells);
    }
    table
}

/// Nanoseconds with a unit that keeps them short.
#[allow(clippy::cast_precision_loss)] // three digits are shown
fn brief(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_tail_comes_first_and_times_are_brief() {
        let row = |engine: &str, p99| Row {
            engine: engine.into(),
            load: "admit".into(),
            threads: 1,
            p99_ns: Some(p99),
            max_ns: Some(12_345_678),
            verified: true,
            ..Row::default()
        };
        let text = tables(&[row("mutex-std", 30_500), row("governor", 20), row("floor-rmw", 500)]);
        let place = |name: &str| text.find(name).unwrap();
        assert!(place("floor-rmw") < place("governor") && place("governor") < place("mutex-std"), "{text}");
        assert!(text.contains("30.5 us") && text.contains("20 ns") && text.contains("12.3 ms"), "{text}");
    }
}
