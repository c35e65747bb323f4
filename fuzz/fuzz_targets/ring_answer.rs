//! Any bytes as an agent's answer about its rings, and any bytes inside of one.
#![no_main]

#[path = "../../crates/collect/tests/ring_answer_bytes/mod.rs"]
mod ring_answer_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ring_answer_bytes::check(bytes);
    // Compression hides what is inside from the fuzzer: it is done for it.
    ring_answer_bytes::check_inside(bytes);
});
