//! `services`: what a limit for each client costs a service of axum.
//!
//! ```sh
//! cargo bench -p tollgate-tower --features axum --bench services             # a table
//! cargo bench -p tollgate-tower --features axum --bench services -- record   # kept in results/services/
//! ```
//!
//! Both limiters have the same to do: one router, one handler, a limit by the peer's address that admits every request, and no
//! fields about it. Every request is admitted; a refusal ends the run. What each figure is: [`measure`]; each row: [`engine`].

mod engine;
mod measure;
mod row;
mod show;
mod subject;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use engine::Engine;
use measure::Pace;
use tollgate_bench::figures::error::Result;
use tollgate_bench::figures::row::{save, write};
use tollgate_bench::record;

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Option<Job>,
    /// One short round: figures do not matter, that all are admitted does
    #[arg(long)]
    quick: bool,
    /// Cargo says so
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

#[derive(Debug, Subcommand)]
enum Job {
    /// Measures for five minutes, and keeps the figures in a folder under results/services/
    Record {
        /// Where to make the folder
        #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../results/services"))]
        results: PathBuf,
        /// The machine's name in the folder's name [default: processor and cores]
        #[arg(long)]
        machine: Option<String>,
    },
    /// Makes requests of one engine, for callgrind to count
    #[command(hide = true)]
    Requests {
        #[arg(value_enum)]
        engine: Engine,
    },
    /// Says how many bytes each client takes with one engine
    #[command(hide = true)]
    Memory {
        #[arg(value_enum)]
        engine: Engine,
    },
}

fn main() -> ExitCode {
    let Cli { command, quick, .. } = Cli::parse();
    match run(command, quick) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Option<Job>, quick: bool) -> Result<()> {
    match command {
        None => {
            let rows = measure::all(if quick { Pace::QUICK } else { Pace::LOOK })?;
            println!("{}", show::table(&rows));
            Ok(())
        }
        Some(Job::Record { results, machine }) => record::keep(&results, machine.as_deref(), |draft, machine| {
            let pace = if quick { Pace::QUICK } else { Pace::RECORD };
            let rows = measure::all(pace)?;
            save(&draft.join("services.csv"), |path| write(path, &rows))?;
            let files = [
                ("machine.txt", machine.description.clone()),
                ("summary.md", show::summary(&rows)),
                ("README.md", show::readme(&rows, &pace, machine)),
            ];
            files.iter().try_for_each(|(name, text)| save(&draft.join(name), |path: &Path| std::fs::write(path, text)))
        }),
        Some(Job::Requests { engine }) => {
            measure::for_callgrind(&engine.service());
            Ok(())
        }
        Some(Job::Memory { engine }) => {
            println!("{}", measure::bytes_per_client(engine));
            Ok(())
        }
    }
}
