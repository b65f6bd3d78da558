//! The figures of `keyed` as tables.

use super::ratios::COMPARISONS;
use crate::plan::sorted;
use crate::row::Row;
use comfy_table::{Cell, CellAlignment, Table, presets};
use core::fmt::Write;

/// One table of times for each load, traffic and number of threads; then memory, ratios, and the flood.
pub fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    let times: Vec<_> = rows.iter().filter(|row| row.bytes_per_key.is_some()).cloned().collect();
    for (load, pattern, threads) in cases(&times) {
        let plural = if threads == 1 { "" } else { "s" };
        let of_case: Vec<_> = times.iter().filter(|row| is_of(row, load, pattern, threads)).cloned().collect();
        let table = by_keys(&of_case, "ns/op", |row| format!("{:.1}", row.ns_per_op));
        let _ = writeln!(text, "\n{load}, {pattern} keys, {threads} thread{plural}: ns/op\n{table}"); // a string takes it
    }
    if let Some((load, pattern, threads)) = cases(&times).into_iter().find(|&(load, ..)| load == "admit") {
        let once: Vec<_> = times.iter().filter(|row| is_of(row, load, pattern, threads)).cloned().collect();
        let bytes = |row: &Row| match row.refused {
            Some(refused) if refused > 0 => {
                format!("{:.1} ({refused} refused)", row.bytes_per_key.unwrap_or_default())
            }
            _ => format!("{:.1}", row.bytes_per_key.unwrap_or_default()),
        };
        let _ = writeln!(text, "\nallocated bytes for each key\n{}", by_keys(&once, "bytes", bytes));
    }
    if !times.is_empty() {
        let _ = writeln!(text, "\nhow many times as fast\n{}", ratios(&times));
    }
    let flood: Vec<_> = rows.iter().filter(|row| row.pattern.as_deref() == Some("flood")).collect();
    if let Some(keys) = flood.first().and_then(|row| row.keys) {
        let _ = writeln!(text, "\na flood of {keys} keys, once each, 1 thread\n{}", flood_table(&flood));
    }
    let fills = rows.iter().filter_map(|row| row.fill.zip(row.keys));
    let fills: Vec<_> = fills.map(|(fill, keys)| format!("{:.1} % with {keys} keys", fill * 100.0)).collect();
    if !fills.is_empty() {
        let _ = writeln!(text, "\nour table at its first refusal of a newcomer: {} of all slots", fills.join(", "));
    }
    text
}

fn is_of(row: &Row, load: &str, pattern: &str, threads: usize) -> bool {
    (row.load.as_str(), row.pattern.as_deref(), row.threads) == (load, Some(pattern), threads)
}

