//! `cargo fuzz run -s none token_bucket`; the body is [`tollgate_fuzz::token_bucket`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::token_bucket(data));
