//! Messages between `sle-user link` and programs: CLTUs and questions in, frames out. Their octets are in
//! `docs/formats/sle-link.md`. All numbers are big-endian.

use crate::client::notation;
use crate::pdu::{AntennaId, SyncNotify, TransferData};
use crate::time::Time;
use bytes::{BufMut, Bytes, BytesMut};

/// First octets of a message with a CLTU.
pub const CLTU: [u8; 4] = *b"SLC1";
/// First octets of a question for fates.
pub const QUESTION: [u8; 4] = *b"SLQ1";
/// First octets of a message with a frame or a notification.
pub const FRAME: [u8; 4] = *b"SLF1";
/// Octets before the body of each message: its kind, and the length of the body.
pub const HEADER_OCTETS: usize = 8;
/// Octets of a CLTU's body before the CLTU.
const CLTU_FIELDS: usize = 28;
/// Octets of a CLTU at most.
const CLTU_MAX: usize = 65_536;

/// A message from a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkRequest {
    /// Radiate a CLTU.
    Cltu(RequestedCltu),
    /// Tell the fates of the CLTUs from this index on.
    Fates {
        /// The index of the first.
        index: u64,
    },
}

/// A CLTU as a program gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedCltu {
    /// A number of the program's own, which answers repeat.
    pub reference: u64,
    /// Earliest radiation time, UTC in nanoseconds since 1970; `None`: any.
    pub earliest_utc_ns: Option<u64>,
    /// Latest radiation time.
    pub latest_utc_ns: Option<u64>,
    /// Silence after its radiation, in µs.
    pub delay_us: u32,
    /// Its octets, 1 to 65,536.
    pub data: Bytes,
}

/// Why octets are no message. The connection is closed after it, because nobody knows where the next
/// message would begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageFault {
    /// The first octets are of no kind.
    #[error("octet {position}: a message begins with SLC1 or SLQ1, not {found:?}")]
    Kind {
        /// Position in the stream.
        position: u64,
        /// The octets.
        found: String,
    },
    /// The length is none of this kind of message.
    #[error("octet {position}: {octets} octets: a message of this kind has {least} to {most}")]
    Length {
        /// Position of the message in the stream.
        position: u64,
        /// The length.
        octets: u32,
        /// Shortest body.
        least: usize,
        /// Longest body.
        most: usize,
    },
}

/// Splits the stream of a program into messages.
#[derive(Debug, Default)]
pub struct RequestReader {
    octets: BytesMut,
    /// Position of the first octet of `octets` in the stream.
    position: u64,
}

impl RequestReader {
    /// Adds octets that were received.
    pub fn extend(&mut self, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
    }

    /// The next whole message. At most one message waits in here beside what one `extend` brings.
    ///
    /// # Errors
    /// [`MessageFault`], as soon as the header is read.
    pub fn next_request(&mut self) -> Result<Option<LinkRequest>, MessageFault> {
        // A wrong kind is found with its first octets: whoever speaks another protocol may wait.
        let begin = &self.octets[..self.octets.len().min(4)];
        if !CLTU.starts_with(begin) && !QUESTION.starts_with(begin) {
            let found = String::from_utf8_lossy(begin).into_owned();
            return Err(MessageFault::Kind { position: self.position, found });
        }
        let Some(header) = self.octets.first_chunk::<HEADER_OCTETS>() else { return Ok(None) };
        let octets = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        let is_cltu = header[..4] == CLTU;
        let (least, most) =
            if is_cltu { (CLTU_FIELDS + 1, CLTU_FIELDS + CLTU_MAX) } else { (8, 8) };
        let length = octets as usize;
        if !(least..=most).contains(&length) {
            let position = self.position;
            return Err(MessageFault::Length { position, octets, least, most });
        }
        if self.octets.len() < HEADER_OCTETS + length {
            return Ok(None);
        }
        let mut body = self.octets.split_to(HEADER_OCTETS + length).freeze();
        self.position += body.len() as u64;
        body = body.slice(HEADER_OCTETS..);
        Ok(Some(if is_cltu {
            LinkRequest::Cltu(RequestedCltu {
                reference: number(&body, 0),
                earliest_utc_ns: Some(number(&body, 8)).filter(|ns| *ns > 0),
                latest_utc_ns: Some(number(&body, 16)).filter(|ns| *ns > 0),
                delay_us: u32::from_be_bytes([body[24], body[25], body[26], body[27]]),
                data: body.slice(CLTU_FIELDS..),
            })
        } else {
            LinkRequest::Fates { index: number(&body, 0) }
        }))
    }
}

