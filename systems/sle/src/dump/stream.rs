//! Messages of one direction of a connection, as a capture has it: with gaps, cut at both ends, or
//! damaged.

use crate::tml::{CONTEXT_BODY_BYTES, ContextMessage, HEADER_BYTES, MessageHeader, MessageKind};
use bytes::{Buf, Bytes, BytesMut};

/// Longest PDU that is taken for one, in octets: the most that can be configured.
const PDU_OCTETS_MAX: u32 = 64 << 20;

/// A part of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamPart {
    /// A message with its header.
    Message(MessageKind, Bytes),
    /// The octet of PEER-ABORT. It is certain if the capture marks it as urgent.
    Urgent { octet: u8, is_certain: bool },
    /// What follows is no message, and why.
    Broken(String),
    /// Octets without a message in them.
    Skipped(u64),
    /// Octets that the capture lacks.
    Lost(u64),
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(super) struct DumpStream {
    received: BytesMut,
    /// Position of the first octet of `received` in the stream.
    position: u64,
    /// Whether the next octet is not known to be the first of a message.
    is_lost: bool,
    /// Octets skipped since then.
    skipped: u64,
    /// Whether the capture has ended: no more octets will come.
    has_ended: bool,
}

impl DumpStream {
    /// Takes the next octets.
    pub(super) fn take(&mut self, octets: &[u8]) {
        self.received.extend_from_slice(octets);
    }

