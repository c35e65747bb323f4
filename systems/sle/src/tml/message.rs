//! Messages of the TML in octets. Source: CCSDS 913.1.

use super::heartbeat::Heartbeat;

/// Octets of a message's header.
pub(crate) const HEADER_BYTES: usize = 8;
/// Octets of a context message behind its header.
pub(crate) const CONTEXT_BODY_BYTES: u32 = 12;

/// `ISP1`, three octets of no use, version 1.
const PROTOCOL: [u8; 8] = [b'I', b'S', b'P', b'1', 0, 0, 0, 1];

/// Kind of a message: its first octet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Pdu = 1,
    Context = 2,
    Heartbeat = 3,
}

/// Header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageHeader {
    pub(crate) kind: MessageKind,
    /// Octets that follow.
    pub(crate) length: u32,
}

impl MessageHeader {
    pub(super) fn to_octets(self) -> [u8; HEADER_BYTES] {
        let mut octets = [0; HEADER_BYTES];
        octets[0] = self.kind as u8;
        octets[4..].copy_from_slice(&self.length.to_be_bytes());
        octets
    }

    /// The first 32 bits where they are no type.
    pub(crate) fn parse(octets: &[u8; HEADER_BYTES]) -> Result<Self, u32> {
        let [t0, t1, t2, t3, l0, l1, l2, l3] = *octets;
        let word = u32::from_be_bytes([t0, t1, t2, t3]);
        let kind = match word {
            0x0100_0000 => MessageKind::Pdu,
            0x0200_0000 => MessageKind::Context,
            0x0300_0000 => MessageKind::Heartbeat,
            _ => return Err(word),
        };
        Ok(Self { kind, length: u32::from_be_bytes([l0, l1, l2, l3]) })
    }
}

/// Content of a context message.
pub(crate) struct ContextMessage {
    pub(crate) heartbeat: Heartbeat,
}

impl ContextMessage {
    pub(super) fn to_octets(&self) -> [u8; 20] {
        let mut octets = [0; 20];
        let header = MessageHeader { kind: MessageKind::Context, length: CONTEXT_BODY_BYTES };
        octets[..8].copy_from_slice(&header.to_octets());
        octets[8..16].copy_from_slice(&PROTOCOL);
        octets[16..18].copy_from_slice(&self.heartbeat.interval_s.to_be_bytes());
        octets[18..].copy_from_slice(&self.heartbeat.dead_factor.to_be_bytes());
        octets
    }

    /// `None` for another protocol or version.
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let &[i0, i1, d0, d1] = body.strip_prefix(&PROTOCOL)? else { return None };
        let heartbeat = Heartbeat {
            interval_s: u16::from_be_bytes([i0, i1]),
            dead_factor: u16::from_be_bytes([d0, d1]),
        };
        Some(Self { heartbeat })
    }
}
