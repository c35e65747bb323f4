//! Transfer frames of telemetry made for measuring (CCSDS 132.0-B-3 §4.1).
//!
//! Each has a correct header and counters, then, where it has room, its number (8 octets) and a
//! fixed pattern; then a command link control word whose report value counts, if wanted, and a
//! frame error control field, if wanted. The pattern is no packet: the header says that no packet
//! begins in the frame (first header pointer 2047).

use super::pace::FramePace;
use super::progress::{FRAME_OCTETS_MAX, ReadProgress};
use crate::frame::{FECF_OCTETS, FrameHeader, OCF_OCTETS, ReceivedFrame, crc16_from};
use crate::pdu::FrameQuality;
use crate::time::Now;
use bytes::BytesMut;

/// Octets of the primary header.
const HEADER_OCTETS: usize = 6;
/// Octets of a frame's number.
const NUMBER_OCTETS: usize = 8;
/// Frames are made in blocks of about so many octets, one allocation each.
const BLOCK_OCTETS: usize = 64 * 1024;
/// Segment length identifier 3, as without segments, and no first header: 2047.
const STATUS: u16 = 3 << 11 | 2047;

/// Settings of a generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorSettings {
    /// Octets of a frame, from 7 plus the trailer's to 65,536.
    pub octets: usize,
    /// Spacecraft id, in [0, 1023].
    pub spacecraft: u16,
    /// Virtual channels that take turns, at least one, each in [0, 7].
    pub virtual_channels: Vec<u8>,
    /// Frames a second; `None`: as fast as they are taken.
    pub rate: Option<u32>,
    /// Number of frames; `None`: no limit.
    pub count: Option<u64>,
    /// With an operational control field.
    pub ocf: bool,
    /// With a frame error control field.
    pub fecf: bool,
}

/// Fault of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeneratorError {
    /// A frame that long, or that short.
    #[error("a frame has {least} to {FRAME_OCTETS_MAX} octets, not {octets}")]
    Octets {
        /// Requested length in octets.
        octets: usize,
        /// The least with these trailers.
        least: usize,
    },
    /// No such spacecraft.
    #[error("the spacecraft id is at most 1023, not {0}")]
    Spacecraft(u16),
    /// No virtual channel, or none that TM has.
    #[error("virtual channels: at least one is needed, each in [0, 7]")]
    VirtualChannels,
}

/// Generator of frames.
#[derive(Debug)]
pub struct FrameGenerator {
    settings: GeneratorSettings,
    pace: Option<FramePace>,
    number: u64,
    /// Frames made of each virtual channel.
    counts: [u8; 8],
    /// The octets that all frames have, trailers left out.
    template: Vec<u8>,
    pattern: Skip,
}

impl FrameGenerator {
    /// A generator before its first frame.
    ///
    /// # Errors
    /// [`GeneratorError`] where such frames do not exist.
    pub fn new(settings: GeneratorSettings) -> Result<Self, GeneratorError> {
        let trailer =
            usize::from(settings.ocf) * OCF_OCTETS + usize::from(settings.fecf) * FECF_OCTETS;
        let least = HEADER_OCTETS + 1 + trailer;
        if !(least..=FRAME_OCTETS_MAX).contains(&settings.octets) {
            return Err(GeneratorError::Octets { octets: settings.octets, least });
        }
        if settings.spacecraft > 1023 {
            return Err(GeneratorError::Spacecraft(settings.spacecraft));
        }
        let channels = &settings.virtual_channels;
        if channels.is_empty() || channels.iter().any(|channel| *channel > 7) {
            return Err(GeneratorError::VirtualChannels);
        }
        let mut template = vec![0; settings.octets - trailer];
        template[4..HEADER_OCTETS].copy_from_slice(&STATUS.to_be_bytes());
        for (octet, value) in template[HEADER_OCTETS..].iter_mut().zip((0..=0xff).cycle()) {
            *octet = value;
        }
        let pattern = Skip::new(template.get(HEADER_OCTETS + NUMBER_OCTETS..).unwrap_or(&[]));
        Ok(Self {
            pace: settings.rate.map(FramePace::new),
            number: 0,
            counts: [0; 8],
            template,
            pattern,
            settings,
        })
    }

