//! `clock`: what one reading of each clock costs.

use super::contention::{self, Throughput};
use super::measurement::Measurement;
use crate::engine::label::select;
use crate::engine::load::Load;
use crate::engine::registry::clocks;
use crate::figures::error::Result;
use crate::figures::outcome::Outcome;
use crate::figures::row::{Row, only, plural, threads};
use crate::run::options::Options;
use crate::run::plan::Plan;
use crate::show::table::{Table, tenths};

/// How it is called, shown and recorded.
pub const CLOCK: Measurement = Measurement {
    name: "clock",
    title: "Clocks",
    tables,
    plot: None,
    share: 0.02,
    record: |seconds| measure(&Options::within(seconds, 5)),
};

/// Runs `clock`: measures, shows a table, writes what was asked for.
///
/// # Errors
///
/// If a clock is not known, or a file cannot be written.
pub fn command(options: &Options) -> Result<()> {
    let options = Options { seconds: options.seconds.or(Some(5.5)), ..options.clone() };
    let outcome = measure(&options)?;
    CLOCK.finish(&outcome, &tables(&outcome.rows), &options)
}

/// Measures the clocks. A clock has no load: it is always "admitted".
fn measure(options: &Options) -> Result<Outcome> {
    let entries = select(clocks::<Throughput>(), &options.engine, &options.clock)?;
    let mut outcome = contention::measure(&Plan::new(options, &entries, &[Load::Admit], &[1, 2])?);
    outcome.rows.iter_mut().for_each(|row| row.bench = CLOCK.name.into());
    Ok(outcome)
}

/// A row for each clock, a column for each number of threads.
fn tables(rows: &[Row]) -> String {
    let counts = threads(rows);
    let head = ["clock", "version", "reads"].map(String::from).into_iter();
    let fewest = only(rows, |row| Some(&row.threads) == counts.first());
    let table = Table::new(3, head.chain(counts.iter().map(|&count| plural(count)))).with(fewest.iter().map(|clock| {
        let figure = |count: &usize| rows.iter().find(|row| row.engine == clock.engine && row.threads == *count);
        let figures = counts.iter().map(|count| tenths(figure(count).map(|row| row.ns_per_op)));
        [&clock.engine, &clock.version, &clock.clock].map(String::clone).into_iter().chain(figures).collect::<Vec<_>>()
    }));
    format!("{table}\nNanoseconds of one reading, as its caller sees it.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_clock() {
        let row =
            |engine: &str, threads, ns_per_op| Row { engine: engine.into(), threads, ns_per_op, ..Row::default() };
        let text = tables(&[row("a", 1, 10.0), row("b", 1, 20.0), row("a", 2, 11.5), row("b", 2, 20.5)]);
        let line = |name: &str| text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap().to_owned();
        assert!(line("a").contains("10.0") && line("a").contains("11.5"), "{text}");
        assert!(line("b").contains("20.0") && line("b").contains("20.5"), "{text}");
        assert_eq!(text.matches("\na ").count(), 1, "{text}");
    }
}
