//! Recordings in the FINAL format (`.ff`), as IOSS recorders write it and asterix-decoder and COMPASS read
//! it: each datagram with its time of arrival.
//!
//! | octets of a record | |
//! |---|---|
//! | 2 | length of the record, these two included |
//! | 1, 1 | numbers of the board and of the line that it came by |
//! | 1 | number of the day of the recording |
//! | 3 | time of arrival: units of 0.01 s since midnight |
//! | n | ASTERIX blocks |
//! | 4 | 0xA5 |
//!
//! Source: the description in asterix-decoder (`asterixfinalsubformat.hxx`); there is no other one. There is
//! no date: the first day is 1970-01-02, as with raw recordings.

use super::raw_recording::{DAY_NS, is_raw};
use std::io::{self, ErrorKind, Read};

/// Octets of a record before its blocks.
const HEAD_OCTETS: usize = 8;
/// Octets behind them.
const END: [u8; 4] = [0xA5; 4];
/// Octets of a record without blocks.
const FRAME_OCTETS: usize = HEAD_OCTETS + END.len();
/// Differences of the numbers of two days that are believed: others are a new month's.
const DAYS_BELIEVED: std::ops::RangeInclusive<i64> = -1..=7;
/// Records are out of order by less than this, ns: a longer pause than a day less it is not believed where the
/// number of the day stays the same.
const DISORDER_NS_MAX: i64 = 3_600_000_000_000;
/// Unit of times of arrival, ns.
const TICK_NS: i64 = 10_000_000;

/// Datagrams of a recording, with their times of arrival.
#[derive(Debug)]
pub(super) struct FinalRecording<R> {
    from: R,
    /// Octets read.
    position: u64,
    /// Number of the day, and midnight before it (UTC, ns).
    day: Option<(u8, i64)>,
    arrived_ns: i64,
}

/// Whether a file that begins so is such a recording: its first record ends as it should, or, where it
/// is longer than what is there, holds ASTERIX.
pub(super) fn is_final(start: &[u8]) -> bool {
    let &[high, low, ..] = start else { return false };
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length <= FRAME_OCTETS {
        return false;
    }
    match start.get(length - END.len()..length) {
        Some(end) => end == END,
        None => start.get(HEAD_OCTETS..).is_some_and(is_raw),
    }
}

