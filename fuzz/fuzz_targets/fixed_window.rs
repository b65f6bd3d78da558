//! `cargo fuzz run -s none fixed_window`; the body is [`tollgate_fuzz::fixed_window`].
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::fixed_window(data));

/// Without the fuzzer: tries the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    tollgate_fuzz::try_files(tollgate_fuzz::fixed_window);
}
