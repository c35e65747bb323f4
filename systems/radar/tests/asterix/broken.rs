//! Octets that are not ASTERIX: named errors at the right place, nothing else lost, no panic.

use crate::samples::{self, Raw};
use chronoscope_radar::asterix::cat048::{Plot, Position};
use chronoscope_radar::asterix::cat062::Track;
use chronoscope_radar::asterix::{AsterixError, DataSource, Record, decode_block, encode_block};
use proptest::prelude::*;

fn errors(octets: &[u8]) -> Vec<String> {
    decode_block(octets).filter_map(|record| record.err().map(|e| e.to_string())).collect()
}

#[test]
fn an_item_past_the_end_of_its_block() {
    // FRN 1 (010) and 4 (040), but only three octets of 040.
    assert_eq!(
        errors(&[48, 0, 9, 0x90, 25, 1, 1, 2, 3]),
        ["octet 6: I048/040 needs 4 octets, its block has 3 left"]
    );
}

#[test]
fn a_subitem_past_the_end_of_its_block() {
    // FRN 1 and 11 (380) with ADR (three octets) of which one is there.
    assert_eq!(
        errors(&[62, 0, 9, 0x81, 0x10, 25, 1, 0x80, 1]),
        ["octet 8: I062/380/ADR needs 3 octets, its block has 1 left"]
    );
}

#[test]
fn a_block_longer_than_the_datagram() {
    assert_eq!(
        errors(&[48, 0, 10, 0x80, 25, 1]),
        ["octet 0: block of category 48 states a length of 10 octets, but 6 are left"]
    );
    assert_eq!(
        errors(&[48, 0, 2, 0x80, 25, 1]),
        ["octet 0: block of category 48 states a length of 2 octets, but 6 are left"]
    );
    assert_eq!(errors(&[48, 0]), ["octet 0: 2 octets are too few for a block header"]);
}

#[test]
fn fields_that_no_edition_has() {
    assert_eq!(
        errors(&[62, 0, 5, 0xC0, 1]),
        ["octet 4: I062/010 needs 2 octets, its block has 1 left"]
    );
    assert_eq!(
        errors(&[62, 0, 6, 0xC0, 1, 2]),
        ["octet 6: I062 has no field with reference number 2"]
    );
    assert_eq!(
        errors(&[34, 0, 6, 0x01, 0x01, 0x80]),
        ["octet 3: field specification of I034 is longer than 2 octets"]
    );
    assert_eq!(
        errors(&[34, 0, 7, 0x84, 25, 1, 0x40]),
        ["octet 7: I034/050 has no field with reference number 2"]
    );
}

#[test]
fn an_explicit_field_without_room_for_its_length() {
    assert_eq!(
        errors(&[34, 0, 8, 0x81, 0x04, 25, 1, 0]),
        ["octet 7: I034/RE states length 0, but the length octet itself counts"]
    );
}

/// Of a record whose structure holds, the next one is not lost.
#[test]
fn a_record_without_its_source() {
    let records: Vec<_> = decode_block(&[48, 0, 8, 0x00, 0x80, 25, 1, 0x00]).collect();
    let source = DataSource { sac: 25, sic: 1 };
    let missing = Err(AsterixError::Missing { item: "I048/010", at: 3 });
    let plot = Record::Plot(Plot { source, ..Plot::default() });
    // An octet of 0 at the end fills the block up.
    assert_eq!(records, [missing, Ok(plot), Ok(Record::Padding { octets: 1 })]);
}

#[test]
fn a_broken_record_loses_its_block_alone() {
    let source = DataSource { sac: 25, sic: 1 };
    let plot = Plot { source, track_number: Some(9), ..Plot::default() };
    let mut octets = vec![48, 0, 9, 0x90, 25, 1, 1, 2, 3];
    encode_block(std::slice::from_ref(&plot), &mut octets).unwrap();
    let records: Vec<_> = decode_block(&octets).collect();
    assert_eq!(records.len(), 2);
    assert!(matches!(records[0], Err(AsterixError::Truncated { item: "I048/040", at: 6, .. })));
    assert_eq!(records[1], Ok(Record::Plot(plot)));
}

#[test]
fn what_does_not_fit_is_not_written() {
    let plot =
        Plot { position: Some(Position { range_nm: 300.0, azimuth_deg: 1.0 }), ..Plot::default() };
    let mut octets = vec![7];
    let error = encode_block(&[plot], &mut octets).unwrap_err();
    assert_eq!(error.to_string(), "I048/040 can hold values from 0 to 255.99609375, not 300");
    assert_eq!(octets, [7], "nothing half written");

    let full = Track { special_purpose: vec![1; 254], ..Track::default() };
    encode_block(std::slice::from_ref(&full), &mut octets).unwrap();
    let over = Track { special_purpose: vec![1; 255], ..Track::default() };
    assert_eq!(
        encode_block(&[over], &mut octets).unwrap_err().to_string(),
        "I062/SP holds at most 254 entries, not 255"
    );
    let many = vec![full; 300];
    assert!(matches!(
        encode_block(&many, &mut octets),
        Err(AsterixError::BlockTooLong { octets: 78_603 })
    ));
}

/// Reads everything and checks that positions are inside and reading ends.
fn read(octets: &[u8]) {
    let mut count = 0;
    for record in decode_block(octets) {
        count += 1;
        // A record takes at least one octet.
        assert!(count <= octets.len(), "reading does not end");
        if let Err(error) = record {
            let text = error.to_string();
            let at: usize =
                text.strip_prefix("octet ").unwrap().split(':').next().unwrap().parse().unwrap();
            assert!(at <= octets.len(), "{text} of {}", octets.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_octets(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&octets);
    }

    #[test]
    fn any_octets_in_a_block(
        category in prop_oneof![Just(34_u8), Just(48), Just(62)],
        octets in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut block = vec![category];
        block.extend(u16::try_from(octets.len() + 3).unwrap().to_be_bytes());
        block.extend(octets);
        read(&block);
    }

    #[test]
    fn records_with_octets_changed(
        mask in any::<u64>(),
        numbers in proptest::collection::vec(any::<u32>(), 17),
        octets in proptest::collection::vec(any::<u8>(), 1..30),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut block = Vec::new();
        let raw = || Raw::new(mask, numbers.clone(), octets.clone());
        encode_block(&[samples::track(&mut raw())], &mut block).unwrap();
        encode_block(&[samples::plot(&mut raw())], &mut block).unwrap();
        for (index, octet) in changes {
            let at = index.index(block.len());
            block[at] = octet;
        }
        read(&block);
        read(&block[..cut.index(block.len())]);
    }
}
