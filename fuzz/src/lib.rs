//! The bodies of the fuzz targets. Each takes any bytes, and panics if the library does something wrong with what they
//! describe.
//!
//! ```text
//! cargo fuzz run -s none TARGET       look for inputs that break something (stable toolchain; from the repository's root)
//! cargo test -p tollgate-fuzz         try all committed seeds and regressions again
//! ```
//!
//! `seeds/TARGET/` holds inputs that add coverage, `regressions/TARGET/` those that once broke something. A new crash
//! is moved there under a name that says what it broke.

mod input;
mod keyed;
mod limiter;
mod quota;
mod replay_line;
mod several;
mod sharded;
mod snapshot;
mod waiting;

pub use keyed::keyed_limiter;
pub use quota::quota;
pub use replay_line::replay_line;
pub use several::limit_set;
pub use sharded::sharded_token_bucket;
pub use snapshot::snapshot;
pub use waiting::waiting_token_bucket;

use tollgate_testing::subject::Kind;

/// A target's body.
pub type Target = fn(&[u8]);

/// Every target, by the name of its binary and of its folders.
pub const TARGETS: &[(&str, Target)] = &[
    ("quota", quota),
    ("token_bucket", token_bucket),
    ("packed_token_bucket", packed_token_bucket),
    ("fixed_window", fixed_window),
    ("sliding_window_counter", sliding_window_counter),
    ("sliding_window_log", sliding_window_log),
    ("replay_line", replay_line),
    ("sharded_token_bucket", sharded_token_bucket),
    ("keyed_limiter", keyed_limiter),
    ("waiting_token_bucket", waiting_token_bucket),
    ("snapshot", snapshot),
    ("limit_set", limit_set),
];

/// Gives each file that is named on the command line to a target.
///
/// # Panics
///
/// If a file cannot be read, or if the target panics on it.
pub fn try_files(target: Target) {
    for name in std::env::args_os().skip(1) {
        target(&std::fs::read(&name).unwrap_or_else(|error| panic!("{}: {error}", name.display())));
    }
}

/// The token bucket against its model, step by step.
///
/// # Panics
///
/// If they differ by more than the token bucket documents.
pub fn token_bucket(data: &[u8]) {
    limiter::follow(Kind::TokenBucket, data);
}

/// The packed token bucket against its model, step by step.
///
/// # Panics
///
/// If they differ by more than the packed bucket documents.
pub fn packed_token_bucket(data: &[u8]) {
    limiter::follow(Kind::PackedTokenBucket, data);
}

/// The fixed window against its model, step by step.
///
/// # Panics
///
/// If they differ.
pub fn fixed_window(data: &[u8]) {
    limiter::follow(Kind::FixedWindow, data);
}

/// The sliding window counter against its model, step by step.
///
/// # Panics
///
/// If they differ.
pub fn sliding_window_counter(data: &[u8]) {
    limiter::follow(Kind::SlidingWindowCounter, data);
}

/// The sliding window log against its model, step by step.
///
/// # Panics
///
/// If they differ.
pub fn sliding_window_log(data: &[u8]) {
    limiter::follow(Kind::SlidingWindowLog, data);
}
