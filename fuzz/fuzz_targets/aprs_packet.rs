//! Any octets as a packet of APRS-IS.
#![no_main]

#[path = "../../systems/aprs/tests/packet/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|line: &[u8]| {
    let _ = check::check(line);
});
