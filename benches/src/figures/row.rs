//! [`Row`]: one line of a csv file.

use super::error::{Error, Result};
use super::stats::sorted;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// One measured figure with all that is needed to judge it. The fields, in this order, are the columns of the csv.
///
/// A row stands for the repetition with the median throughput: its operations, seconds and admissions belong together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What was measured: `contention`, `latency`, `clock`, ...
    pub bench: String,
    /// `admit`, `deny`, `mixed` (1e7 per second), `mixed-1e6` or `mixed-1e5`.
    pub load: String,
    /// The engine's name.
    pub engine: String,
    /// The version of the crate it comes from.
    pub version: String,
    /// Threads that called it.
    pub threads: usize,
    /// Whether there were more threads than cores.
    pub oversubscribed: bool,
    /// The clock it reads: `quanta` (time stamp counter), `std` (`Instant`), `coarse`, `none`.
    pub clock: String,
    /// Operations of all threads.
    pub ops: u64,
    /// From the first operation of any thread to the last of any thread.
    pub seconds: f64,
    /// Million operations per second, all threads together.
    pub mops: f64,
    /// Nanoseconds per operation as its caller sees it; see [`super::stats::ns_per_op`].
    pub ns_per_op: f64,
    /// Operations that were admitted.
    pub admitted: u64,
    /// Whether the admitted count was right in every repetition.
    pub verified: bool,
    /// Repetitions measured.
    pub repetitions: usize,
    /// Throughput of the slowest repetition.
    pub mops_min: f64,
    /// Throughput of the fastest repetition.
    pub mops_max: f64,
    /// Operations of the thread that did the fewest.
    pub thread_min: u64,
    /// Operations of the thread that did the most.
    pub thread_max: u64,
    /// Median latency, where latencies were measured.
    pub p50_ns: Option<u64>,
    /// 90th percentile of latency.
    pub p90_ns: Option<u64>,
    /// 99th percentile of latency.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile of latency.
    pub p999_ns: Option<u64>,
    /// 99.99th percentile of latency.
    pub p9999_ns: Option<u64>,
    /// The longest latency.
    pub max_ns: Option<u64>,
    /// What the timer itself takes; it is part of every latency.
    pub timer_ns: Option<u64>,
    /// The smallest step in which the timer moves.
    pub timer_step_ns: Option<u64>,
    /// Keys in use, where the engine keeps keys.
    pub keys: Option<u64>,
    /// Bytes of memory for each live key.
    pub bytes_per_key: Option<f64>,
    /// How calls are spread over the keys: `uniform`, `zipf`, `hot`; or `flood`, `fill`.
    pub pattern: Option<String>,
    /// What keys are hashed with.
    pub hasher: Option<String>,
    /// Calls refused for want of a place, though their key had tokens.
    pub refused: Option<u64>,
    /// The part of the slots in use at the first refusal for want of a place.
    pub fill: Option<f64>,
    /// How much the memory that the system gives to the process grew meanwhile, in bytes.
    pub resident_growth: Option<u64>,
    /// Writes to memory that callers share, for each 1000 operations.
    pub writes_per_1000: Option<f64>,
    /// Under a mixed load, the part that was admitted of what the engine's bound allows over the run, in the repetition in
    /// which it was largest: 1 is all.
    pub admitted_share: Option<f64>,
}

impl Row {
    /// What was measured, in words: `governor (std clock), deny, 2 threads`.
    pub fn case(&self) -> String {
        let keys = self.keys.map_or(String::new(), |keys| format!(", {keys} keys"));
        let pattern = self.pattern.as_deref().map_or(String::new(), |pattern| format!(" {pattern}"));
        let Self { engine, clock, load, threads, .. } = self;
        format!("{engine} ({clock} clock), {load}{pattern}{keys}, {}", plural(*threads))
    }
}

/// The thread counts in `rows`, each once, from the fewest.
pub fn threads(rows: &[Row]) -> Vec<usize> {
    sorted(rows.iter().map(|row| row.threads).collect())
}

/// The rows for which `is_wanted`.
pub fn only(rows: &[Row], is_wanted: impl Fn(&Row) -> bool) -> Vec<Row> {
    rows.iter().filter(|row| is_wanted(row)).cloned().collect()
}

/// `1 thread`, `2 threads`.
pub fn plural(threads: usize) -> String {
    if threads == 1 { "1 thread".into() } else { format!("{threads} threads") }
}

/// How often the rows were measured, in words: some once less than others where the time was up.
pub fn repetitions(rows: &[Row]) -> String {
    let counts = rows.iter().map(|row| row.repetitions);
    match (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0)) {
        (1, 1) => "one run".to_owned(),
        (least, most) if least == most => format!("{most} runs"),
        (least, most) => format!("{least} to {most} runs (the time was up)"),
    }
}

/// Writes `rows` with a header to the csv file `path`. Their fields, in their order, are the columns.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(path: &Path, rows: &[impl Serialize]) -> io::Result<()> {
    let mut writer = csv::Writer::from_path(path)?;
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    writer.flush()
}

/// Reads what [`write()`] wrote, now or before there were as many columns.
///
/// # Errors
///
/// If the file cannot be read or is not such a csv.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let rows = csv::Reader::from_path(path).and_then(|reader| reader.into_deserialize().collect());
    rows.map_err(io::Error::from).map_err(Error::file(path))
}

/// Has `writer` write the file `path`, makes its folder if need be, and says where it is.
///
/// # Errors
///
/// If it cannot be written.
pub fn save(path: &Path, writer: impl FnOnce(&Path) -> io::Result<()>) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| writer(path)).map_err(Error::file(path))?;
    println!("wrote {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns that other programs rely on, in their order; new ones go after them.
    const HEADER: &str =
        "bench,load,engine,version,threads,oversubscribed,clock,ops,seconds,mops,ns_per_op,admitted,verified";

    #[test]
    fn the_header_starts_with_the_promised_columns() {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(Row::default()).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        assert!(text.starts_with(&format!("{HEADER},repetitions,")), "{text}");
    }

    #[test]
    fn what_is_written_is_read_back_and_so_is_what_had_fewer_columns() {
        let row = Row {
            bench: "contention".into(),
            engine: "token-bucket".into(),
            threads: 2,
            oversubscribed: true,
            mops: 12.25,
            p50_ns: Some(17),
            ..Row::default()
        };
        let path = std::env::temp_dir().join(format!("tollgate-bench-row-{}.csv", std::process::id()));
        write(&path, &[row.clone(), Row::default()]).unwrap();
        assert_eq!(read(&path).unwrap(), [row.clone(), Row::default()]);
        let text = std::fs::read_to_string(&path).unwrap();
        let fewer: Vec<_> = text.lines().map(|line| line.rsplit_once(',').unwrap().0).collect();
        std::fs::write(&path, fewer.join("\n")).unwrap();
        assert_eq!(read(&path).unwrap()[0], row, "recorded before the last column was there");
        std::fs::remove_file(&path).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("tollgate-bench-row"));
    }
}
