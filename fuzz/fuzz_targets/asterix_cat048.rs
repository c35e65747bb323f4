//! Any octets as records of ASTERIX category 048.
#![no_main]

#[path = "../../systems/radar/tests/asterix/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|content: &[u8]| check::check(48, content));