/// Eight octets from a place that is in `body`.
fn number(body: &[u8], at: usize) -> u64 {
    body[at..at + 8].iter().fold(0, |all, octet| all << 8 | u64::from(*octet))
}

impl RequestedCltu {
    /// The message of a program that gives it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = CLTU.to_vec();
        let length = u32::try_from(CLTU_FIELDS + self.data.len()).unwrap_or(u32::MAX);
        out.extend(length.to_be_bytes());
        out.extend(self.reference.to_be_bytes());
        out.extend(self.earliest_utc_ns.unwrap_or(0).to_be_bytes());
        out.extend(self.latest_utc_ns.unwrap_or(0).to_be_bytes());
        out.extend(self.delay_us.to_be_bytes());
        out.extend(&self.data);
        out
    }
}

/// The message of a frame, or of a control word of ROCF, with the number of the message.
#[must_use]
pub fn frame(sequence: u64, frame: &TransferData) -> Bytes {
    let mut out = begin(0, sequence);
    let (ns, ps, digits) = received(frame.earth_receive_time);
    out.put_u64(ns);
    out.put_u16(ps);
    out.put_u8(digits);
    out.put_u8(frame.quality.map_or(255, |quality| quality as u8));
    out.put_i32(frame.data_link_continuity);
    let (is_global, antenna) = match &frame.antenna {
        AntennaId::Local(octets) => (0, octets.clone()),
        AntennaId::Global(arcs) => {
            let arcs: Vec<String> = arcs.iter().map(u32::to_string).collect();
            (1, Bytes::from(arcs.join(".")))
        }
    };
    out.put_u8(is_global);
    short(&mut out, &antenna);
    short(&mut out, frame.private_annotation.as_deref().unwrap_or_default());
    out.put_slice(&frame.data);
    end(out)
}

/// The message of a notification: its text is JSON.
#[must_use]
pub fn notification(sequence: u64, notify: &SyncNotify) -> Bytes {
    let mut out = begin(1, sequence);
    out.put_slice(notation::sync_notify(notify).to_string().as_bytes());
    end(out)
}

fn begin(kind: u8, sequence: u64) -> BytesMut {
    let mut out = BytesMut::with_capacity(64);
    out.put_slice(&FRAME);
    out.put_u32(0);
    out.put_u8(kind);
    out.put_u64(sequence);
    out
}

fn end(mut out: BytesMut) -> Bytes {
    let length = u32::try_from(out.len() - HEADER_OCTETS).unwrap_or(u32::MAX);
    out[4..HEADER_OCTETS].copy_from_slice(&length.to_be_bytes());
    out.freeze()
}

/// Octets with their number before them; what is beyond 255 is left out.
fn short(out: &mut BytesMut, octets: &[u8]) {
    let octets = &octets[..octets.len().min(255)];
    out.put_u8(u8::try_from(octets.len()).unwrap_or(u8::MAX));
    out.put_slice(octets);
}

