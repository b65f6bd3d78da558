//! `cargo fuzz run -s none sliding_window_counter`; the body is [`tollgate_fuzz::sliding_window_counter`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tollgate_fuzz::sliding_window_counter(data));
