//! Any octets as questions to the radar chain's message server.
#![no_main]

#[path = "../../systems/radar/tests/query/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes);
});
