//! The memory that a limiter takes for each key: how much a process of its own grows.

use crate::engine::keyed::governor::Governor;
use crate::engine::keyed::limiter::Limiter;
use crate::engine::keyed::mutex_map::MutexMap;
use crate::engine::keyed::rate_net::RateNet;
use crate::engine::keyed::{Keyed, known, quota};
use crate::load::Load;
use crate::registry::Entry;
use crate::row::Row;
use std::process::Command;

/// Numbers of keys at which memory is measured. With fewer, what the process takes anyway would show.
const SIZES: [u64; 5] = [10_000, 30_000, 100_000, 300_000, 1_000_000];

/// Builds a limiter that knows so many keys; returns the bytes by which the process has grown.
type Probe = fn(u64) -> Option<u64>;

/// Each limiter once: neither the clock nor the hasher takes memory.
const PROBES: [(&str, Probe); 4] = [
    (Limiter::<std::hash::RandomState>::NAME, grown::<Limiter>),
    (MutexMap::NAME, grown::<MutexMap>),
    (Governor::NAME, grown::<Governor>),
    (RateNet::<clock_lib::SystemClock>::NAME, grown::<RateNet>),
];

fn grown<K: Keyed>(keys: u64) -> Option<u64> {
    let before = resident()?;
    let limiter = known::<K>(quota(Load::Admit), keys);
    let after = resident()?;
    drop(limiter);
    after.checked_sub(before)
}

/// Memory of this process that is in use, in bytes.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
}

/// Prints what the limiter of that name takes: what a child process is started for.
///
/// # Errors
///
/// If there is no such limiter, or the system does not tell.
pub fn child(name: &str, keys: u64) -> Result<(), String> {
    let (_, probe) = PROBES.iter().find(|(probe, _)| *probe == name).ok_or_else(|| format!("no memory of {name}"))?;
    println!("{}", probe(keys).ok_or("this system does not tell how much memory a process uses")?);
    Ok(())
}

/// A row for each of the limiters that are among `entries` and each number of keys. No rows where the system does not
/// tell.
///
/// # Errors
///
/// If this program cannot start itself.
pub fn rows(entries: &[Entry]) -> Result<Vec<Row>, String> {
    if resident().is_none() {
        return Ok(Vec::new());
    }
    let this = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let mut rows = Vec::new();
    for (name, _) in PROBES {
        let Some(entry) = entries.iter().find(|entry| entry.name == name) else { continue };
        for keys in SIZES {
            let child = Command::new(&this).args(["keyed", "--memory-of", name, "--keys", &keys.to_string()]).output();
            let output = child.map_err(|error| format!("a process for {name}: {error}"))?;
            let bytes: u64 = String::from_utf8_lossy(&output.stdout)
                .trim()
                .parse()
                .map_err(|_| format!("the memory of {name}: {}", String::from_utf8_lossy(&output.stderr)))?;
            rows.push(row(entry, keys, bytes));
        }
    }
    Ok(rows)
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
fn row(entry: &Entry, keys: u64, bytes: u64) -> Row {
    Row {
        bench: "memory".into(),
        load: Load::Admit.name().into(),
        engine: entry.name.into(),
        version: entry.version.into(),
        threads: 1,
        clock: entry.clock.into(),
        ops: keys,
        admitted: keys,
        verified: true,
        repetitions: 1,
        keys: Some(keys),
        bytes_per_key: Some(bytes as f64 / keys as f64),
        ..Row::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limiter_takes_memory_and_more_keys_take_more() {
        for (name, _) in PROBES {
            assert!(crate::keyed::ENTRIES[0].iter().any(|entry| entry.name == name), "{name} is not measured");
        }
        if resident().is_some() {
            let grown = grown::<MutexMap>(200_000).unwrap();
            assert!(grown > 200_000 * 8, "{grown} bytes");
        }
        assert!(child("nothing", 1).is_err());
    }

    #[test]
    fn a_row_counts_bytes_for_each_key() {
        let row = row(&crate::keyed::ENTRIES[0][0], 1_000, 32_000);
        assert_eq!((row.bench.as_str(), row.keys, row.bytes_per_key), ("memory", Some(1_000), Some(32.0)));
    }
}
