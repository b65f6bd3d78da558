//! What this program was built from, as `build.rs` saw it.

/// The commit, with a remark if there were changes on top.
pub const COMMIT: &str = env!("TOLLGATE_BENCH_COMMIT");
/// The compiler.
pub const RUSTC: &str = env!("TOLLGATE_BENCH_RUSTC");
/// Flags given to the compiler by hand.
pub const FLAGS: &str = env!("TOLLGATE_BENCH_FLAGS");
/// The platform.
pub const TARGET: &str = env!("TOLLGATE_BENCH_TARGET");
/// Debug or release.
pub const PROFILE: &str = env!("TOLLGATE_BENCH_PROFILE");
