//! `cargo fuzz run -s none keyed_limiter`; the body is [`tollgate_fuzz::keyed_limiter`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::keyed_limiter(data));
