//! The inputs that fuzzing keeps, on stable, and every one of them cut and changed.

mod hostile_bytes;

use hostile_bytes::{check_csv, check_xml};
use std::path::Path;

fn replay(target: &str, check: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let mut inputs = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus") {
        let bytes = std::fs::read(entry.expect("an input").path()).expect("an input");
        check(&bytes);
        for at in 0..bytes.len() {
            check(&bytes[..at]);
            let mut changed = bytes.clone();
            changed[at] = changed[at].wrapping_add(0x81);
            check(&changed);
            changed.remove(at);
            check(&changed);
        }
        inputs += 1;
    }
    assert!(inputs > 1);
}

#[test]
fn xml() {
    replay("arm_xml", check_xml);
}

#[test]
fn csv() {
    replay("csv_rows", check_csv);
}
