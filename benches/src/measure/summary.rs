//! The summary of a comparison: one table that fits a screen, and what it means.

use crate::engine::label::Kind;
use crate::engine::load::Load;
use crate::engine::registry::{engines, kind};
use crate::figures::row::{Row, only, plural, repetitions, threads};
use crate::show::compare::{best, lost, mutex, name, remark, times};
use crate::show::table::Table;

/// The engines that somebody needs who has to choose a limiter: this crate's main ones, the best other crates, two mutexes,
/// and the floors.
pub const CHOICE: [&str; 12] = [
    "token-bucket",
    "fixed-window",
    "sharded",
    "handle",
    "governor",
    "ratelimit",
    "better-bucket",
    "rate-net",
    "mutex-std",
    "mutex-parking-lot",
    "floor-rmw",
    "floor-clock",
];

/// The table, and what it means in words, from the rows of `contention`. Of more engines than there are in [`CHOICE`], it
/// shows only those.
pub fn text(rows: &[Row]) -> String {
    let rows = only(rows, |row| row.bench == "contention" && (!row.oversubscribed || row.threads == 1));
    let counts = ends(&threads(&rows));
    let loads: Vec<_> = Load::ALL.into_iter().filter(|load| rows.iter().any(|row| row.load == load.name())).collect();
    let Some(&most) = counts.last() else { return "No figures with as many threads as cores.\n".into() };
    let columns: Vec<_> = loads.iter().flat_map(|&load| column(load, &counts)).collect();
    let heads = columns.iter().map(|&(load, threads)| format!("{} {threads}", brief(load)));
    let head: Vec<_> = core::iter::once(String::from("limiter")).chain(heads).collect();
    let table = Table::new(1, head).with(shown(&rows).into_iter().map(|engine| {
        let own = |load: Load, threads| {
            let is_own = |row: &&Row| row.engine == engine && row.load == load.name() && row.threads == threads;
            rows.iter().filter(is_own).max_by(|a, b| a.verified.cmp(&b.verified).then(a.mops.total_cmp(&b.mops)))
        };
        let figure = |row: &Row| format!("{}{}{}", short(row.mops), lost(row), remark(row));
        let figures = columns.iter().map(|&(load, threads)| own(load, threads).map_or("-".into(), figure));
        let title = rows.iter().find(|row| row.engine == engine).map_or_else(String::new, name);
        core::iter::once(title).chain(figures).collect::<Vec<_>>()
    }));
    let numbers: Vec<_> = counts.iter().map(usize::to_string).collect();
    let mut text = format!(
        "{table}\nMillion decisions a second by {} threads on the better of two clocks: medians of {}.\n\
         admit: all calls are admitted. deny: none. 1e5/s to 1e7/s: there are more calls than this limit.\n",
        numbers.join(" and by "),
        repetitions(&rows),
    );
    if rows.iter().any(|row| !lost(row).is_empty()) {
        text += "(%): admitted of what the bound allows over the run, if under 99 %; a busy machine takes from all.\n";
    }
    let sentences: String = loads.iter().map(|&load| sentence(load, most, &rows)).collect();
    if sentences.is_empty() {
        return text;
    }
    text + &format!(
        "With {}, the fastest of this crate against the fastest other and the usual mutex:\n{sentences}",
        plural(most)
    )
}

/// Three digits or more.
fn short(mops: f64) -> String {
    if mops < 99.95 { format!("{mops:.1}") } else { format!("{mops:.0}") }
}

/// The fewest and the most.
fn ends(counts: &[usize]) -> Vec<usize> {
    match counts {
        [] => Vec::new(),
        [one] => vec![*one],
        [first, .., last] => vec![*first, *last],
    }
}

/// The cases of a load that are shown: of the mixed loads only that with the most threads.
fn column(load: Load, counts: &[usize]) -> Vec<(Load, usize)> {
    let skip = if matches!(load, Load::Admit | Load::Deny) { 0 } else { counts.len() - 1 };
    counts.iter().skip(skip).map(|&threads| (load, threads)).collect()
}

fn brief(load: Load) -> &'static str {
    match load {
        Load::Admit => "admit",
        Load::Deny => "deny",
        Load::Mixed1e5 => "1e5/s",
        Load::Mixed1e6 => "1e6/s",
        Load::Mixed => "1e7/s",
    }
}

/// The engines in `rows`, ours first and the floors last.
fn shown(rows: &[Row]) -> Vec<&'static str> {
    let is_there = |name: &&str| rows.iter().any(|row| row.engine == *name);
    let mut names: Vec<_> = engines::<()>().into_iter().map(|entry| entry.label.name).filter(is_there).collect();
    names.dedup();
    if names.len() > CHOICE.len() {
        names.retain(|name| CHOICE.contains(name));
    }
    let place = |name: &&str| match kind(name) {
        Kind::Ours => 0,
        Kind::Peer => 1,
        Kind::Baseline => 2,
        Kind::Floor => 3,
    };
    names.sort_by_key(place);
    names
}

