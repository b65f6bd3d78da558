//! `cargo fuzz run -s none quota`; the body is [`tollgate_fuzz::quota`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::quota(data));
