//! How far a long run has come, on standard error.

use core::time::Duration;
use std::io::{self, IsTerminal};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::figures;

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// A bar on a terminal; elsewhere a line every few seconds, so that a short run stays quiet and a long one is seen to
/// live.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    on_terminal: bool,
    what: &'static str,
    last_line: Instant,
    unreported: u64,
    done: u64,
}

impl Progress {
    /// Progress through a log of this many bytes, if that is known.
    pub fn through_bytes(total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => {
                "{bar:40} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta} left"
            }
            None => "{spinner} {binary_bytes}  {binary_bytes_per_sec}  {elapsed}",
        };
        Self::new(total, template, "bytes")
    }

    /// Progress through this many arrivals.
    pub fn through_arrivals(total: u64) -> Self {
        Self::new(Some(total), "{bar:40} {percent:>3} %  {human_pos} of {human_len} arrivals  {msg}", "arrivals")
    }

    fn new(total: Option<u64>, template: &str, what: &'static str) -> Self {
        let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        bar.set_style(ProgressStyle::with_template(template).expect("the template is a constant"));
        let on_terminal = io::stderr().is_terminal();
        Self { bar, on_terminal, what, last_line: Instant::now(), unreported: 0, done: 0 }
    }

    /// Names what is under way.
    pub fn name(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// `by` more are done.
    pub fn advance(&mut self, by: u64) {
        const STEP: u64 = 1 << 16; // rarely enough to cost nothing
        self.unreported += by;
        self.done += by;
        if self.unreported >= STEP {
            self.report();
        }
    }

    /// So many are done in all.
    pub fn at(&mut self, position: u64) {
        self.advance(position.saturating_sub(self.done));
    }

    fn report(&mut self) {
        self.bar.inc(core::mem::take(&mut self.unreported));
        if !self.on_terminal && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            let position = self.bar.position();
            let done = if self.what == "bytes" {
                figures::bytes(position)
            } else {
                format!("{} {}", figures::count(position), self.what)
            };
            match self.bar.length() {
                Some(total) if total > 0 => eprintln!("{done} done, {} %", position.min(total) * 100 / total),
                _ => eprintln!("{done} done"),
            }
        }
    }

    /// Writes a line to standard error without disturbing the bar.
    pub fn note(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
