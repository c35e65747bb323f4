//! Any bytes as a message between agent and collector. Most inputs do not match their checksum, so
//! it is made right first: who sends can compute it too.
#![no_main]

#[path = "../../crates/store/tests/wire_bytes/mod.rs"]
mod wire_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if let Some((head, rest)) = bytes.split_at_mut_checked(12) {
        head[8..].copy_from_slice(&crc32fast::hash(rest).to_le_bytes());
    }
    wire_bytes::check(&bytes);
});
