//! The inputs that fuzzing keeps, on stable, and every one of them cut and changed.

#![allow(clippy::unwrap_used)] // helpers of tests

#[allow(dead_code)]
mod hostile_profile;

use std::path::Path;

#[test]
fn kept_inputs_are_replayed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/callgrind");
    let mut inputs = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        hostile_profile::check(&bytes);
        for at in 0..bytes.len() {
            hostile_profile::check(&bytes[..at]);
            let mut changed = bytes.clone();
            changed[at] = changed[at].wrapping_add(0x81);
            hostile_profile::check(&changed);
            changed[at] = b'*';
            hostile_profile::check(&changed);
            changed.remove(at);
            hostile_profile::check(&changed);
        }
        inputs += 1;
    }
    assert!(inputs >= 4);
}
