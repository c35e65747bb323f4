//! Any bytes as text of `perf script`.
#![no_main]

#[path = "../../crates/track/tests/hostile_stacks/mod.rs"]
mod hostile_stacks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile_stacks::check(bytes));
