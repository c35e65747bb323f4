//! Protocol between agent and collector: `docs/formats/agent.md`.
//!
//! Protocol Buffers over gRPC, declared here by hand because they are few. Rows travel as
//! [`chronoscope_store::wire`] writes them, compressed with zstd; this module holds the frame
//! around that, and refuses what claims too much before any memory is given to it.

use chronoscope_store::wire::{self, WireError};
use chronoscope_store::{ClockReading, StreamId};

/// Version of the protocol; a collector takes all up to its own. Version 3 has rows with contexts
/// above 16 KiB (links), which a collector of version 2 refuses as damaged; version 4 has contexts of
/// processes, which one of version 3 refuses.
pub const VERSION: u32 = 4;
/// The bidirectional stream on which rows are delivered.
pub const DELIVER: &str = "/chronoscope.Collector/Deliver";
/// The call by which an agent compares clocks.
pub const CLOCK: &str = "/chronoscope.Collector/Clock";
/// Most rows in one message.
pub const ROWS_MAX: usize = 16_384;
/// Bytes of contexts in one message, from which on no row is added. Rows without links stay below:
/// 16,384 contexts of 240 bytes are 4 MB.
pub const CONTEXTS_MAX: usize = 8 << 20;
/// Most bytes of a message's contents before compression: rows and contexts take 10 MB, names the
/// rest.
pub const CONTENT_MAX: usize = 32 << 20;
/// Most bytes of a message on the wire.
pub const MESSAGE_MAX: usize = CONTENT_MAX + 4096;
/// Most bytes of the texts in a hello.
pub const TEXT_MAX: usize = 255;
/// The level of compression: the lowest, because rows come in order and shrink well anyway.
const ZSTD_LEVEL: i32 = 1;

/// From agent to collector: a [`Hello`] first, then only [`Rows`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct AgentMessage {
    /// The message by its kind.
    #[prost(oneof = "FromAgent", tags = "1, 2")]
    pub kind: Option<FromAgent>,
}

/// The kinds of message that an agent sends.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum FromAgent {
    /// The agent introduces itself.
    #[prost(message, tag = "1")]
    Hello(Hello),
    /// Rows, or notes without rows.
    #[prost(message, tag = "2")]
    Rows(Rows),
}

/// The agent introduces itself.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Hello {
    /// [`VERSION`] of the agent.
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// The id of its spool: 16 bytes, big-endian.
    #[prost(bytes = "vec", tag = "2")]
    pub agent: Vec<u8>,
    /// The agent's host, for people.
    #[prost(string, tag = "3")]
    pub host: String,
    /// The agent's program and version, for people.
    #[prost(string, tag = "4")]
    pub program: String,
    /// Whether it answers questions about rings ([`crate::rings`]); an older agent does not say so.
    #[prost(bool, tag = "5")]
    pub rings: bool,
}

/// Rows in the order of the spool.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Rows {
    /// Number of the first of them in the spool's count.
    #[prost(uint64, tag = "1")]
    pub first_row: u64,
    /// Bytes of the content before compression.
    #[prost(uint32, tag = "2")]
    pub size_bytes: u32,
    /// A zstd frame with a message of [`wire`].
    #[prost(bytes = "vec", tag = "3")]
    pub content: Vec<u8>,
}

/// From collector to agent: a [`Welcome`] first, then only [`Ack`].
#[derive(Clone, PartialEq, prost::Message)]
pub struct CollectorMessage {
    /// The message by its kind.
    #[prost(oneof = "FromCollector", tags = "1, 2")]
    pub kind: Option<FromCollector>,
}

/// The kinds of message that a collector sends.
#[derive(Clone, Copy, PartialEq, Eq, prost::Oneof)]
pub enum FromCollector {
    /// Accepts the agent, with the row from which to send.
    #[prost(message, tag = "1")]
    Welcome(Welcome),
    /// Acknowledges rows that are durable.
    #[prost(message, tag = "2")]
    Ack(Ack),
}

/// Accepts the agent, with the row from which to send.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Welcome {
    /// [`VERSION`] of the collector.
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// Rows of this agent below this number are durable here; none when it is not known.
    #[prost(uint64, optional, tag = "2")]
    pub next_row: Option<u64>,
}

/// Acknowledges rows that are durable.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Ack {
    /// Rows of this agent below this number survive anything.
    #[prost(uint64, tag = "1")]
    pub row: u64,
}

/// Asks for the collector's time.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct ClockRequest {}