    /// Appends up to `max` frames that are due.
    pub fn read(&mut self, max: usize, now: Now, out: &mut Vec<ReceivedFrame>) -> ReadProgress {
        let left = self.settings.count.map_or(u64::MAX, |count| count - self.number);
        let due = self.pace.as_mut().map_or(u64::MAX, |pace| pace.due(now));
        let mut wanted = usize::try_from(left.min(due)).unwrap_or(usize::MAX).min(max);
        while wanted > 0 {
            let frames = wanted.min((BLOCK_OCTETS / self.settings.octets).max(1));
            let mut block = BytesMut::zeroed(frames * self.settings.octets);
            for frame in block.chunks_exact_mut(self.settings.octets) {
                self.make(frame);
            }
            let mut block = block.freeze();
            for _ in 0..frames {
                out.push(ReceivedFrame {
                    data: block.split_to(self.settings.octets),
                    received_utc_ns: self.pace.as_mut().map_or(now.utc_ns, FramePace::take),
                    quality: FrameQuality::Good,
                    annotation: None,
                });
            }
            wanted -= frames;
        }
        if self.settings.count == Some(self.number) {
            return ReadProgress::End;
        }
        match &self.pace {
            Some(pace) if pace.next_ns() > now.monotonic_ns => ReadProgress::At(pace.next_ns()),
            _ => ReadProgress::More,
        }
    }

    fn make(&mut self, frame: &mut [u8]) {
        let (fields, trailer) = frame.split_at_mut(self.template.len());
        fields.copy_from_slice(&self.template);
        let channels = &self.settings.virtual_channels;
        let turn = usize::try_from(self.number % channels.len() as u64).unwrap_or(0);
        let virtual_channel = channels[turn];
        let count = &mut self.counts[usize::from(virtual_channel)];
        FrameHeader {
            version: 0,
            spacecraft: self.settings.spacecraft,
            virtual_channel,
            master_count: Some(self.number.to_be_bytes()[7]),
            virtual_count: u32::from(*count),
            has_ocf: Some(self.settings.ocf),
        }
        .write(fields);
        *count = count.wrapping_add(1);
        let number = self.number.to_be_bytes();
        let numbered = fields.len().min(HEADER_OCTETS + NUMBER_OCTETS);
        fields[HEADER_OCTETS..numbered].copy_from_slice(&number[..numbered - HEADER_OCTETS]);
        if self.settings.ocf {
            // A CLCW of virtual channel 0 with COP-1 in effect, nothing wrong, and its report
            // value in the last octet.
            trailer[..OCF_OCTETS].copy_from_slice(&[0x01, 0, 0, number[7]]);
        }
        if self.settings.fecf {
            let (before, fecf) = trailer.split_at_mut(trailer.len() - FECF_OCTETS);
            let crc = self.pattern.over(crc16_from(0xffff, &fields[..numbered]));
            fecf.copy_from_slice(&crc16_from(crc, before).to_be_bytes());
        }
        self.number += 1;
    }
}

/// Effect of a fixed run of octets on any CRC, without processing the octets again. The CRC is
/// linear, so the effect is the sum of the effects on each octet of the CRC.
#[derive(Debug)]
struct Skip {
    high: Vec<u16>,
    low: Vec<u16>,
}

impl Skip {
    fn new(run: &[u8]) -> Self {
        let of_none = crc16_from(0, run);
        let table = |shift: u32| {
            // A table entry is what the octet adds to the CRC that starts from 0.
            let bits: Vec<u16> =
                (0..8).map(|bit| crc16_from(1 << (bit + shift), run) ^ of_none).collect();
            let entry = |octet: u16| {
                (0..8).filter(|bit| octet >> bit & 1 == 1).fold(0, |sum, bit| sum ^ bits[bit])
            };
            (0..256).map(entry).collect::<Vec<u16>>()
        };
        let high: Vec<u16> = table(8).into_iter().map(|entry| entry ^ of_none).collect();
        Self { high, low: table(0) }
    }

