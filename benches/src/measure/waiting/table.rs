//! What was measured, as text.

use super::load::Load;
use super::pending::WAITS;
use super::row::Row;
use crate::show::table::{Table, brief};
use core::fmt::Write as _;

/// One table of all, and what it means.
pub(super) fn text(rows: &[Row]) -> String {
    let head = ["load", "engine", "version", "admitted/s", "late p50", "p99", "p99.9", "fair", "given up"];
    let table = Table::new(3, head).with(rows.iter().map(|row| {
        let [p50, p99, p999] = [row.late_p50_ns, row.late_p99_ns, row.late_p999_ns].map(brief);
        let name = format!("{}{}", row.engine, if row.verified { "" } else { " WRONG COUNT" });
        let [rate, fair] = [format!("{:.1}", row.admitted_per_second), format!("{:.2}", row.fairness)];
        let given_up = if row.load == Load::Storm { row.dropped.to_string() } else { "-".into() };
        [row.load.name().into(), name, row.version.clone(), rate, p50, p99, p999, fair, given_up]
    }));
    let mut text = format!(
        "1000 per second, one at a time, on tokio's threads. alone: {}. steady: {}. storm: {}.\n\n{table}\n\
         late: against a grid of one each millisecond that the first admission begins; who admits fewer falls ever further\n\
         behind it. fair: what the task that got least got of what the one that got most did, of those that do not give up.\n\
         Tokio's timers count in milliseconds. waiting-turns: each task's next place counts from its last one, 5 ms ago at most.\n",
        Load::Alone.title(),
        Load::Steady.title(),
        Load::Storm.title(),
    );
    for row in rows {
        if let Some((bytes, timer)) = row.bytes_per_wait.zip(row.timer_bytes) {
            let _ = writeln!(
                text,
                "{WAITS} waits for {} at once: {bytes:.1} bytes each, of which {timer} are tokio's timer.",
                row.engine
            ); // a string takes it all
        }
    }
    text
}
