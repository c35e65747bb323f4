//! Any octets as a file of transfer frames.
#![no_main]

#[path = "../../systems/sle/tests/frames/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    let _ = check::check(octets);
});
