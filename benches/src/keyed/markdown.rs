//! The figures of `keyed` as Markdown, for a README.

use super::table::sizes;
use crate::markdown::{of, plural, table};
use crate::row::{Row, threads};

/// Time of a call and memory for each number of keys: uniform keys, all admitted; then the flood.
pub fn keyed(rows: &[Row]) -> String {
    let rows = of("keyed", rows);
    let timed =
        |row: &&Row| row.bytes_per_key.is_some() && row.load == "admit" && row.pattern.as_deref() == Some("uniform");
    let uniform: Vec<_> = rows.iter().filter(timed).cloned().collect();
    let sizes = sizes(&uniform);
    let threads = threads(&uniform);
    let columns: Vec<_> = threads.iter().flat_map(|&threads| sizes.iter().map(move |&keys| (threads, keys))).collect();
    let head = ["limiter", "hasher", "clock"].map(String::from).into_iter();
    let head = head.chain(columns.iter().map(|&(threads, keys)| format!("{keys} keys, {}", plural(threads))));
    let first = uniform.first().map(|row| (row.threads, row.keys));
    let lines = uniform.iter().filter(|row| Some((row.threads, row.keys)) == first).map(|engine| {
        let own = |&(threads, keys): &(usize, u64)| {
            let same = |row: &&Row| (&row.engine, &row.clock, row.threads) == (&engine.engine, &engine.clock, threads);
            uniform.iter().filter(same).find(|row| row.keys == Some(keys)).map_or("-".into(), figure)
        };
        let names = [&engine.engine, engine.hasher.as_deref().unwrap_or("-"), &engine.clock].map(String::from);
        names.into_iter().chain(columns.iter().map(own)).collect()
    });
    let calls = table(3, head.collect(), lines);
    format!("Nanoseconds of a call, and allocated bytes for each key.\n\n{calls}\n{}", flood(&rows))
}

fn figure(row: &Row) -> String {
    let wrong = if row.verified { "" } else { " (wrong count)" };
    format!("{:.1}, {:.1} B{wrong}", row.ns_per_op, row.bytes_per_key.unwrap_or_default())
}

#[allow(clippy::cast_precision_loss)] // shown to a few digits
fn flood(rows: &[Row]) -> String {
    let floods: Vec<_> = rows.iter().filter(|row| row.pattern.as_deref() == Some("flood")).collect();
    let Some(keys) = floods.first().and_then(|row| row.keys) else { return String::new() };
    let head = ["limiter", "clock", "p99.9, ns", "worst, us", "refused", "memory grew, MB"].map(String::from);
    let scaled =
        |value: Option<u64>, unit: f64| value.map_or("-".into(), |value| format!("{:.1}", value as f64 / unit));
    let lines = floods.iter().map(|row| {
        let [tail, refused] =
            [row.p999_ns, row.refused].map(|count| count.map_or("-".into(), |count| count.to_string()));
        let [worst, growth] = [(row.max_ns, 1e3), (row.resident_growth, 1e6)].map(|(value, unit)| scaled(value, unit));
        vec![row.engine.clone(), row.clock.clone(), tail, worst, refused, growth]
    });
    format!("A flood of {keys} keys, once each.\n\n{}", table(2, head.into(), lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_engine_and_a_column_for_each_case() {
        let row = |engine: &str, keys, threads, ns_per_op| Row {
            bench: "keyed".into(),
            engine: engine.into(),
            load: "admit".into(),
            pattern: Some("uniform".into()),
            keys: Some(keys),
            threads,
            ns_per_op,
            bytes_per_key: Some(25.6),
            verified: true,
            ..Row::default()
        };
        let mut rows = vec![row("a", 10, 1, 1.5), row("b", 10, 1, 2.5), row("a", 99, 1, 3.5), row("a", 10, 2, 4.5)];
        rows.push(Row {
            pattern: Some("flood".into()),
            bytes_per_key: None,
            max_ns: Some(9_500),
            refused: Some(7),
            ..row("a", 5_000, 1, 1.0)
        });
        let text = keyed(&rows);
        assert!(text.contains("| a | - |  | 1.5, 25.6 B | 3.5, 25.6 B | 4.5, 25.6 B | - |"), "{text}");
        assert!(text.contains("| b | - |  | 2.5, 25.6 B | - | - | - |"), "{text}");
        assert!(text.contains("A flood of 5000 keys") && text.contains("| a |  | - | 9.5 | 7 | - |"), "{text}");
    }
}