/// How this crate's fastest of those shown stands against the best other crate and the plain mutex under one load. Nothing
/// where one of them was not measured.
fn sentence(load: Load, threads: usize, rows: &[Row]) -> String {
    let case = Row { bench: "contention".into(), load: load.name().into(), threads, ..Row::default() };
    let shown = shown(rows);
    let of_table = only(rows, |row| shown.contains(&row.engine.as_str()));
    let [ours, peer] = [best(Kind::Ours, &case, &of_table), best(Kind::Peer, &case, rows)];
    let (Some(ours), Some(peer)) = (ours, peer) else { return String::new() };
    let against = |rival: &Row| format!("{} x {}", times(ours, Some(rival)), name(rival));
    let mutex = mutex(&case, rows).map_or(String::new(), |mutex| format!(" and {}", against(mutex)));
    format!("- {}: {}{}: {}{mutex}\n", brief(load), ours.engine, lost(ours), against(peer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &str, load: &str, threads: usize, mops: f64) -> Row {
        let [bench, engine, load] = ["contention", engine, load].map(String::from);
        Row { bench, engine, load, threads, oversubscribed: threads > 2, mops, verified: true, ..Row::default() }
    }

    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for (threads, scale) in [(1, 1.0), (2, 0.5), (4, 0.25)] {
            for load in Load::ALL.map(Load::name) {
                rows.push(row("token-bucket", load, threads, 60.0 * scale));
                rows.push(row("mutex-std", load, threads, 20.0 * scale));
                rows.push(row("governor", load, threads, 40.0 * scale));
                rows.push(row("governor", load, threads, 30.0 * scale));
                rows.push(row("floor-rmw", load, threads, 300.0 * scale));
            }
        }
        rows
    }

    #[test]
    fn it_fits_a_screen_and_compares_within_one_load_and_number_of_threads() {
        let mut rows = rows();
        let lossy = rows.iter_mut().find(|row| row.engine == "governor" && row.load == "mixed" && row.threads == 2);
        lossy.unwrap().admitted_share = Some(0.5);
        let text = text(&rows);
        let cells: Vec<_> = text.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>()).collect();
        assert_eq!(
            cells[0][..8],
            ["limiter", "admit 1", "admit 2", "deny 1", "deny 2", "1e5/s 2", "1e6/s 2", "1e7/s 2"]
        );
        assert_eq!(cells[2][..8], ["token-bucket", "60.0", "30.0", "60.0", "30.0", "30.0", "30.0", "30.0"], "{text}");
        assert_eq!(cells[3][7], "20.0 (50%)", "the better of its clocks: {text}");
        assert!(text.contains("With 2 threads") && text.contains("(%)"), "{text}");
        let sentence = "- admit: token-bucket: 1.50 x governor  and 3.00 x mutex-std\n";
        assert!(text.contains(sentence), "{text}");
        assert!(!text.contains("15.0"), "nothing from more threads than cores: {text}");
    }

    #[test]
    fn only_rows_of_contention_count() {
        let counted = |row: Row| Row { repetitions: 11, ..row };
        let mut rows = vec![counted(row("token-bucket", "admit", 1, 60.0))];
        rows.push(Row { bench: "keyed".into(), repetitions: 0, ..row("governor", "admit", 1, 600.0) });
        let text = text(&rows);
        assert!(text.contains("medians of 11 runs.") && !text.contains("governor"), "{text}");
    }

    #[test]
    fn the_table_of_the_first_run_has_at_most_24_lines_of_100_columns() {
        let mut rows = Vec::new();
        for engine in engines::<()>() {
            for load in Load::ALL.map(Load::name) {
                for threads in [1, 2] {
                    let version = engine.label.version.into();
                    let (mops, admitted_share) =
                        if load.starts_with("mixed") { (88.8, Some(0.97)) } else { (12_345.6, None) };
                    rows.push(Row { version, admitted_share, ..row(engine.label.name, load, threads, mops) });
                }
            }
        }
        let text = text(&rows);
        assert!(text.lines().count() <= 24, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(CHOICE.iter().all(|name| text.contains(name)) && !text.contains("mutex-log"), "{text}");
    }

    #[test]
    fn it_shows_what_there_is() {
        let text = text(&[row("packed", "deny", 1, 1.0)]);
        assert!(text.starts_with("limiter | deny 1\n") && text.contains("packed  |    1.0\n"), "{text}");
        assert!(super::text(&[row("packed", "deny", 4, 1.0)]).contains("No figures"));
    }
}
