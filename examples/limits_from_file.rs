//! Named limits from a file of settings, in TOML. Run it with
//! `cargo run --example limits_from_file --features serde [limits.toml]`.

use std::collections::BTreeMap;
use std::error::Error;
use std::{env, fs};
use tollgate::{Quota, TokenBucket};

/// What the file says.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    limits: BTreeMap<String, Quota>,
}

/// Used when no file is named.
const DEFAULTS: &str = r#"
[limits]
api      = "600/min burst 20"
login    = "5/15min"
reports  = "1 per 30d"
download = "10MiB/s burst 64MiB"
internal = "unlimited"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let text = env::args().nth(1).map_or_else(|| Ok(DEFAULTS.to_owned()), fs::read_to_string)?;
    // An error names the line, and the place within the quota: "at position 5: expected a unit of time".
    let settings: Settings = toml::from_str(&text)?;
    for (name, quota) in settings.limits {
        let bucket = TokenBucket::new(quota);
        let admitted = (0..1_000).filter(|_| bucket.try_acquire().is_ok()).count();
        println!("{name:<10} {:<28} admits {admitted} of 1000 calls at once", quota.to_string());
    }
    Ok(())
}
