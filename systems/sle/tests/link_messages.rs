//! Messages of programs to `sle-user link`: what the fuzzer keeps.
#![allow(clippy::unwrap_used)]

#[path = "link_messages/check.rs"]
mod check;

use std::path::Path;

#[test]
fn kept_inputs_are_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sle_link");
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(corpus).unwrap() {
        match check::check(&std::fs::read(entry.unwrap().path()).unwrap()) {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(read >= 3 && refused >= 3, "{read} read, {refused} refused");
}
