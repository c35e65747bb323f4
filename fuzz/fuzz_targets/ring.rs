//! A kept ring that anybody has changed.
#![no_main]

#[path = "../../crates/record/tests/ring_bytes/mod.rs"]
mod ring_bytes;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    ring_bytes::check_ring(input);
});
