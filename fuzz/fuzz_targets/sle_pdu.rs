//! Any octets as an operation of any space link service, version and sender.
#![no_main]

#[path = "../../systems/sle/tests/codec/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let _ = check::check(input);
});
