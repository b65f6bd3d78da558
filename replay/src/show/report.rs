//! What a replay found, as text and as rows.

use core::cmp::Reverse;
use core::fmt::Write as _;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle, presets};
use serde::Serialize;
use tollgate::Nanos;

use crate::args::Args;
use crate::error::Error;
use crate::format::parse::Format;
use crate::judge::comparison::{KeyRecord, LOG_MEMORY, Tally, share};
use crate::judge::limiter::Algorithm;
use crate::policy::Key;
use crate::read::source::Replayed;
use crate::show::figures::{bytes, count, counted, percent, span};

/// The name of the exact log in tables and rows.
const EXACT_LOG: &str = "exact-log";

/// The longest key that is shown whole, in characters.
const SHOWN_KEY: usize = 40;

/// What one algorithm did, for machines. A header line names the fields; more may follow.
#[derive(Debug, Serialize)]
pub struct Row {
    bench: &'static str,
    file: String,
    engine: &'static str,
    limit: u64,
    per_ns: u64,
    burst: u64,
    key: &'static str,
    arrivals: u64,
    keys: usize,
    admitted: u64,
    denied: u64,
    share_denied: f64,
    never: u64,
    keys_denied: u64,
    longest_wait_ns: u128,
    most_in_a_period: u64,
    over: u64,
    under: u64,
    share_differing: f64,
    out_of_order: u64,
    rejected_lines: u64,
    /// Newcomers refused a place; part of `denied`.
    no_place: u64,
    /// Keys in debt that the table is made for, in the row of `keyed`.
    capacity: Option<usize>,
}

/// A row for each algorithm, and one for the exact log.
pub fn rows(replayed: &Replayed, args: &Args) -> Vec<Row> {
    let comparison = &replayed.comparison;
    let quota = comparison.quota();
    let row = |(engine, tally): (&'static str, &Tally)| Row {
        bench: "replay",
        file: args.source.file.display().to_string(),
        engine,
        limit: quota.tokens(),
        per_ns: Nanos::from(quota.period()).as_nanos(),
        burst: quota.burst(),
        key: match args.policy.key {
            Key::Each => "each",
            Key::All => "all",
        },
        arrivals: tally.admitted + tally.denied,
        keys: comparison.keys().len(),
        admitted: tally.admitted,
        denied: tally.denied,
        share_denied: tally.share_denied(),
        never: tally.never,
        keys_denied: tally.keys_denied,
        longest_wait_ns: tally.longest_wait.as_nanos(),
        most_in_a_period: tally.most_in_a_period,
        over: tally.over,
        under: tally.under,
        share_differing: tally.share_differing(),
        out_of_order: replayed.timebase.out_of_order(),
        rejected_lines: replayed.rejected,
        no_place: tally.no_place,
        capacity: comparison.capacity().filter(|_| engine == Algorithm::Keyed.name()),
    };
    named_tallies(replayed).map(row).collect()
}

fn named_tallies(replayed: &Replayed) -> impl Iterator<Item = (&'static str, &Tally)> {
    let comparison = &replayed.comparison;
    let names = comparison.algorithms().iter().map(|algorithm| algorithm.name());
    names.zip(comparison.tallies()).chain([(EXACT_LOG, comparison.log_tally())])
}

/// Writes rows as CSV.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_csv(path: &Path, rows: &[impl Serialize]) -> Result<(), Error> {
    let unwritable = |error| Error::Unwritable(path.to_owned(), error);
    let mut writer = csv::Writer::from_writer(File::create(path).map_err(unwritable)?);
    for row in rows {
        writer.serialize(row).map_err(|error| unwritable(error.into()))?;
    }
    writer.flush().map_err(unwritable)
}