/// A time as nanoseconds since 1970 and picoseconds of the nanosecond, with the number of digits of the
/// second that the provider gave: 6 or 12; 0: its octets are no time.
fn received(time: Time) -> (u64, u16, u8) {
    let Some(ns) = time.utc_ns() else { return (0, 0, 0) };
    match time {
        Time::Micro(_) => (ns, 0, 6),
        Time::Pico([.., a, b, c, d]) => {
            let ps = u32::from_be_bytes([a, b, c, d]) % 1000;
            (ns, u16::try_from(ps).unwrap_or(0), 12)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdu::{FrameQuality, ReturnNotification};
    use proptest::prelude::*;

    fn cltu() -> RequestedCltu {
        RequestedCltu {
            reference: 7,
            earliest_utc_ns: None,
            latest_utc_ns: Some(0x0102),
            delay_us: 3,
            data: Bytes::from_static(b"xyz"),
        }
    }

    /// Version 1, for ever.
    #[test]
    fn the_octets_of_a_cltu() {
        let octets = cltu().encode();
        assert_eq!(
            octets,
            b"SLC1\0\0\0\x1f\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x02\0\0\0\x03xyz"
        );
        let mut reader = RequestReader::default();
        for octet in &octets {
            assert_eq!(reader.next_request(), Ok(None));
            reader.extend(&[*octet]);
        }
        assert_eq!(reader.next_request(), Ok(Some(LinkRequest::Cltu(cltu()))));
        reader.extend(b"SLQ1\0\0\0\x08\0\0\0\0\0\0\x01\0");
        assert_eq!(reader.next_request(), Ok(Some(LinkRequest::Fates { index: 256 })));
    }

    /// Version 1, for ever.
    #[test]
    fn the_octets_of_a_frame_and_of_a_notification() {
        let received = TransferData {
            credentials: None,
            earth_receive_time: Time::from_utc_ns(0x0001_0000_0000_0000 / 1000 * 1000),
            antenna: AntennaId::Local(Bytes::from_static(b"ANT")),
            data_link_continuity: -1,
            quality: Some(FrameQuality::Erred),
            private_annotation: Some(Bytes::from_static(b"p")),
            data: Bytes::from_static(b"frame"),
        };
        let octets = frame(5, &received);
        let time = (0x0001_0000_0000_0000u64 / 1000 * 1000).to_be_bytes();
        let expected = [
            &b"SLF1\0\0\0\x25\0\0\0\0\0\0\0\0\x05"[..],
            &time,
            b"\0\0\x06\x01\xff\xff\xff\xff\0\x03ANT\x01pframe",
        ];
        assert_eq!(octets, expected.concat());
        let notification = notification(
            6,
            &SyncNotify { credentials: None, notification: ReturnNotification::EndOfData },
        );
        let text = std::str::from_utf8(&notification[17..]).unwrap();
        assert_eq!(&notification[..9], b"SLF1\0\0\0\x20\x01".as_slice(), "{text}");
        assert!(text.contains("end-of-data"), "{text}");
    }

    #[test]
    fn picoseconds_are_kept() {
        let mut octets = [0; 10];
        octets[..2].copy_from_slice(&20_000u16.to_be_bytes());
        octets[6..].copy_from_slice(&123_456_789u32.to_be_bytes());
        let (ns, ps, digits) = received(Time::Pico(octets));
        assert_eq!((ns % 1_000_000, ps, digits), (123_456, 789, 12));
    }

    #[test]
    fn what_is_no_message_is_refused_where_it_begins() {
        let said = |octets: &[u8]| {
            let mut reader = RequestReader::default();
            reader.extend(octets);
            loop {
                match reader.next_request() {
                    Ok(Some(_)) => {}
                    Ok(None) => return String::new(),
                    Err(fault) => return fault.to_string(),
                }
            }
        };
        assert!(said(b"P").contains("begins with SLC1 or SLQ1, not \"P\""), "at the first octet");
        assert!(said(b"GET / HTTP/1.1\r\n\r\nSLC1").starts_with("octet 0: "));
        let second = [&cltu().encode()[..], b"SLX1"].concat();
        assert!(said(&second).starts_with("octet 39: a message begins"), "{}", said(&second));
        assert!(said(b"SLC1\0\0\0\x1c").contains("28 octets: a message of this kind has 29 to"));
        assert!(said(b"SLC1\xff\xff\xff\xff").contains("4294967295 octets"));
        assert!(said(b"SLQ1\0\0\0\x09").contains("has 8 to 8"));
        assert_eq!(said(b"SLQ1\0\0"), "");
    }

    proptest! {
        #[test]
        fn any_octets_in_any_pieces(octets in proptest::collection::vec(any::<u8>(), 0..200), piece in 1..50usize) {
            let all = [&cltu().encode()[..], &octets].concat();
            let mut reader = RequestReader::default();
            let mut requests = 0;
            'all: for part in all.chunks(piece) {
                reader.extend(part);
                loop {
                    match reader.next_request() {
                        Ok(Some(_)) => requests += 1,
                        Ok(None) => break,
                        Err(_) => break 'all,
                    }
                }
            }
            prop_assert!(requests >= 1);
        }
    }
}
