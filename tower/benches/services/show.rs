//! Rows as tables, and what is kept beside them.

use crate::engine::{CLIENTS, Engine};
use crate::measure::Pace;
use crate::row::Row;
use tollgate_bench::record::build;
use tollgate_bench::record::machine::Machine;
use tollgate_bench::show::table::Table;

/// A line for each engine.
pub(crate) fn table(rows: &[Row]) -> String {
    let head = ["layer", "ns", "more", "of governor's", "instructions", "requests/s", "p99 us", "bytes per client"];
    let theirs = rows.iter().find(|row| row.engine == Engine::Governor).map_or(1.0, |row| row.overhead_ns);
    let none = rows.first().and_then(|row| row.instructions);
    let cells = |row: &Row| {
        let more = none.zip(row.instructions).map_or("-".into(), |(none, all)| format!("{:+.0}", all - none));
        let all = row.engine == Engine::NoLayer;
        [
            row.engine.name().to_owned(),
            format!("{:.0}", row.in_process_ns),
            if all { "-".into() } else { format!("{:+.0}", row.overhead_ns) },
            if all { "-".into() } else { format!("{:.2}", row.overhead_ns / theirs) },
            if all { row.instructions.map_or("-".into(), |all| format!("{all:.0}")) } else { more },
            format!("{:.0}", row.requests_per_second),
            format!("{:.0}", row.p99_us),
            format!("{:.0}", row.bytes_per_client),
        ]
    };
    Table::new(1, head).with(rows.iter().map(cells)).to_string()
}

/// What stands in the repository's README.
pub(crate) fn summary(rows: &[Row]) -> String {
    format!("{}\n{WHAT}", table(rows))
}

pub(crate) fn readme(rows: &[Row], pace: &Pace, machine: &Machine) -> String {
    let command = "cargo bench -p tollgate-tower --features axum --bench services -- record";
    let Pace { turns, requests, rounds, each, .. } = pace;
    format!(
        "# What a limit costs a service: {}, {} cores\n\nMade by `{command}` at commit `{}`. \
         [machine.txt](machine.txt) has the processor, the compiler and the flags; [services.csv](services.csv) has every figure.\n\n\
         {}\n{WHAT}\nIn process: {turns} turns of {requests} requests. Over the loopback: {rounds} rounds of {each:?}. Memory: after \
         {CLIENTS} clients, by their number; a table of ours has its size from the beginning. The authors wrote one of the engines.\n",
        machine.processor,
        tollgate_bench::run::cores(),
        build::COMMIT,
        table(rows),
    )
}

const WHAT: &str = "\
A service of axum, with a limit for each client by the peer's address that admits every request. ns: a request of one of
1,000 clients that is handed to the router directly, the median of engines in turn; more: than without a layer, the median
of differences in the same turn; instructions: of such a request, or more than without a layer. axum puts the service
around each layer in a box and clones it for each request, which is what a layer costs that does nothing; a layer around the
whole router is spared that. The floor is the least that a limit can be: one look at the extensions, one decision of a
`KeyedLimiter`, one reading of the clock with it. of governor's: what is more, for `tower_governor` as its documents put it,
within the router.
requests/s and p99: 8 connections of HTTP/1.1 over the loopback, client and server in one process, medians of rounds.
";
