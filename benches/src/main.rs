//! The command line of the benchmark harness.

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tollgate_bench::engine::load::Load;
use tollgate_bench::measure::{accuracy, clock, contention, instructions, keyed, latency, snapshot, waiting, writes};
use tollgate_bench::record::{self, report};
use tollgate_bench::run::options::Options;

/// Compares rate limiters. Without a command: what somebody needs who has to choose one, in less than 30 seconds; with
/// --engine, --clock, --load, --threads or --all, every figure too.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    comparison: Comparison,
    /// All engines, not only this crate's main ones, the best others, two mutexes and the floors
    #[arg(long)]
    all: bool,
}

/// What is compared.
#[derive(Debug, clap::Args)]
struct Comparison {
    #[command(flatten)]
    options: Options,
    /// Only these loads [default: all; for contention and latency admit and deny]
    #[arg(long, value_delimiter = ',', value_enum)]
    load: Vec<Load>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Throughput of threads that share one limiter
    Contention(Comparison),
    /// Time of single calls: median, tail and worst
    Latency(Comparison),
    /// Throughput and memory of limiters that keep a limit for each key
    Keyed(keyed::Options),
    /// What one reading of each clock costs
    Clock(Options),
    /// Machine instructions for each call, held against what is recorded; needs valgrind
    Instructions(instructions::Options),
    Accuracy(accuracy::Args),
    /// Time to save a table of keys and to restore it
    Snapshot(snapshot::Args),
    Waiting(waiting::Args),
    /// Writes to shared memory for each thousand calls; needs valgrind
    Writes(writes::Options),
    /// Measures everything and keeps it in a folder under results/
    Record(record::Options),
    /// Brings the tables in README.md up to date
    Report(report::Options),
}

fn main() -> ExitCode {
    let Cli { command, comparison: Comparison { options, load }, all } = Cli::parse();
    let result = match command {
        None => contention::first(&options, &load, all),
        Some(Command::Contention(Comparison { options, load })) => contention::command(&options, &load),
        Some(Command::Latency(Comparison { options, load })) => latency::command(&options, &load),
        Some(Command::Keyed(options)) => keyed::command(&options),
        Some(Command::Clock(options)) => clock::command(&options),
        Some(Command::Instructions(options)) => instructions::command(&options),
        Some(Command::Accuracy(args)) => accuracy::command(&args),
        Some(Command::Snapshot(args)) => snapshot::command(&args),
        Some(Command::Waiting(args)) => waiting::command(&args),
        Some(Command::Writes(options)) => writes::command(&options),
        Some(Command::Record(options)) => record::command(&options),
        Some(Command::Report(options)) => report::command(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
