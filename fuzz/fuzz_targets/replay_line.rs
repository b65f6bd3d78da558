//! `cargo fuzz run -s none replay_line`; the body is [`tollgate_fuzz::replay_line`].
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::replay_line(data));

/// Without the fuzzer: tries the files that are named.
#[cfg(not(fuzzing))]
fn main() {
    tollgate_fuzz::try_files(tollgate_fuzz::replay_line);
}
