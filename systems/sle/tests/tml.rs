//! The kept corpus of the fuzz target `sle_tml`, replayed.
#![allow(clippy::unwrap_used)]

#[path = "tml/check.rs"]
mod check;

use std::path::Path;

fn corpus() -> Vec<(String, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sle_tml");
    let mut files: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let octets = std::fs::read(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), octets)
        })
        .collect();
    files.sort();
    assert!(files.len() >= 25, "{} files in {}", files.len(), dir.display());
    files
}

/// The end of a file's name says what is in it: how many PDUs, and the fault's diagnostic or 0.
#[test]
fn the_kept_corpus_keeps_its_promises() {
    for (name, octets) in corpus() {
        let (pdus, fault) = check::check(&octets);
        let said = format!("-{pdus}-{}", fault.map_or(0, |fault| fault.diagnostic()));
        assert!(name.ends_with(&said), "{name}: {said}");
    }
}

/// Every kept stream with octets changed, taken out and put in, and with its end replaced by the end
/// of another: what a fuzzer tries first, in every test run.
#[test]
fn mutations() {
    let streams: Vec<_> = corpus().into_iter().map(|(_, octets)| octets).collect();
    let mut state = 0x00c0_ffee_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % limit.max(1) as u64).unwrap()
    };
    let (mut pdus, mut faults) = (0, 0);
    for round in 0..100 {
        for stream in &streams {
            let mut stream = stream.clone();
            for _ in 0..=round % 4 {
                let at = below(stream.len());
                // Octets that mean something come up more often than the rest.
                let octet = match below(2) {
                    0 => u8::try_from(below(256)).unwrap(),
                    _ => b"\x00\x01\x02\x03\x08\x0c\xffISP1"[below(11)],
                };
                match below(4) {
                    0 if !stream.is_empty() => stream[at] = octet,
                    1 if !stream.is_empty() => drop(stream.remove(at)),
                    2 => stream.insert(at, octet),
                    _ => {
                        let other = &streams[below(streams.len())];
                        stream.truncate(at);
                        stream.extend_from_slice(&other[below(other.len())..]);
                    }
                }
            }
            let (more, fault) = check::check(&stream);
            pdus += more;
            faults += usize::from(fault.is_some());
        }
    }
    assert!(pdus > 100 && faults > 100, "both happen: {pdus} PDUs, {faults} faults");
}