    fn over(&self, crc: u16) -> u16 {
        let [high, low] = crc.to_be_bytes();
        self.high[usize::from(high)] ^ self.low[usize::from(low)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{FrameTrailer, clcw_virtual_channel, crc16};
    use proptest::prelude::*;

    fn settings(octets: usize) -> GeneratorSettings {
        GeneratorSettings {
            octets,
            spacecraft: 0x2ab,
            virtual_channels: vec![3, 5],
            rate: None,
            count: Some(600),
            ocf: true,
            fecf: true,
        }
    }

    fn now(monotonic_ns: u64) -> Now {
        Now { monotonic_ns, utc_ns: 1_700_000_000_000_000_000 + monotonic_ns }
    }

    #[test]
    fn frames_are_as_their_book_says() {
        let mut generator = FrameGenerator::new(settings(100)).unwrap();
        let mut frames = Vec::new();
        assert_eq!(generator.read(599, now(0), &mut frames), ReadProgress::More);
        assert_eq!(generator.read(599, now(0), &mut frames), ReadProgress::End);
        assert_eq!(frames.len(), 600);
        for (number, frame) in frames.iter().enumerate() {
            assert_eq!(frame.data.len(), 100);
            assert_eq!(crc16(&frame.data), 0, "the error control field is right");
            let header = FrameHeader::read(&frame.data).unwrap();
            assert_eq!(header.spacecraft, 0x2ab);
            assert_eq!(header.virtual_channel, [3, 5][number % 2]);
            assert_eq!(usize::from(header.master_count.unwrap()), number % 256);
            assert_eq!(header.virtual_count as usize, number / 2 % 256);
            assert_eq!(frame.data[6..14], (number as u64).to_be_bytes());
            let ocf =
                FrameTrailer { fecf: true, aos_ocf: false }.ocf(&header, &frame.data).unwrap();
            assert_eq!(clcw_virtual_channel(&ocf), Some(0));
            assert_eq!(usize::from(ocf[3]), number % 256);
        }
    }

    #[test]
    fn a_rate_is_kept() {
        let paced = GeneratorSettings { rate: Some(1000), count: None, ..settings(64) };
        let mut generator = FrameGenerator::new(paced).unwrap();
        let mut frames = Vec::new();
        assert_eq!(generator.read(100, now(0), &mut frames), ReadProgress::At(1_000_000));
        assert_eq!(generator.read(100, now(500_000), &mut frames), ReadProgress::At(1_000_000));
        assert_eq!(frames.len(), 1);
        assert_eq!(generator.read(3, now(10_000_000), &mut frames), ReadProgress::More);
        assert_eq!(generator.read(100, now(10_000_000), &mut frames), ReadProgress::At(11_000_000));
        assert_eq!(frames.len(), 11);
        assert_eq!(frames[10].received_utc_ns, now(10_000_000).utc_ns);
        assert_eq!(frames[4].received_utc_ns, now(4_000_000).utc_ns, "as scheduled, though late");
    }

    #[test]
    fn frames_that_do_not_exist_are_refused() {
        let error = FrameGenerator::new(settings(12)).unwrap_err();
        assert_eq!(error.to_string(), "a frame has 13 to 65536 octets, not 12");
        assert!(FrameGenerator::new(settings(13)).is_ok());
        let none = GeneratorSettings { virtual_channels: vec![8], ..settings(100) };
        assert_eq!(FrameGenerator::new(none).unwrap_err(), GeneratorError::VirtualChannels);
        let far = GeneratorSettings { spacecraft: 1024, ..settings(100) };
        assert_eq!(FrameGenerator::new(far).unwrap_err(), GeneratorError::Spacecraft(1024));
    }

    proptest! {
        #[test]
        fn a_run_is_skipped_as_if_gone_over(run in proptest::collection::vec(any::<u8>(), 0..300),
                                            crc in any::<u16>()) {
            prop_assert_eq!(Skip::new(&run).over(crc), crc16_from(crc, &run));
        }

        #[test]
        fn every_length_has_its_crc(octets in 9usize..80, ocf: bool) {
            let octets = if ocf { octets + 4 } else { octets };
            let mut generator = FrameGenerator::new(GeneratorSettings { ocf, ..settings(octets) }).unwrap();
            let mut frames = Vec::new();
            generator.read(3, now(0), &mut frames);
            for frame in frames {
                prop_assert_eq!(crc16(&frame.data), 0);
            }
        }
    }
}