/// Load, traffic and threads, in the order in which they were measured.
fn cases(rows: &[Row]) -> Vec<(&str, &str, usize)> {
    let mut cases = Vec::new();
    for row in rows {
        let case = (row.load.as_str(), row.pattern.as_deref().unwrap_or_default(), row.threads);
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    cases.sort_by_key(|&(load, _, threads)| (load, threads));
    cases
}

/// The numbers of keys in `rows`.
pub fn sizes(rows: &[Row]) -> Vec<u64> {
    sorted(rows.iter().filter_map(|row| row.keys).collect())
}

fn styled(names: usize, head: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(head);
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A line for each engine, a column for each number of keys.
fn by_keys(rows: &[Row], unit: &str, figure: impl Fn(&Row) -> String) -> Table {
    let sizes = sizes(rows);
    let names = ["engine", "version", "hasher", "clock"].map(String::from).into_iter();
    let mut table = styled(4, names.chain(sizes.iter().map(|keys| format!("{unit}, {keys} keys"))).collect());
    let mut shown: Vec<(&str, &str)> = Vec::new();
    for first in rows {
        let engine = (first.engine.as_str(), first.clock.as_str());
        if shown.contains(&engine) {
            continue;
        }
        shown.push(engine);
        let own: Vec<_> = rows.iter().filter(|row| (row.engine.as_str(), row.clock.as_str()) == engine).collect();
        let wrong = if own.iter().all(|row| row.verified) { "" } else { " (WRONG COUNT)" };
        let hasher = first.hasher.as_deref().unwrap_or("-");
        let names = [&format!("{}{wrong}", first.engine), &first.version, hasher, &first.clock].map(Cell::new);
        let figures = sizes.iter().map(|&keys| {
            let row = own.iter().find(|row| row.keys == Some(keys));
            Cell::new(row.map_or("-".into(), |row| figure(row)))
        });
        table.add_row(names.into_iter().chain(figures));
    }
    table
}

/// A line for each comparison, traffic and number of threads, a column for each number of keys.
fn ratios(rows: &[Row]) -> Table {
    let sizes = sizes(rows);
    let names = ["", "load", "keys", "threads"].map(String::from).into_iter();
    let mut table = styled(4, names.chain(sizes.iter().map(|keys| format!("{keys} keys"))).collect());
    for comparison in COMPARISONS {
        for (load, pattern, threads) in cases(rows) {
            let ratio = |&keys: &u64| comparison.ratio(rows, load, pattern, keys, threads);
            if !sizes.iter().any(|keys| ratio(keys).is_some()) {
                continue;
            }
            let cells = sizes.iter().map(|keys| ratio(keys).map_or("-".into(), |ratio| format!("{ratio:.2}")));
            let names = [comparison.name, load, pattern, &threads.to_string()].map(String::from);
            table.add_row(names.into_iter().chain(cells));
        }
    }
    table
}

#[allow(clippy::cast_precision_loss)] // shown to a few digits
fn flood_table(rows: &[&Row]) -> Table {
    let head = ["engine", "clock", "ns/op", "p99.9 ns", "worst us", "refused", "memory grew"].map(String::from);
    let mut table = styled(2, head.into());
    for row in rows {
        let wrong = if row.verified { "" } else { " (WRONG)" };
        let megabytes = |bytes: u64| format!("{:.2} MB", bytes as f64 / 1e6);
        table.add_row([
            format!("{}{wrong}", row.engine),
            row.clock.clone(),
            format!("{:.1}", row.ns_per_op),
            row.p999_ns.map_or("-".into(), |ns| ns.to_string()),
            row.max_ns.map_or("-".into(), |ns| format!("{:.1}", ns as f64 / 1e3)),
            row.refused.map_or("-".into(), |refused| refused.to_string()),
            row.resident_growth.map_or("-".into(), megabytes),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &str, keys: u64, ns_per_op: f64) -> Row {
        Row {
            engine: engine.into(),
            load: "admit".into(),
            pattern: Some("uniform".into()),
            threads: 1,
            keys: Some(keys),
            ns_per_op,
            bytes_per_key: Some(25.6),
            verified: true,
            ..Row::default()
        }
    }

    #[test]
    fn tables_show_times_memory_ratios_the_flood_and_the_fill() {
        let rows = [
            row("keyed", 1_000, 20.0),
            row("mutex-hashmap", 1_000, 50.0),
            Row { refused: Some(3), ..row("keyed", 5_000, 40.0) },
            Row {
                pattern: Some("flood".into()),
                bytes_per_key: None,
                max_ns: Some(123_456),
                resident_growth: Some(8_192),
                ..row("governor-keyed", 10_000, 70.0)
            },
            Row { pattern: Some("fill".into()), bytes_per_key: None, fill: Some(0.5831), ..row("keyed", 5_000, 0.0) },
        ];
        let text = tables(&rows);
        let keyed = text.lines().find(|line| line.contains("│ keyed ")).unwrap();
        assert!(keyed.contains("20.0") && keyed.contains("40.0"), "{text}");
        let map = text.lines().find(|line| line.contains("│ mutex-hashmap ")).unwrap();
        assert!(map.contains("50.0") && map.contains(" - "), "{text}");
        for part in ["25.6 (3 refused)", "2.50", "123.5", "0.01 MB", "58.3 % with 5000 keys"] {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
        let wrong = [Row { verified: false, ..row("keyed", 1_000, 20.0) }];
        assert!(tables(&wrong).contains("WRONG COUNT"));
    }
}
