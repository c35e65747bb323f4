//! Records of ADS-B, multilateration, older radars and status beside asterix-decoder: what we write
//! it reads, and a recording of an older radar both read alike.
//!
//! It has names of its own for the parts of an item, and leaves out parts that are absent where we
//! say 0, so the values of each item are compared, sorted and without zeros; libasterix, which has
//! the names, tells one part of an item from another (`oracle.rs`).

use crate::check::encode;
use crate::flat::{Flat, flat, is_skipped};
use crate::oracle::{ask, hex, python};
use crate::recordings::{payloads, recordings};
use crate::samples::Raw;
use crate::samples_sensors::{self, CATEGORIES};
use chronoscope_radar::asterix::decode_block;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Items that asterix-decoder 0.7.11 gives in other units than the specification: I001/042 and 120 as
/// steps, I001/200 in knots, I021/074 in nanoseconds; and I065/040, of which it has an older edition.
const OTHER: [&str; 5] = ["I001/042", "I001/120", "I001/200", "I021/074", "I065/040"];

/// The values of each item.
type Values = BTreeMap<String, Vec<f64>>;

fn sorted(mut values: Values) -> Values {
    values.retain(|item, values| {
        values.retain(|value| *value != 0.0);
        values.sort_by(f64::total_cmp);
        !values.is_empty() && !OTHER.contains(&item.as_str()) && !is_skipped(item)
    });
    values
}

fn ours(flat: &Flat) -> Values {
    let mut values = Values::new();
    for (path, value) in flat {
        if let Some(value) = value.as_f64() {
            values.entry(path[..8].to_owned()).or_default().push(value);
        }
    }
    sorted(values)
}

fn theirs(record: &Value) -> Values {
    let category = record["category"].as_u64().unwrap();
    let mut values = Values::new();
    for (item, value) in record.as_object().unwrap() {
        if let Some(item) = item.strip_prefix('I') {
            collect(value, "", values.entry(format!("I{category:03}/{item}")).or_default());
        }
    }
    sorted(values)
}

fn collect(value: &Value, name: &str, found: &mut Vec<f64>) {
    match value {
        Value::Object(parts) => {
            for (part, value) in parts {
                // The value of a part stands below its name.
                collect(value, if part == "val" { name } else { part }, found);
            }
        }
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, name, found)),
        Value::String(digits) if name.starts_with("Mod") => {
            found.push(u32::from_str_radix(digits, 8).unwrap().into());
        }
        Value::String(digits) if name == "TAddr" => {
            found.push(u32::from_str_radix(digits, 16).unwrap().into());
        }
        // The bit that says whether an item goes on is none of its values.
        Value::Number(number) if !name.eq_ignore_ascii_case("fx") => {
            found.push(number.as_f64().unwrap());
        }
        _ => {}
    }
}

fn assert_alike(own: &Values, other: &Values, what: &str) {
    assert_eq!(own.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>(), "{what}");
    for ((item, own), other) in own.iter().zip(other.values()) {
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
        let alike = own.len() == other.len() && own.iter().zip(other).all(same);
        assert!(alike, "{item}: ours {own:?}, theirs {other:?}: {what}");
    }
}

/// The number of records compared in datagrams of `categories`.
fn compare(python: &Path, datagrams: &[Vec<u8>], categories: &[u8]) -> usize {
    let input: String = datagrams.iter().map(|datagram| hex(datagram) + "\n").collect();
    let answers = ask(python, "decoder_oracle.py", &[], &input);
    assert_eq!(answers.len(), datagrams.len());
    let mut compared = 0;
    for (datagram, answer) in datagrams.iter().zip(answers) {
        let known = |path: &str| categories.contains(&path[1..4].parse().unwrap());
        let own: Vec<Values> = decode_block(datagram)
            .filter_map(|record| flat(&record.unwrap()))
            .filter(|flat| flat.keys().next().is_some_and(|path| known(path)))
            .map(|flat| ours(&flat))
            .collect();
        let records: Vec<Value> = serde_json::from_str(&answer).unwrap();
        let is_known = |r: &&Value| {
            let category = r["category"].as_u64().unwrap();
            categories.iter().any(|known| u64::from(*known) == category)
        };
        let other: Vec<Values> = records.iter().filter(is_known).map(theirs).collect();
        assert_eq!(own.len(), other.len(), "{}", hex(datagram));
        for (own, other) in own.iter().zip(&other) {
            assert_alike(own, other, &hex(datagram));
            compared += 1;
        }
    }
    compared
}

/// Without RE and SP fields: asterix-decoder has older editions of some categories, without them.
#[test]
fn asterix_decoder_reads_what_we_write() {
    let Some(python) = python("asterix-decoder") else { return };
    let mut written = Vec::new();
    for index in 0..700_u64 {
        let mut state = index + 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state ^ state >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 3
        };
        let numbers = (0..17).map(|_| u32::try_from(next() & 0xFFFF_FFFF).unwrap()).collect();
        let mut raw = Raw::new(next() ^ next() << 20, numbers, Vec::new());
        let category = CATEGORIES[usize::try_from(index % 7).unwrap()];
        let mut datagram = Vec::new();
        encode(&samples_sensors::record(category, &mut raw), &mut datagram).unwrap();
        written.push(datagram);
    }
    assert_eq!(compare(&python, &written, &CATEGORIES), 700);
}

/// The recording of older radars that asterix-decoder ships: one datagram, whose blocks stand in frames
/// with the length and four octets of their own before each.
#[test]
fn radars_of_categories_1_and_2() {
    let Some(python) = python("asterix-decoder") else { return };
    let Some(dir) = recordings(&python) else { return };
    let mut blocks = Vec::new();
    for payload in payloads(&std::fs::read(dir.join("cat_001_002.pcap")).unwrap()) {
        let mut rest = &payload[..];
        while let &[high, low, ..] = rest {
            let (frame, later) = rest.split_at(usize::from(u16::from_be_bytes([high, low])));
            blocks.push(frame[6..].to_vec());
            rest = later;
        }
    }
    let compared = compare(&python, &blocks, &[1, 2]);
    eprintln!("{compared} records of {} blocks", blocks.len());
    assert!(blocks.len() >= 2 && compared > blocks.len());
}
