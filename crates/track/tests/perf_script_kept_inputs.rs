//! Texts of `perf script` that were or could be hard to read, kept for ever.

#![allow(clippy::unwrap_used)] // helpers of tests

mod hostile_stacks;

#[test]
fn kept_inputs_are_read_or_refused() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/perf_script");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        hostile_stacks::check(&bytes);
        for end in 0..bytes.len() {
            hostile_stacks::check(&bytes[..end]);
        }
        count += 1;
    }
    assert!(count >= 3);
}
