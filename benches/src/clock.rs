//! `clock`: what one reading of each clock costs.

use crate::contention::{Outcome, measure};
use crate::engine::floor::clock::FloorClock;
use crate::engine::{Engine, Kind, Shared, version};
use crate::load::Load;
use crate::plan::{Options, Plan, cores};
use crate::registry::Entry;
use crate::row::{Row, threads, write};
use comfy_table::{Cell, CellAlignment, Table, presets};
use core::hint::black_box;
use tollgate::{Clock, CoarseClock, Monotone, MonotonicClock, QuantaClock, Quota};

/// A clock that is measured.
pub trait Timepiece: Send + Sync + Sized + 'static {
    /// Its name in tables and csv files.
    const NAME: &'static str;
    /// The version of the crate it comes from.
    const VERSION: &'static str;
    /// What it reads.
    const SOURCE: &'static str;
    /// A clock that starts now.
    fn start() -> Self;
    /// Reads it.
    fn read(&self) -> u64;
}

macro_rules! timepiece {
    ($clock:ty, $name:literal, $version:ident, $source:literal, $start:expr, |$it:ident| $read:expr) => {
        impl Timepiece for $clock {
            const NAME: &'static str = $name;
            const VERSION: &'static str = version::$version;
            const SOURCE: &'static str = $source;

            fn start() -> Self {
                $start
            }

            #[inline]
            fn read(&self) -> u64 {
                let $it = self;
                $read
            }
        }
    };
}

/// The standard library's `Instant`.
#[derive(Debug)]
pub struct StdInstant;

timepiece!(QuantaClock, "clock-quanta", TOLLGATE, "quanta", QuantaClock, |clock| clock.now().as_nanos());
timepiece!(Monotone<QuantaClock>, "clock-monotone-quanta", TOLLGATE, "quanta", Monotone::new(QuantaClock), |clock| {
    clock.now().as_nanos()
});
timepiece!(MonotonicClock, "clock-monotonic", TOLLGATE, "std", MonotonicClock, |clock| clock.now().as_nanos());
timepiece!(CoarseClock, "clock-coarse", TOLLGATE, "coarse", CoarseClock, |clock| clock.now().as_nanos());
timepiece!(StdInstant, "clock-instant", STD, "std", StdInstant, |_clock| {
    black_box(std::time::Instant::now());
    0
});

/// A clock as an engine that admits whenever it is read.
#[derive(Debug)]
pub struct Reading<T: Timepiece>(T);

impl<T: Timepiece> Engine for Reading<T> {
    const NAME: &'static str = T::NAME;
    const VERSION: &'static str = T::VERSION;
    const CLOCK: &'static str = T::SOURCE;
    const KIND: Kind = Kind::Floor;
    type Caller<'a> = &'a Self;

    fn build(_: Quota) -> Self {
        Self(T::start())
    }

    fn caller(&self) -> &Self {
        self
    }
}

impl<T: Timepiece> Shared for Reading<T> {
    #[inline]
    fn try_acquire(&self) -> bool {
        black_box(self.0.read());
        true
    }
}

/// The clocks, as entries. The coarse clock, whose thread then runs for good, comes last.
pub const ENTRIES: &[Entry] = &[
    Entry::of::<FloorClock>(),
    Entry::of::<Reading<QuantaClock>>(),
    Entry::of::<Reading<Monotone<QuantaClock>>>(),
    Entry::of::<Reading<StdInstant>>(),
    Entry::of::<Reading<MonotonicClock>>(),
    Entry::of::<Reading<CoarseClock>>(),
];

/// Runs `clock`: measures, prints a table, writes what was asked for.
///
/// # Errors
///
/// If a clock is not known, or a file cannot be written.
pub fn command(options: &Options) -> Result<(), String> {
    let outcome = rows(options)?;
    println!("\n{}", table(&outcome.rows));
    println!("Nanoseconds of one reading, as its caller sees it, on {} cores.", cores());
    if let Some(csv) = &options.csv {
        write(csv, |path| Row::write_all(path, &outcome.rows))?;
    }
    outcome.verified()
}

/// Measures the clocks.
///
/// # Errors
///
/// If a clock is not known.
pub fn rows(options: &Options) -> Result<Outcome, String> {
    // A clock has no load: it is always "admitted".
    let options = Options { load: vec![Load::Admit], seconds: options.seconds / 4.0, ..options.clone() };
    let mut outcome = measure(&Plan::new(&options, ENTRIES, &[1, 2])?);
    outcome.rows.iter_mut().for_each(|row| row.bench = "clock".into());
    Ok(outcome)
}

/// A row for each clock, a column for each number of threads.
fn table(rows: &[Row]) -> Table {
    let threads = threads(rows);
    let fewest: Vec<_> = rows.iter().filter(|row| Some(&row.threads) == threads.first()).collect();
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let header = ["clock", "version", "source"].map(String::from).into_iter();
    table.set_header(header.chain(threads.iter().map(|threads| format!("ns, {threads} threads"))));
    for clock in fewest {
        let mut cells = vec![Cell::new(&clock.engine), Cell::new(&clock.version), Cell::new(&clock.clock)];
        for threads in &threads {
            let row = rows.iter().find(|row| row.engine == clock.engine && row.threads == *threads);
            let ns = row.map_or("-".into(), |row| format!("{:.1}", row.ns_per_op));
            cells.push(Cell::new(ns).set_alignment(CellAlignment::Right));
        }
        table.add_row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_clock() {
        let row =
            |engine: &str, threads, ns_per_op| Row { engine: engine.into(), threads, ns_per_op, ..Row::default() };
        let text = table(&[row("a", 1, 10.0), row("b", 1, 20.0), row("a", 2, 11.5), row("b", 2, 20.5)]).to_string();
        let line = |name: &str| text.lines().find(|line| line.contains(&format!("│ {name} "))).unwrap().to_owned();
        assert!(line("a").contains("10.0") && line("a").contains("11.5"), "{text}");
        assert!(line("b").contains("20.0") && line("b").contains("20.5"), "{text}");
        assert_eq!(text.matches("│ a ").count(), 1, "{text}");
    }
}
