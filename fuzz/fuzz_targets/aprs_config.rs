//! Any bytes as a configuration file of the APRS-IS server.
#![no_main]

#[path = "../../systems/aprs/tests/config_bytes/mod.rs"]
mod config_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| config_bytes::check_config(bytes));