    /// Position of what [`Self::next`] returns.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The octets that wait for more.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.received
    }

    /// The next message; `None`: octets are missing. The position is that of its first octet.
    pub(super) fn next(&mut self) -> Option<(u64, StreamPart)> {
        if self.is_lost && !self.search() {
            return None;
        }
        if self.skipped > 0 {
            let skipped = std::mem::take(&mut self.skipped);
            return Some((self.position - skipped, StreamPart::Skipped(skipped)));
        }
        let position = self.position;
        let first = self.received.first_chunk::<HEADER_BYTES>()?;
        let header = match MessageHeader::parse(first) {
            Ok(header) => header,
            Err(word) => {
                let at = if position == 0 { "; the capture may begin within it" } else { "" };
                return Some(self.broken(format!("the word {word:08x} is no type of message{at}")));
            }
        };
        if let Some(why) = wrong(header) {
            return Some(self.broken(why));
        }
        let length = HEADER_BYTES + header.length as usize;
        if self.received.len() < length {
            return None;
        }
        let message = self.received.split_to(length).freeze();
        self.position += length as u64;
        if header.kind == MessageKind::Context
            && ContextMessage::parse(&message[HEADER_BYTES..]).is_none()
        {
            // The message is whole: the stream goes on behind it.
            let why = "the context message is of another protocol or version".to_owned();
            return Some((position, StreamPart::Broken(why)));
        }
        Some((position, StreamPart::Message(header.kind, message)))
    }

    fn broken(&mut self, why: String) -> (u64, StreamPart) {
        self.is_lost = true;
        // At least one octet is passed over, or the same would be found again.
        self.skip(1);
        (self.position - 1, StreamPart::Broken(why))
    }

    fn skip(&mut self, octets: usize) {
        let octets = octets.min(self.received.len());
        self.received.advance(octets);
        self.position += octets as u64;
        self.skipped += octets as u64;
    }

    /// Looks for the next message; whether one was found. Octets before it are skipped.
    fn search(&mut self) -> bool {
        let mut at = 0;
        while at + HEADER_BYTES <= self.received.len() {
            match self.candidate(at) {
                Candidate::No => at += 1,
                Candidate::Yes => {
                    self.skip(at);
                    self.is_lost = false;
                    return true;
                }
                // The octets before it are none.
                Candidate::Perhaps => {
                    self.skip(at);
                    return false;
                }
            }
        }
        self.skip(at);
        if self.has_ended {
            self.skip(self.received.len());
        }
        false
    }

    /// Whether a message begins at this index: its header is one, and so is what follows it.
    fn candidate(&self, at: usize) -> Candidate {
        let octets = &self.received[at..];
        let Some(Ok(header)) = octets.first_chunk().map(MessageHeader::parse) else {
            return Candidate::No;
        };
        let content = &octets[HEADER_BYTES..];
        let looks_right = match header.kind {
            // Every operation has a constructed or primitive context tag.
            MessageKind::Pdu => content.first().is_none_or(|octet| octet >> 6 == 2),
            MessageKind::Context => content.len() < 4 || content.starts_with(b"ISP1"),
            MessageKind::Heartbeat => true,
        };
        if wrong(header).is_some() || !looks_right {
            return Candidate::No;
        }
        let unknown = if self.has_ended { Candidate::No } else { Candidate::Perhaps };
        match content.get(header.length as usize..) {
            None => unknown,
            Some([]) if self.has_ended => Candidate::Yes,
            Some(next) if next.len() < HEADER_BYTES => match self.has_ended {
                true => Candidate::No,
                false => Candidate::Perhaps,
            },
            Some(next) => match next.first_chunk().map(MessageHeader::parse) {
                Some(Ok(next)) if wrong(next).is_none() => Candidate::Yes,
                _ => Candidate::No,
            },
        }
    }

    /// The capture lacks octets here: what waits is not a whole message.
    pub(super) fn lose(&mut self, missing: u64) -> Vec<(u64, StreamPart)> {
        let mut parts = self.cut("octets are missing behind them");
        parts.push((self.position, StreamPart::Lost(missing)));
        self.position += missing;
        self.is_lost = true;
        parts
    }

    /// The last octet is urgent data.
    pub(super) fn urgent(&mut self) -> Vec<(u64, StreamPart)> {
        let Some(octet) = self.received.last().copied() else { return Vec::new() };
        self.received.truncate(self.received.len() - 1);
        let mut parts = self.cut("PEER-ABORT cuts the message");
        parts.push((self.position, StreamPart::Urgent { octet, is_certain: true }));
        self.position += 1;
        parts
    }

    /// No more octets come.
    pub(super) fn end(&mut self) -> Vec<(u64, StreamPart)> {
        self.has_ended = true;
        let mut parts = Vec::new();
        while let Some(part) = self.next() {
            parts.push(part);
        }
        if let [octet] = self.received[..]
            && !self.is_lost
        {
            parts.push((self.position, StreamPart::Urgent { octet, is_certain: false }));
            self.received.clear();
            self.position += 1;
        }
        parts.extend(self.cut("the stream ends within the message"));
        parts
    }

    /// Gives up what waits.
    fn cut(&mut self, why: &str) -> Vec<(u64, StreamPart)> {
        let mut parts = Vec::new();
        let waiting = self.received.len();
        if self.is_lost {
            self.skip(waiting);
        } else if waiting > 0 {
            let announced = self.received.first_chunk().map(MessageHeader::parse);
            let of = match announced {
                Some(Ok(header)) => {
                    format!(" of {}", HEADER_BYTES as u64 + u64::from(header.length))
                }
                _ => String::new(),
            };
            parts.push((self.position, StreamPart::Broken(format!("{waiting}{of} octets: {why}"))));
            self.received.clear();
            self.position += waiting as u64;
        }
        if self.skipped > 0 {
            let skipped = std::mem::take(&mut self.skipped);
            parts.push((self.position - skipped, StreamPart::Skipped(skipped)));
        }
        parts
    }
}

enum Candidate {
    Yes,
    No,
    /// More octets are needed.
    Perhaps,
}

/// Why a header cannot be one.
fn wrong(header: MessageHeader) -> Option<String> {
    let MessageHeader { kind, length } = header;
    match kind {
        MessageKind::Heartbeat if length > 0 => {
            Some(format!("a heartbeat announces {length} octets"))
        }
        MessageKind::Context if length != CONTEXT_BODY_BYTES => {
            Some(format!("a context message announces {length} octets instead of 12"))
        }
        MessageKind::Pdu if length == 0 => Some("a PDU without octets".to_owned()),
        MessageKind::Pdu if length > PDU_OCTETS_MAX => {
            Some(format!("a PDU announces {length} octets"))
        }
        _ => None,
    }
}

