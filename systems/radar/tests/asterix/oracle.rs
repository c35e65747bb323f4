//! Independent implementations: libasterix encodes and decodes, asterix-decoder decodes.
//!
//! Where their Python environments cannot be had, a loud line says so and the test is skipped.

use crate::check::encode;
use crate::flat::{Flat, differences, flat};
use crate::samples::{self, Raw};
use crate::samples_sensors::{self, CATEGORIES};
use chronoscope_radar::asterix::{AsterixError, Record, decode_block, encode_block};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Python of an environment; `None`, loudly, when there is none.
pub(crate) fn python(name: &str) -> Option<PathBuf> {
    let made = Command::new(root().join("tools/venv")).arg(name).output();
    match made {
        Ok(output) if output.status.success() => {
            Some(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
        }
        other => {
            let why = match other {
                Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
                Err(error) => error.to_string(),
            };
            eprintln!("SKIPPED: no Python environment {name}, so nothing is compared: {why}");
            None
        }
    }
}

/// The lines that a script of ours prints for `input`.
pub(crate) fn ask(python: &Path, script: &str, arguments: &[&str], input: &str) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/asterix").join(script);
    let mut child = Command::new(python)
        .arg(script)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

pub(crate) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

pub(crate) fn ours(octets: &[u8]) -> Result<Vec<Flat>, AsterixError> {
    let records: Vec<Record> = decode_block(octets).collect::<Result<_, _>>()?;
    Ok(records.iter().filter_map(flat).collect())
}

pub(crate) fn assert_same(ours: &[Flat], theirs: &[Flat], what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (own, their) in ours.iter().zip(theirs) {
        let differences = differences(own, their);
        assert!(differences.is_empty(), "{what}: {differences:#?}");
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) fn scramble(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 3
    }
}

#[test]
fn libasterix_reads_what_we_write() {
    let Some(python) = python("asterix-libasterix") else { return };
    let mut next = scramble(1);
    let mut written = Vec::new();
    for index in 0..1000 {
        let numbers = (0..17).map(|_| u32::try_from(next() & 0xFFFF_FFFF).unwrap()).collect();
        let octets = (0..1 + next() % 40).map(|i| u8::try_from(i).unwrap()).collect();
        let mut raw = Raw::new(next() ^ next() << 20, numbers, octets);
        let mut datagram = Vec::new();
        match index % 10 {
            0 => encode_block(&[samples::plot(&mut raw)], &mut datagram),
            1 => encode_block(&[samples::service(&mut raw)], &mut datagram),
            2 => encode_block(&[samples::track(&mut raw)], &mut datagram),
            other => {
                let record = samples_sensors::record(CATEGORIES[other - 3], &mut raw);
                encode(&record, &mut datagram)
            }
        }
        .unwrap();
        written.push(datagram);
    }
    let input: String = written.iter().map(|datagram| hex(datagram) + "\n").collect();
    let answers = ask(&python, "libasterix_oracle.py", &["decode"], &input);
    assert_eq!(answers.len(), written.len());
    for (datagram, answer) in written.iter().zip(answers) {
        let theirs: Option<Vec<Flat>> = serde_json::from_str(&answer).unwrap();
        let theirs = theirs.unwrap_or_else(|| panic!("libasterix refuses {}", hex(datagram)));
        assert_same(&ours(datagram).unwrap(), &theirs, &hex(datagram));
    }
}

#[derive(serde::Deserialize)]
pub(crate) struct Encoded {
    pub(crate) datagram: String,
    pub(crate) records: Vec<Flat>,
}

#[test]
fn we_read_what_libasterix_writes() {
    let Some(python) = python("asterix-libasterix") else { return };
    let mut records = 0;
    for line in ask(&python, "libasterix_oracle.py", &["encode", "7", "1500"], "") {
        let Encoded { datagram, records: theirs } = serde_json::from_str(&line).unwrap();
        let own = ours(&unhex(&datagram)).unwrap_or_else(|error| panic!("{error}: {datagram}"));
        assert_same(&own, &theirs, &datagram);
        records += own.len();
    }
    assert!(records >= 1500);
}
