//! Raw recordings of ASTERIX (`.ast`, `.raw`): blocks one after another, without times of arrival.
//!
//! A block is taken to arrive at the latest time that its records state, or with the block before it
//! when it states none or an earlier one. A recording has no date either: its day is 1970-01-02.

use crate::asterix::{Editions, Record, TimeOfDay, decode_block_of};
use std::io::{self, ErrorKind, Read};

/// Beginning of the day of a recording without a date, UTC, ns.
pub(super) const DAY_NS: i64 = 86_400_000_000_000;
/// A block that states a time so much later than the one before is not believed, ns: a broken clock,
/// or one of the future.
const LEAP_NS_MAX: i64 = 6 * 3_600_000_000_000;

/// Blocks of a recording, with the times at which they are taken to have arrived.
#[derive(Debug)]
pub(super) struct RawRecording<R> {
    from: R,
    editions: Editions,
    /// Octets read.
    position: u64,
    now_ns: Option<i64>,
}

/// Whether a file that begins so may be a raw recording: a block of a category with room for a
/// record. Captures begin with octets that are none.
pub(super) fn is_raw(start: &[u8]) -> bool {
    let &[category, high, low, specification, ..] = start else { return false };
    let capture =
        matches!(start[..4], [0xA1, 0xB2, _, _] | [_, _, 0xB2, 0xA1] | [0x0A, 0x0D, 0x0D, 0x0A]);
    // Every record begins with its data source, whose bit is the first one.
    !capture && category > 0 && u16::from_be_bytes([high, low]) > 4 && specification & 0x80 != 0
}

impl<R: Read> RawRecording<R> {
    pub(super) fn new(from: R, editions: Editions) -> Self {
        Self { from, editions, position: 0, now_ns: None }
    }

    /// The next block and its time, UTC, ns; `None` at the end.
    ///
    /// # Errors
    /// A message with the position, where the rest cannot be read.
    pub(super) fn next_block(&mut self) -> Result<Option<(i64, Vec<u8>)>, String> {
        let at = self.position;
        let named = |e: io::Error| match e.kind() {
            ErrorKind::UnexpectedEof => format!("octet {at}: the last block is cut"),
            _ => format!("octet {at}: {e}"),
        };
        let mut block = vec![0];
        match self.from.read(&mut block) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(e) => return Err(named(e)),
        }
        block.resize(3, 0);
        self.from.read_exact(&mut block[1..]).map_err(named)?;
        let length = usize::from(u16::from_be_bytes([block[1], block[2]]));
        if length < 3 {
            let category = block[0];
            return Err(format!(
                "octet {at}: a block of category {category} states a length of {length} octets: \
                 not ASTERIX from here on"
            ));
        }
        block.resize(length, 0);
        self.from.read_exact(&mut block[3..]).map_err(named)?;
        self.position += length as u64;
        Ok(Some((self.time_ns(&block), block)))
    }

    fn time_ns(&mut self, block: &[u8]) -> i64 {
        let near = self.now_ns.map(TimeOfDay::from_utc_ns);
        let records = decode_block_of(block, self.editions).flatten();
        let stamps = records.filter_map(|record| stamp(&record, near));
        for stamp in stamps {
            let now_ns =
                self.now_ns.get_or_insert_with(|| DAY_NS + stamp.to_utc_ns(0).rem_euclid(DAY_NS));
            let stamp_ns = stamp.to_utc_ns(*now_ns);
            if stamp_ns - *now_ns < LEAP_NS_MAX {
                *now_ns = stamp_ns.max(*now_ns);
            }
        }
        self.now_ns.unwrap_or(DAY_NS)
    }
}

/// When a record was stamped; of a truncated time only where it is known what time it is near.
fn stamp(record: &Record, near: Option<TimeOfDay>) -> Option<TimeOfDay> {
    match record {
        Record::Plot(r) => r.time_of_day,
        Record::Service(r) => r.time_of_day,
        Record::Track(r) => r.time_of_day,
        Record::AdsB(r) => r.report_time.or(r.reception_time).or(r.position_time),
        Record::EarlyAdsB(r) => r.time_of_day,
        Record::Multilateration(r) => r.time_of_day,
        Record::Surface(r) => r.time_of_day,
        Record::OldReport(r) => r.truncated_time.zip(near).map(|(time, near)| time.near(near)),
        Record::OldService(r) => r.time_of_day,
        Record::SensorStatus(r) => r.time_of_day,
        Record::SystemStatus(r) => r.time_of_day,
        Record::Other { .. } | Record::Padding { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::cat048::Plot;
    use crate::asterix::encode_block;

    fn plot(seconds: u32) -> Vec<u8> {
        let time_of_day = Some(TimeOfDay::from_ticks(128 * seconds));
        let mut octets = Vec::new();
        encode_block(&[Plot { time_of_day, ..Plot::default() }], &mut octets).unwrap();
        octets
    }

    fn seconds(recording: &[u8]) -> Vec<i64> {
        let mut recording = RawRecording::new(recording, Editions::default());
        let mut times = Vec::new();
        while let Some((at_ns, _)) = recording.next_block().unwrap() {
            times.push((at_ns - DAY_NS) / 1_000_000_000);
        }
        times
    }

    #[test]
    fn blocks_arrive_when_their_latest_record_says_and_never_go_back() {
        let day = 86_400;
        let octets = [plot(86_390), plot(86_395), plot(86_393), vec![240, 0, 4, 1], plot(4)];
        assert_eq!(seconds(&octets.concat()), [86_390, 86_395, 86_395, 86_395, day + 4]);
        // One clock that is half a day off moves nobody's time.
        assert_eq!(seconds(&[plot(100), plot(40_000), plot(110)].concat()), [100, 100, 110]);
    }

    #[test]
    fn a_recording_that_is_cut_or_is_none_says_where() {
        let whole = plot(1);
        assert!(is_raw(&whole));
        assert!(!is_raw(&[0xD4, 0xC3, 0xB2, 0xA1]) && !is_raw(&[0x0A, 0x0D, 0x0D, 0x0A]));
        assert!(!is_raw(b"radar,lat") && !is_raw(&[48]));
        let failure = |octets: &[u8]| {
            let mut recording = RawRecording::new(octets, Editions::default());
            recording.next_block().unwrap();
            recording.next_block().unwrap_err()
        };
        let length = whole.len();
        let cut = failure(&[&whole[..], &whole[..4]].concat());
        assert_eq!(cut, format!("octet {length}: the last block is cut"));
        let other = failure(&[&whole[..], &[9, 0, 0]].concat());
        assert!(other.starts_with(&format!("octet {length}: a block of category 9")), "{other}");
    }
}
