//! The figures of `keyed` as a picture.

use crate::contention::plot::lines;
use crate::plot::axis::Axis;
use crate::plot::{Panel, Plot};
use crate::row::Row;

/// Throughput over keys, a panel for each number of threads; and memory over keys.
#[allow(clippy::cast_precision_loss)] // numbers of keys
pub fn plot(rows: &[Row]) -> Plot {
    let of = |bench: &str| -> Vec<Row> {
        let rows = rows.iter().filter(|row| row.bench == bench);
        rows.filter(|row| row.load == "admit").cloned().collect()
    };
    let keys = |rows: &[Row]| {
        let mut keys: Vec<_> = rows.iter().filter_map(|row| row.keys).collect();
        keys.sort_unstable();
        keys.dedup();
        Axis::at("keys", keys.into_iter().map(|keys| keys as f64))
    };
    let (throughput, memory) = (of("keyed"), of("memory"));
    let mut threads: Vec<_> = throughput.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let y = Axis::log("Mops/s", throughput.iter().map(|row| row.mops));
    let mut panels: Vec<_> = threads
        .into_iter()
        .map(|threads| Panel {
            title: format!("Every call is admitted, {threads} thread{}", if threads == 1 { "" } else { "s" }),
            x: keys(&throughput),
            y: y.clone(),
            shaded: None,
            series: {
                let rows: Vec<_> = throughput.iter().filter(|row| row.threads == threads).cloned().collect();
                lines(&rows, |row| row.keys.map(|keys| (keys as f64, row.mops)).into_iter().collect())
            },
        })
        .collect();
    if !memory.is_empty() {
        panels.push(Panel {
            title: "Memory for each key".into(),
            x: keys(&memory),
            y: Axis::log("bytes", memory.iter().filter_map(|row| row.bytes_per_key)),
            shaded: None,
            series: lines(&memory, |row| {
                let point = row.keys.zip(row.bytes_per_key);
                point.map(|(keys, bytes)| (keys as f64, bytes)).into_iter().collect()
            }),
        });
    }
    Plot {
        title: "A limit for each key".into(),
        subtitle: "Random keys, all of them known and in debt. Blue: this crate. Orange: other crates. Purple: mutex."
            .into(),
        panels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughput_and_memory_have_panels_of_their_own() {
        let row = |bench: &str, keys, threads| Row {
            bench: bench.into(),
            load: "admit".into(),
            engine: "keyed".into(),
            threads,
            keys: Some(keys),
            mops: 20.0,
            bytes_per_key: Some(30.0),
            verified: true,
            ..Row::default()
        };
        let rows = [row("keyed", 10, 1), row("keyed", 100, 1), row("keyed", 10, 2), row("memory", 10, 1)];
        let plot = plot(&rows);
        let titles: Vec<_> = plot.panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles.len(), 3, "{titles:?}");
        assert_eq!(plot.panels[0].series[0].points, [(10.0, 20.0), (100.0, 20.0)]);
        assert_eq!(plot.panels[2].series[0].points, [(10.0, 30.0)]);
    }
}
