//! Ratios between engines of the same run: the comparisons that matter, each with the same traffic, keys and threads.

use crate::figures::row::Row;

/// One comparison: an engine against another, on whichever of the other's clocks is faster unless one is named.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// What it is called.
    pub name: &'static str,
    /// The engine that is compared.
    pub engine: &'static str,
    /// The one that it is compared with.
    pub other: &'static str,
    /// The clock of the other; any if empty.
    pub clock: &'static str,
}

/// What is compared.
pub const COMPARISONS: [Comparison; 11] = {
    const fn of(name: &'static str, engine: &'static str, other: &'static str) -> Comparison {
        Comparison { name, engine, other, clock: "" }
    }
    const fn by_default(comparison: Comparison) -> Comparison {
        Comparison { clock: "std", ..comparison }
    }
    [
        of("keyed : governor, both with foldhash", "keyed-foldhash", "governor-keyed-foldhash"),
        of("keyed : governor, both by default", "keyed", "governor-keyed"),
        by_default(of("keyed : rate-net, both by default", "keyed", "rate-net-keyed")),
        of("keyed : mutex-hashmap", "keyed", "mutex-hashmap"),
        of("keyed : sharded-hashmap", "keyed", "sharded-hashmap"),
        of("batch-16 : single calls, foldhash", "keyed-batch-16", "keyed-foldhash"),
        of("long after a change of the quota : as built, foldhash", "keyed-changed", "keyed-foldhash"),
        of("floor, each waiting for the line before : an isolated call, foldhash", "floor-line", "keyed-isolated"),
        of("floor, with a reading of the clock : a call, foldhash", "floor-timed", "keyed-foldhash"),
        by_default(of("floor, with a reading of the clock : rate-net, by default", "floor-timed", "rate-net-keyed")),
        of("floor, isolated likewise : an isolated call, foldhash", "floor-isolated", "keyed-isolated"),
    ]
};

impl Comparison {
    /// How many times as fast as the other the engine is, under this load and traffic with so many keys and threads.
    /// `None` if either was not measured or did not pass its verification.
    pub fn ratio(&self, rows: &[Row], load: &str, pattern: &str, keys: u64, threads: usize) -> Option<f64> {
        let time = |engine: &str, clock: &str| {
            let of_case = rows.iter().filter(|row| {
                (row.load.as_str(), row.pattern.as_deref(), row.keys, row.threads)
                    == (load, Some(pattern), Some(keys), threads)
            });
            let own = of_case.filter(|row| row.engine == engine && (clock.is_empty() || row.clock == clock));
            own.filter(|row| row.verified).map(|row| row.ns_per_op).reduce(f64::min)
        };
        let [own, other] = [time(self.engine, ""), time(self.other, self.clock)];
        own.zip(other).filter(|&(own, _)| own > 0.0).map(|(own, other)| other / own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::keyed::registry::ENTRIES;

    #[test]
    fn ratios_are_of_the_same_case_and_of_what_is_verified() {
        let row = |engine: &str, clock: &str, keys, ns_per_op| Row {
            engine: engine.into(),
            clock: clock.into(),
            load: "admit".into(),
            pattern: Some("uniform".into()),
            keys: Some(keys),
            threads: 1,
            ns_per_op,
            verified: true,
            ..Row::default()
        };
        let mut rows = vec![
            row("keyed", "quanta", 10, 20.0),
            row("rate-net-keyed", "std", 10, 60.0),
            row("rate-net-keyed", "quanta", 10, 50.0),
            row("mutex-hashmap", "quanta", 99, 1.0),
            row("governor-keyed", "quanta", 10, 30.0),
        ];
        let ratio = |name: &str, rows: &[Row]| {
            let comparison = COMPARISONS.iter().find(|comparison| comparison.other == name).unwrap();
            comparison.ratio(rows, "admit", "uniform", 10, 1)
        };
        assert_eq!(ratio("rate-net-keyed", &rows), Some(3.0));
        assert_eq!(ratio("governor-keyed", &rows), Some(1.5));
        assert_eq!(ratio("mutex-hashmap", &rows), None, "measured with other keys only");
        rows[4].verified = false;
        assert_eq!(ratio("governor-keyed", &rows), None);
    }

    #[test]
    fn what_is_compared_exists() {
        for comparison in COMPARISONS {
            for name in [comparison.engine, comparison.other] {
                assert!(ENTRIES.iter().any(|entry| entry.label.name == name), "{name}");
            }
        }
    }
}
