//! The figures of `keyed` as tables.

use super::ratios::COMPARISONS;
use crate::figures::row::{Row, only, plural, repetitions};
use crate::figures::stats::sorted;
use crate::run::cores;
use crate::show::compare::{lost, remark};
use crate::show::table::{Table, tenths, whole};
use core::fmt::Write;

/// One table of times for each load, traffic and number of threads; then memory, ratios, and the flood.
pub fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    let times = only(rows, |row| row.bytes_per_key.is_some());
    for (load, pattern, threads) in cases(&times) {
        let case = only(&times, |row| is_of(row, load, pattern, threads));
        let table = by_keys(&case, "ns/op", |row| tenths(Some(row.ns_per_op)) + &lost(row));
        let _ = writeln!(text, "{load}, {pattern} keys, {}: ns/op\n\n{table}", plural(threads)); // a string takes it all
    }
    if let Some((load, pattern, threads)) = cases(&times).into_iter().find(|&(load, ..)| load == "admit") {
        let once = only(&times, |row| is_of(row, load, pattern, threads));
        let refused = |row: &Row| row.refused.filter(|&refused| refused > 0);
        let bytes = |row: &Row| {
            let refused = refused(row).map_or(String::new(), |refused| format!(" ({refused} refused)"));
            tenths(row.bytes_per_key) + &refused
        };
        let _ = writeln!(text, "allocated bytes for each key\n\n{}", by_keys(&once, "bytes", bytes));
    }
    if !times.is_empty() {
        let _ = writeln!(text, "how many times as fast\n\n{}", ratios(&times));
    }
    let flood = only(rows, |row| row.pattern.as_deref() == Some("flood"));
    if let Some(keys) = flood.first().and_then(|row| row.keys) {
        let _ = writeln!(text, "a flood of {keys} keys, once each, 1 thread\n\n{}", flood_table(&flood));
    }
    let fills = rows.iter().filter_map(|row| row.fill.zip(row.keys));
    let fills: Vec<_> = fills.map(|(fill, keys)| format!("{:.1} % with {keys} keys", fill * 100.0)).collect();
    if !fills.is_empty() {
        let _ = writeln!(text, "our table at its first refusal of a newcomer: {} of all slots\n", fills.join(", "));
    }
    let (runs, cores) = (repetitions(&times), cores());
    text + &format!(
        "ns/op: one call as its caller sees it, the median of {runs} on {cores} cores. Bytes for each key: as asked of the \
         allocator,\nafter one call for each key. The floors: one load and one compare-and-swap on a random line of an \
         array as large as\nour table. On floor-line each waits for the line before it, which may still be being \
         written; floor-isolated and\nkeyed-isolated wait for the end of each call, with the same instruction; \
         floor-timed reads the clock in between. Pauses\ncontain one reading of the timer, and whatever the system did \
         meanwhile: the floors' are those of the machine.\n"
    )
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

/// A table with a column for each number of keys behind the `names`.
fn sized(names: &[&str], sizes: &[u64], unit: &str) -> Table {
    let sizes = sizes.iter().map(|keys| format!("{unit}{keys} keys"));
    Table::new(names.len(), names.iter().map(|&name| name.to_owned()).chain(sizes))
}

/// A line for each engine, a column for each number of keys.
fn by_keys(rows: &[Row], unit: &str, figure: impl Fn(&Row) -> String) -> Table {
    let sizes = sizes(rows);
    let mut table = sized(&["engine", "version", "hasher", "clock"], &sizes, &format!("{unit}, "));
    let mut shown: Vec<(&str, &str)> = Vec::new();
    for first in rows {
        let engine = (first.engine.as_str(), first.clock.as_str());
        if shown.contains(&engine) {
            continue;
        }
        shown.push(engine);
        let own: Vec<_> = rows.iter().filter(|row| (row.engine.as_str(), row.clock.as_str()) == engine).collect();
        let wrong = own.iter().map(|row| remark(row)).max().unwrap_or_default();
        let hasher = first.hasher.as_deref().unwrap_or("-");
        let names = [&format!("{}{wrong}", first.engine), &first.version, hasher, &first.clock].map(String::from);
        let own = |&keys: &u64| own.iter().find(|row| row.keys == Some(keys)).map_or("-".into(), |row| figure(row));
        table.row(names.into_iter().chain(sizes.iter().map(own)));
    }
    table
}

/// A line for each comparison, traffic and number of threads, a column for each number of keys.
fn ratios(rows: &[Row]) -> Table {
    let sizes = sizes(rows);
    let mut table = sized(&["comparison", "load", "keys", "threads"], &sizes, "");
    for comparison in COMPARISONS {
        for (load, pattern, threads) in cases(rows) {
            let ratios = sizes.iter().map(|&keys| comparison.ratio(rows, load, pattern, keys, threads));
            if ratios.clone().all(|ratio| ratio.is_none()) {
                continue;
            }
            let cells = ratios.map(|ratio| ratio.map_or("-".into(), |ratio| format!("{ratio:.2}")));
            let names = [comparison.name, load, pattern, &threads.to_string()].map(String::from);
            table.row(names.into_iter().chain(cells));
        }
    }
    table
}

#[allow(clippy::cast_precision_loss)] // shown to a few digits
fn flood_table(rows: &[Row]) -> Table {
    let head = ["engine", "clock", "ns/op", "p99.9 ns", "worst us", "refused", "memory grew, MB"];
    Table::new(2, head).with(rows.iter().map(|row| {
        [
            format!("{}{}", row.engine, remark(row)),
            row.clock.clone(),
            tenths(Some(row.ns_per_op)),
            whole(row.p999_ns),
            tenths(row.max_ns.map(|ns| ns as f64 / 1e3)),
            whole(row.refused),
            row.resident_growth.map_or("-".into(), |bytes| format!("{:.2}", bytes as f64 / 1e6)),
        ]
    }))
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
        let keyed = text.lines().find(|line| line.starts_with("keyed  ")).unwrap();
        assert!(keyed.contains("20.0") && keyed.contains("40.0"), "{text}");
        let map = text.lines().find(|line| line.starts_with("mutex-hashmap ")).unwrap();
        assert!(map.contains("50.0") && map.contains(" - "), "{text}");
        for part in ["25.6 (3 refused)", "2.50", "123.5", "0.01", "58.3 % with 5000 keys"] {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
        let wrong = [Row { verified: false, ..row("keyed", 1_000, 20.0) }];
        assert!(tables(&wrong).contains("WRONG COUNT"));
    }
}
