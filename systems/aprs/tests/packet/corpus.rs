//! The kept corpus of the fuzz target, replayed.

use crate::check::check;
use std::path::Path;

/// Files whose names begin with `drop-` are refused for the reason that follows, the rest taken.
#[test]
fn replay() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/aprs_packet");
    let mut files = 0;
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let outcome = check(&std::fs::read(&path).unwrap()).err().map(|reason| reason.name());
        assert_eq!(outcome, name.strip_prefix("drop-"), "{name}");
        files += 1;
    }
    assert!(files >= 40, "{files} files in {}", dir.display());
}
