//! `cargo fuzz run -s none fixed_window`; the body is [`tollgate_fuzz::fixed_window`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::fixed_window(data));
