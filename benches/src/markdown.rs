//! The figures as tables for README files. What is written depends on the rows alone.

use crate::contention::table::{best_peer, kind, mutex};
use crate::engine::Kind;
use crate::load::Load;
use crate::row::{Row, threads};
use crate::stats::ratio;

/// The blocks that can be spliced into a README: name, title, table. All but the first are of the csv of their name.
pub const BLOCKS: [(&str, &str, Block); 6] = [
    ("headline", "In short", headline),
    ("contention", "Threads that share one limiter", contention),
    ("latency", "Time of single calls", latency),
    ("keyed", "Limits by key", crate::keyed::markdown::keyed),
    ("writes", "Writes to shared memory", writes),
    ("clock", "Clocks", clock),
];

/// From the rows of a folder to a table.
pub type Block = fn(&[Row]) -> String;

/// A table whose first `names` columns are names and whose other columns are figures.
pub(crate) fn table(names: usize, head: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rule = (0..head.len()).map(|column| if column < names { "---" } else { "--:" }.into()).collect();
    let lines = [head, rule].into_iter().chain(rows);
    lines.map(|cells| format!("| {} |\n", cells.join(" | "))).collect::<Vec<_>>().concat()
}

fn strings<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(String::from).into()
}

/// This crate's main limiters beside the plain mutex and the best peer, with one thread and with one for each core.
pub fn headline(rows: &[Row]) -> String {
    let rows = of("contention", rows);
    let most = threads(&rows).into_iter().rfind(|&threads| !oversubscribed(&rows, threads));
    let counts: Vec<_> = core::iter::once(1).chain(most.filter(|&most| most > 1)).collect();
    let mut lines = Vec::new();
    for load in [Load::Admit, Load::Deny] {
        for &threads in &counts {
            let case: Vec<_> = rows.iter().filter(|row| row.load == load.name() && row.threads == threads).collect();
            let peers = case.iter().filter(|row| kind(row) == Kind::Peer && row.verified);
            let best = peers.max_by(|a, b| a.mops.total_cmp(&b.mops)).copied();
            let named = |name: &str| case.iter().find(|row| row.engine == name).copied();
            let ours = ["token-bucket", "sharded", "handle"].into_iter().filter_map(named);
            let mutexes = ["mutex-same-step", "mutex-std"].into_iter().filter_map(named);
            for row in ours.chain(best).chain(mutexes) {
                let [mutex, peer] = [mutex(row, &rows), best_peer(row, &rows)].map(|base| times(row.mops, base));
                let [mops, ns] = [row.mops, row.ns_per_op].map(|figure| format!("{figure:.1}"));
                let threads = threads.to_string();
                lines.push(strings([load.name(), &threads, &name(row), &mops, &ns, &mutex, &peer]));
            }
        }
    }
    table(3, strings(["load", "threads", "limiter", "Mops/s", "ns/op", "x mutex-std", "x best peer"]), lines)
}

/// Every engine: a table for each load, throughput for each number of threads, and its ratios.
pub fn contention(rows: &[Row]) -> String {
    let rows = of("contention", rows);
    let counts = threads(&rows);
    let mut head = strings(["limiter", "clock"]);
    head.extend(counts.iter().map(|&count| plural(count) + if oversubscribed(&rows, count) { " *" } else { "" }));
    let loads = Load::ALL.into_iter().filter(|load| rows.iter().any(|row| row.load == load.name()));
    let tables = loads.map(|load| {
        let first = |row: &&Row| row.load == load.name() && Some(&row.threads) == counts.first();
        let mut engines: Vec<_> = rows.iter().filter(first).collect();
        engines.sort_by(|a, b| (kind(b) == Kind::Floor).cmp(&(kind(a) == Kind::Floor)).then(b.mops.total_cmp(&a.mops)));
        let lines = engines.into_iter().map(|engine| {
            let mut line = strings([&engine.engine, &engine.clock]);
            let same = |row: &&Row| {
                (&row.engine, &row.clock, row.load.as_str()) == (&engine.engine, &engine.clock, load.name())
            };
            let figure = |&count: &usize| rows.iter().filter(same).find(|row| row.threads == count);
            line.extend(counts.iter().map(|count| figure(count).map_or("-".into(), |row| with_ratios(row, &rows))));
            line
        });
        format!("**{load}**, Mops/s (x mutex-std, x best peer)\n\n{}", table(2, head.clone(), lines))
    });
    let mut text = tables.collect::<Vec<_>>().join("\n");
    if counts.iter().any(|&count| oversubscribed(&rows, count)) {
        text += "\n\\* more threads than cores: oversubscribed\n";
    }
    text
}

