//! A correlator from anybody.
#![no_main]

#[path = "../../crates/model/tests/correlator_bytes/mod.rs"]
mod correlator_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    correlator_bytes::check(bytes);
});
