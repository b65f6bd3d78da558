//! `cargo fuzz run -s none sharded_token_bucket`; the body is [`tollgate_fuzz::sharded_token_bucket`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::sharded_token_bucket(data));
