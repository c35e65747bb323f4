//! Any bytes as a Parquet file to import.
#![no_main]

#[path = "../../crates/store/tests/parquet_bytes.rs"]
mod parquet_bytes;

// Panics of the Parquet library are caught, as they are where files are imported; the hook that ends
// the fuzzer before they can be is taken away. What gets out ends the fuzzer all the same.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| ())),
    |bytes: &[u8]| parquet_bytes::check(bytes)
);
