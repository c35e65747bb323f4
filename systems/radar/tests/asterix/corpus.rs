//! The kept corpus of the fuzz targets, replayed.

use crate::check::check;
use std::path::Path;

fn replay(target: &str, category: u8) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let mut files = 0;
    for entry in std::fs::read_dir(&dir).unwrap() {
        check(category, &std::fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files >= 20, "{files} files in {}", dir.display());
}

#[test]
fn category_034() {
    replay("asterix_cat034", 34);
}

#[test]
fn category_048() {
    replay("asterix_cat048", 48);
}

#[test]
fn category_062() {
    replay("asterix_cat062", 62);
}
