//! `keyed`: limiters that keep a limit for each key, under random keys; and the memory that a key takes.

pub mod memory;
pub mod plot;
pub mod table;

use crate::contention::{Outcome, measure as throughput, repetitions};
use crate::engine::keyed::OnKeys;
use crate::engine::keyed::batch::Batch;
use crate::engine::keyed::governor::Governor;
use crate::engine::keyed::limiter::Limiter;
use crate::engine::keyed::mutex_map::MutexMap;
use crate::engine::keyed::rate_net::RateNet;
use crate::engine::peer::quanta_clock::QuantaClock;
use crate::load::Load;
use crate::plan::{self, Plan, cores};
use crate::registry::Entry;
use crate::row::{Row, write};
use std::path::Path;

/// The command line of `keyed`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    common: plan::Options,
    /// Only with so many keys: 1000, 100000, 1000000
    #[arg(long, value_delimiter = ',')]
    keys: Vec<u64>,
    /// Prints the memory of one limiter, in bytes
    #[arg(long, hide = true)]
    memory_of: Option<String>,
}

const FEW: u64 = 1_000;
const MANY: u64 = 100_000;
const MOST: u64 = 1_000_000;

/// The entries for one number of keys.
const fn on<const KEYS: u64>() -> [Entry; 7] {
    [
        Entry::of::<OnKeys<Limiter, KEYS>>(),
        Entry::of::<OnKeys<Limiter<ahash::RandomState>, KEYS>>(),
        Entry::of::<Batch<KEYS>>(),
        Entry::of::<OnKeys<MutexMap, KEYS>>(),
        Entry::of::<OnKeys<Governor, KEYS>>(),
        Entry::of::<OnKeys<RateNet, KEYS>>(),
        Entry::of::<OnKeys<RateNet<QuantaClock>, KEYS>>(),
    ]
}

/// Every keyed limiter with every number of keys.
pub const ENTRIES: &[&[Entry]] = &[&on::<FEW>(), &on::<MANY>(), &on::<MOST>()];

/// Runs `keyed`: measures, prints tables, writes what was asked for.
///
/// # Errors
///
/// If an engine is not known, a file cannot be written, or an admitted count cannot be right.
pub fn command(options: &Options) -> Result<(), String> {
    if let Some(name) = &options.memory_of {
        return memory::child(name, options.keys.first().copied().unwrap_or(0));
    }
    let outcome = rows(&options.common, &options.keys)?;
    println!("{}", table::tables(&outcome.rows));
    println!(
        "Each figure is the median of {} on {} cores. Keys are random, each as likely as any other; picking one is part \
         of every figure.",
        repetitions(&outcome.rows.iter().filter(|row| row.bench == "keyed").cloned().collect::<Vec<_>>()),
        cores()
    );
    let svg = options.common.svg.as_deref().unwrap_or(Path::new("target/keyed.svg"));
    write(svg, |path| plot::plot(&outcome.rows).save(path))?;
    if let Some(csv) = &options.common.csv {
        write(csv, |path| Row::write_all(path, &outcome.rows))?;
    }
    outcome.verified()
}

/// Measures throughput with each of `keys` (all there are if there are none), and memory.
///
/// # Errors
///
/// If an engine or a number of keys is not known, or memory cannot be measured.
pub fn rows(options: &plan::Options, keys: &[u64]) -> Result<Outcome, String> {
    let sizes =
        ENTRIES.iter().filter(|entries| keys.is_empty() || entries[0].keys.is_some_and(|size| keys.contains(&size)));
    let entries: Vec<_> = sizes.flat_map(|entries| entries.iter().copied()).collect();
    if entries.is_empty() {
        return Err(format!("there are figures for {FEW}, {MANY} and {MOST} keys"));
    }
    let loads = if options.load.is_empty() { vec![Load::Admit] } else { options.load.clone() };
    let options = plan::Options { load: loads, ..options.clone() };
    let mut outcome = throughput(&Plan::new(&options, &entries, &[1, cores()])?);
    outcome.rows.iter_mut().for_each(|row| row.bench = "keyed".into());
    outcome.rows.extend(memory::rows(&entries)?);
    Ok(outcome)
}
