//! Any octets as what a client sends to the permanent server.
#![no_main]

#[path = "../../crates/net/tests/requests/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    let _ = check::check(octets);
});
