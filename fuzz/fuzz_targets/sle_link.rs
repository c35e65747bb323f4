//! Any octets, in any pieces, as the messages of a program to `sle-user link`.
#![no_main]

#[path = "../../systems/sle/tests/link_messages/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    let _ = check::check(octets);
});
