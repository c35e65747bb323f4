//! Raw recordings of ASTERIX (`.ast`, `.raw`): blocks one after another, without times of arrival.
//!
//! A block is taken to arrive when the stamps of most sources say so ([`StampedArrivals`]), or with the block
//! before it when it states no time. For that the first [`AHEAD_BLOCKS`] are read ahead: the clock of the
//! source that is heard first may be wrong. A recording has no date either: its day is 1970-01-02.

use super::stamped_arrivals::StampedArrivals;
use super::surveillance::StationEditions;
use crate::asterix::{DataSource, Record, TimeOfDay, decode_block_of};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};

/// Beginning of the day of a recording without a date, UTC, ns.
pub(super) const DAY_NS: i64 = 86_400_000_000_000;
/// Blocks that are read ahead.
const AHEAD_BLOCKS: usize = 512;
/// Octets of them at most.
const AHEAD_OCTETS: usize = 1 << 20;

/// Blocks of a recording, with the times at which they are taken to have arrived.
#[derive(Debug)]
pub(super) struct RawRecording<R> {
    from: R,
    editions: StationEditions,
    /// Octets read.
    position: u64,
    /// The first blocks, once they were read, and the error that ended them.
    ahead: Option<(VecDeque<Vec<u8>>, Option<String>)>,
    /// The latest stamp, by which the day of the next is known.
    near_ns: Option<i64>,
    arrivals: StampedArrivals,
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
    pub(super) fn new(from: R, editions: StationEditions) -> Self {
        let arrivals = StampedArrivals::default();
        Self { from, editions, position: 0, ahead: None, near_ns: None, arrivals }
    }

    /// The next block and its time, UTC, ns; `None` at the end.
    ///
    /// # Errors
    /// A message with the position, where the rest cannot be read.
    pub(super) fn next_block(&mut self) -> Result<Option<(i64, Vec<u8>)>, String> {
        if self.ahead.is_none() {
            self.read_ahead();
        }
        let block = match &mut self.ahead {
            Some((blocks, failure)) => match blocks.pop_front() {
                Some(block) => Some(block),
                None => match failure.take() {
                    Some(failure) => return Err(failure),
                    None => self.read_block()?,
                },
            },
            None => self.read_block()?,
        };
        Ok(block.map(|block| (self.time_ns(&block), block)))
    }

    /// Reads the first blocks, and learns from them by how much the clocks of the sources differ.
    fn read_ahead(&mut self) {
        let (mut blocks, mut octets, mut failure) = (VecDeque::new(), 0, None);
        while blocks.len() < AHEAD_BLOCKS && octets < AHEAD_OCTETS {
            match self.read_block() {
                Ok(Some(block)) => {
                    octets += block.len();
                    blocks.push_back(block);
                }
                Ok(None) => break,
                Err(e) => {
                    failure = Some(e);
                    break;
                }
            }
        }
        let stamps = blocks.iter().flat_map(|block| self.stamps(block)).collect::<Vec<_>>();
        self.arrivals = StampedArrivals::after(stamps);
        self.near_ns = None;
        self.ahead = Some((blocks, failure));
    }

    fn read_block(&mut self) -> Result<Option<Vec<u8>>, String> {
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
        Ok(Some(block))
    }

    fn time_ns(&mut self, block: &[u8]) -> i64 {
        for (source, stamp_ns) in self.stamps(block) {
            self.arrivals.hear(source, stamp_ns);
        }
        self.arrivals.now_ns().unwrap_or(DAY_NS)
    }

    /// The sources and stamps of a block's records, UTC, ns.
    fn stamps(&mut self, block: &[u8]) -> Vec<(DataSource, i64)> {
        let now_ns = self.arrivals.now_ns().or(self.near_ns);
        let near = now_ns.map(TimeOfDay::from_utc_ns);
        let records = decode_block_of(block, self.editions.of(block)).flatten();
        let stamps = records.filter_map(|record| stamp(&record, near));
        let near_ns = &mut self.near_ns;
        let dated = stamps.map(|(source, time)| {
            let first_ns = || DAY_NS + time.to_utc_ns(0).rem_euclid(DAY_NS);
            let stamp_ns = time.to_utc_ns(now_ns.or(*near_ns).unwrap_or_else(first_ns));
            near_ns.get_or_insert(stamp_ns);
            (source, stamp_ns)
        });
        dated.collect()
    }
}

/// Whose a record is and when it was stamped; of a truncated time only where it is known what time it is near.
fn stamp(record: &Record, near: Option<TimeOfDay>) -> Option<(DataSource, TimeOfDay)> {
    let (source, time) = match record {
        Record::Plot(r) => (r.source, r.time_of_day),
        Record::Service(r) => (r.source, r.time_of_day),
        Record::Track(r) => (r.source, r.time_of_day),
        Record::AdsB(r) => (r.source, r.report_time.or(r.reception_time).or(r.position_time)),
        Record::EarlyAdsB(r) => (r.source, r.time_of_day),
        Record::Multilateration(r) => (r.source, r.time_of_day),
        Record::Surface(r) => (r.source, r.time_of_day),
        Record::OldReport(r) => {
            (r.source, r.truncated_time.zip(near).map(|(time, near)| time.near(near)))
        }
        Record::OldService(r) => (r.source, r.time_of_day),
        Record::SensorStatus(r) => (r.source, r.time_of_day),
        Record::SystemStatus(r) => (r.source, r.time_of_day),
        Record::Other { .. } | Record::Padding { .. } => return None,
    };
    Some((source, time?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::cat048::Plot;
    use crate::asterix::encode_block;

    fn plot(seconds: u32) -> Vec<u8> {
        plot_of(DataSource::default(), seconds)
    }

    fn plot_of(source: DataSource, seconds: u32) -> Vec<u8> {
        let time_of_day = Some(TimeOfDay::from_ticks(128 * seconds));
        let mut octets = Vec::new();
        encode_block(&[Plot { source, time_of_day, ..Plot::default() }], &mut octets).unwrap();
        octets
    }

    fn seconds(recording: &[u8]) -> Vec<i64> {
        let mut recording = RawRecording::new(recording, StationEditions::default());
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
        // One stamp that is half a day off moves nobody's time.
        assert_eq!(seconds(&[plot(100), plot(40_000), plot(110)].concat()), [100, 100, 110]);
    }

    #[test]
    fn a_radar_with_a_wrong_clock_that_is_heard_first_is_not_the_receivers_clock() {
        for wrong_s in [3_600, 20] {
            let second = |second| {
                let of = |sic, seconds| plot_of(DataSource { sac: 25, sic }, seconds);
                [of(9, second + wrong_s), of(1, second), of(2, second)].concat()
            };
            let times = seconds(&(1_000..1_200).flat_map(second).collect::<Vec<u8>>());
            let late = (1_000..1_200).flat_map(|second| [second; 3]).zip(times);
            assert!(late.clone().all(|(second, at)| (at - second).abs() <= 1), "{late:?}");
        }
    }

    #[test]
    fn a_recording_that_is_cut_or_is_none_says_where() {
        let whole = plot(1);
        assert!(is_raw(&whole));
        assert!(!is_raw(&[0xD4, 0xC3, 0xB2, 0xA1]) && !is_raw(&[0x0A, 0x0D, 0x0D, 0x0A]));
        assert!(!is_raw(b"radar,lat") && !is_raw(&[48]));
        let failure = |octets: &[u8]| {
            let mut recording = RawRecording::new(octets, StationEditions::default());
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
