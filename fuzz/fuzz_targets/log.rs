//! Any bytes as a file of the store's write-ahead log.
#![no_main]

#[path = "../../crates/store/tests/log_bytes.rs"]
mod log_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| log_bytes::check(bytes));
