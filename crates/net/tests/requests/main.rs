//! The kept corpus of requests to the permanent server, as the fuzz target reads it.
#![allow(clippy::unwrap_used)]

mod check;

use check::check;
use std::path::Path;

#[test]
fn the_corpus_is_read_as_its_names_say() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/answer_request");
    let mut count = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let checked = check(&std::fs::read(&path).unwrap());
        let is_good = name.starts_with("good-");
        assert_eq!(checked.error.is_none(), is_good, "{name}: {checked:?}");
        assert_eq!(checked.frames > 0, is_good, "{name}: {checked:?}");
        count += 1;
    }
    assert!(count >= 10, "{count}");
}
