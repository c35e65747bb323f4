//! The kept corpus of the fuzz targets, replayed.

use crate::check::check;
use crate::oracle::unhex;
use crate::samples_sensors::CATEGORIES;

/// Checks every input of a target, and the empty one, which has no line.
fn replay(target: &str, category: u8) {
    let path = format!("{}/tests/corpus/{target}.hex", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    check(category, b"");
    let inputs = text.lines().filter(|line| !line.starts_with('#'));
    let count = inputs.map(|line| check(category, &unhex(line))).count();
    assert!(count >= 250, "{count} inputs in {path}");
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

/// The first octet of an input chooses the category.
#[test]
fn other_sensors_and_status() {
    let path = format!("{}/tests/corpus/asterix_sensors.hex", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let inputs = text.lines().filter(|line| !line.starts_with('#'));
    let count = inputs
        .map(|line| {
            let input = unhex(line);
            let category = CATEGORIES[usize::from(input[0]) % CATEGORIES.len()];
            check(category, &input[1..]);
        })
        .count();
    assert!(count >= 250, "{count} inputs in {path}");
}
