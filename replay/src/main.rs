//! `tollgate-replay`: see the library of the same name.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match tollgate_replay::run(&tollgate_replay::Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
