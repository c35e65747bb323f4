//! Frames of a journal: what both directions know.

/// First octets of a file: its name and its version, 1.
pub const MAGIC: [u8; 8] = *b"CHRJNL\0\x01";

/// Octets before a frame's body: its length and its checksum.
pub const FRAME_HEAD_BYTES: usize = 8;

/// Longest body, octets.
pub const BODY_BYTES_MAX: usize = 16 << 20;

pub(super) const KIND_CHANNEL: u8 = 1;

pub(super) const KIND_INPUT: u8 = 2;

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Time of arrival, UTC, ns since 1970.
    pub at_ns: i64,
    /// Over what: a name of the system's own, at most 65,535 octets.
    pub channel: String,
    /// Octets of the input.
    pub octets: Vec<u8>,
}
