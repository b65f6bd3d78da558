//! The command line of the benchmark harness.

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tollgate_bench::plan::Options;
use tollgate_bench::{accuracy, clock, contention, instructions, keyed, latency, record, report, writes};

/// Compares rate limiters. Without a command: `contention`, for less than 30 seconds.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Throughput of threads that share one limiter
    Contention(Options),
    /// Time of single calls: median, tail and worst
    Latency(Options),
    /// Throughput and memory of limiters that keep a limit for each key
    Keyed(keyed::Options),
    /// What one reading of each clock costs
    Clock(Options),
    /// Machine instructions for each call, held against what is recorded; needs valgrind
    Instructions(instructions::Options),
    Accuracy(accuracy::Args),
    /// Writes to shared memory for each thousand calls; needs valgrind
    Writes(writes::Options),
    /// Measures everything and keeps it in a folder under results/
    Record(record::Options),
    /// Brings the tables in README.md up to date
    Report(report::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command.unwrap_or(Command::Contention(cli.options)) {
        Command::Contention(options) => contention::command(&options),
        Command::Latency(options) => latency::command(&options),
        Command::Keyed(options) => keyed::command(&options),
        Command::Clock(options) => clock::command(&options),
        Command::Instructions(options) => instructions::command(&options),
        Command::Accuracy(args) => accuracy::run(&args).map_err(|error| error.to_string()),
        Command::Writes(options) => writes::command(&options),
        Command::Record(options) => record::command(&options),
        Command::Report(options) => report::command(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
