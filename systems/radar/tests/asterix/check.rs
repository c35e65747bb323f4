//! What holds for any octets; the fuzz targets and the replay of their corpus share it.

use chronoscope_radar::asterix::cat021::Edition;
use chronoscope_radar::asterix::{AsterixError, Editions, Record, decode_block_of, encode_block};

/// Reads `content` as the records of one block of `category`, of each of its editions that have a profile of
/// their own, and checks that
/// * reading ends, with at most one record or error an octet,
/// * errors point inside the block,
/// * what was read can be written, and reads and writes the same again.
pub(crate) fn check(category: u8, content: &[u8]) {
    let content = &content[..content.len().min(65_532)];
    let mut block = vec![category];
    block.extend(u16::try_from(content.len() + 3).unwrap().to_be_bytes());
    block.extend_from_slice(content);
    let early = [Edition::Early23, Edition::Early26];
    let early = early.iter().filter(|_| category == 21);
    for adsb in [Edition::Current].iter().chain(early) {
        check_of(&block, Editions { adsb: *adsb });
    }
}

fn check_of(block: &[u8], editions: Editions) {
    let mut count = 0;
    for read in decode_block_of(block, editions) {
        count += 1;
        assert!(count <= block.len(), "reading does not end");
        match read {
            Ok(Record::Padding { octets }) => assert!(octets > 0),
            Ok(record) => stable(&record, editions),
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
fn stable(record: &Record, editions: Editions) {
    let once = written(record);
    let again = decode_block_of(&once, editions).next().unwrap().unwrap();
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
        Record::EarlyAdsB(record) => encode_block(from_ref(record), out),
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