/// Percentiles of every engine: a table for each load and number of threads.
pub fn latency(rows: &[Row]) -> String {
    let rows = of("latency", rows);
    let timer = rows.first().map(|row| (row.timer_ns.unwrap_or(0), row.timer_step_ns.unwrap_or(0)));
    let (overhead, step) = timer.unwrap_or_default();
    let mut tables = vec![format!(
        "Nanoseconds of single calls, with the timer's own {overhead} ns in each; the timer moves in steps of {step} ns.\n"
    )];
    for load in Load::ALL {
        for count in threads(&rows) {
            let case = |row: &&Row| row.load == load.name() && row.threads == count;
            let mut case: Vec<_> = rows.iter().filter(case).collect();
            if case.is_empty() {
                continue;
            }
            case.sort_by_key(|row| (kind(row) != Kind::Floor, row.p99_ns, row.p50_ns));
            let lines = case.into_iter().map(|row| {
                let quantiles = [row.p50_ns, row.p99_ns, row.p999_ns, row.p9999_ns, row.max_ns];
                let quantiles = quantiles.map(|ns| ns.map_or("-".into(), |ns| ns.to_string()));
                [strings([&row.engine, &row.clock]), quantiles.into()].concat()
            });
            let head = strings(["limiter", "clock", "p50", "p99", "p99.9", "p99.99", "max"]);
            tables.push(format!("**{load}, {}**\n\n{}", plural(count), table(2, head, lines)));
        }
    }
    tables.join("\n")
}

/// Writes to shared memory, the fewest first.
pub fn writes(rows: &[Row]) -> String {
    let rows = of("writes", rows);
    let mut engines: Vec<_> = rows.iter().filter(|row| row.load == Load::Admit.name()).collect();
    engines.sort_by(|a, b| a.writes_per_1000.unwrap_or(0.0).total_cmp(&b.writes_per_1000.unwrap_or(0.0)));
    let lines = engines.into_iter().map(|engine| {
        let figure = |load: Load| rows.iter().find(|row| row.engine == engine.engine && row.load == load.name());
        let writes = |load| figure(load).and_then(|row| row.writes_per_1000);
        let [admit, deny] =
            [Load::Admit, Load::Deny].map(writes).map(|writes| writes.map_or("-".into(), |w| format!("{w:.1}")));
        strings([&name(engine), &admit, &deny])
    });
    let head = strings(["limiter", "admit", "deny"]);
    format!("{}\n\n{}", crate::writes::WATCHED, table(1, head, lines))
}

/// What one reading of each clock costs.
pub fn clock(rows: &[Row]) -> String {
    let rows = of("clock", rows);
    let counts = threads(&rows);
    let lines = rows.iter().filter(|row| Some(&row.threads) == counts.first()).map(|clock| {
        let figure = |&count: &usize| rows.iter().find(|row| row.engine == clock.engine && row.threads == count);
        let figures =
            counts.iter().map(|count| figure(count).map_or("-".into(), |row| format!("{:.1}", row.ns_per_op)));
        strings([&clock.engine, &clock.clock]).into_iter().chain(figures).collect()
    });
    let head = strings(["clock", "reads"]).into_iter().chain(counts.iter().map(|&count| plural(count))).collect();
    format!("Nanoseconds of one reading.\n\n{}", table(2, head, lines))
}

pub(crate) fn of(bench: &str, rows: &[Row]) -> Vec<Row> {
    rows.iter().filter(|row| row.bench == bench).cloned().collect()
}

fn oversubscribed(rows: &[Row], threads: usize) -> bool {
    rows.iter().any(|row| row.threads == threads && row.oversubscribed)
}

pub(crate) fn plural(threads: usize) -> String {
    if threads == 1 { "1 thread".into() } else { format!("{threads} threads") }
}

fn times(mops: f64, base: Option<f64>) -> String {
    ratio(mops, base).map_or("-".into(), |ratio| format!("{ratio:.2}"))
}

