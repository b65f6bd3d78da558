//! What was measured, as text.

use core::fmt::Write as _;

use super::measured::{EXACT_LOG, Measured, groups};
use crate::replay::Algorithm;
use crate::replay::comparison::{Tally, share};
use crate::replay::figures::{count, percent};
use crate::replay::report;

/// The share of wrong decisions that a large operator has published for the sliding counter: 0.003 % of 400 million requests.
const PUBLISHED: &str = "0.003 % of 400 million requests";

/// Two tables and what they mean.
pub(super) fn text(measured: &[Measured]) -> String {
    let groups = groups(measured);
    let headings: Vec<String> =
        groups.iter().map(|group| group.iter().map(|a| a.name()).collect::<Vec<_>>().join(",\n")).collect();
    let mut text = String::new();
    let mut write = |part: String| text.push_str(&part);

    write("Streams\n".to_owned());
    for one in measured {
        write(format!("  {:17} {}\n", one.name, one.about));
    }

    let mut differing =
        report::table(["stream", "arrivals", "log\ndenies"].into_iter().chain(headings.iter().map(String::as_str)));
    for one in measured {
        let mut row = vec![one.name.clone(), count(one.arrivals()), percent(one.comparison.log_tally().share_denied())];
        row.extend(groups.iter().map(|group| one.tally(group[0]).map_or_else(String::new, both_ways)));
        differing.add_row(row);
    }
    write(format!(
        "\nDecisions that differ from an exact sliding log's: admitted where it denies / denied where it admits\n{differing}\n"
    ));

    let mut most =
        report::table(["stream", "limit"].into_iter().chain(headings.iter().map(String::as_str)).chain([EXACT_LOG]));
    for one in measured {
        let mut row = vec![one.name.clone(), count(one.comparison.quota().tokens())];
        row.extend(
            groups
                .iter()
                .map(|group| one.tally(group[0]).map_or_else(String::new, |tally| count(tally.most_in_a_period))),
        );
        row.push(count(one.comparison.log_tally().most_in_a_period));
        most.add_row(row);
    }
    write(format!("\nThe most admitted from one key within any one minute\n{most}\n"));
    write(counter(measured));
    text
}

/// Both kinds of difference, as shares of all decisions.
fn both_ways(tally: &Tally) -> String {
    let decisions = tally.admitted + tally.denied;
    if tally.over + tally.under == 0 {
        return "0".to_owned();
    }
    format!("{} / {}", percent(share(tally.over, decisions)), percent(share(tally.under, decisions)))
}

/// How the sliding counter compares with what is published about it.
fn counter(measured: &[Measured]) -> String {
    let mut text = format!("\nThe sliding counter beside the published figure, {PUBLISHED}\n");
    let mut table = report::table([
        "stream",
        "keys",
        "keys\ndenied",
        "log\ndenies",
        "decisions\ndiffering",
        "net, of\narrivals",
        "as a gauge\nof demand",
    ]);
    for one in measured.iter().filter(|one| one.comparison.keys().len() > 1) {
        let (Some(tally), log) = (one.tally(Algorithm::SlidingCounter), one.comparison.log_tally()) else { continue };
        table.add_row([
            one.name.clone(),
            count(one.comparison.keys().len() as u64),
            count(log.keys_denied),
            percent(log.share_denied()),
            percent(tally.share_differing()),
            percent(share(tally.admitted.abs_diff(log.admitted), one.arrivals())),
            one.gauge_errors.map_or_else(String::new, percent),
        ]);
    }
    let _ = writeln!(text, "{table}");
    text.push_str(
        "Why they differ: a decision can be wrong only for a key that is near its limit or above it, so the share follows from how\n\
         much of the traffic comes from such keys: the share that the log denies, here. And above the limit both admit as much, but not\n\
         the same arrivals: each counts what it has itself admitted, so that one early difference makes many later ones, in both\n\
         directions. The net column shows what remains when they cancel; the last one, how often the counter's estimate of all that\n\
         is asked for, admitted or not, lies on the wrong side of the limit, with no history of its own.\n",
    );
    text
}
