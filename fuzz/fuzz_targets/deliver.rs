//! Any bytes as an agent's message to a collector, and any bytes inside of one.
#![no_main]

#[path = "../../crates/collect/tests/deliver_bytes/mod.rs"]
mod deliver_bytes;

use chronoscope_collect::protocol::{AgentMessage, FromAgent, Rows};
use prost::Message;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    deliver_bytes::check(bytes);
    // Compression hides what is inside from the fuzzer: it is done for it.
    let Ok(content) = zstd::bulk::compress(bytes, 1) else { return };
    let size_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let rows = FromAgent::Rows(Rows { first_row: 0, size_bytes, content });
    deliver_bytes::check(&AgentMessage { kind: Some(rows) }.encode_to_vec());
});
