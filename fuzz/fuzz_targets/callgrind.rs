//! Any bytes as a Callgrind profile.
#![no_main]

#[path = "../../crates/track/tests/hostile_profile/mod.rs"]
mod hostile_profile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile_profile::check(bytes));
