//! `cargo fuzz run -s none sliding_window_log`; the body is [`tollgate_fuzz::sliding_window_log`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::sliding_window_log(data));
