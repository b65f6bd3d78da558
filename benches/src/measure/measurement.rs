//! [`Measurement`]: how a measurement is called, shown, drawn and recorded.

use crate::figures::error::Result;
use crate::figures::outcome::Outcome;
use crate::figures::row::{Row, save, write};
use crate::run::options::Options;
use crate::show::plot::Plot;
use std::path::PathBuf;

/// How a measurement is called, shown, drawn and recorded.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// What its rows, its files and its command are called.
    pub name: &'static str,
    /// What stands above its tables in a README.
    pub title: &'static str,
    /// Its tables, from the rows that have its name.
    pub tables: fn(&[Row]) -> String,
    /// Draws them.
    pub plot: Option<fn(&[Row]) -> Plot>,
    /// Its share of the time when everything is recorded.
    pub share: f64,
    /// Measures as it is recorded, within so many seconds. No rows: what it needs is not on this machine.
    pub record: fn(f64) -> Result<Outcome>,
}

impl Measurement {
    /// Its tables, from all rows of a folder.
    pub fn block(&self, rows: &[Row]) -> String {
        let own: Vec<_> = rows.iter().filter(|row| row.bench == self.name).cloned().collect();
        (self.tables)(&own)
    }

    /// Ends a command: draws, writes what was asked for, prints `text` as the last thing, and reports what cannot be right.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, or an admitted count cannot be right.
    pub fn finish(&self, outcome: &Outcome, text: &str, options: &Options) -> Result<()> {
        if let Some(plot) = self.plot {
            let svg = options.svg.clone().unwrap_or_else(|| PathBuf::from(format!("target/{}.svg", self.name)));
            save(&svg, |path| std::fs::write(path, plot(&outcome.rows).svg()))?;
        }
        if let Some(csv) = &options.csv {
            save(csv, |path| write(path, &outcome.rows))?;
        }
        println!("\n{}", text.trim_end());
        outcome.verified()
    }
}
