//! The benchmark harness.

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tollgate_bench::{accuracy, replay};

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Accuracy(accuracy::Args),
    Replay(replay::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Accuracy(args) => accuracy::run(&args),
        Command::Replay(args) => replay::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
