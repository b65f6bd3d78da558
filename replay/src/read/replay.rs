//! Logs put to a comparison, in the order of time.

use core::time::Duration;
use std::io::BufRead;
use std::path::PathBuf;

use clap::ValueEnum;
use tollgate::{Nanos, Quota};

use super::file::{self, Position};
use super::keys::Keys;
use super::log::Log;
use super::order::{Order, Waiting};
use super::spread::Spread;
use super::timebase::Timebase;
use crate::error::{Error, Rejected};
use crate::field::instant::Known;
use crate::format::columns::About;
use crate::format::lines::{Line, Lines};
use crate::format::wanted::{Format, Wanted};
use crate::judge::comparison::{Comparison, Decided};
use crate::progress::Progress;

/// Whether times in whole seconds are spread over their seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Spreading {
    /// Where it matters: if a bucket holds less than two seconds' tokens.
    #[default]
    Auto,
    /// Always.
    Yes,
    /// Never.
    No,
}

impl Spreading {
    fn applies(self, quota: Quota) -> bool {
        let two_seconds = 2 * 1_000_000_000 * u128::from(quota.tokens());
        match self {
            Self::Auto => u128::from(quota.burst()) * quota.period().as_nanos() < two_seconds,
            Self::Yes => true,
            Self::No => false,
        }
    }
}

/// What is replayed, and how it is read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The files; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// What is asked of their lines.
    pub wanted: Wanted,
    /// Whether all arrivals count as one client's.
    pub together: bool,
    /// How much older than the newest line before it a line may be.
    pub sort_window: Duration,
    /// Whether times in whole seconds are spread over their seconds.
    pub spreading: Spreading,
}

/// How one file was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadAs {
    /// The file.
    pub file: PathBuf,
    /// Its format.
    pub format: Format,
    /// Which fields were taken for what.
    pub about: About,
    /// Whether its columns have names.
    pub has_names: bool,
    /// How the unit of its times is known, if they are numbers.
    pub unit: Option<Known>,
    /// Whether its times name no zone.
    pub without_zone: bool,
    /// Its first arrival.
    pub first: First,
}

/// The first arrival of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    /// Who.
    pub key: Vec<u8>,
    /// When, in nanoseconds of the log's time.
    pub at: u64,
    /// At what cost.
    pub cost: u64,
}

/// What a replay found.
#[derive(Debug)]
pub struct Replayed {
    /// What was decided.
    pub comparison: Comparison,
    /// The clients, by their numbers in the comparison. Empty with one limiter for all.
    pub keys: Keys,
    /// From the log's time to the limiters'.
    pub timebase: Timebase,
    /// How each file was read that had an arrival.
    pub read_as: Vec<ReadAs>,
    /// Lines that could not be read.
    pub rejected: u64,
    /// The first of them.
    pub first_rejected: Option<Rejected>,
    /// Requests that were not asked for.
    pub others: u64,
    /// Arrivals that came after a newer one, and were sorted in.
    pub late: u64,
    /// Whether all times are whole seconds.
    pub whole_seconds: bool,
    /// Arrivals that were moved within their second.
    pub spread: u64,
}

impl Source {
    /// Files of any format, read as their first lines suggest.
    pub fn files(files: Vec<PathBuf>) -> Self {
        Self {
            files,
            wanted: Wanted::default(),
            together: false,
            sort_window: Duration::from_secs(300),
            spreading: Spreading::Auto,
        }
    }

    /// Puts every arrival to the comparison, and tells `seen` what came of it: the client's number, the cost, the instant.
    ///
    /// # Errors
    ///
    /// A file cannot be read, nothing in it is an arrival, its lines are too far out of order, or its client is a proxy.
    pub fn replay(
        &self,
        comparison: Comparison,
        seen: impl FnMut(usize, u64, Nanos, Decided),
    ) -> Result<Replayed, Error> {
        let period = Nanos::from(comparison.quota().period()).as_nanos();
        let spreading = self.spreading.applies(comparison.quota());
        let mut run = Run {
            source: self,
            judge: Judge { comparison, timebase: Timebase::new(period), seen },
            spread: spreading.then(Spread::default),
            order: Order::new(Nanos::from(self.sort_window).as_nanos()),
            keys: Keys::default(),
            fine: false,
            forwarded: 0,
            arrivals: 0,
            rejected: 0,
            first_rejected: None,
            others: 0,
        };
        let position = Position::default();
        let mut progress = Progress::through_bytes(file::total_length(&self.files));
        let mut logs = Vec::new();
        for path in &self.files {
            logs.push(One {
                path: path.clone(),
                log: Log::new(file::open(path, &position)?, Lines::new(self.wanted.clone())),
                next: None,
                first: None,
            });
        }
        for log in &mut logs {
            run.advance(log)?;
        }
        // Rotated files are merged; each is sorted by itself, but for a few lines.
        while let Some(log) =
            logs.iter_mut().filter(|log| log.next.is_some()).min_by_key(|log| log.next.map(|next| next.0))
        {
            run.take(log)?;
            progress.at(position.bytes());
        }
        progress.finish();
        run.finish(logs)
    }
}

/// One file under way.
struct One {
    path: PathBuf,
    log: Log<Box<dyn BufRead>>,
    /// Time, client and cost of its next arrival, and its line.
    next: Option<(u64, u32, u64, u64)>,
    first: Option<First>,
}

