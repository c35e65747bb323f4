//! Any octets as an operation of a cross support transfer service, of either sender.
#![no_main]

#[path = "../../systems/sle/tests/csts_codec/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let _ = check::check(input);
});
