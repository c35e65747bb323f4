//! Octets of the page, torn tails at every octet, rotation and retention.

use super::*;
use std::time::Duration;

fn input(at_ns: i64, channel: &str, octets: &[u8]) -> Input {
    Input { at_ns, channel: channel.to_owned(), octets: octets.to_vec() }
}

fn written(inputs: &[Input], limits: Limits) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(folder.path(), limits).unwrap();
    inputs.iter().for_each(|input| writer.append(input).unwrap());
    writer.close().unwrap();
    folder
}

/// The bytes of version 1, which are read for ever.
#[test]
fn octets_are_those_of_the_page() {
    let folder = written(&[input(0x0102, "ab", b"xyz")], Limits::default());
    let octets = std::fs::read(folder.path().join("0000000000.journal")).unwrap();
    let channel = [5, 0, 0, 0, 0x3f, 0x84, 0x18, 0x24, 1, 0, 0, b'a', b'b'];
    let head = [14, 0, 0, 0, 0x3b, 0x27, 0xe3, 0xdf];
    let body = [2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, b'x', b'y', b'z'];
    assert_eq!(octets, [&b"CHRJNL\0\x01"[..], &channel[..], &head, &body].concat());
}

#[test]
fn a_tail_torn_at_any_octet_is_cut_and_said() {
    let inputs = [input(1, "a", b"one"), input(2, "b", b"two"), input(3, "a", b"three")];
    let folder = written(&inputs, Limits::default());
    let octets = std::fs::read(folder.path().join("0000000000.journal")).unwrap();
    for length in 0..octets.len() {
        let mut reader = JournalReader::new(&octets[..length]).unwrap();
        let got: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(got, inputs[..got.len()]);
        match reader.tail.unwrap() {
            Tail::Torn { position, octets } => assert_eq!(position + octets, length as u64),
            Tail::Whole => assert!(length >= 8 && got.len() < 3),
        }
    }
    let mut zeros = octets.clone();
    zeros.extend([0; 100]);
    let mut reader = JournalReader::new(&zeros[..]).unwrap();
    assert_eq!(reader.by_ref().count(), 3);
    assert_eq!(reader.tail, Some(Tail::Torn { position: octets.len() as u64, octets: 100 }));
}

#[test]
fn a_short_file_that_is_no_beginning_of_a_journal_is_refused() {
    for octets in [&b"x"[..], b"CHRX", b"chrjnl", b"CHRJNLx"] {
        let refused = JournalReader::new(octets);
        assert!(matches!(refused, Err(JournalError::Magic(_))), "{octets:?}");
    }
}

#[test]
fn damage_in_the_middle_and_future_versions_are_refused_by_name() {
    let folder = written(&[input(1, "a", b"one"), input(2, "a", b"two")], Limits::default());
    let mut octets = std::fs::read(folder.path().join("0000000000.journal")).unwrap();
    octets[8 + 8 + 1] ^= 1;
    let error = JournalReader::new(&octets[..]).unwrap().next().unwrap().unwrap_err().to_string();
    assert_eq!(error, "journal's frame at octet 8: checksum is wrong and more follows");
    octets[7] = 2;
    let error = JournalReader::new(&octets[..]).unwrap_err().to_string();
    assert_eq!(error, "the journal has version 2, this program reads version 1");
}

#[test]
fn files_change_by_size_and_age_and_the_oldest_go() {
    let second = 1_000_000_000;
    let limits = Limits {
        file_bytes_max: 200,
        file_age_max: Duration::from_secs(10),
        files_max: 3,
        ..Limits::default()
    };
    let inputs: Vec<_> = (0..40).map(|n| input(n * second, "a", &[7; 20])).collect();
    let folder = written(&inputs, limits);
    let paths = files(folder.path()).unwrap();
    assert_eq!(paths.len(), 4, "three old ones and the last: {paths:?}");
    let (kept, torn) = read_all(folder.path()).unwrap();
    assert_eq!((kept.as_slice(), torn), (&inputs[inputs.len() - kept.len()..], vec![]));
    assert!(paths.iter().all(|path| path.metadata().unwrap().len() < 300));
    let ages = inputs
        .chunks(2)
        .flat_map(|two| [two[0].clone(), input(two[1].at_ns + 60 * second, "a", b"")]);
    let by_age = written(&ages.take(4).collect::<Vec<_>>(), limits);
    assert!(files(by_age.path()).unwrap().len() > 1);
}
