//! The kept corpus of the fuzz target `sle_tml`, replayed.
#![allow(clippy::unwrap_used)]

#[path = "tml/check.rs"]
mod check;

use std::path::Path;

/// The end of a file's name says what is in it: how many PDUs, and the fault's diagnostic or 0.
#[test]
fn the_kept_corpus_keeps_its_promises() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sle_tml");
    let mut files = 0;
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let (pdus, fault) = check::check(&std::fs::read(&path).unwrap());
        let said = format!("-{pdus}-{}", fault.map_or(0, |fault| fault.diagnostic()));
        assert!(name.ends_with(&said), "{name}: {said}");
        files += 1;
    }
    assert!(files >= 25, "{files} files in {}", dir.display());
}
