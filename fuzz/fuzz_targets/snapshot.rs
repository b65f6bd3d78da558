//! `cargo fuzz run -s none snapshot`; the body is [`tollgate_fuzz::snapshot`].
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::snapshot(data));

/// Without the fuzzer: tries the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    tollgate_fuzz::try_files(tollgate_fuzz::snapshot);
}
