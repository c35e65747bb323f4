//! What fuzzing of the wire codec checks, and the kept inputs: `fuzz/fuzz_targets/wire.rs`.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // the fuzz target uses some of it

use chronoscope_store::wire;
use std::path::{Path, PathBuf};

/// Any bytes as a message: refused with a position inside, or something that is written the same
/// again and is no larger than what came.
pub fn check(bytes: &[u8]) {
    let message = match wire::decode(bytes) {
        Ok(message) => message,
        Err(error) => {
            assert!(error.position <= bytes.len(), "{error}");
            return;
        }
    };
    assert!(message.batch.len() * 120 + message.batch.contexts().len() <= bytes.len());
    let rows: usize = message.batch.records().iter().map(|r| message.batch.context(r).len()).sum();
    assert_eq!(rows, message.batch.contexts().len(), "contexts are apart");
    let again = wire::encode(&message.batch, &message.names, &message.extras);
    assert_eq!(wire::decode(&again), Ok(message));
}

/// Where the kept inputs are.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/wire")
}

#[test]
fn the_kept_inputs() {
    let mut inputs = 0;
    for entry in std::fs::read_dir(corpus()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        check(&bytes);
        inputs += 1;
    }
    assert!(inputs > 0);
}
