//! Results for people.

use core::fmt::{self, Write};

use comfy_table::Table;
use tollgate::{Nanos, Quota};

use super::found::{EXACT_LOG, Found};
use super::output::{shown, table};
use crate::field::instant::Known;
use crate::figures::{count, counted, percent, span};
use crate::format::wanted::Format;
use crate::judge::algorithm::Algorithm;
use crate::judge::comparison::LogsTooLarge;
use crate::judge::tally::share;
use crate::read::replay::ReadAs;

/// The whole report.
///
/// # Panics
///
/// Never: a string takes all that is written to it.
pub fn text(found: &Found) -> String {
    let mut text = String::new();
    let every = span(found.quota().period());
    write_summary(&mut text, found, &every)
        .and_then(|()| writeln!(text, "\n{}", decisions(found, &every)))
        .and_then(|()| write_worst(&mut text, found, &every))
        .and_then(|()| write_suggestions(&mut text, found, &every))
        .expect("a string takes all");
    text
}

/// An instant of the log: a date, or what is since the log's own origin.
pub fn time(at: u64) -> String {
    const YEAR: u64 = 365 * 86_400 * 1_000_000_000;
    match i128::from(at) {
        since if at < YEAR => span(core::time::Duration::from_nanos(u64::try_from(since).unwrap_or_default())),
        nanos => jiff::Timestamp::from_nanosecond(nanos)
            .map_or_else(|_| format!("{at} ns"), |instant| instant.to_string().replace('T', " ").replace('Z', " UTC")),
    }
}

/// A limit as a person says it.
fn limit(quota: Quota, every: &str) -> String {
    let tokens = count(quota.tokens());
    match every.strip_prefix("1 ") {
        Some(unit) if !unit.contains(' ') => format!("{tokens}/{unit}"),
        _ => format!("{tokens} per {every}"),
    }
}

fn write_summary(text: &mut String, found: &Found, every: &str) -> fmt::Result {
    let (replayed, quota) = (&found.replayed, found.quota());
    let comparison = &replayed.comparison;
    let files = match &replayed.read_as[..] {
        [one] => one.file.display().to_string(),
        many => format!("{} files", many.len()),
    };
    write!(text, "{files}: {}", counted(comparison.arrivals(), "arrival", "arrivals"))?;
    if !found.together {
        write!(text, " from {}", counted(comparison.keys() as u64, "key", "keys"))?;
    }
    writeln!(text, " within {}", span(replayed.timebase.span()))?;
    write_read_as(text, &replayed.read_as)?;
    if let Some(first) = &replayed.first_rejected {
        let (file, line, reason) = (first.file.display(), first.line, &first.reason);
        let lines = counted(replayed.rejected, "line", "lines");
        writeln!(text, "rejected  {lines} could not be read; the first is {file}:{line}: {reason}")?;
    }
    if replayed.others > 0 {
        writeln!(text, "left out  {} not asked for", counted(replayed.others, "request", "requests"))?;
    }
    if replayed.late > 0 {
        writeln!(
            text,
            "order     {} after a newer one; they were sorted in",
            counted(replayed.late, "line came", "lines came")
        )?;
    }
    if replayed.spread > 0 {
        let moved = counted(replayed.spread, "arrival", "arrivals");
        writeln!(text, "times     in whole seconds: {moved} spread over their seconds (--spread no leaves them)")?;
    } else if replayed.whole_seconds && comparison.arrivals() > 1 {
        writeln!(
            text,
            "times     in whole seconds: arrivals of one second count as at once (--spread yes spreads them)"
        )?;
    }
    if let Some(LogsTooLarge { keys, .. }) = comparison.logs_dropped() {
        writeln!(text, "left out  sliding-log: no memory for more than {}", counted(keys, "key", "keys"))?;
    }
    let whose = if found.together { "for all arrivals together" } else { "for each key" };
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
    if !found.together {
        let busiest = comparison.busiest();
        let at = when(busiest.at.as_nanos());
        write!(text, "; {} from one key, {at} after the first", count(busiest.most))?;
    }
    writeln!(text)
}

/// How each file was read, once where they are alike, and the first arrival of all.
fn write_read_as(text: &mut String, files: &[ReadAs]) -> fmt::Result {
    let mut before: Vec<String> = Vec::new();
    for one in files {
        let how = read_as(one);
        if before.contains(&how) {
            continue;
        }
        let name = if files.len() > 1 { format!("{}: ", one.file.display()) } else { String::new() };
        writeln!(text, "read as   {name}{how}")?;
        before.push(how);
    }
    let first = files.iter().min_by_key(|one| one.first.at).map(|one| &one.first);
    if let Some(first) = first {
        writeln!(text, "first     client {}, {}, cost {}", shown(&first.key), time(first.at), first.cost)?;
    }
    Ok(())
}

