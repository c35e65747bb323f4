//! Any bytes as a packet between a replay's coordinator and a process.
#![no_main]

#[path = "../../crates/replay/tests/bytes/clock_packet.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| bytes::check(octets));
