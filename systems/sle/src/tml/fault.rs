//! Faults of the transport mapping layer, which end a connection.

/// Why the transport of an association ended. Positions are octets of the stream from its start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TmlFault {
    /// The first message is not the context message.
    #[error("the first message is no context message")]
    NoContext,
    /// The context message is of another length, protocol or version.
    #[error("context message at octet {position} is not of ISP1 version 1")]
    BadContext {
        /// Position of its header.
        position: u64,
    },
    /// A context message where none belongs: a second one, or one to the initiator.
    #[error("context message at octet {position}, where none belongs")]
    UnexpectedContext {
        /// Position of its header.
        position: u64,
    },
    /// A message of no known type.
    #[error("message at octet {position} has the type {word:#010x}")]
    BadType {
        /// The first 32 bits of the header.
        word: u32,
        /// Position of the header.
        position: u64,
    },
    /// A heartbeat with something in it.
    #[error("heartbeat at octet {position} announces {length} octets")]
    LongHeartbeat {
        /// Announced length, in octets.
        length: u32,
        /// Position of the header.
        position: u64,
    },
    /// A PDU without octets.
    #[error("empty PDU at octet {position}")]
    EmptyPdu {
        /// Position of the header.
        position: u64,
    },
    /// A PDU longer than is taken.
    #[error("PDU at octet {position} announces {length} octets, more than {max}")]
    TooLong {
        /// Announced length, in octets.
        length: u32,
        /// Maximum length, in octets.
        max: u32,
        /// Position of the header.
        position: u64,
    },
    /// Heartbeat interval or dead factor outside of what the responder takes.
    #[error("heartbeat of {interval_s} s with dead factor {dead_factor} is not accepted")]
    HeartbeatRefused {
        /// Proposed, in seconds.
        interval_s: u16,
        /// Proposed dead factor.
        dead_factor: u16,
    },
    /// No first PDU in time.
    #[error("no PDU came within the time for establishment")]
    EstablishmentTimeout,
    /// No message for interval × dead factor.
    #[error("nothing was heard from the peer for {} ms", silent_ns / 1_000_000)]
    PeerDead {
        /// Time without a message, in nanoseconds.
        silent_ns: u64,
    },
    /// The stream ended without UNBIND or PEER-ABORT.
    #[error("the peer disconnected at octet {position}, {left_bytes} octets into a message")]
    UnexpectedDisconnect {
        /// Position of the end of the last complete message.
        position: u64,
        /// Octets of a message that is not whole.
        left_bytes: usize,
    },
    /// Urgent data were announced, but the stream ended before the octet came.
    #[error("the peer disconnected before the diagnostic of its PEER-ABORT came")]
    PrematureDisconnect,
    /// The connection broke, or whatever has the socket could not go on.
    #[error("connection: {reason}")]
    Connection {
        /// Message of the operating system.
        reason: String,
    },
}

impl TmlFault {
    /// Diagnostic of CCSDS 913.1: 128 to 134, or 199.
    #[must_use]
    pub fn diagnostic(&self) -> u8 {
        match self {
            Self::NoContext | Self::UnexpectedContext { .. } => 128,
            Self::BadContext { .. }
            | Self::BadType { .. }
            | Self::LongHeartbeat { .. }
            | Self::EmptyPdu { .. }
            | Self::TooLong { .. } => 129,
            Self::HeartbeatRefused { .. } => 130,
            Self::EstablishmentTimeout => 131,
            Self::PeerDead { .. } => 132,
            Self::UnexpectedDisconnect { .. } => 133,
            Self::PrematureDisconnect => 134,
            Self::Connection { .. } => 199,
        }
    }

    /// Whether the peer is told by urgent data. Otherwise the connection is broken without a word:
    /// before the context message there is no protocol, and a dead peer does not listen.
    #[must_use]
    pub fn tells_the_peer(&self) -> bool {
        matches!(
            self,
            Self::UnexpectedContext { .. }
                | Self::BadType { .. }
                | Self::LongHeartbeat { .. }
                | Self::EmptyPdu { .. }
                | Self::TooLong { .. }
                | Self::HeartbeatRefused { .. }
        )
    }
}

/// Why a PDU was not put into a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError<E> {
    /// The PDU could not be encoded.
    #[error(transparent)]
    Pdu(E),
    /// A header says up to 2³² − 1 octets.
    #[error("a PDU of {length} octets is too long for a message")]
    TooLong {
        /// Length of the PDU in octets.
        length: usize,
    },
}