/// Whether octets at the beginning of a connection are those of ISP1; `None`: there are too few.
pub(super) fn is_isp1(octets: &[u8]) -> Option<bool> {
    let header = MessageHeader::parse(octets.first_chunk()?);
    Some(header.is_ok_and(|header| wrong(header).is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEARTBEAT: [u8; 8] = [3, 0, 0, 0, 0, 0, 0, 0];

    fn pdu(octets: &[u8]) -> Vec<u8> {
        let length = u32::try_from(octets.len()).unwrap().to_be_bytes();
        [&[1, 0, 0, 0], &length[..], octets].concat()
    }

    fn parts(stream: &mut DumpStream) -> Vec<(u64, StreamPart)> {
        let mut parts: Vec<_> = std::iter::from_fn(|| stream.next()).collect();
        parts.extend(stream.end());
        parts
    }

    #[test]
    fn messages_have_their_positions() {
        let mut stream = DumpStream::default();
        let all = [&HEARTBEAT[..], &pdu(&[0xa2, 0]), &HEARTBEAT].concat();
        for octet in &all {
            stream.take(&[*octet]);
        }
        let parts = parts(&mut stream);
        let positions: Vec<u64> = parts.iter().map(|(position, _)| *position).collect();
        assert_eq!(positions, [0, 8, 18]);
        assert_eq!(parts[1].1, StreamPart::Message(MessageKind::Pdu, pdu(&[0xa2, 0]).into()));
    }

    #[test]
    fn a_broken_stream_goes_on_at_the_next_message() {
        let mut stream = DumpStream::default();
        stream.take(&[&b"GET / HTTP/1.0\r\n"[..], &pdu(&[0xa2, 0]), &HEARTBEAT].concat());
        let parts = parts(&mut stream);
        let StreamPart::Broken(why) = &parts[0].1 else { panic!("{parts:?}") };
        assert_eq!(why, "the word 47455420 is no type of message; the capture may begin within it");
        assert_eq!(parts[1], (0, StreamPart::Skipped(16)));
        assert_eq!(parts[2].0, 16);
        assert_eq!(parts.len(), 4);
    }

    #[test]
    fn a_gap_and_both_ends_are_told() {
        let mut stream = DumpStream::default();
        stream.take(&pdu(&[0xa2; 9])[..12]);
        assert_eq!(stream.next(), None);
        let lost = stream.lose(5);
        let why = "12 of 17 octets: octets are missing behind them".to_owned();
        assert_eq!(lost, [(0, StreamPart::Broken(why)), (12, StreamPart::Lost(5))]);
        stream.take(&[&[0xff; 3][..], &HEARTBEAT, &pdu(&[0xa2, 0])[..9]].concat());
        let rest = parts(&mut stream);
        assert_eq!(rest[0], (17, StreamPart::Skipped(3)));
        assert_eq!(rest[1].0, 20);
        let why = "9 of 10 octets: the stream ends within the message".to_owned();
        assert_eq!(rest[2], (28, StreamPart::Broken(why)));
    }

    #[test]
    fn one_octet_at_the_end_is_an_abort_and_certain_if_it_was_urgent() {
        let abort = |is_certain| StreamPart::Urgent { octet: 2, is_certain };
        let mut stream = DumpStream::default();
        stream.take(&[&HEARTBEAT[..], &[2]].concat());
        assert_eq!(parts(&mut stream)[1], (8, abort(false)));
        let mut stream = DumpStream::default();
        stream.take(&[&HEARTBEAT[..], &pdu(&[0xa2, 0])[..5], &[2]].concat());
        stream.next().unwrap();
        let parts = stream.urgent();
        assert_eq!(parts[1], (13, abort(true)));
        assert!(matches!(&parts[0].1, StreamPart::Broken(why) if why.starts_with("5 octets")));
    }
}
