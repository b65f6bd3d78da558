//! The figures of `keyed` as tables.

use crate::contention::table::{best_peer, mutex};
use crate::row::Row;
use crate::stats::ratio;
use comfy_table::{Cell, CellAlignment, Table, presets};
use core::fmt::Write;

/// One table for each load, number of keys and number of threads; and one of memory.
pub fn tables(rows: &[Row]) -> String {
    let of = |bench: &str| rows.iter().filter(|row| row.bench == bench).cloned().collect::<Vec<_>>();
    let keyed = of("keyed");
    let mut cases: Vec<_> = keyed.iter().map(|row| (row.load.as_str(), row.keys, row.threads)).collect();
    cases.sort_unstable();
    cases.dedup();
    let mut text = String::new();
    for (load, keys, threads) in cases {
        let case = keyed.iter().filter(|row| (row.load.as_str(), row.keys, row.threads) == (load, keys, threads));
        let plural = if threads == 1 { "" } else { "s" };
        let table = table(&case.collect::<Vec<_>>(), &keyed);
        let _ = writeln!(text, "\n{load}, {} keys, {threads} thread{plural}\n{table}", keys.unwrap_or(0)); // to a string
    }
    let memory = of("memory");
    if !memory.is_empty() {
        let _ = writeln!(text, "\nbytes of memory for each key\n{}", memory_table(&memory)); // to a string
    }
    text
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn table(case: &[&Row], all: &[Row]) -> Table {
    let mut order = case.to_vec();
    order.sort_by(|a, b| b.mops.total_cmp(&a.mops));
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["engine", "version", "clock", "Mops/s", "ns/op", "x mutex-std", "x best peer"]);
    for row in order {
        let times = |base| ratio(row.mops, base).map_or("-".into(), |ratio| format!("{ratio:.2}"));
        let name = if row.verified { row.engine.clone() } else { format!("{} (WRONG COUNT)", row.engine) };
        table.add_row([
            Cell::new(name),
            Cell::new(&row.version),
            Cell::new(&row.clock),
            right(format!("{:.1}", row.mops)),
            right(format!("{:.1}", row.ns_per_op)),
            right(times(mutex(row, all))),
            right(times(best_peer(row, all))),
        ]);
    }
    table
}

/// A line for each limiter, a column for each number of keys.
fn memory_table(rows: &[Row]) -> Table {
    let mut sizes: Vec<_> = rows.iter().filter_map(|row| row.keys).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(core::iter::once("engine".into()).chain(sizes.iter().map(|size| format!("{size} keys"))));
    for first in rows.iter().filter(|row| row.keys == sizes.first().copied()) {
        let figure = |size| rows.iter().find(|row| row.engine == first.engine && row.keys == Some(size));
        let bytes = sizes.iter().map(|&size| figure(size).and_then(|row| row.bytes_per_key));
        let bytes = bytes.map(|bytes| right(bytes.map_or("-".into(), |bytes| format!("{bytes:.1}"))));
        table.add_row(core::iter::once(Cell::new(&first.engine)).chain(bytes));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_compared_on_as_many_keys() {
        let row = |engine: &str, keys, mops| Row {
            bench: "keyed".into(),
            load: "admit".into(),
            engine: engine.into(),
            threads: 1,
            keys: Some(keys),
            mops,
            verified: true,
            ..Row::default()
        };
        let memory = Row { bench: "memory".into(), bytes_per_key: Some(28.75), ..row("keyed", 10_000, 0.0) };
        let rows = [row("keyed", 1_000, 40.0), row("governor", 1_000, 20.0), row("governor", 9, 80.0), memory];
        let text = tables(&rows);
        let line = text.lines().find(|line| line.contains("│ keyed ") && line.contains("40.0")).unwrap();
        assert!(line.contains("2.00"), "twice the peer with 1000 keys: {text}");
        assert!(text.contains("admit, 1000 keys, 1 thread") && text.contains("28.8") | text.contains("28.7"), "{text}");
    }
}
