//! Any octets from the peer, in any steps of time, to an association of the space link extension.
#![no_main]

#[path = "../../systems/sle/tests/association/octets.rs"]
mod octets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    octets::check(bytes);
});
