//! What was measured, as text.

use super::measured::{EXACT_LOG, Measured, SHARDED, groups};
use crate::show::table::Table;
use core::fmt::Write as _;
use tollgate_replay::Algorithm;
use tollgate_replay::figures::{bytes, count, percent};
use tollgate_replay::judge::comparison::LOG_MEMORY;
use tollgate_replay::judge::tally::{Tally, share};

/// The share of wrong decisions that a large operator has published for the sliding counter: 0.003 % of 400 million
/// requests.
const PUBLISHED: &str = "0.003 % of 400 million requests";

/// The tables and what they mean.
pub(super) fn text(measured: &[Measured]) -> String {
    let streams: String = measured.iter().fold(String::new(), |streams, one| streams + &stream(one));
    let differing = by_algorithm(
        measured,
        &[("arrivals", &|one| count(one.arrivals)), ("log denies", &|one| percent(one.log.share_denied()))],
        &both_ways,
        &[(SHARDED, &|one| one.sharded.as_ref().map_or_else(String::new, both_ways))],
    );
    let most = by_algorithm(
        measured,
        &[("limit", &|one| count(one.quota.tokens()))],
        &|tally| count(tally.most_in_a_period),
        &[(EXACT_LOG, &|one| count(one.log.most_in_a_period))],
    );
    let left_out = if measured.iter().all(|one| one.tally(Algorithm::SlidingLog).is_some()) {
        String::new()
    } else {
        format!("An empty field: the sliding logs of all keys would need more than {}.\n", bytes(LOG_MEMORY))
    };
    format!(
        "Streams\n{streams}\n\
         Decisions that differ from an exact sliding log's: admitted where it denies / denied where it admits\n\
         {differing}\n{left_out}\n\
         The most admitted from one key within any one minute\n\
         {most}\n\n{}",
        counter(measured)
    )
}

fn stream(one: &Measured) -> String {
    format!("  {:17} {}\n", one.name, one.about)
}

/// A column's heading, and what stands in it.
type Column<'a> = (&'a str, &'a dyn Fn(&Measured) -> String);

/// A line for each stream; between the columns before and after, one for each group of algorithms that decided alike.
fn by_algorithm(measured: &[Measured], before: &[Column], cell: &dyn Fn(&Tally) -> String, after: &[Column]) -> Table {
    let groups = groups(measured);
    let heading = |group: &Vec<Algorithm>| group.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
    let headings: Vec<String> = groups.iter().map(heading).collect();
    let named = |columns: &[Column]| columns.iter().map(|&(name, _)| name.to_owned()).collect::<Vec<_>>();
    let all = [vec!["stream".to_owned()], named(before), headings, named(after)].concat();
    let mut table = Table::new(1, all);
    for one in measured {
        let filled = |columns: &[Column]| columns.iter().map(|(_, value)| value(one)).collect::<Vec<_>>();
        let cells = groups.iter().map(|group| one.tally(group[0]).map_or_else(String::new, cell)).collect();
        table.row([vec![one.name.clone()], filled(before), cells, filled(after)].concat());
    }
    table
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
    let mut text = format!("The sliding counter beside the published figure, {PUBLISHED}\n");
    let mut table = Table::new(
        1,
        [
            "stream",
            "keys",
            "keys denied",
            "log denies",
            "decisions differing",
            "net, of arrivals",
            "as a gauge of demand",
        ],
    );
    for one in measured.iter().filter(|one| one.keys > 1) {
        let (Some(tally), log) = (one.tally(Algorithm::SlidingCounter), &one.log) else { continue };
        table.row([
            one.name.clone(),
            count(one.keys as u64),
            count(log.keys_denied),
            percent(log.share_denied()),
            percent(tally.share_differing()),
            percent(share(tally.admitted.abs_diff(log.admitted), one.arrivals)),
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
