//! Tables, a drawing and a README of rows.

use crate::engine::Engine;
use crate::load::{BATCH, LEASE, Load};
use crate::row::Row;
use tollgate_bench::record::build;
use tollgate_bench::record::machine::Machine;
use tollgate_bench::show::axis::Axis;
use tollgate_bench::show::plot::{Panel, Plot, Series};
use tollgate_bench::show::svg::Ink;
use tollgate_bench::show::table::{Table, brief};

/// A table for each load.
pub(crate) fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    for load in Load::ALL {
        let mut table = Table::new(
            1,
            [
                "",
                "processes",
                "decisions/s",
                "admitted/s",
                "share",
                "least",
                "p50",
                "p99",
                "p99.9",
                "trips per 1000",
                "failed",
            ],
        );
        let rows: Vec<_> = rows.iter().filter(|row| row.load == load).collect();
        if rows.is_empty() {
            continue;
        }
        for row in rows {
            table.row([
                name(row),
                row.processes.to_string(),
                format!("{:.0}", row.decisions_per_second),
                format!("{:.0}", row.admitted_per_second),
                row.admitted_share.map_or("-".into(), |share| format!("{:.1} %", share * 100.0)),
                format!("{:.2}", row.least_share),
                brief(Some(row.p50_ns)),
                brief(Some(row.p99_ns)),
                brief(Some(row.p999_ns)),
                format!("{:.1}", row.round_trips_per_1000),
                row.failed.to_string(),
            ]);
        }
        text = format!("{text}**{}**: {}.\n\n{table}\n", load.name(), describe(load));
    }
    let quota = |load: Load| load.quota().tokens();
    text + &format!(
        "Limits: {} per second in flood, {} elsewhere, each with a second's burst; leases of {LEASE:?} and {BATCH} tokens.\n\
         share: admitted of what fell due, or of what was asked for if that is less. least: what the process that got least\n\
         got, of an equal share. p50 to p99.9: of the time of one decision. trips: round trips that the server counted.\n\
         x 32: so many tasks call at once in each process; elsewhere one, which waits for each answer. divided: an equal\n\
         part of the limit in each process and no server, so that a process that wants more than its part does not get it: what\n\
         a decision from memory takes under the same load.\n",
        quota(Load::Flood),
        quota(Load::Steady),
    )
}

fn describe(load: Load) -> &'static str {
    match load {
        Load::Flood => "as fast as callers can",
        Load::Steady => "half of what falls due is asked for",
        Load::Excess => "twice what falls due is asked for",
    }
}

fn name(row: &Row) -> String {
    if row.callers > 1 { format!("{} x {}", row.engine.name(), row.callers) } else { row.engine.name().into() }
}

/// The figures that matter most, a line each.
pub(crate) fn summary(rows: &[Row]) -> String {
    let mut table = Table::new(1, ["figure", "1 process", "2", "4", "8"]);
    let find = |load, engine, callers, processes| {
        rows.iter()
            .find(|row: &&Row| (row.load, row.engine, row.callers, row.processes) == (load, engine, callers, processes))
    };
    let mut line = |title: &str, load, engine, callers, show: &dyn Fn(&Row) -> String| {
        let cells = [1, 2, 4, 8].map(|processes| find(load, engine, callers, processes).map_or("-".into(), show));
        table.row(core::iter::once(title.to_owned()).chain(cells));
    };
    let admitted = |row: &Row| format!("{:.0}", row.admitted_per_second);
    line("leases, admitted/s", Load::Flood, Engine::Leases, 1, &admitted);
    line("divided, admitted/s", Load::Flood, Engine::Divided, 1, &admitted);
    for (title, engine) in [("GCRA script", Engine::GcraScript), ("INCR", Engine::FixedWindow)] {
        line(&format!("{title}, admitted/s"), Load::Flood, engine, 1, &admitted);
        line(&format!("{title}, 32 at once"), Load::Flood, engine, 32, &admitted);
    }
    line("leases, p50, steady", Load::Steady, Engine::Leases, 1, &|row| brief(Some(row.p50_ns)));
    line("divided, p50, steady", Load::Steady, Engine::Divided, 1, &|row| brief(Some(row.p50_ns)));
    line("leases, p99, steady", Load::Steady, Engine::Leases, 1, &|row| brief(Some(row.p99_ns)));
    line("divided, p99, steady", Load::Steady, Engine::Divided, 1, &|row| brief(Some(row.p99_ns)));
    line("GCRA script, p50, steady", Load::Steady, Engine::GcraScript, 1, &|row| brief(Some(row.p50_ns)));
    line("GCRA script, p99, steady", Load::Steady, Engine::GcraScript, 1, &|row| brief(Some(row.p99_ns)));
    let trips = |row: &Row| format!("{:.1}", row.round_trips_per_1000);
    line("leases, trips per 1000, flood", Load::Flood, Engine::Leases, 1, &trips);
    line("leases, trips per 1000, steady", Load::Steady, Engine::Leases, 1, &trips);
    line("leases, trips per 1000, excess", Load::Excess, Engine::Leases, 1, &trips);
    let share = |row: &Row| format!("{:.1} %", row.admitted_share.unwrap_or(0.0) * 100.0);
    line("leases, admitted of what fell due", Load::Excess, Engine::Leases, 1, &share);
    line("leases, least of an equal share", Load::Excess, Engine::Leases, 1, &|row| format!("{:.2}", row.least_share));
    table.to_string()
}

