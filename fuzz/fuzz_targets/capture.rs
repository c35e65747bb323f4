//! Any bytes as a capture.
#![no_main]

#[path = "../../crates/replay/tests/bytes/capture.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| bytes::check(octets));