impl<R: Read> FinalRecording<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, position: 0, day: None, arrived_ns: DAY_NS }
    }

    /// The next datagram and its time of arrival, UTC, ns; `None` at the end.
    ///
    /// # Errors
    /// A message with the position, where the rest cannot be read.
    pub(super) fn next_datagram(&mut self) -> Result<Option<(i64, Vec<u8>)>, String> {
        let at = self.position;
        let named = |e: io::Error| match e.kind() {
            ErrorKind::UnexpectedEof => format!("octet {at}: the last record is cut"),
            _ => format!("octet {at}: {e}"),
        };
        let mut head = [0; HEAD_OCTETS];
        match self.from.read(&mut head[..1]) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(e) => return Err(named(e)),
        }
        self.from.read_exact(&mut head[1..]).map_err(named)?;
        let [high, low, _board, _line, day, time @ ..] = head;
        let length = usize::from(u16::from_be_bytes([high, low]));
        let Some(octets) = length.checked_sub(FRAME_OCTETS) else {
            return Err(format!(
                "octet {at}: a record states a length of {length} octets: not FINAL from here on"
            ));
        };
        let mut datagram = vec![0; octets];
        self.from.read_exact(&mut datagram).map_err(named)?;
        let mut end = END;
        self.from.read_exact(&mut end).map_err(named)?;
        if end != END {
            return Err(format!(
                "octet {at}: a record does not end with four octets 0xA5: not FINAL from here on"
            ));
        }
        self.position += length as u64;
        let [most, middle, least] = time.map(i64::from);
        let since_midnight_ns = (most << 16 | middle << 8 | least) * TICK_NS;
        Ok(Some((self.arrival_ns(day, since_midnight_ns), datagram)))
    }

    /// The time of arrival on a day with a number.
    fn arrival_ns(&mut self, day: u8, since_midnight_ns: i64) -> i64 {
        let Some((before, midnight_ns)) = self.day else {
            self.day = Some((day, DAY_NS));
            self.arrived_ns = DAY_NS + since_midnight_ns;
            return self.arrived_ns;
        };
        // A number may be back by one: records around midnight in another order.
        let days = i64::from(day.wrapping_sub(before).cast_signed());
        let days = if DAYS_BELIEVED.contains(&days) { days } else { 0 };
        let mut midnight_ns = midnight_ns + days * DAY_NS;
        if days == 0 {
            // A recorder may leave the number as it is, or begin anew with a month. Nothing is before the
            // first day.
            let since_last_ns = midnight_ns + since_midnight_ns - self.arrived_ns;
            if since_last_ns < -DAY_NS / 2 {
                midnight_ns += DAY_NS;
            } else if midnight_ns > DAY_NS && since_last_ns > DAY_NS - DISORDER_NS_MAX {
                midnight_ns -= DAY_NS;
            }
        }
        self.day = Some((day, midnight_ns));
        self.arrived_ns = midnight_ns + since_midnight_ns;
        self.arrived_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of category 240 with one octet in it.
    const BLOCK: [u8; 4] = [240, 0, 4, 0x80];

    fn record(day: u8, seconds: u32, blocks: &[u8]) -> Vec<u8> {
        let length = u16::try_from(FRAME_OCTETS + blocks.len()).unwrap();
        let [_, time @ ..] = (seconds * 100).to_be_bytes();
        [&length.to_be_bytes()[..], &[1, 2, day], &time, blocks, &END].concat()
    }

    fn seconds(records: &[Vec<u8>]) -> Vec<i64> {
        let octets = records.concat();
        let mut recording = FinalRecording::new(&octets[..]);
        let mut times = Vec::new();
        while let Some((at_ns, datagram)) = recording.next_datagram().unwrap() {
            assert_eq!(datagram, BLOCK);
            times.push((at_ns - DAY_NS) / 1_000_000_000);
        }
        times
    }

    #[test]
    fn days_are_counted_by_their_number_or_by_midnight() {
        let day = 86_400;
        let of = |days: [u8; 4]| {
            let times = [10, 86_399, 1, 0];
            seconds(&[0, 1, 2, 3].map(|k| record(days[k], times[k], &BLOCK)))
        };
        assert_eq!(of([7, 7, 8, 8]), [10, 86_399, day + 1, day]);
        assert_eq!(of([1, 1, 1, 1]), [10, 86_399, day + 1, day]);
        assert_eq!(of([255, 255, 0, 0]), [10, 86_399, day + 1, day]);
        // The days of months.
        assert_eq!(of([31, 31, 1, 1]), [10, 86_399, day + 1, day]);
    }

    /// A record that is out of order around midnight moves no other one.
    #[test]
    fn records_around_midnight_may_be_out_of_order() {
        let day = 86_400;
        for days in [[7, 8, 7, 8, 8], [0, 1, 0, 1, 1], [255, 0, 255, 0, 0], [1; 5]] {
            let times = [86_398, 1, 86_399, 2, 50_000];
            let records: Vec<_> =
                days.iter().zip(times).map(|(day, at)| record(*day, at, &BLOCK)).collect();
            assert_eq!(
                seconds(&records),
                [86_398, day + 1, 86_399, day + 2, day + 50_000],
                "{days:?}"
            );
        }
        // A pause of more than half a day, and one of a day.
        let records = [record(4, 1, &BLOCK), record(4, 60_000, &BLOCK), record(5, 60_100, &BLOCK)];
        assert_eq!(seconds(&records), [1, 60_000, day + 60_100]);
    }

    #[test]
    fn a_recording_is_known_by_its_beginning_and_a_broken_one_says_where() {
        let whole = record(1, 5, &BLOCK);
        assert!(is_final(&whole) && !is_raw(&whole));
        // A record that is longer than what was read of the file.
        let long = record(1, 5, &[48, 0, 200, 0xC0].repeat(100));
        assert!(is_final(&long[..50]));
        for other in [&BLOCK[..], &[0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0], b"radar,lat"] {
            assert!(!is_final(other), "{other:?}");
        }
        let failure = |octets: &[u8]| {
            let mut recording = FinalRecording::new(octets);
            recording.next_datagram().unwrap();
            recording.next_datagram().unwrap_err()
        };
        let cut = failure(&[&whole[..], &whole[..9]].concat());
        assert_eq!(cut, "octet 16: the last record is cut");
        let short = failure(&[&whole[..], &[0, 3, 1, 1, 1, 0, 0, 0]].concat());
        assert!(short.starts_with("octet 16: a record states a length of 3 octets"), "{short}");
        let mut wrong = whole.clone();
        wrong[15] = 0;
        let end = failure(&[whole, wrong].concat());
        assert!(end.starts_with("octet 16: a record does not end with"), "{end}");
    }
}