/// Admitted decisions and their times over processes.
pub(crate) fn plot(rows: &[Row]) -> Plot {
    let x = Axis::at("processes", [1.0, 2.0, 4.0, 8.0]);
    #[allow(clippy::cast_precision_loss)] // three digits are shown
    let p99 = |row: &Row| row.p99_ns as f64 / 1e3;
    let panel = |title: &str, y: &str, load: Load, value: &dyn Fn(&Row) -> f64| {
        let rows: Vec<_> = rows.iter().filter(|row| row.load == load).collect();
        let mut series: Vec<Series> = Vec::new();
        for row in &rows {
            let (label, point) = (name(row), (f64::from(row.processes), value(row)));
            match series.iter_mut().find(|series| series.label == label) {
                Some(series) => series.points.push(point),
                None => {
                    series.push(Series { label, ink: ink(row.engine), dashed: row.callers > 1, points: vec![point] });
                }
            }
        }
        let y = Axis::log(y, rows.iter().map(|row| value(row)));
        Panel { title: title.into(), x: x.clone(), y, shaded: None, series }
    };
    Plot {
        title: "One limit over several processes and one Redis".into(),
        subtitle:
            "Blue: this crate. Orange: GCRA as a script. Pink: INCR of a window. Green: the limit divided, no server. \
             Dashes: 32 callers in each process."
                .into(),
        panels: vec![
            panel("As fast as callers can", "admitted per second", Load::Flood, &|row| row.admitted_per_second),
            panel("Half of what falls due is asked for", "99 % are faster, us", Load::Steady, &p99),
        ],
    }
}

fn ink(engine: Engine) -> Ink {
    match engine {
        Engine::Leases => Ink::Ours,
        Engine::Exact => Ink::Other,
        Engine::GcraScript => Ink::Peer,
        Engine::FixedWindow => Ink::Another,
        Engine::Divided => Ink::Floor,
    }
}

pub(crate) fn readme(rows: &[Row], machine: &Machine) -> String {
    let command = "cargo bench -p tollgate-redis --bench distributed -- record";
    format!(
        "# One limit over several processes: {}, {} cores\n\nMade by `{command}` at commit `{}`. \
         [machine.txt](machine.txt) has the processor, the compiler and the flags; the csv file has every figure.\n\n\
         ## In short\n\n{}\n## All\n\n![One limit over several processes](distributed.svg)\n\n{}\n\
         Each figure is of the middle one of {} runs, by what was admitted. {BIAS}",
        machine.processor,
        tollgate_bench::run::cores(),
        build::COMMIT,
        summary(rows),
        tables(rows),
        rows.first().map_or(0, |row| row.repetitions),
    )
}

const BIAS: &str = "\
Processes, their threads and the server share the cores: with more
processes than one they wait for each other, and the times of decisions have the scheduler's in them. The network is the
loopback device, which is the best case for whoever needs a round trip. Under a steady load a caller sleeps between its
calls, and wakes to cold caches: compare with the limit divided. The authors wrote one of the engines; the script
and the window are written here, too, each as short as it can be.
";
