//! Questions of any octets: the kept corpus of the fuzz target `radar_query`.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

mod check;

use std::path::Path;

#[test]
fn the_kept_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/radar_query");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        check::check(&std::fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files >= 5, "{files} files");
}
