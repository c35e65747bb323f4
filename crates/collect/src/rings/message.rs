//! Questions of a collector about the rings of an agent's host, and the answers:
//! `docs/formats/agent.md`, "Rings".
//!
//! Transactions travel as rows do ([`wire`]); beside them is a head of numbers. Whatever arrives is
//! bounded before any memory is given to it, and checked before it is a list or a report.

use crate::protocol::{Hello, ProtocolError, compressed, decompressed};
use chronoscope_store::wire;

/// The bidirectional stream that an agent opens, and on which the collector asks.
pub const QUESTIONS: &str = "/chronoscope.Collector/Rings";
/// Most bytes of a list or of a head before compression. The smallest entry of a list takes two
/// bytes there and some 200 in memory: 100 MB at most.
pub(super) const HEAD_MAX: usize = 512 << 10;
/// Most bytes of the rows before compression: 30,000 with full contexts take 11 MB.
pub(super) const ROWS_MAX: usize = 16 << 20;
/// Most bytes of an answer on the wire.
pub const MESSAGE_MAX: usize = HEAD_MAX + ROWS_MAX + 4096;
/// Most bytes of a name or of a reason in an answer.
const WORDS_MAX: usize = 4096;

/// From agent to collector: a [`Hello`] first, then only answers.
#[derive(Clone, PartialEq, prost::Message)]
pub struct RingsFromAgent {
    /// The message by its kind.
    #[prost(oneof = "RingsMessage", tags = "1, 2")]
    pub kind: Option<RingsMessage>,
}

/// The kinds of message that an agent sends on this stream.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum RingsMessage {
    /// The agent introduces itself, as on the stream of rows.
    #[prost(message, tag = "1")]
    Hello(Hello),
    /// The answer to one question.
    #[prost(message, tag = "2")]
    Answer(RingAnswer),
}

/// From collector to agent.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct RingQuestion {
    /// Number of the question on this stream, from 1; the answer repeats it.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// What is asked; an agent that does not know it answers so.
    #[prost(oneof = "RingSubject", tags = "2, 3")]
    pub subject: Option<RingSubject>,
}

/// What a collector may ask.
#[derive(Clone, Copy, PartialEq, Eq, prost::Oneof)]
pub enum RingSubject {
    /// The rings of the host.
    #[prost(message, tag = "2")]
    List(ListRings),
    /// What one ring has.
    #[prost(message, tag = "3")]
    Ring(ReadRing),
}

/// Asks for the rings of the host.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct ListRings {}

/// Asks for what one ring has.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct ReadRing {
    /// The process's id.
    #[prost(fixed64, tag = "1")]
    pub process: u64,
    /// Number of last transactions.
    #[prost(uint32, tag = "2")]
    pub last: u32,
}

/// The answer to one question.
#[derive(Clone, PartialEq, prost::Message)]
pub struct RingAnswer {
    /// Number of the question.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// The answer by its kind.
    #[prost(oneof = "RingAnswerKind", tags = "2, 3, 4, 5")]
    pub kind: Option<RingAnswerKind>,
}

/// The kinds of answer.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum RingAnswerKind {
    /// The rings of the host.
    #[prost(message, tag = "2")]
    List(Packed),
    /// What one ring has.
    #[prost(message, tag = "3")]
    Ring(PackedRing),
    /// No ring there is of that process.
    #[prost(message, tag = "4")]
    Missing(ListRings),
    /// Why there is no answer, in words.
    #[prost(string, tag = "5")]
    Failed(String),
}

/// A zstd frame, with the size of what is in it.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Packed {
    /// Bytes of the content before compression.
    #[prost(uint32, tag = "1")]
    pub size_bytes: u32,
    /// The frame.
    #[prost(bytes = "vec", tag = "2")]
    pub content: Vec<u8>,
}

/// What one ring has: numbers, and the rows to which they point.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct PackedRing {
    /// The numbers, as Protocol Buffers.
    #[prost(message, optional, tag = "1")]
    pub head: Option<Packed>,
    /// A message of [`wire`] with its names: the last transactions, the open ones, then of each
    /// class the worst by elapsed and by CPU time.
    #[prost(message, optional, tag = "2")]
    pub rows: Option<Packed>,
}

/// Why an answer is refused.
#[derive(Debug, thiserror::Error)]
pub enum RingMessageError {
    /// A part that is too large, or not what its frame says.
    #[error(transparent)]
    Frame(#[from] ProtocolError),
    /// The numbers are no message.
    #[error("the head of the answer: {0}")]
    Head(#[from] prost::DecodeError),
    /// The rows are no message.
    #[error("the rows of the answer: {0}")]
    Rows(#[from] wire::WireError),
    /// A part that must be there is not.
    #[error("the answer has no {part}")]
    Missing {
        /// The part.
        part: &'static str,
    },
    /// More of something than there may be.
    #[error("the answer has {count} {what}, at most {max} are allowed")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many there may be.
        max: u64,
    },
    /// A histogram that cannot be.
    #[error("the histogram of class {index}: {what}")]
    Histogram {
        /// Number of the class in the answer, from 0.
        index: usize,
        /// Description of the fault.
        what: &'static str,
    },
}

/// Refuses more of something than there may be.
pub(super) fn at_most(
    what: &'static str,
    count: usize,
    max: usize,
) -> Result<(), RingMessageError> {
    let (count, max) = (count as u64, max as u64);
    if count > max { Err(RingMessageError::TooMany { what, count, max }) } else { Ok(()) }
}

/// Refuses texts that are too long.
pub(super) fn check_words<'a>(
    words: impl IntoIterator<Item = &'a String>,
) -> Result<(), RingMessageError> {
    words.into_iter().try_for_each(|word| at_most("bytes of a text", word.len(), WORDS_MAX))
}

impl Packed {
    pub(super) fn pack(content: &[u8], size_max: usize) -> Result<Self, ProtocolError> {
        let (size_bytes, content) = compressed(content, size_max)?;
        Ok(Self { size_bytes, content })
    }

    pub(super) fn unpack(&self, size_max: usize) -> Result<Vec<u8>, ProtocolError> {
        decompressed(&self.content, self.size_bytes, size_max)
    }
}

/// A text in at most [`WORDS_MAX`] bytes.
pub(super) fn cut(words: &str) -> String {
    words[..words.floor_char_boundary(WORDS_MAX)].to_owned()
}