fn name(row: &Row) -> String {
    match kind(row) {
        Kind::Peer => format!("{} {}", row.engine, row.version),
        _ => row.engine.clone(),
    }
}

fn with_ratios(row: &Row, rows: &[Row]) -> String {
    let wrong = if row.verified { "" } else { " (wrong count)" };
    if kind(row) == Kind::Floor {
        return format!("{:.1}{wrong}", row.mops);
    }
    let [mutex, peer] = [mutex(row, rows), best_peer(row, rows)].map(|base| times(row.mops, base));
    format!("{:.1} ({mutex}, {peer}){wrong}", row.mops)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &str, clock: &str, load: &str, threads: usize, mops: f64) -> Row {
        let [bench, engine, clock, load] = ["contention", engine, clock, load].map(String::from);
        Row { bench, engine, clock, load, threads, oversubscribed: threads > 2, mops, verified: true, ..Row::default() }
    }

    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for (threads, scale) in [(1, 1.0), (2, 0.5), (4, 0.25)] {
            for load in ["admit", "deny"] {
                rows.push(row("floor-rmw", "none", load, threads, 300.0 * scale));
                rows.push(row("token-bucket", "quanta", load, threads, 60.0 * scale));
                rows.push(row("mutex-std", "std", load, threads, 20.0 * scale));
                rows.push(row("governor", "quanta", load, threads, 40.0 * scale));
                rows.push(row("governor", "std", load, threads, 30.0 * scale));
            }
        }
        rows
    }

    #[test]
    fn the_headline_compares_within_one_load_and_number_of_threads() {
        let text = headline(&rows());
        assert!(text.contains("| admit | 2 | token-bucket | 30.0 | 0.0 | 3.00 | 1.50 |"), "{text}");
        assert!(text.contains("| deny | 1 | governor  | 40.0 | 0.0 | 2.00 | 1.00 |"), "{text}");
        assert!(!text.contains("| 4 |"), "no headline from more threads than cores: {text}");
        assert!(!text.contains("30.0 | 0.0 | 1.50"), "only the better of the peer's clocks: {text}");
    }

    #[test]
    fn the_full_table_has_every_engine_and_marks_what_is_oversubscribed() {
        let text = contention(&rows());
        assert!(text.contains("| limiter | clock | 1 thread | 2 threads | 4 threads * |"), "{text}");
        assert!(
            text.contains("| governor | std | 30.0 (1.50, 0.75) | 15.0 (1.50, 0.75) | 7.5 (1.50, 0.75) |"),
            "{text}"
        );
        assert!(text.contains("| floor-rmw | none | 300.0 | 150.0 | 75.0 |"), "{text}");
        assert!(text.contains("**deny**") && !text.contains("**mixed**"));
    }

    #[test]
    fn fewest_writes_come_first() {
        let written = |engine: &str, load: &str, writes| Row {
            bench: "writes".into(),
            writes_per_1000: Some(writes),
            ..row(engine, "quanta", load, 1, 0.0)
        };
        let rows =
            [written("governor", "admit", 1e3), written("governor", "deny", 0.0), written("handle", "admit", 1.0)];
        let text = writes(&rows);
        assert!(text.ends_with("| handle | 1.0 | - |\n| governor  | 1000.0 | 0.0 |\n"), "{text}");
    }

    #[test]
    fn other_benches_do_not_get_in() {
        let rows = [
            Row {
                bench: "clock".into(),
                engine: "clock-quanta".into(),
                threads: 1,
                ns_per_op: 10.25,
                ..Row::default()
            },
            Row {
                bench: "latency".into(),
                p50_ns: Some(20),
                timer_ns: Some(9),
                ..row("governor", "std", "deny", 1, 1.0)
            },
        ];
        let rows = [rows[0].clone(), Row { bench: "latency".into(), ..rows[1].clone() }];
        assert!(clock(&rows).contains("| clock-quanta |  | 10.2 |") && !clock(&rows).contains("governor"));
        let latency = latency(&rows);
        assert!(latency.contains("**deny, 1 thread**") && latency.contains("| governor | std | 20 | - |"), "{latency}");
        assert!(latency.contains("own 9 ns"), "{latency}");
        assert!(!contention(&rows).contains("governor"));
    }
}
