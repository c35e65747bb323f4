//! Any bytes as an `ExportTraceServiceRequest` in JSON, after decompression.
#![no_main]

#[path = "../../crates/formats/tests/otlp_bytes.rs"]
mod otlp_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| otlp_bytes::check_json(bytes));
