//! `cargo fuzz run -s none limit_set`; the body is [`tollgate_fuzz::limit_set`].
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::limit_set(data));

/// Without the fuzzer: tries the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    tollgate_fuzz::try_files(tollgate_fuzz::limit_set);
}