/// The collector's clock when the question came and when the answer went: UTC, nanoseconds since
/// 1970.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct ClockReply {
    /// When the question came.
    #[prost(int64, tag = "1")]
    pub received_ns: i64,
    /// When the answer went.
    #[prost(int64, tag = "2")]
    pub sent_ns: i64,
}

/// Why a message is refused.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// Another protocol.
    #[error(
        "the peer uses version {version} of the protocol, this program version {VERSION}: use \
         programs of one release"
    )]
    Version {
        /// The other side's.
        version: u32,
    },
    /// An agent's id of a wrong length.
    #[error("the agent's id has {len} bytes: 16 expected")]
    AgentId {
        /// Its length in bytes.
        len: usize,
    },
    /// A text that is longer than a name.
    #[error("the agent's {what} has {len} bytes, at most {TEXT_MAX} are allowed")]
    LongText {
        /// The field's name.
        what: &'static str,
        /// Its length in bytes.
        len: usize,
    },
    /// More than a message may have.
    #[error("a message of {size_bytes} bytes, at most {size_max} are allowed")]
    TooLarge {
        /// Size that the message claims, in bytes.
        size_bytes: usize,
        /// Size that it may have, in bytes.
        size_max: usize,
    },
    /// The content is not what the frame says.
    #[error("the content is not a zstd frame of {size_bytes} bytes: {reason}")]
    Compression {
        /// Size that the frame claims, in bytes.
        size_bytes: usize,
        /// Error of the decompression.
        reason: String,
    },
    /// The content is no message.
    #[error(transparent)]
    Content(#[from] WireError),
    /// A clock reading that is impossible.
    #[error("a clock reading of {host:?} with an offset of {offset_ns} ns at {at_ns} ns")]
    Clock {
        /// The host.
        host: String,
        /// Offset of its clock, in nanoseconds.
        offset_ns: i64,
        /// Time of the reading, in nanoseconds.
        at_ns: i64,
    },
}

impl Hello {
    /// The introduction of an agent with this program's version.
    pub fn new(agent: StreamId, host: String) -> Self {
        let program = concat!("chronoscope ", env!("CARGO_PKG_VERSION")).to_owned();
        let agent = agent.0.to_be_bytes().into();
        Self { version: VERSION, agent, host, program, rings: true }
    }

    /// The agent's id.
    ///
    /// # Errors
    /// [`ProtocolError`] when this is no hello that is understood here.
    pub fn check(&self) -> Result<StreamId, ProtocolError> {
        if !(1..=VERSION).contains(&self.version) {
            return Err(ProtocolError::Version { version: self.version });
        }
        for (what, text) in [("host", &self.host), ("program", &self.program)] {
            if text.len() > TEXT_MAX {
                return Err(ProtocolError::LongText { what, len: text.len() });
            }
        }
        let id = <[u8; 16]>::try_from(self.agent.as_slice());
        let id = id.map_err(|_| ProtocolError::AgentId { len: self.agent.len() })?;
        Ok(StreamId(u128::from_be_bytes(id)))
    }
}

impl Rows {
    /// Packs a message.
    ///
    /// # Errors
    /// [`ProtocolError::TooLarge`]; rows up to [`ROWS_MAX`] fit unless names take 22 MB.
    pub fn pack(first_row: u64, message: &wire::Message) -> Result<Self, ProtocolError> {
        let content = wire::encode(&message.batch, &message.names, &message.extras);
        let (size_bytes, content) = compressed(&content, CONTENT_MAX)?;
        Ok(Self { first_row, size_bytes, content })
    }

    /// The message inside. Memory: at most [`CONTENT_MAX`] bytes, and the rows they become.
    ///
    /// # Errors
    /// [`ProtocolError`] when it is not one that may be stored.
    pub fn unpack(&self) -> Result<wire::Message, ProtocolError> {
        let content = decompressed(&self.content, self.size_bytes, CONTENT_MAX)?;
        let message = wire::decode(&content)?;
        message.extras.clocks.iter().try_for_each(check_reading)?;
        Ok(message)
    }
}

/// Some content as its size and a zstd frame.
///
/// # Errors
/// [`ProtocolError::TooLarge`] when it has more than `size_max` bytes.
pub(crate) fn compressed(content: &[u8], size_max: usize) -> Result<(u32, Vec<u8>), ProtocolError> {
    let size_bytes = content.len();
    let size = u32::try_from(size_bytes).ok().filter(|_| size_bytes <= size_max);
    let size = size.ok_or(ProtocolError::TooLarge { size_bytes, size_max })?;
    let packed = zstd::bulk::compress(content, ZSTD_LEVEL)
        .map_err(|error| ProtocolError::Compression { size_bytes, reason: error.to_string() })?;
    Ok((size, packed))
}

