//! A core file of a program with a ring that anybody has changed.
#![no_main]

#[path = "../../crates/record/tests/ring_bytes/mod.rs"]
mod ring_bytes;

use std::path::PathBuf;
use std::sync::LazyLock;

/// One for each fuzzer, in memory where there is such a folder.
static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("chronoscope-fuzz-core-{}", std::process::id());
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }.join(name)
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    // Refused is as good as read: what is checked is that it comes to an end.
    let _ = ring_bytes::check_core(input, &PATH);
});