/// A replay under way.
struct Run<'a, F> {
    source: &'a Source,
    judge: Judge<F>,
    spread: Option<Spread>,
    order: Order,
    keys: Keys,
    /// Whether a time that is no whole second was read.
    fine: bool,
    forwarded: u64,
    arrivals: u64,
    rejected: u64,
    first_rejected: Option<Rejected>,
    others: u64,
}

/// The end of the way: arrivals in the order of time.
struct Judge<F> {
    comparison: Comparison,
    timebase: Timebase,
    seen: F,
}

impl<F: FnMut(usize, u64, Nanos, Decided)> Judge<F> {
    fn arrive(&mut self, arrival: Waiting) {
        let now = self.timebase.instant(arrival.at);
        let decided = self.comparison.arrive(arrival.key as usize, arrival.cost, now);
        (self.seen)(arrival.key as usize, arrival.cost, now, decided);
    }
}

impl<F: FnMut(usize, u64, Nanos, Decided)> Run<'_, F> {
    /// Hands on the next arrival of a file and reads the one after it.
    fn take(&mut self, log: &mut One) -> Result<(), Error> {
        const SAMPLE: u64 = 10_000;
        let Some((at, key, cost, line)) = log.next.take() else { return Ok(()) };
        self.fine |= !at.is_multiple_of(1_000_000_000);
        self.order.push(at, key, cost).map_err(|behind| Error::OutOfOrder {
            file: log.path.clone(),
            line,
            behind: Duration::from_nanos(behind),
            window: self.source.sort_window,
        })?;
        while let Some(next) = self.order.pop() {
            self.hand_on(next);
        }
        self.arrivals += 1;
        if self.arrivals == SAMPLE {
            self.check_proxy()?;
        }
        self.advance(log)
    }

    fn hand_on(&mut self, next: Waiting) {
        let judge = &mut self.judge;
        match &mut self.spread {
            Some(spread) if !self.fine => spread.push(next, |one| judge.arrive(one)),
            Some(spread) => {
                spread.flush(|one| judge.arrive(one));
                judge.arrive(next);
            }
            None => judge.arrive(next),
        }
    }

    /// Reads a file up to its next arrival.
    fn advance(&mut self, one: &mut One) -> Result<(), Error> {
        let unreadable = |error| Error::Unreadable(one.path.clone(), error);
        while let Some(read) = one.log.next_line().map_err(unreadable)? {
            match read.line {
                Ok(Line::Nothing) => {}
                Ok(Line::Other) => self.others += 1,
                Ok(Line::Arrival(arrival)) => {
                    let key = if self.source.together { 0 } else { self.keys.number(arrival.key.as_bytes()) };
                    self.forwarded += u64::from(arrival.forwarded);
                    one.next = Some((arrival.at, key, arrival.cost, read.number));
                    if one.first.is_none() {
                        let key = arrival.key.as_bytes().to_vec();
                        one.first = Some(First { key, at: arrival.at, cost: arrival.cost });
                    }
                    return Ok(());
                }
                Err(malformed) => {
                    let reason = malformed.to_string();
                    if malformed.is_final() {
                        return Err(Error::Unfound(one.path.clone(), reason));
                    }
                    self.rejected += read.lines;
                    let (file, line) = (one.path.clone(), read.number);
                    self.first_rejected.get_or_insert(Rejected { file, line, reason });
                }
            }
        }
        Ok(())
    }

    /// A log in which most clients have called a proxy, and the proxy is the client.
    fn check_proxy(&self) -> Result<(), Error> {
        if self.forwarded * 2 > self.arrivals && !self.source.together {
            return Err(Error::BehindProxy(self.source.files[0].clone(), self.forwarded, self.arrivals));
        }
        Ok(())
    }

    fn finish(mut self, logs: Vec<One>) -> Result<Replayed, Error> {
        while let Some(next) = self.order.pop_any() {
            self.hand_on(next);
        }
        if let Some(spread) = &mut self.spread {
            spread.flush(|one| self.judge.arrive(one));
        }
        if self.arrivals == 0 {
            let file = self.source.files[0].clone();
            return Err(match self.first_rejected {
                None if self.others > 0 => Error::NoneAskedFor(file, self.others),
                None => Error::Empty(file),
                Some(first) => Error::NothingReadable(self.rejected, Box::new(first)),
            });
        }
        self.check_proxy()?;
        let read_as = logs.into_iter().filter_map(|one| {
            let lines = one.log.lines();
            Some(ReadAs {
                file: one.path.clone(),
                format: lines.format()?,
                about: lines.about()?.clone(),
                has_names: lines.has_names(),
                unit: lines.instants().unit(),
                without_zone: lines.instants().without_zone(),
                first: one.first.clone()?,
            })
        });
        Ok(Replayed {
            read_as: read_as.collect(),
            comparison: self.judge.comparison,
            keys: self.keys,
            timebase: self.judge.timebase,
            rejected: self.rejected,
            first_rejected: self.first_rejected,
            others: self.others,
            late: self.order.late(),
            whole_seconds: !self.fine,
            spread: self.spread.map_or(0, |spread| spread.moved()),
        })
    }
}
