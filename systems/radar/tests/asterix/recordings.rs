//! Real recordings, decoded by us and by asterix-decoder, field by field.
//!
//! The recordings are those that asterix-decoder's source distribution ships (GPL): fetched from
//! the registry when the test runs, never kept here.

use crate::flat::{Flat, differences, flat};
use crate::oracle::{ask, assert_same, hex, ours, python};
use chronoscope_radar::asterix::{AsterixError, Callsign, Record, decode_block};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory of the recordings; `None`, loudly, when they cannot be had.
pub(crate) fn recordings(python: &Path) -> Option<PathBuf> {
    // The environment's directory is where the pinned release lives, so it is the right cache key.
    let dir = python.parent()?.parent()?.join("recordings");
    let found = dir.join("asterix_decoder-0.7.11/install/sample_data");
    if found.is_dir() {
        return Some(found);
    }
    let pins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/python/asterix-decoder.txt");
    let new = tempfile::tempdir_in(python.parent()?.parent()?).unwrap();
    let fetched = Command::new(python)
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--require-hashes", "--dest"])
        .args([new.path(), Path::new("-r"), &pins])
        .status();
    let unpacked = fetched.is_ok_and(|status| status.success())
        && Command::new("tar")
            .args(["xzf", "asterix_decoder-0.7.11.tar.gz"])
            .current_dir(new.path())
            .status()
            .is_ok_and(|status| status.success());
    if !unpacked {
        eprintln!("SKIPPED: the recordings of asterix-decoder cannot be fetched");
        return None;
    }
    // Another test may have put them there meanwhile: either serves.
    let _ = std::fs::rename(new.path(), &dir);
    found.is_dir().then_some(found)
}

/// The payloads of the UDP datagrams over IPv4 and Ethernet in a capture.
pub(crate) fn payloads(capture: &[u8]) -> Vec<Vec<u8>> {
    assert_eq!(capture[..4], [0xD4, 0xC3, 0xB2, 0xA1], "a little-endian pcap file");
    let mut payloads = Vec::new();
    let mut at = 24;
    while at < capture.len() {
        let size = u32::from_le_bytes(capture[at + 8..at + 12].try_into().unwrap()) as usize;
        let frame = &capture[at + 16..at + 16 + size];
        at += 16 + size;
        assert_eq!(frame[12..14], [8, 0], "IPv4");
        let udp = &frame[14 + 4 * usize::from(frame[14] & 15)..];
        let length = usize::from(u16::from_be_bytes([udp[4], udp[5]]));
        payloads.push(udp[8..length].to_vec());
    }
    payloads
}

/// A record of asterix-decoder in the specification's names: `I040: {RHO: {val: 1}}` of category
/// 48 becomes `I048/040/RHO`.
fn theirs(record: &Value) -> Flat {
    let category = record["category"].as_u64().unwrap();
    let mut flat = BTreeMap::new();
    for (item, value) in record.as_object().unwrap() {
        if let Some(item) = item.strip_prefix('I') {
            collect(&format!("I{category:03}/{item}"), value, &mut flat);
        }
    }
    flat.into_iter()
        .filter_map(|(path, value)| Some((renamed(&path)?, converted(&path, value))))
        .collect()
}

fn collect(path: &str, value: &Value, flat: &mut Flat) {
    if let Some(leaf) = value.get("val") {
        flat.insert(path.to_owned(), leaf.clone());
    } else if let Some(parts) = value.as_object() {
        for (name, part) in parts {
            collect(&format!("{path}/{name}"), part, flat);
        }
    }
    // Lists are the registers of I048/250, which asterix-decoder takes apart further than we do.
}

