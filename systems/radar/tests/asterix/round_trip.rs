//! What is encoded is decoded.

use crate::check::encode;
use crate::samples::{self, Raw};
use crate::samples_sensors;
use chronoscope_radar::asterix::{AsterixError, Record, decode_block, encode_block};
use proptest::collection::vec;
use proptest::prelude::*;

prop_compose! {
    fn raw()(
        mask in any::<u64>(),
        numbers in vec(any::<u32>(), 17),
        octets in vec(any::<u8>(), 1..=254),
    ) -> (u64, Vec<u32>, Vec<u8>) {
        (mask, numbers, octets)
    }
}

fn decoded(octets: &[u8]) -> Vec<Record> {
    decode_block(octets).collect::<Result<_, AsterixError>>().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn plots(raws in vec(raw(), 1..4)) {
        let plots: Vec<_> =
            raws.into_iter().map(|(m, n, o)| samples::plot(&mut Raw::new(m, n, o))).collect();
        let mut octets = Vec::new();
        encode_block(&plots, &mut octets).unwrap();
        prop_assert_eq!(decoded(&octets), plots.into_iter().map(Record::Plot).collect::<Vec<_>>());
    }

    #[test]
    fn service_messages(raws in vec(raw(), 1..4)) {
        let messages: Vec<_> =
            raws.into_iter().map(|(m, n, o)| samples::service(&mut Raw::new(m, n, o))).collect();
        let mut octets = Vec::new();
        encode_block(&messages, &mut octets).unwrap();
        let expected: Vec<_> = messages.into_iter().map(Record::Service).collect();
        prop_assert_eq!(decoded(&octets), expected);
    }

    #[test]
    fn tracks(raws in vec(raw(), 1..4)) {
        let tracks: Vec<_> =
            raws.into_iter().map(|(m, n, o)| samples::track(&mut Raw::new(m, n, o))).collect();
        let mut octets = Vec::new();
        encode_block(&tracks, &mut octets).unwrap();
        prop_assert_eq!(decoded(&octets), tracks.into_iter().map(Record::Track).collect::<Vec<_>>());
    }

    #[test]
    fn records_of_other_sensors_and_of_status(raws in vec(raw(), 7)) {
        for (category, (m, n, o)) in samples_sensors::CATEGORIES.into_iter().zip(raws) {
            let record = samples_sensors::record(category, &mut Raw::new(m, n, o));
            let mut octets = Vec::new();
            encode(&record, &mut octets).unwrap();
            prop_assert_eq!(decoded(&octets), vec![record]);
        }
    }

    /// Every record is found again in a datagram of several blocks.
    #[test]
    fn datagrams_of_several_blocks(a in raw(), b in raw(), c in raw()) {
        let plot = samples::plot(&mut Raw::new(a.0, a.1, a.2));
        let message = samples::service(&mut Raw::new(b.0, b.1, b.2));
        let track = samples::track(&mut Raw::new(c.0, c.1, c.2));
        let mut octets = Vec::new();
        encode_block(std::slice::from_ref(&plot), &mut octets).unwrap();
        encode_block(std::slice::from_ref(&message), &mut octets).unwrap();
        octets.extend_from_slice(&[240, 0, 4, 0]);
        encode_block(std::slice::from_ref(&track), &mut octets).unwrap();
        prop_assert_eq!(decoded(&octets), vec![
            Record::Plot(plot),
            Record::Service(message),
            Record::Other { category: 240, octets: 4 },
            Record::Track(track),
        ]);
    }
}

#[test]
fn no_records_make_no_block() {
    let mut octets = vec![1];
    encode_block::<chronoscope_radar::asterix::cat048::Plot>(&[], &mut octets).unwrap();
    assert_eq!(octets, [1]);
}

/// What fills a block, and what fills a datagram, is neither a record nor an error.
#[test]
fn fill_octets_are_named() {
    let plot = chronoscope_radar::asterix::cat048::Plot::default();
    let mut octets = Vec::new();
    encode_block(&[plot.clone()], &mut octets).unwrap();
    // Five octets more in the block, two behind it.
    octets[2] += 5;
    octets.extend([0; 7]);
    let padding = |octets| Record::Padding { octets };
    assert_eq!(decoded(&octets), [Record::Plot(plot), padding(5), padding(2)]);
    // Anything else behind a block is an error, and so are fill octets alone.
    octets.push(1);
    assert_eq!(decode_block(&octets).filter(Result::is_err).count(), 1);
    assert_eq!(decode_block(&[0; 8]).filter(Result::is_err).count(), 1);
}
