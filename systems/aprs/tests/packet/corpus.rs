//! The kept corpus of the fuzz target, replayed.

use crate::check::check;
use std::path::Path;

/// Files whose names begin with `drop-` are refused for the reason that follows, the rest taken.
#[test]
fn replay() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/aprs_packet");
    let mut files = 0;
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let outcome = check(&std::fs::read(&path).unwrap()).err().map(|reason| reason.name());
        assert_eq!(outcome, name.strip_prefix("drop-"), "{name}");
        files += 1;
    }
    assert!(files >= 40, "{files} files in {}", dir.display());
}

/// Every kept line with octets changed, taken out and put in, and with its end replaced by the end
/// of another: what a fuzzer tries first, in every test run.
#[test]
fn mutations() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/aprs_packet");
    let mut paths: Vec<_> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let lines: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let mut state = 0x00c0_ffee_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % limit.max(1) as u64).unwrap()
    };
    let mut taken = 0;
    for round in 0..400 {
        for line in &lines {
            let mut line = line.clone();
            for _ in 0..=round % 4 {
                let at = below(line.len());
                // Octets that mean something come up more often than the rest.
                let octet = match below(3) {
                    0 => u8::try_from(below(256)).unwrap(),
                    _ => b":,>*-q}!;)_/\\$ 0ZL\x00\xff"[below(20)],
                };
                match below(4) {
                    0 if !line.is_empty() => line[at] = octet,
                    1 if !line.is_empty() => drop(line.remove(at)),
                    2 => line.insert(at, octet),
                    _ => {
                        let other = &lines[below(lines.len())];
                        line.truncate(at);
                        line.extend_from_slice(&other[below(other.len())..]);
                    }
                }
            }
            taken += usize::from(check(&line).is_ok());
        }
    }
    assert!(taken > 1000, "{taken} lines were taken: the mutations test nothing");
}
