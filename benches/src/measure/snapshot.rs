//! `snapshot`: how long it takes to save a table of keys and to restore it.

use super::measurement::Measurement;
use crate::figures::error::Result;
use crate::figures::outcome::Outcome;
use crate::figures::row::Row;
use crate::run::options::Options;
use crate::show::table::Table;
use std::time::Instant;
use tollgate::{KeyedLimiter, Quota, SeededState};

/// How it is called, shown and recorded.
pub const SNAPSHOT: Measurement = Measurement {
    name: "snapshot",
    title: "Saving and restoring a table of keys",
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
        let mut seconds = [Vec::new(), Vec::new()];
        let (mut verdict, mut bytes) = (Ok(()), 0);
        for _ in 0..repetitions {
            let run = once(keys);
            seconds.iter_mut().zip([run.save, run.restore]).for_each(|(all, one)| all.push(one));
            bytes = run.bytes;
            if run.restored != u64::from(keys) {
                verdict = Err(format!("{} keys were restored", run.restored));
            }
        }
        for (load, mut seconds) in ["save", "restore"].into_iter().zip(seconds) {
            seconds.sort_by(f64::total_cmp);
            let row = row(load, keys, seconds[seconds.len() / 2], bytes, seconds.len());
            outcome.add(Row { verified: verdict.is_ok(), ..row }, [&verdict]);
        }
    }
    outcome
}

/// What one repetition came to, in seconds.
struct Run {
    save: f64,
    restore: f64,
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
    let start = Instant::now();
    let saved = old.save(&mut bytes).expect("memory takes it");
    let save = start.elapsed().as_secs_f64();
    assert_eq!(saved, u64::from(keys), "all are in debt");
    let start = Instant::now();
    let new = new.restored(bytes.as_slice()).expect("it was just saved");
    Run { save, restore: start.elapsed().as_secs_f64(), bytes: bytes.len(), restored: new.live() as u64 }
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
fn row(load: &str, keys: u32, seconds: f64, bytes: usize, repetitions: usize) -> Row {
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
        bytes_per_key: Some(bytes as f64 / keys as f64),
        hasher: Some("seeded".into()),
        ..Row::default()
    }
}

/// A line for each number of keys and each way.
fn tables(rows: &[Row]) -> String {
    let head = ["", "keys", "ms", "ns for each key", "bytes for each key"].map(String::from);
    let lines = rows.iter().map(|row| {
        let keys = row.keys.unwrap_or(0);
        let bytes = row.bytes_per_key.unwrap_or(0.0);
        vec![
            row.load.clone(),
            keys.to_string(),
            format!("{:.1}", row.seconds * 1e3),
            format!("{:.1}", row.ns_per_op),
            format!("{bytes:.1}"),
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
        assert_eq!(outcome.rows.iter().map(|row| row.load.as_str()).collect::<Vec<_>>(), ["save", "restore"]);
        let text = tables(&outcome.rows);
        assert!(text.contains("restore") && text.contains("16.1"), "{text}");
    }
}
