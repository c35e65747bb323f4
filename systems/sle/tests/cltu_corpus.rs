//! The kept corpus of the fuzz target `sle_cltu`: what is a CLTU gives back its frames, what is none
//! is refused by name.

#![allow(clippy::unwrap_used)]

use chronoscope_sle::cltu::{check, decode, encode};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn the_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sle_cltu");
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let octets = std::fs::read(entry.path()).unwrap();
        if let Ok(frames) = decode(&octets) {
            assert_eq!(decode(&encode(&frames)), Ok(frames));
        }
        let name = entry.file_name().into_string().unwrap();
        found.insert(name, check(&octets).map_err(|error| error.to_string()));
    }
    let length = |n| Err(format!("a CLTU has 2 + 8·n + 8 octets (n at least 1), not {n}"));
    for (name, expected) in [
        ("one_block", Ok(())),
        ("four_blocks", Ok(())),
        ("randomised", Ok(())),
        ("filler_bit_set", Ok(())),
        ("wrong_parity", Err("code block 0 (at octet 2) has parity 66, not 64".to_owned())),
        ("no_block", length(10)),
        ("no_tail", Err("a CLTU ends with C5C5C5C5C5C5C579, at octet 10".to_owned())),
        ("cut_short", length(17)),
        ("start_sequence_alone", length(2)),
    ] {
        assert_eq!(found[name], expected, "{name}");
    }
}
