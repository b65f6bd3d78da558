//! `cargo fuzz run -s none replay_line`; the body is [`tollgate_fuzz::replay_line`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::replay_line(data));
