//! Numbers on a terminal and on the page agree: one table, read by a test of each.

#![allow(clippy::unwrap_used)] // a test may panic

use chronoscope_figures::numbers;

const TABLE: &str = include_str!("numbers.tsv");

fn rows() -> impl Iterator<Item = [&'static str; 4]> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect::<Vec<_>>().try_into().unwrap())
}

#[test]
fn each_number_has_its_text() {
    for [kind, value, terminal, _] in rows() {
        let number = || value.parse::<f64>().unwrap();
        let text = match kind {
            "count" => numbers::grouped(value.parse::<u64>().unwrap()),
            "duration" => numbers::duration(number()),
            "bytes" => numbers::bytes(value.parse().unwrap()),
            "share" => numbers::percent(number(), 2),
            "read" => match numbers::parse_duration(value) {
                Ok(duration) => duration.as_nanos().to_string(),
                Err(_) => "-".to_owned(),
            },
            _ => panic!("{kind}"),
        };
        assert_eq!(text, terminal, "{kind} {value}");
    }
}

/// The page rounds to three digits and says the same unit.
#[test]
fn both_texts_say_the_same() {
    let parts = |text: &str| {
        let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
        (number.replace(',', ""), unit.to_owned())
    };
    for [kind, value, terminal, page] in rows().filter(|[_, _, terminal, _]| *terminal != "-") {
        let ((one, unit), (other, page_unit)) = (parts(terminal), parts(page));
        let (one, other): (f64, f64) = (one.parse().unwrap(), other.parse().unwrap());
        assert_eq!(unit, page_unit, "{kind} {value}");
        assert!((one - other).abs() <= one * 0.005, "{kind} {value}");
    }
}
