//! Results for programs: rows, and one JSON object.

use serde::Serialize;
use tollgate::Nanos;

use super::found::Found;
use super::table::time;
use crate::judge::algorithm::Algorithm;

/// What one algorithm did. A header line names the fields; more may follow.
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
    longest_wait_ns: u64,
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
pub fn rows(found: &Found) -> Vec<Row> {
    let replayed = &found.replayed;
    let quota = found.quota();
    let files: Vec<_> = replayed.read_as.iter().map(|one| one.file.display().to_string()).collect();
    let files = files.join(" ");
    let row = |(engine, tally): (&'static str, &crate::judge::tally::Tally)| Row {
        bench: "replay",
        file: files.clone(),
        engine,
        limit: quota.tokens(),
        per_ns: Nanos::from(quota.period()).as_nanos(),
        burst: quota.burst(),
        key: if found.together { "all" } else { "each" },
        arrivals: replayed.comparison.arrivals(),
        keys: replayed.comparison.keys(),
        admitted: tally.admitted,
        denied: tally.denied,
        share_denied: tally.share_denied(),
        never: tally.never,
        keys_denied: tally.keys_denied,
        longest_wait_ns: Nanos::from(tally.longest_wait).as_nanos(),
        most_in_a_period: tally.most_in_a_period,
        over: tally.over,
        under: tally.under,
        share_differing: tally.share_differing(),
        out_of_order: replayed.late,
        rejected_lines: replayed.rejected,
        no_place: tally.no_place,
        capacity: replayed.comparison.capacity().filter(|_| engine == Algorithm::Keyed.name()),
    };
    found.tallies().map(row).collect()
}

#[derive(Serialize)]
struct Report {
    limit: String,
    burst: u64,
    arrivals: u64,
    keys: usize,
    span_ns: u64,
    rejected_lines: u64,
    first_rejected: Option<Rejected>,
    not_asked_for: u64,
    out_of_order: u64,
    whole_seconds: bool,
    spread: u64,
    files: Vec<Log>,
    algorithms: Vec<Row>,
    worst: Vec<Worst>,
    suggestions: Option<Vec<Suggestion>>,
}

#[derive(Serialize)]
struct Rejected {
    file: String,
    line: u64,
    reason: String,
}

#[derive(Serialize)]
struct Log {
    file: String,
    format: &'static str,
    time_field: String,
    key_field: String,
    cost_field: Option<String>,
    first_client: String,
    first_time: String,
    first_cost: u64,
}

#[derive(Serialize)]
struct Worst {
    client: String,
    arrivals: u64,
    most_asked_in_a_period: u64,
    denied: u64,
    denied_by_exact_log: u64,
}

#[derive(Serialize)]
struct Suggestion {
    limit: String,
    target: f64,
    denied: u64,
    share_denied: f64,
    keys_denied: u64,
}

/// One JSON object.
///
/// # Panics
///
/// Never: it holds nothing that JSON cannot.
pub fn json(found: &Found) -> String {
    let replayed = &found.replayed;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let report = Report {
        limit: found.quota().to_string(),
        burst: found.quota().burst(),
        arrivals: replayed.comparison.arrivals(),
        keys: replayed.comparison.keys(),
        span_ns: Nanos::from(replayed.timebase.span()).as_nanos(),
        rejected_lines: replayed.rejected,
        first_rejected: replayed.first_rejected.as_ref().map(|first| Rejected {
            file: first.file.display().to_string(),
            line: first.line,
            reason: first.reason.clone(),
        }),
        not_asked_for: replayed.others,
        out_of_order: replayed.late,
        whole_seconds: replayed.whole_seconds,
        spread: replayed.spread,
        files: replayed
            .read_as
            .iter()
            .map(|one| Log {
                file: one.file.display().to_string(),
                format: one.format.name(),
                time_field: one.about.time.clone(),
                key_field: one.about.key.clone(),
                cost_field: one.about.cost.clone(),
                first_client: text(&one.first.key),
                first_time: time(one.first.at),
                first_cost: one.first.cost,
            })
            .collect(),
        algorithms: rows(found),
        worst: found
            .worst()
            .iter()
            .map(|one| Worst {
                client: text(one.name),
                arrivals: one.arrivals,
                most_asked_in_a_period: one.most_asked,
                denied: one.denied,
                denied_by_exact_log: one.denied_by_log,
            })
            .collect(),
        suggestions: found.suggestions.as_ref().map(|all| {
            let of = |one: &crate::judge::suggest::Suggestion| Suggestion {
                limit: one.quota.to_string(),
                target: one.target,
                denied: one.denied,
                share_denied: one.share_denied,
                keys_denied: one.keys_denied,
            };
            all.iter().map(of).collect()
        }),
    };
    let mut text = serde_json::to_string_pretty(&report).expect("values that JSON has");
    text.push('\n');
    text
}
