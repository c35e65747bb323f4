//! Any bytes as a file to import.
#![no_main]

#[path = "../../crates/formats/tests/hostile_bytes/mod.rs"]
mod hostile_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile_bytes::check_csv(bytes));