/// The specification's name for one of asterix-decoder's; `None` for spare bits and FX.
fn renamed(path: &str) -> Option<String> {
    const NAMES: [(&str, &str); 33] = [
        ("I048/140/ToD", "I048/140"),
        ("I048/070/Mode3A", "I048/070/MODE3A"),
        ("I048/220/ACAddr", "I048/220"),
        ("I048/240/TId", "I048/240"),
        ("I048/161/Tn", "I048/161/TRN"),
        ("I048/200/CGS", "I048/200/GSP"),
        ("I048/200/CHdg", "I048/200/HDG"),
        ("I048/110/3D_Height", "I048/110/3DH"),
        ("I048/230/ModeSSSC", "I048/230/MSSC"),
        ("I048/230/BDS16", "I048/230/B1A"),
        ("I048/230/BDS37", "I048/230/B1B"),
        ("I034/000/MsgTyp", "I034/000"),
        ("I034/030/ToD", "I034/030"),
        ("I034/020/Azi", "I034/020"),
        ("I034/041/RotS", "I034/041"),
        ("I034/120/Height", "I034/120/HGT"),
        ("I034/120/Lon", "I034/120/LON"),
        ("I062/015/SID", "I062/015"),
        ("I062/070/ToT", "I062/070"),
        ("I062/105/Lat", "I062/105/LAT"),
        ("I062/105/Lon", "I062/105/LON"),
        ("I062/185/Vx", "I062/185/VX"),
        ("I062/185/Vy", "I062/185/VY"),
        ("I062/210/Ax", "I062/210/AX"),
        ("I062/210/Ay", "I062/210/AY"),
        ("I062/060/Mode3A", "I062/060/MODE3A"),
        ("I062/245/TId", "I062/245/CHR"),
        ("I062/040/TrkN", "I062/040"),
        ("I062/200/TRANSA", "I062/200/TRANS"),
        ("I062/200/LONGA", "I062/200/LONG"),
        ("I062/200/VERTA", "I062/200/VERT"),
        ("I062/136/MFL", "I062/136"),
        ("I062/130/Alt", "I062/130"),
    ];
    const MORE: [(&str, &str); 5] = [
        ("I062/135/CTBA", "I062/135/CTB"),
        ("I062/220/RoC", "I062/220"),
        ("I062/390/CSN/CS", "I062/390/CS"),
        ("I062/390/TAC/TYPE", "I062/390/TAC"),
        ("I062/390/WTC/WTC", "I062/390/WTC"),
    ];
    if path.ends_with("/spare") || path.ends_with("/FX") {
        return None;
    }
    let known = NAMES.iter().chain(&MORE).find(|(name, _)| *name == path);
    if let Some((_, name)) = known {
        return Some((*name).to_owned());
    }
    // Ages are one part inside a part of the same name.
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["I048", "130", outer, inner] if outer.strip_suffix('P') == Some(*inner) => {
            Some(format!("I048/130/{inner}"))
        }
        ["I034", item, sensor, inner] if inner.starts_with(sensor) => {
            Some(format!("I034/{item}/{sensor}/{}", &inner[sensor.len()..]))
        }
        ["I062", "380", "ID", "ACID"] => Some("I062/380/ID".to_owned()),
        ["I062", "380", "ADR", "ADR"] => Some("I062/380/ADR".to_owned()),
        ["I062", "290", outer, inner] if outer == inner => Some(format!("I062/290/{outer}")),
        _ => Some(path.to_owned()),
    }
}

/// Values that asterix-decoder gives in another form or unit.
fn converted(path: &str, value: Value) -> Value {
    match (path, &value) {
        // Octal and hexadecimal digits.
        ("I048/070/Mode3A" | "I062/060/Mode3A", Value::String(digits)) => {
            u16::from_str_radix(digits, 8).unwrap().into()
        }
        ("I048/220/ACAddr" | "I062/380/ADR/ADR", Value::String(digits)) => {
            u32::from_str_radix(digits, 16).unwrap().into()
        }
        // Feet instead of flight levels.
        ("I062/136/MFL" | "I062/135/CTBA", feet) => (feet.as_f64().unwrap() / 100.0).into(),
        // Knots instead of nautical miles a second.
        ("I048/200/CGS", knots) => (knots.as_f64().unwrap() / 3600.0).into(),
        ("I062/390/CSN/CS" | "I062/390/TAC/TYPE" | "I062/390/WTC/WTC", Value::String(text)) => {
            text.trim_end().into()
        }
        ("I048/240/TId" | "I062/245/TId" | "I062/380/ID/ACID", Value::String(text)) => {
            text.trim_end().into()
        }
        _ => value,
    }
}

/// Our callsigns as text, in which asterix-decoder shows a code that is no character as a space.
fn with_callsigns_as_text(mut own: Flat) -> Flat {
    for path in ["I048/240", "I062/245/CHR", "I062/380/ID"] {
        if let Some(bits) = own.get_mut(path) {
            let bits_hex = bits.as_str().unwrap();
            let callsign = Callsign::from_bits(u64::from_str_radix(bits_hex, 16).unwrap());
            *bits = callsign.to_string().replace('?', " ").trim_end().into();
        }
    }
    own
}

