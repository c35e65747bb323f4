//! Any bytes as a file of a journal of inputs.
#![no_main]

#[path = "../../crates/replay/tests/bytes/journal.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| bytes::check(octets));