/// Prints to standard output. A reader that has gone away is no error.
///
/// # Errors
///
/// Any other failure to write.
pub fn print(text: &str) -> io::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// A table whose first column is on the left and whose others are on the right, with one line under its header.
pub fn table<'a>(columns: impl IntoIterator<Item = &'a str>) -> Table {
    const UNDERLINED: TableStyle =
        presets::NOTHING.header_separator(LineStyle::none().fill('\u{2500}').junction('\u{2500}'));
    let mut table = Table::new();
    table.load_style(UNDERLINED).set_header(columns);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The whole report.
///
/// # Panics
///
/// Never: a string takes all that is written to it.
pub fn text(replayed: &Replayed, args: &Args) -> String {
    let mut text = String::new();
    let every = span(args.policy.per);
    write_summary(&mut text, replayed, args).expect("a string takes all");
    let _ = writeln!(text, "\n{}", decisions(replayed, &every));
    if args.policy.key == Key::Each && args.worst > 0 {
        write_worst(&mut text, replayed, args.worst, &every).expect("a string takes all");
    }
    text
}

fn write_summary(text: &mut String, replayed: &Replayed, args: &Args) -> core::fmt::Result {
    let comparison = &replayed.comparison;
    let quota = comparison.quota();
    let arrivals = comparison.keys().iter().map(KeyRecord::arrivals).sum();
    let every = span(args.policy.per);

    write!(text, "{}: {}", args.source.file.display(), counted(arrivals, "arrival", "arrivals"))?;
    if args.policy.key == Key::Each {
        write!(text, " from {}", counted(comparison.keys().len() as u64, "key", "keys"))?;
    }
    writeln!(text, " within {}", span(replayed.timebase.span()))?;
    writeln!(text, "read as   {}", read_as(replayed, args))?;
    if replayed.rejected > 0 {
        writeln!(text, "rejected  {}", counted(replayed.rejected, "line", "lines"))?;
    }
    let older = replayed.timebase.out_of_order();
    if older > 0 {
        writeln!(
            text,
            "order     {} earlier than one before; a limiter takes them as it takes a clock that jumps back",
            counted(older, "line is", "lines are")
        )?;
    }
    if comparison.logs_dropped() {
        let most = bytes(LOG_MEMORY);
        writeln!(
            text,
            "left out  sliding-log: at 8 bytes for each key and unit of the limit, it would need more than {most}"
        )?;
    }
    let whose = if args.policy.key == Key::Each { "for each key" } else { "for all arrivals together" };
    writeln!(
        text,
        "limit     {} per {every} {whose}; buckets save up {}",
        count(quota.tokens()),
        count(quota.burst())
    )?;

    if let Some(capacity) = comparison.capacity() {
        writeln!(text, "table     keyed has room for {} in debt at once", counted(capacity as u64, "key", "keys"))?;
    }

    let when = |at| span(replayed.timebase.since_first(Nanos::from_nanos(at)));
    let all = comparison.asked();
    write!(text, "peak      {} asked for within {every}, {} after the first", count(all.most()), when(all.at()))?;
    let busiest = comparison.keys().iter().max_by_key(|key| key.asked().most());
    if let (Some(key), Key::Each) = (busiest, args.policy.key) {
        write!(text, "; {} from one key, {} after the first", count(key.asked().most()), when(key.asked().at()))?;
    }
    writeln!(text)
}

/// Which format and which columns were taken for what.
fn read_as(replayed: &Replayed, args: &Args) -> String {
    let parser = &replayed.parser;
    let cost = match (args.source.cost.as_str(), parser.format(), parser.header()) {
        ("cost", Some(Format::Csv), None) => "the third field is the cost, 1 where there is none".to_owned(),
        ("cost", _, Some(names)) if names.iter().any(|name| name == "cost") => "column cost is the cost".to_owned(),
        ("cost", _, Some(names)) if names.len() > 2 => {
            format!("no column is named cost, so each costs 1 (--cost {} would charge that column)", names[2])
        }
        ("cost" | "one", ..) => "each costs 1".to_owned(),
        (column, ..) => format!("column {column} is the cost"),
    };
    match (parser.format(), parser.header()) {
        (Some(Format::Clf), _) => format!("Common Log Format; the host is the key; {cost}"),
        (_, Some(names)) => format!("CSV; {} is the time in ms, {} the key; {cost}", names[0], names[1]),
        (_, None) => format!("CSV without a header; {cost}"),
    }
}

/// What each algorithm did.
fn decisions(replayed: &Replayed, every: &str) -> Table {
    let most = format!("most in\n{every}");
    let mut columns = vec!["algorithm", "admitted", "denied", "share\ndenied", "keys\ndenied", "longest\nwait", &most];
    columns.extend(["admitted,\nlog denies", "denied,\nlog admits", "share\ndiffering"]);
    let has_table = replayed.comparison.capacity().is_some();
    if has_table {
        columns.push("refused\na place");
    }
    let mut table = table(columns);
    for (name, tally) in named_tallies(replayed) {
        let mut row = vec![
            name.to_owned(),
            count(tally.admitted),
            count(tally.denied),
            percent(tally.share_denied()),
            count(tally.keys_denied),
            if tally.never > 0 { "never".to_owned() } else { span(tally.longest_wait) },
            count(tally.most_in_a_period),
        ];
        if name != EXACT_LOG {
            row.extend([count(tally.over), count(tally.under), percent(tally.share_differing())]);
        }
        if name == Algorithm::Keyed.name() {
            row.push(count(tally.no_place));
        }
        table.add_row(row);
    }
    table
}

/// The keys that were denied most, by the first algorithm and then by the exact log.
fn write_worst(text: &mut String, replayed: &Replayed, shown: usize, every: &str) -> core::fmt::Result {
    let comparison = &replayed.comparison;
    let Some(first) = comparison.algorithms().first().map(|algorithm| algorithm.name()) else { return Ok(()) };
    let keys = comparison.keys();
    let denials = |number: usize| (keys[number].denied_by(0), keys[number].denied_by_log());
    let mut worst: Vec<usize> = (0..keys.len()).filter(|&number| denials(number) > (0, 0)).collect();
    if worst.is_empty() {
        return writeln!(text, "\nNeither {first} nor {EXACT_LOG} denies any key.");
    }
    worst.sort_unstable_by_key(|&number| (Reverse(denials(number)), number));
    worst.truncate(shown);
    let places: HashMap<usize, usize> = worst.iter().enumerate().map(|(place, &number)| (number, place)).collect();
    let mut names = vec![&[][..]; worst.len()];
    for (name, number) in &replayed.keys {
        if let Some(&place) = places.get(number) {
            names[place] = name;
        }
    }
    let (asked, denied) = (format!("most asked\nin {every}"), format!("denied by\n{first}"));
    let mut table = table(["worst keys", "arrivals", &asked, &denied, "share\ndenied", "denied by\nexact-log"]);
    for (name, number) in names.into_iter().zip(worst) {
        let key = &keys[number];
        table.add_row([
            shown_key(name),
            count(key.arrivals()),
            count(key.asked().most()),
            count(key.denied_by(0)),
            percent(share(key.denied_by(0), key.arrivals())),
            count(key.denied_by_log()),
        ]);
    }
    writeln!(text, "\n{table}")
}

/// A key made fit for a terminal: what does not print is escaped, what is long is cut.
fn shown_key(key: &[u8]) -> String {
    let text = String::from_utf8_lossy(key);
    let mut shown: String = text
        .chars()
        .take(SHOWN_KEY)
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = (!c.is_control()).then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    if text.chars().nth(SHOWN_KEY).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_fit_for_a_terminal() {
        assert_eq!(shown_key(b"10.0.0.1"), "10.0.0.1");
        assert_eq!(shown_key("caf\u{e9}".as_bytes()), "caf\u{e9}");
        assert_eq!(shown_key(b"\x1B[31mred\n"), "\\u{1b}[31mred\\n");
        assert_eq!(shown_key(b"\xFF"), "\u{fffd}");
        assert_eq!(shown_key(&[b'k'; 41]), format!("{}...", "k".repeat(40)));
    }
}
