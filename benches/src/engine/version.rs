//! The versions that are measured. A test holds them to `Cargo.lock`.

/// This crate.
pub const TOLLGATE: &str = "0.1.0";
/// `better-bucket`, by James Gober.
pub const BETTER_BUCKET: &str = "1.1.0";
/// `governor`, by Andreas Fuchs.
pub const GOVERNOR: &str = "0.10.4";
/// `leaky-bucket`, by John-John Tedro.
pub const LEAKY_BUCKET: &str = "1.1.2";
/// `parking_lot`, whose mutex guards one of the baselines.
pub const PARKING_LOT: &str = "0.13.0";
/// `quanta`, the clock of the floor and of whatever is measured on the same clock as this crate.
pub const QUANTA: &str = "0.13.0";
/// `rate-net`, by James Gober.
pub const RATE_NET: &str = "2.1.0";
/// `ratelimit`, by Brian Martin.
pub const RATELIMIT: &str = "2.0.0";
/// `tokio`, whose semaphore is the baseline of those who wait, and on which all of them run.
pub const TOKIO: &str = "1.54.1";
/// The baselines and the floor, which are part of this harness.
pub const STD: &str = "std";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        for (name, version) in [
            ("tollgate", TOLLGATE),
            ("better-bucket", BETTER_BUCKET),
            ("governor", GOVERNOR),
            ("leaky-bucket", LEAKY_BUCKET),
            ("parking_lot", PARKING_LOT),
            ("quanta", QUANTA),
            ("rate-net", RATE_NET),
            ("ratelimit", RATELIMIT),
            ("tokio", TOKIO),
        ] {
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&entry), "{name} {version} is not in Cargo.lock");
        }
    }
}
