//! Any octets as a capture of space link sessions.
#![no_main]

#[path = "../../systems/sle/tests/dump/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    let _ = check::check(octets);
});
