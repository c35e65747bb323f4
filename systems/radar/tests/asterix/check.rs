//! What holds for any octets; the fuzz targets and the replay of their corpus share it.

use chronoscope_radar::asterix::{AsterixError, Record, decode_block, encode_block};

/// Reads `content` as the records of one block of `category`, and checks that
/// * reading ends, with at most one record or error an octet,
/// * errors point inside the block,
/// * what was read can be written, and reads and writes the same again.
pub(crate) fn check(category: u8, content: &[u8]) {
    let content = &content[..content.len().min(65_532)];
    let mut block = vec![category];
    block.extend(u16::try_from(content.len() + 3).unwrap().to_be_bytes());
    block.extend_from_slice(content);
    let mut count = 0;
    for read in decode_block(&block) {
        count += 1;
        assert!(count <= block.len(), "reading does not end");
        match read {
            Ok(Record::Padding { octets }) => assert!(octets > 0),
            Ok(record) => stable(&record),
            Err(error) => {
                let text = error.to_string();
                let at = text.strip_prefix("octet ").and_then(|t| t.split(':').next()).unwrap();
                assert!(at.parse::<usize>().unwrap() <= block.len(), "{text}");
            }
        }
    }
}

/// A record that was read is written, and its octets are read and written unchanged. The record
/// itself may differ from the octets it came from: spare bits and skipped items are gone.
fn stable(record: &Record) {
    let once = written(record);
    let again = decode_block(&once).next().unwrap().unwrap();
    assert_eq!(once, written(&again), "{record:?}");
}

fn written(record: &Record) -> Vec<u8> {
    let mut octets = Vec::new();
    encode(record, &mut octets).unwrap_or_else(|error| panic!("{error}: {record:?}"));
    octets
}

/// Appends a block with one record; nothing for padding.
pub(crate) fn encode(record: &Record, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    use std::slice::from_ref;
    match record {
        Record::Plot(record) => encode_block(from_ref(record), out),
        Record::Service(record) => encode_block(from_ref(record), out),
        Record::Track(record) => encode_block(from_ref(record), out),
        Record::AdsB(record) => encode_block(from_ref(record), out),
        Record::Multilateration(record) => encode_block(from_ref(record), out),
        Record::Surface(record) => encode_block(from_ref(record), out),
        Record::OldReport(record) => encode_block(from_ref(record), out),
        Record::OldService(record) => encode_block(from_ref(record), out),
        Record::SensorStatus(record) => encode_block(from_ref(record), out),
        Record::SystemStatus(record) => encode_block(from_ref(record), out),
        Record::Padding { .. } => Ok(()),
        Record::Other { .. } => unreachable!("only blocks of our categories are made"),
    }
}
