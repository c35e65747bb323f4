//! Any octets as records of the ASTERIX categories beside 034, 048 and 062: the first octet says which.
#![no_main]

#[path = "../../systems/radar/tests/asterix/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|content: &[u8]| {
    let Some((first, rest)) = content.split_first() else { return };
    check::check([1, 2, 10, 20, 21, 63, 65][usize::from(*first) % 7], rest);
});
