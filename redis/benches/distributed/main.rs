//! `distributed`: one limit over several processes and one Redis, by leases and by other ways.
//!
//! ```sh
//! cargo bench -p tollgate-redis --bench distributed             # a table
//! cargo bench -p tollgate-redis --bench distributed -- record   # kept in results/distributed/
//! ```
//!
//! A server is started for it, on a free loopback port and in a folder of its own. Round trips are those that the server
//! counts. Every run checks that no more was admitted than its engine's bound allows; more is an error.

mod client;
mod engine;
mod load;
mod process;
mod row;
#[allow(dead_code)] // the tests ask more of a server
#[path = "../../tests/redis/server.rs"]
mod server;
mod show;

use clap::{Parser, Subcommand};
use client::{Client, micros};
use engine::Engine;
use load::Load;
use process::Process;
use row::Row;
use server::Server;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tollgate_bench::figures::error::{Error, Result};
use tollgate_bench::figures::row::{save, write};
use tollgate_bench::record;
use tollgate_bench::run::rounds::progress;

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Option<Job>,
    #[command(flatten)]
    options: Options,
    /// Cargo says so
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

#[derive(Debug, Subcommand)]
enum Job {
    /// Measures everything, at least three times, and keeps it in a folder under results/distributed/
    Record {
        /// Where to make the folder
        #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/distributed"))]
        results: PathBuf,
        /// The machine's name in the folder's name [default: processor and cores]
        #[arg(long)]
        machine: Option<String>,
    },
    #[command(hide = true)]
    Client(Client),
}

#[derive(Debug, clap::Args)]
struct Options {
    /// Only these engines
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = Engine::ALL)]
    engine: Vec<Engine>,
    /// Only these loads
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = Load::ALL)]
    load: Vec<Load>,
    /// Numbers of processes
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8])]
    processes: Vec<u32>,
    /// Time for each run, after its warming up
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Runs of each case, of which the middle one is shown
    #[arg(long, default_value_t = 1)]
    repetitions: usize,
    /// Two processes for a moment: figures do not matter, counts are checked
    #[arg(long)]
    quick: bool,
    /// Write the results as CSV to this file
    #[arg(long, value_name = "PATH")]
    csv: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Cli { command, options, .. } = Cli::parse();
    let result = match command {
        Some(Job::Client(client)) => client.run(),
        Some(Job::Record { results, machine }) => keep(&results, machine.as_deref(), &options),
        None => look(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and shows.
fn look(options: &Options) -> Result<()> {
    let Some(rows) = measure(options, options.repetitions.max(1))? else { return Ok(()) };
    if let Some(path) = &options.csv {
        save(path, |path| write(path, &rows))?;
    }
    println!("\n{}", show::tables(&rows));
    verified(&rows)
}

/// Measures, and keeps the figures in a folder of their own.
fn keep(results: &Path, machine: Option<&str>, options: &Options) -> Result<()> {
    record::keep(results, machine, |draft, machine| {
        let rows = measure(options, options.repetitions.max(3))?
            .ok_or_else(|| Error::Program("there is no redis-server".into()))?;
        verified(&rows)?;
        save(&draft.join("distributed.csv"), |path| write(path, &rows))?;
        let files = [
            ("machine.txt", machine.description.clone()),
            ("distributed.svg", show::plot(&rows).svg()),
            ("summary.md", show::summary(&rows)),
            ("README.md", show::readme(&rows, machine)),
        ];
        files.iter().try_for_each(|(name, text)| save(&draft.join(name), |path| std::fs::write(path, text)))
    })
}

fn verified(rows: &[Row]) -> Result<()> {
    let wrong: Vec<_> = rows.iter().filter(|row| !row.verified).map(Row::case).collect();
    if wrong.is_empty() { Ok(()) } else { Err(Error::Counts(wrong)) }
}

/// Many callers at once in each process, for those engines that wait for an answer: the server then gets requests in groups.
const MANY: u32 = 32;

/// Every case; `None`, which was said, if there is no server to be had.
fn measure(options: &Options, repetitions: usize) -> Result<Option<Vec<Row>>> {
    let Some(server) = Server::start(&[]) else { return Ok(None) };
    let (processes, seconds) =
        if options.quick { (&[2][..], 0.3) } else { (options.processes.as_slice(), options.seconds) };
    let mut cases = Vec::new();
    for &load in &options.load {
        for &processes in processes {
            for &engine in &options.engine {
                cases.push((load, processes, engine, 1));
                if load == Load::Flood && !engine.is_in_memory() && !options.quick {
                    cases.push((load, processes, engine, MANY));
                }
            }
        }
    }
    let progress = progress(cases.len() * repetitions);
    let mut rows = Vec::new();
    for (number, (load, processes, engine, callers)) in cases.into_iter().enumerate() {
        let mut runs = Vec::new();
        for repetition in 0..repetitions {
            let client = Client {
                url: server.url(),
                name: format!("case-{number}-{repetition}"),
                engine,
                load,
                processes,
                callers,
                seconds,
            };
            runs.push(once(&server, &client)?);
            progress.inc(1);
        }
        runs.sort_by(|a, b| a.admitted_per_second.total_cmp(&b.admitted_per_second));
        let verified = runs.iter().all(|run| run.verified);
        let middle = runs.swap_remove(runs.len() / 2);
        rows.push(Row { verified, repetitions, ..middle });
    }
    progress.finish_and_clear();
    Ok(Some(rows))
}

/// For the limit to begin and to fill.
const WARM_UP: Duration = Duration::from_millis(1_500);

/// One run: processes that begin together.
fn once(server: &Server, client: &Client) -> Result<Row> {
    let failed = |what: String| Error::Program(format!("{}: {what}", client.words().join(" ")));
    let mut processes = (0..client.processes)
        .map(|_| Process::start(client))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(|error| failed(error.to_string()))?;
    processes.iter_mut().try_for_each(Process::ready).map_err(|error| failed(error.to_string()))?;
    let begin = micros() + whole_micros(WARM_UP);
    processes.iter_mut().try_for_each(|process| process.begin(begin)).map_err(|error| failed(error.to_string()))?;
    sleep_until(begin);
    server.command(&["CONFIG", "RESETSTAT"]);
    sleep_until(begin + whole_micros(Duration::from_secs_f64(client.seconds)));
    let round_trips = calls(server, client.engine.commands());
    let tallies = processes.into_iter().map(|process| process.tally().ok_or_else(|| failed("no result".into())));
    let tallies = tallies.collect::<Result<Vec<_>>>()?;
    Ok(Row::new(client.engine, client.load, client.callers, client.seconds, &tallies, round_trips))
}

/// How often the server has executed these commands since its statistics were last reset.
fn calls(server: &Server, commands: &[&str]) -> u64 {
    let text: String = redis::from_redis_value(server.command(&["INFO", "commandstats"])).expect("it is text");
    let calls = |line: &str| {
        let (name, figures) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        commands.contains(&name).then(|| figures.split(',').next()?.parse::<u64>().ok())?
    };
    text.lines().filter_map(calls).sum()
}

fn whole_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).expect("a short time")
}

fn sleep_until(instant: u64) {
    std::thread::sleep(Duration::from_micros(instant.saturating_sub(micros())));
}