/// The content of a zstd frame that claims `size_bytes`, at most `size_max`.
///
/// # Errors
/// [`ProtocolError`] when the frame claims too much, or is not what it claims.
pub(crate) fn decompressed(
    frame: &[u8],
    size_bytes: u32,
    size_max: usize,
) -> Result<Vec<u8>, ProtocolError> {
    let size_bytes = size_bytes as usize;
    if size_bytes > size_max {
        return Err(ProtocolError::TooLarge { size_bytes, size_max });
    }
    let wrong = |reason: String| ProtocolError::Compression { size_bytes, reason };
    let content =
        zstd::bulk::decompress(frame, size_bytes).map_err(|error| wrong(error.to_string()))?;
    if content.len() != size_bytes {
        return Err(wrong(format!("{} bytes came out", content.len())));
    }
    Ok(content)
}

/// Offsets are subtracted from stamps: those that leave the range of stamps are nobody's.
fn check_reading(reading: &ClockReading) -> Result<(), ProtocolError> {
    let ClockReading { host, at_ns, offset_ns, .. } = reading;
    let own_ns = at_ns.checked_add(*offset_ns).filter(|_| *at_ns >= 0);
    match own_ns {
        Some(own_ns) if own_ns >= 0 => Ok(()),
        _ => Err(ProtocolError::Clock { host: host.clone(), offset_ns: *offset_ns, at_ns: *at_ns }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::Record;

    fn message(rows: usize) -> wire::Message {
        let mut message = wire::Message::default();
        for _ in 0..rows {
            message.batch.push(Record::default(), b"context");
        }
        message
    }

    #[test]
    fn rows_come_out_as_they_went_in() {
        let message = message(1000);
        let rows = Rows::pack(7, &message).unwrap();
        assert!(rows.content.len() < 12_000, "{}", rows.content.len());
        assert_eq!(rows.unpack().unwrap(), message);
    }

    #[test]
    fn what_claims_too_much_is_refused_before_it_costs() {
        let rows = Rows::pack(0, &message(10)).unwrap();
        let said = |rows: Rows| rows.unpack().unwrap_err().to_string();
        let more = Rows { size_bytes: u32::MAX, ..rows.clone() };
        assert_eq!(said(more), "a message of 4294967295 bytes, at most 33554432 are allowed");
        // A bomb: what comes out is more than was said.
        let bomb = zstd::bulk::compress(&vec![0; 1 << 20], 1).unwrap();
        let less = Rows { content: bomb, size_bytes: 100, first_row: 0 };
        assert!(said(less).starts_with("the content is not a zstd frame of 100 bytes: "));
        let longer = Rows { size_bytes: rows.size_bytes + 1, ..rows.clone() };
        assert!(said(longer).contains("bytes came out"));
        let inner = Rows { content: zstd::bulk::compress(b"hello", 1).unwrap(), ..rows };
        assert_eq!(
            said(Rows { size_bytes: 5, ..inner }),
            "byte 5 of the message: the head is cut off"
        );
    }

    #[test]
    fn a_hello_is_checked() {
        let hello = Hello::new(StreamId(5), "radar-1".into());
        assert_eq!(hello.check().unwrap(), StreamId(5));
        let other = Hello { version: 9, ..hello.clone() };
        assert!(
            other
                .check()
                .unwrap_err()
                .to_string()
                .starts_with("the peer uses version 9 of the protocol")
        );
        let short = Hello { agent: vec![1; 15], ..hello.clone() };
        assert_eq!(
            short.check().unwrap_err().to_string(),
            "the agent's id has 15 bytes: 16 expected"
        );
        let long = Hello { host: "h".repeat(256), ..hello };
        assert!(
            long.check().unwrap_err().to_string().starts_with("the agent's host has 256 bytes")
        );
    }

    #[test]
    fn a_clock_outside_of_time_is_refused() {
        let clock = |at_ns, offset_ns| {
            let host = "h".to_owned();
            let mut message = wire::Message::default();
            message.extras.clocks.push(ClockReading { host, at_ns, offset_ns, error_ns: 1 });
            Rows::pack(0, &message).unwrap().unpack()
        };
        assert!(clock(1_000, -1_000).is_ok());
        assert!(clock(1_000, -1_001).is_err());
        assert!(clock(i64::MAX, 1).is_err());
    }
}