/// How many records of a capture were compared; every difference fails.
fn compare(python: &Path, file: &Path, lossy: &[&str]) -> usize {
    let payloads = payloads(&std::fs::read(file).unwrap());
    let input: String = payloads.iter().map(|payload| hex(payload) + "\n").collect();
    let answers = ask(python, "decoder_oracle.py", &[], &input);
    assert_eq!(answers.len(), payloads.len());
    let mut compared = 0;
    for (payload, answer) in payloads.iter().zip(answers) {
        let mut own = ours(payload).unwrap_or_else(|error| panic!("{error}: {}", hex(payload)));
        // Other categories: `sensors_decoder.rs`.
        let named = |path: &str| ["I034", "I048", "I062"].iter().any(|c| path.starts_with(c));
        own.retain(|record| record.keys().all(|path| named(path)));
        let records: Vec<Value> = serde_json::from_str(&answer).unwrap();
        let known = |r: &&Value| matches!(r["category"].as_u64(), Some(34 | 48 | 62));
        let other: Vec<Flat> = records.iter().filter(known).map(theirs).collect();
        assert_eq!(own.len(), other.len(), "{}", hex(payload));
        for (own, other) in own.iter().zip(&other) {
            let lines: Vec<String> = differences(&with_callsigns_as_text(own.clone()), other)
                .into_iter()
                .filter(|line| !lossy.iter().any(|prefix| line.starts_with(prefix)))
                .collect();
            assert!(lines.is_empty(), "{}: {lines:#?}", hex(payload));
            compared += 1;
        }
    }
    compared
}

/// Registers are taken apart there; positions are printed with fewer digits than they have.
const LOSSY: [&str; 3] = ["I048/250/", "I034/120/LAT", "I034/120/LON"];

#[test]
fn a_radar_of_categories_34_and_48() {
    let Some(python) = python("asterix-decoder") else { return };
    let Some(dir) = recordings(&python) else { return };
    assert_eq!(compare(&python, &dir.join("cat_034_048.pcap"), &LOSSY), 162);
}

#[test]
fn a_tracker_of_categories_62_and_65() {
    let Some(python) = python("asterix-decoder") else { return };
    let Some(dir) = recordings(&python) else { return };
    assert_eq!(compare(&python, &dir.join("cat_062_065.pcap"), &LOSSY), 2);
}

/// Texts as we read them, with a question mark for what is not printable.
fn with_printable_texts(flat: &mut Flat) {
    for value in flat.values_mut() {
        if let Some(text) = value.as_str() {
            let printable = |c: char| if (' '..='~').contains(&c) { c } else { '?' };
            *value = text.chars().map(printable).collect::<String>().into();
        }
    }
}

/// A tracker that speaks a draft of category 62 with another profile: most of its blocks are
/// broken by the published one, and a few look whole by chance. We agree with libasterix on which.
#[test]
fn a_tracker_of_a_draft_of_category_62() {
    let (Some(decoder), Some(python)) = (python("asterix-decoder"), python("asterix-libasterix"))
    else {
        return;
    };
    let Some(dir) = recordings(&decoder) else { return };
    let payloads = payloads(&std::fs::read(dir.join("asterix.pcap")).unwrap());
    let input: String = payloads.iter().map(|payload| hex(payload) + "\n").collect();
    let answers = ask(&python, "libasterix_oracle.py", &["decode"], &input);
    let mut read = 0;
    for (payload, answer) in payloads.iter().zip(answers) {
        // libasterix lets a record go without the source that every record has.
        let sourced = |record: &Result<_, _>| !matches!(record, Err(AsterixError::Missing { .. }));
        let own: Result<Vec<Record>, _> = decode_block(payload).filter(sourced).collect();
        match (own, serde_json::from_str::<Option<Vec<Flat>>>(&answer).unwrap()) {
            (Ok(own), Some(mut other)) => {
                other.retain(|record| record.contains_key("I062/010/SAC"));
                other.iter_mut().for_each(with_printable_texts);
                let own: Vec<Flat> = own.iter().filter_map(flat).collect();
                assert_same(&own, &other, &hex(payload));
                read += 1;
            }
            (Err(_), None) => {}
            (own, other) => panic!("{}: ours {own:?}, theirs {other:?}", hex(payload)),
        }
    }
    assert_eq!((payloads.len(), read), (100, 28));
}