/// Which format and which fields were taken for what.
fn read_as(one: &ReadAs) -> String {
    let about = &one.about;
    let (time, key) = (shown(about.time.as_bytes()), shown(about.key.as_bytes()));
    let cost = match (&about.cost, &about.other_cost) {
        (Some(cost), _) => format!("column {} is the cost", shown(cost.as_bytes())),
        (None, Some(other)) => format!("each costs 1 (--cost {} would charge that)", shown(other.as_bytes())),
        (None, None) => "each costs 1".to_owned(),
    };
    let names = match one.format {
        Format::Csv | Format::Tsv | Format::Semicolons if !one.has_names => " without a header",
        _ => "",
    };
    let unit = match one.unit {
        None => String::new(),
        Some(Known::Told(unit)) => format!(" in {}", unit.name()),
        Some(Known::BySize(unit)) => format!(" in {} since 1970, by its size", unit.name()),
        Some(Known::Assumed) => " in milliseconds, as is assumed (--time-unit says otherwise)".to_owned(),
    };
    let zone = if one.without_zone { ", taken for UTC" } else { "" };
    format!("{}{names}; {time} is the time{unit}{zone}, {key} the key; {cost}", one.format.name())
}

/// What each algorithm did.
fn decisions(found: &Found, every: &str) -> Table {
    let most = format!("most in\n{every}");
    let mut columns = vec!["algorithm", "admitted", "denied", "share\ndenied", "keys\ndenied", "longest\nwait", &most];
    columns.extend(["admitted,\nlog denies", "denied,\nlog admits", "share\ndiffering"]);
    if found.replayed.comparison.capacity().is_some() {
        columns.push("refused\na place");
    }
    let mut table = table(columns);
    for (name, tally) in found.tallies() {
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

fn write_worst(text: &mut String, found: &Found, every: &str) -> fmt::Result {
    if found.together || found.worst == 0 {
        return Ok(());
    }
    let (judge, worst) = (found.judge(), found.worst());
    if worst.is_empty() {
        return writeln!(text, "\nNeither {judge} nor {EXACT_LOG} denies any key.");
    }
    let (asked, denied) = (format!("most asked\nin {every}"), format!("denied by\n{judge}"));
    let mut table = table(["worst keys", "arrivals", &asked, &denied, "share\ndenied", "denied by\nexact-log"]);
    for one in worst {
        table.add_row([
            shown(one.name),
            count(one.arrivals),
            count(one.most_asked),
            count(one.denied),
            percent(share(one.denied, one.arrivals)),
            count(one.denied_by_log),
        ]);
    }
    writeln!(text, "\n{table}")
}

fn write_suggestions(text: &mut String, found: &Found, every: &str) -> fmt::Result {
    let Some(suggestions) = &found.suggestions else {
        return writeln!(text, "\n--suggest searches for limits that would have denied little.");
    };
    writeln!(text)?;
    if suggestions.is_empty() {
        return writeln!(
            text,
            "No limit is suggested: there are too many arrivals to search in, or nothing was asked for."
        );
    }
    for one in suggestions {
        let (quota, denied) = (one.quota, percent(one.share_denied));
        let share = if one.denied == 0 { "nobody".to_owned() } else { denied };
        let whose = counted(one.keys_denied, "key", "keys");
        let whom = if one.denied == 0 { String::new() } else { format!(", of {whose}") };
        writeln!(
            text,
            "a limit of {} with a burst of {} would have denied {share}{whom}",
            limit(quota, every),
            count(quota.burst())
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_or_since_the_origin() {
        assert_eq!(time(971_211_336_123_000_000), "2000-10-10 20:55:36.123 UTC");
        assert_eq!(time(971_211_336_000_000_000), "2000-10-10 20:55:36 UTC");
        assert_eq!(time(12_000_000), "12 ms");
    }

    #[test]
    fn limits_as_a_person_says_them() {
        let of = |quota: Quota| limit(quota, &span(quota.period()));
        assert_eq!(of(Quota::per_minute(40)), "40/min");
        assert_eq!(of(Quota::per_second(1_000)), "1,000/s");
        assert_eq!(of(Quota::per(5, core::time::Duration::from_secs(90))), "5 per 1 min 30 s");
    }
}
