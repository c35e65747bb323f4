//! Any octets as a client's filter, its port's filter, and packets that come in.
#![no_main]

#[path = "../../systems/aprs/tests/filter/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes);
});
