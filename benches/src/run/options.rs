//! [`Options`]: the part of the command line that all comparisons share.

use crate::figures::error::{Error, Result};
use crate::figures::stats::sorted;
use core::num::NonZeroUsize;
use core::time::Duration;
use std::path::PathBuf;

/// What is measured, how long, and where the figures go.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Only these engines, by name (repeat it or separate with commas)
    #[arg(long, value_delimiter = ',')]
    pub engine: Vec<String>,
    /// Only engines on these clocks: quanta, std, none
    #[arg(long, value_delimiter = ',')]
    pub clock: Vec<String>,
    /// Thread counts [default: 1,2; for contention 1,2,4,16]
    #[arg(long, value_delimiter = ',')]
    pub threads: Vec<NonZeroUsize>,
    /// A rough look, in a quarter of the time
    #[arg(long)]
    pub quick: bool,
    /// Time for all timed runs, in seconds [default: 22; for keyed 90, to which building tables and floods come]
    #[arg(long)]
    pub seconds: Option<f64>,
    /// How often each engine is measured [default: 5]
    #[arg(long)]
    pub repetitions: Option<NonZeroUsize>,
    /// Write the figures to this file
    #[arg(long)]
    pub csv: Option<PathBuf>,
    /// Draw the figures to this file [default: target/NAME.svg]
    #[arg(long)]
    pub svg: Option<PathBuf>,
}

impl Options {
    /// All defaults, but within so many seconds and with so many repetitions.
    pub fn within(seconds: f64, repetitions: usize) -> Self {
        Self { seconds: Some(seconds), repetitions: NonZeroUsize::new(repetitions), ..Self::default() }
    }

    /// The numbers of threads that were asked for, or `default`; from the fewest, each once.
    pub fn threads(&self, default: &[usize]) -> Vec<usize> {
        let asked: Vec<_> = self.threads.iter().map(|threads| threads.get()).collect();
        sorted(if asked.is_empty() { default.to_vec() } else { asked })
    }

    /// The time that was asked for, or `default` seconds; a quarter of it for a rough look.
    ///
    /// # Errors
    ///
    /// If it is no time.
    pub fn time(&self, default: f64) -> Result<Duration> {
        let seconds = self.seconds.unwrap_or(default) / if self.quick { 4.0 } else { 1.0 };
        Duration::try_from_secs_f64(seconds).map_err(|error| Error::Request(format!("{seconds} seconds: {error}")))
    }

    /// The repetitions that were asked for, or `default`.
    pub fn repetitions(&self, default: usize) -> usize {
        self.repetitions.map_or(default, NonZeroUsize::get)
    }

    /// Whether engines were chosen by name or by clock.
    pub fn names_engines(&self) -> bool {
        !self.engine.is_empty() || !self.clock.is_empty()
    }
}
