//! Filters from outside: the kept corpus of the fuzz target, replayed.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

mod check;

use std::path::Path;

#[test]
fn the_kept_corpus_keeps_its_promises() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/aprs_filter");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let octets = std::fs::read(&path).unwrap();
        let count = check::check(&octets);
        // Names say how many of the packets pass, as `range-2`.
        let name = path.file_name().unwrap().to_str().unwrap();
        if let Some(expected) =
            name.rsplit('-').next().and_then(|count| count.parse::<usize>().ok())
        {
            assert_eq!(count, expected, "{name}");
        }
        for end in 0..octets.len() {
            check::check(&octets[..end]);
        }
        files += 1;
    }
    assert!(files >= 8, "the corpus has {files} files");
}
