//! `snapshot`: how long it takes to save a table of keys, to restore it, and to look into it.

use super::measurement::Measurement;
use crate::figures::error::Result;
use crate::figures::outcome::Outcome;
use crate::figures::row::Row;
use crate::run::options::Options;
use crate::show::table::Table;
use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;
use tollgate::{Debtor, KeyedLimiter, Quota, SeededState};

/// How it is called, shown and recorded.
pub const SNAPSHOT: Measurement = Measurement {
    name: "snapshot",
    title: "A table of keys: saved, restored, looked into",
    tables,
    plot: None,
    share: 0.01,
    record: |_| Ok(measure(&[10_000, 1_000_000], 5)),
};

/// The command line of `snapshot`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// How many keys are in debt
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 1_000_000])]
    keys: Vec<u32>,
    #[command(flatten)]
    options: Options,
}

/// Runs `snapshot`: measures, shows a table, writes what was asked for.
///
/// # Errors
///
/// If a file cannot be written, or what was restored is not what was saved.
pub fn command(args: &Args) -> Result<()> {
    let outcome = measure(&args.keys, args.options.repetitions(5));
    SNAPSHOT.finish(&outcome, &tables(&outcome.rows), &args.options)
}

fn measure(sizes: &[u32], repetitions: usize) -> Outcome {
    let mut outcome = Outcome::default();
    for &keys in sizes {
        let mut seconds = [const { Vec::new() }; LOADS.len()];
        let (mut verdict, mut bytes) = (Ok(()), 0);
        for _ in 0..repetitions {
            let run = once(keys);
            seconds.iter_mut().zip(run.seconds).for_each(|(all, one)| all.push(one));
            bytes = run.bytes;
            if run.restored != u64::from(keys) {
                verdict = Err(format!("{} keys were restored", run.restored));
            }
        }
        for (load, mut seconds) in LOADS.into_iter().zip(seconds) {
            seconds.sort_by(f64::total_cmp);
            let bytes = matches!(load, "save" | "restore").then_some(bytes);
            let row = row(load, keys, seconds[seconds.len() / 2], bytes, seconds.len());
            outcome.add(Row { verified: verdict.is_ok(), ..row }, [&verdict]);
        }
    }
    outcome
}

/// What is done with a table, in order: `occupancy` counts all slots, `heaviest` finds the ten keys that owe most.
const LOADS: [&str; 4] = ["save", "restore", "occupancy", "heaviest"];

/// What one repetition came to.
struct Run {
    /// For each load.
    seconds: [f64; LOADS.len()],
    bytes: usize,
    restored: u64,
}

fn once(keys: u32) -> Run {
    let make = || {
        let quota = Quota::per_hour(10);
        KeyedLimiter::<u64, _>::with_hasher(quota, keys as usize, SeededState::new(0x5EED))
    };
    let (old, new) = (make(), make());
    let admitted = (0..u64::from(keys)).filter(|key| old.try_acquire(key).is_ok()).count();
    assert_eq!(admitted, keys as usize, "there is room for them");
    let mut bytes = Vec::with_capacity(old.bytes());
    let (saved, save) = timed(|| old.save(&mut bytes).expect("memory takes it"));
    assert_eq!(saved, u64::from(keys), "all are in debt");
    let (new, restore) = timed(|| new.restored(bytes.as_slice()).expect("it was just saved"));
    let (live, occupancy) = timed(|| new.occupancy().live);
    let mut top = [Debtor { key: new.fingerprint(&0), owes: Duration::ZERO }; 10];
    let (found, heaviest) = timed(|| new.heaviest(&mut top));
    assert_eq!(found, top.len().min(keys as usize), "all are in debt");
    Run { seconds: [save, restore, occupancy, heaviest], bytes: bytes.len(), restored: live as u64 }
}

/// What `act` returns, and the seconds that it takes.
fn timed<T>(act: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = black_box(act());
    (done, start.elapsed().as_secs_f64())
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
fn row(load: &str, keys: u32, seconds: f64, bytes: Option<usize>, repetitions: usize) -> Row {
    let keys = u64::from(keys);
    Row {
        bench: SNAPSHOT.name.into(),
        load: load.into(),
        engine: "keyed".into(),
        version: crate::engine::version::TOLLGATE.into(),
        threads: 1,
        clock: "quanta".into(),
        ops: keys,
        seconds,
        mops: keys as f64 / seconds / 1e6,
        ns_per_op: seconds * 1e9 / keys as f64,
        admitted: keys,
        repetitions,
        keys: Some(keys),
        bytes_per_key: bytes.map(|bytes| bytes as f64 / keys as f64),
        hasher: Some("seeded".into()),
        ..Row::default()
    }
}

/// A line for each number of keys and each way.
fn tables(rows: &[Row]) -> String {
    let head = ["", "keys", "ms", "ns for each key", "bytes for each key"].map(String::from);
    let lines = rows.iter().map(|row| {
        let keys = row.keys.unwrap_or(0);
        let bytes = row.bytes_per_key.map_or(String::new(), |bytes| format!("{bytes:.1}"));
        vec![
            row.load.clone(),
            keys.to_string(),
            format!("{:.1}", row.seconds * 1e3),
            format!("{:.1}", row.ns_per_op),
            bytes,
        ]
    });
    let table = Table::new(1, head).with(lines);
    format!("{table}\nOne thread, to and from memory: a file or a network comes on top.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_restored_and_shown() {
        let outcome = measure(&[1_000], 1);
        assert!(outcome.verified().is_ok());
        assert_eq!(outcome.rows.iter().map(|row| row.load.as_str()).collect::<Vec<_>>(), LOADS);
        let text = tables(&outcome.rows);
        assert!(text.contains("restore") && text.contains("16.1") && text.contains("heaviest"), "{text}");
    }
}
