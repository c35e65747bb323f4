//! Transfer frames of telemetry as they come from a receiver, and what their headers say.
//!
//! Sources: CCSDS 132.0-B-3 §4.1 (TM transfer frame), CCSDS 732.0-B-4 §4.1 (AOS transfer frame),
//! CCSDS 232.0-B-4 §4.2 (command link control word). Not here: USLP frames (version number 3),
//! whose headers are not read, and the AOS frame header error control.

use crate::pdu::{FrameQuality, GvcId};
use bytes::Bytes;

/// Octets of the operational control field.
pub const OCF_OCTETS: usize = 4;
/// Octets of the frame error control field.
pub const FECF_OCTETS: usize = 2;

/// A frame as production hands it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFrame {
    /// The frame, 1 to 65,536 octets.
    pub data: Bytes,
    /// Earth receive time of its first bit (UTC), in nanoseconds since 1970.
    pub received_utc_ns: u64,
    /// Its quality.
    pub quality: FrameQuality,
    /// Private annotation for the user, 1 to 128 octets.
    pub annotation: Option<Bytes>,
}

/// Fields of a frame's primary header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Transfer frame version number: 0 TM, 1 AOS.
    pub version: u8,
    /// Spacecraft id, in [0, 1023]; with AOS in [0, 255].
    pub spacecraft: u16,
    /// Virtual channel id, in [0, 7]; with AOS in [0, 63].
    pub virtual_channel: u8,
    /// Count of the master channel's frames, modulo 256. AOS has none.
    pub master_count: Option<u8>,
    /// Count of the virtual channel's frames: modulo 256, with AOS modulo 2^24.
    pub virtual_count: u32,
    /// Whether an operational control field follows. AOS does not say it.
    pub has_ocf: Option<bool>,
}

impl FrameHeader {
    /// Reads the 6 octets of a primary header; `None` where there are fewer, or where the version
    /// is neither TM's nor AOS's.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<Self> {
        let [first, second, third, fourth, fifth, _, ..] = *frame else { return None };
        match first >> 6 {
            0 => Some(Self {
                version: 0,
                spacecraft: u16::from(first & 0x3f) << 4 | u16::from(second >> 4),
                virtual_channel: second >> 1 & 0x07,
                master_count: Some(third),
                virtual_count: u32::from(fourth),
                has_ocf: Some(second & 1 == 1),
            }),
            1 => Some(Self {
                version: 1,
                spacecraft: u16::from(first & 0x3f) << 2 | u16::from(second >> 6),
                virtual_channel: second & 0x3f,
                master_count: None,
                virtual_count: u32::from_be_bytes([0, third, fourth, fifth]),
                has_ocf: None,
            }),
            _ => None,
        }
    }

    /// Writes what it has into a frame: TM's first four octets, AOS's first five.
    ///
    /// # Panics
    /// When the frame is shorter than that.
    pub fn write(self, frame: &mut [u8]) {
        if self.version == 0 {
            let word = self.spacecraft << 4
                | u16::from(self.virtual_channel) << 1
                | u16::from(self.has_ocf == Some(true));
            frame[..2].copy_from_slice(&word.to_be_bytes());
            frame[2] = self.master_count.unwrap_or(0);
            frame[3] = self.virtual_count.to_be_bytes()[3];
        } else {
            let word = 1 << 14 | self.spacecraft << 6 | u16::from(self.virtual_channel);
            frame[..2].copy_from_slice(&word.to_be_bytes());
            frame[2..5].copy_from_slice(&self.virtual_count.to_be_bytes()[1..]);
        }
    }

    /// Whether the frame is of a master or virtual channel.
    #[must_use]
    pub fn is_of(&self, channel: GvcId) -> bool {
        self.version == channel.version
            && self.spacecraft == channel.spacecraft
            && channel.virtual_channel.is_none_or(|wanted| wanted == self.virtual_channel)
    }
}

/// Structure of a physical channel's frame trailers, which the frame headers do not describe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTrailer {
    /// Whether a frame error control field ends each frame.
    pub fecf: bool,
    /// Whether AOS frames have an operational control field.
    pub aos_ocf: bool,
}

impl FrameTrailer {
    /// The operational control field of a frame, as a slice of it; `None` where it has none or is
    /// too short for one.
    #[must_use]
    pub fn ocf(self, header: &FrameHeader, frame: &Bytes) -> Option<Bytes> {
        if !header.has_ocf.unwrap_or(self.aos_ocf) {
            return None;
        }
        let end = frame.len().checked_sub(if self.fecf { FECF_OCTETS } else { 0 })?;
        let start = end.checked_sub(OCF_OCTETS).filter(|start| *start >= 6)?;
        Some(frame.slice(start..end))
    }
}

/// The virtual channel of telecommand of a command link control word; `None` where the operational
/// control field is no such word (its first bit is set).
#[must_use]
pub fn clcw_virtual_channel(ocf: &[u8]) -> Option<u8> {
    let [first, second, ..] = *ocf else { return None };
    (first & 0x80 == 0).then_some(second >> 2)
}

/// CRC of the frame error control field: polynomial x^16 + x^12 + x^5 + 1, preset to ones, neither
/// reflected nor inverted (CCSDS 132.0-B-3 §4.1.6.2).
#[must_use]
pub fn crc16(octets: &[u8]) -> u16 {
    crc16_from(0xffff, octets)
}

