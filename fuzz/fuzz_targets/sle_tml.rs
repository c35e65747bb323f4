//! Any octets as a stream of the transport mapping layer.
#![no_main]

#[path = "../../systems/sle/tests/tml/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    let _ = check::check(octets);
});