/// Goes on with a CRC over more octets.
#[must_use]
pub(crate) fn crc16_from(crc: u16, octets: &[u8]) -> u16 {
    octets
        .iter()
        .fold(crc, |crc, octet| crc << 8 ^ CRC_TABLE[usize::from(crc.to_be_bytes()[0] ^ octet)])
}

/// Remainders of all octets.
static CRC_TABLE: [u16; 256] = crc_table();

const fn crc_table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        #[allow(clippy::cast_possible_truncation)] // below 256
        let mut crc = (index as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tm_header_by_hand() {
        // Version 0, spacecraft 0x2ab, virtual channel 5, OCF present.
        let frame = [0x2a, 0xbb, 0x10, 0x20, 0x18, 0x00, 0xff];
        let header = FrameHeader::read(&frame).unwrap();
        assert_eq!(
            header,
            FrameHeader {
                version: 0,
                spacecraft: 0x2ab,
                virtual_channel: 5,
                master_count: Some(0x10),
                virtual_count: 0x20,
                has_ocf: Some(true),
            }
        );
        let master = GvcId { spacecraft: 0x2ab, version: 0, virtual_channel: None };
        assert!(header.is_of(master));
        assert!(header.is_of(GvcId { virtual_channel: Some(5), ..master }));
        assert!(!header.is_of(GvcId { virtual_channel: Some(4), ..master }));
        assert!(!header.is_of(GvcId { version: 1, ..master }));
        assert!(!header.is_of(GvcId { spacecraft: 1, ..master }));
    }

    #[test]
    fn an_aos_header_by_hand() {
        // Version 1, spacecraft 0xab, virtual channel 63 (idle), count 0x010203.
        let header = FrameHeader::read(&[0x6a, 0xff, 1, 2, 3, 0]).unwrap();
        assert_eq!((header.version, header.spacecraft, header.virtual_channel), (1, 0xab, 63));
        assert_eq!((header.master_count, header.virtual_count), (None, 0x01_0203));
    }

    #[test]
    fn short_frames_and_uslp_have_no_header() {
        assert_eq!(FrameHeader::read(&[0; 5]), None);
        assert_eq!(FrameHeader::read(&[0xc0; 8]), None);
    }

    #[test]
    fn the_control_field_stands_before_the_error_control() {
        let frame = Bytes::from_static(&[0x2a, 0xbb, 0, 0, 0x18, 0, 9, 1, 2, 3, 4, 7, 7]);
        let header = FrameHeader::read(&frame).unwrap();
        let with = FrameTrailer { fecf: true, aos_ocf: false };
        assert_eq!(with.ocf(&header, &frame).unwrap(), &[1u8, 2, 3, 4][..]);
        let without = FrameTrailer::default();
        assert_eq!(without.ocf(&header, &frame).unwrap(), &[3u8, 4, 7, 7][..]);
        let none = FrameHeader { has_ocf: Some(false), ..header };
        assert_eq!(with.ocf(&none, &frame), None);
        assert_eq!(with.ocf(&header, &frame.slice(..9)), None, "it would lie in the header");
        let aos = FrameHeader { version: 1, has_ocf: None, ..header };
        assert_eq!(without.ocf(&aos, &frame), None);
        assert!(FrameTrailer { fecf: false, aos_ocf: true }.ocf(&aos, &frame).is_some());
    }

    #[test]
    fn a_control_word_names_its_virtual_channel() {
        assert_eq!(clcw_virtual_channel(&[0x01, 5 << 2, 0, 0]), Some(5));
        assert_eq!(clcw_virtual_channel(&[0x81, 5 << 2, 0, 0]), None, "not a CLCW");
        assert_eq!(clcw_virtual_channel(&[]), None);
    }

    #[test]
    fn the_crc_of_the_catalogues() {
        // The check value of CRC-16/IBM-3740.
        assert_eq!(crc16(b"123456789"), 0x29b1);
        // A frame with its own CRC behind it leaves nothing.
        assert_eq!(crc16(b"123456789\x29\xb1"), 0);
    }

    proptest! {
        #[test]
        fn headers_come_back(version in 0..2u8, spacecraft in 0..1024u16, channel in 0..64u8,
                             master in any::<u8>(), count in 0..1u32 << 24, ocf in any::<bool>()) {
            let aos = version == 1;
            let header = FrameHeader {
                version,
                spacecraft: if aos { spacecraft & 0xff } else { spacecraft },
                virtual_channel: if aos { channel } else { channel & 7 },
                master_count: (!aos).then_some(master),
                virtual_count: if aos { count } else { count & 0xff },
                has_ocf: (!aos).then_some(ocf),
            };
            let mut frame = [0; 6];
            header.write(&mut frame);
            prop_assert_eq!(FrameHeader::read(&frame), Some(header));
        }

        #[test]
        fn any_octets_are_read(frame in proptest::collection::vec(any::<u8>(), 0..16), fecf: bool) {
            let frame = Bytes::from(frame);
            if let Some(header) = FrameHeader::read(&frame) {
                let ocf = FrameTrailer { fecf, aos_ocf: true }.ocf(&header, &frame);
                prop_assert!(ocf.is_none_or(|ocf| ocf.len() == 4));
            }
        }
    }
}
