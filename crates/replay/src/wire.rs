//! The octets between coordinator and process, version 1 (`docs/formats/virtual-clock.md`).
//!
//! One datagram of a sequenced-packet socket is one packet: 24 octets of head, then tokens of 48
//! octets each, or text. Numbers are little-endian, addresses and ports in network order.

use std::net::{Ipv6Addr, SocketAddr};

/// Version of the protocol; both sides refuse any other.
pub const VERSION: u8 = 1;
/// Octets of a packet's head.
pub const HEAD_BYTES: usize = 24;
/// Octets of a token.
pub const TOKEN_BYTES: usize = 48;
/// Longest packet, octets. A process with more to say sends [`PacketKind::Tokens`] first.
pub const PACKET_BYTES_MAX: usize = HEAD_BYTES + 1024 * TOKEN_BYTES;
/// Longest name of a program, octets; the rest is cut.
pub const NAME_BYTES_MAX: usize = 256;
/// Value of [`Packet::a`] in [`PacketKind::Quiescent`]: no timeout, waits for ever.
pub const FOREVER: i64 = i64::MAX;

/// Kind of a packet. Below 16 from the process, from 16 from the coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketKind {
    /// Process takes part: `a` its number, `b` its parent's; text: its program.
    Hello = 1,
    /// Every thread waits: `a` earliest timeout (monotonic ns or [`FOREVER`]), flags [`Waits`].
    Quiescent = 2,
    /// More tokens than one packet holds; the process still runs.
    Tokens = 3,
    /// `a`: number of a child, which will say hello.
    Fork = 4,
    /// The process is about to execute another program, which will say hello.
    Exec = 5,
    /// The process could not execute the program.
    ExecFailed = 6,
    /// A signal arrived during a wait: the process wants to run.
    Signal = 7,
    /// The process requested something that cannot be virtual. `a` is the system call; the text
    /// describes it.
    Refused = 8,
    /// Answer to hello: `a` the process's slot in the page, `b` its seed.
    Welcome = 16,
    /// Run. `a`: real time to wait for strangers, ns. Tokens: what must have arrived first.
    Go = 17,
}

impl PacketKind {
    fn of(octet: u8) -> Option<Self> {
        use PacketKind::*;
        [Hello, Quiescent, Tokens, Fork, Exec, ExecFailed, Signal, Refused, Welcome, Go]
            .into_iter()
            .find(|kind| *kind as u8 == octet)
    }
}

/// Events that the threads of a quiescent process wait for, besides time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits(pub u32);

impl Waits {
    /// Some thread waits for a descriptor, a child, a signal or a futex that others can touch.
    pub const OTHERS: Self = Self(1);
    /// Some thread waits for room to write.
    pub const ROOM: Self = Self(2);

    /// Whether all of `other` is in this.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One end of a connection. IPv4 is written as IPv4-mapped IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// Address; all zero is any.
    pub address: Ipv6Addr,
    /// Port number.
    pub port: u16,
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        let ip = match address.ip() {
            std::net::IpAddr::V4(v4) if v4.is_unspecified() => Ipv6Addr::UNSPECIFIED,
            std::net::IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            std::net::IpAddr::V6(v6) => v6,
        };
        Self { address: ip, port: address.port() }
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.address.to_ipv4_mapped() {
            Some(v4) => write!(f, "{v4}:{}", self.port),
            None => write!(f, "[{}]:{}", self.address, self.port),
        }
    }
}

/// Event on a connection, in a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ConnectionEvent {
    /// `count` octets were written to a stream; to the process: so many must be readable.
    Sent = 1,
    /// `count` octets were read from the stream `from` → `to`.
    Received = 2,
    /// A datagram was sent.
    Datagram = 3,
    /// The process accepts streams at `from`.
    Listen = 4,
    /// The process takes datagrams at `from`.
    Bound = 5,
    /// The process (`from`) connected to `to`; to the process: a connection must be waiting.
    Connect = 6,
    /// The process (`from`) accepted the connection of `to`.
    Accepted = 7,
    /// The process closed its end `from`; to the process: the end of `from` → `to` must be there.
    Closed = 8,
    /// Data were written to a target without an address: a pipe, a local socket.
    Local = 9,
    /// A signal was sent to process `count`.
    Kill = 10,
    /// A futex was woken that other processes may wait for.
    Wake = 11,
}

impl ConnectionEvent {
    fn of(octet: u8) -> Option<Self> {
        use ConnectionEvent::*;
        [Sent, Received, Datagram, Listen, Bound, Connect, Accepted, Closed, Local, Kill, Wake]
            .into_iter()
            .find(|event| *event as u8 == octet)
    }
}

/// One action of a process, or a condition for its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The event.
    pub event: ConnectionEvent,
    /// Number of octets, or the event's own value.
    pub count: u64,
    /// Source of the octets; for the process's own acts, its end.
    pub from: Endpoint,
    /// Destination of the octets.
    pub to: Endpoint,
}

/// A packet, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Kind of the packet.
    pub kind: PacketKind,
    /// See [`Waits`]; 0 elsewhere.
    pub flags: u32,
    /// First value, see [`PacketKind`].
    pub a: i64,
    /// Second value, see [`PacketKind`].
    pub b: i64,
    /// Tokens, at most 1024.
    pub tokens: Vec<Token>,
    /// Text of hello and refused; invalid UTF-8 is replaced.
    pub text: String,
}

/// Reasons why a packet is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Shorter than its head or its tokens say, or longer.
    #[error("the packet has {got} octets, but its head states {wanted}")]
    Length {
        /// Octets received.
        got: usize,
        /// Octets that head and tokens need.
        wanted: usize,
    },
    /// Another version of the protocol.
    #[error(
        "the peer uses protocol version {0}, this program version {VERSION}: use programs of one \
         build"
    )]
    Version(u8),
    /// No such packet.
    #[error("packet kind {0} at octet 1 is unknown")]
    Kind(u8),
    /// No such token.
    #[error("token {index} at octet {position} has the unknown event {event}")]
    Event {
        /// Index of the token.
        index: usize,
        /// Begin of the token.
        position: usize,
        /// Event number in the token.
        event: u8,
    },
}

impl Packet {
    /// A packet without tokens and text.
    #[must_use]
    pub fn new(kind: PacketKind, a: i64, b: i64) -> Self {
        Self { kind, flags: 0, a, b, tokens: Vec::new(), text: String::new() }
    }

    /// The octets of one packet.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut octets = vec![VERSION, self.kind as u8];
        let count = u16::try_from(self.tokens.len()).unwrap_or(u16::MAX);
        octets.extend(count.to_le_bytes());
        octets.extend(self.flags.to_le_bytes());
        octets.extend(self.a.to_le_bytes());
        octets.extend(self.b.to_le_bytes());
        for token in self.tokens.iter().take(count.into()) {
            octets.extend([token.event as u8, 0, 0, 0]);
            for end in [token.from, token.to] {
                octets.extend(end.address.octets());
                octets.extend(end.port.to_be_bytes());
            }
            octets.extend(token.count.to_le_bytes());
        }
        octets.extend(self.text.as_bytes().iter().take(NAME_BYTES_MAX));
        octets
    }

    /// Reads one packet.
    ///
    /// # Errors
    /// [`WireError`], with the fault and its position.
    pub fn decode(octets: &[u8]) -> Result<Self, WireError> {
        let short = |wanted| WireError::Length { got: octets.len(), wanted };
        if octets.len() < HEAD_BYTES {
            return Err(short(HEAD_BYTES));
        }
        if octets[0] != VERSION {
            return Err(WireError::Version(octets[0]));
        }
        let kind = PacketKind::of(octets[1]).ok_or(WireError::Kind(octets[1]))?;
        let count = usize::from(u16::from_le_bytes([octets[2], octets[3]]));
        let wanted = HEAD_BYTES + count * TOKEN_BYTES;
        if octets.len() < wanted {
            return Err(short(wanted));
        }
        let text = &octets[wanted..];
        let may_have_text = matches!(kind, PacketKind::Hello | PacketKind::Refused);
        if text.len() > if may_have_text { NAME_BYTES_MAX } else { 0 } {
            return Err(short(wanted));
        }
        let tokens = octets[HEAD_BYTES..wanted].chunks_exact(TOKEN_BYTES).enumerate();
        Ok(Self {
            kind,
            flags: u32::from_le_bytes(array(octets, 4)),
            a: i64::from_le_bytes(array(octets, 8)),
            b: i64::from_le_bytes(array(octets, 16)),
            tokens: tokens
                .map(|(index, token)| decode_token(index, token))
                .collect::<Result<_, _>>()?,
            text: String::from_utf8_lossy(text).into_owned(),
        })
    }
}

fn decode_token(index: usize, octets: &[u8]) -> Result<Token, WireError> {
    let position = HEAD_BYTES + index * TOKEN_BYTES;
    let event = ConnectionEvent::of(octets[0]).ok_or(WireError::Event {
        index,
        position,
        event: octets[0],
    })?;
    let end = |at: usize| Endpoint {
        address: Ipv6Addr::from(array::<16>(octets, at)),
        port: u16::from_be_bytes(array(octets, at + 16)),
    };
    Ok(Token { event, count: u64::from_le_bytes(array(octets, 40)), from: end(4), to: end(22) })
}

/// `N` octets at `at`; the caller has checked the length.
fn array<const N: usize>(octets: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&octets[at..at + N]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quiescent() -> Packet {
        let from = Endpoint::from(SocketAddr::from(([127, 0, 0, 1], 0x1234)));
        let to = Endpoint::from(SocketAddr::from(([0, 0, 0, 0], 80)));
        let token = Token { event: ConnectionEvent::Sent, count: 258, from, to };
        let flags = Waits::ROOM.0;
        Packet { flags, tokens: vec![token], ..Packet::new(PacketKind::Quiescent, FOREVER, -1) }
    }

    #[test]
    fn octets_are_those_of_the_page() {
        let octets = quiescent().encode();
        assert_eq!(octets[..8], [1, 2, 1, 0, 2, 0, 0, 0]);
        assert_eq!(
            octets[8..24],
            [255, 255, 255, 255, 255, 255, 255, 127, 255, 255, 255, 255, 255, 255, 255, 255]
        );
        assert_eq!(octets[24..28], [1, 0, 0, 0]);
        assert_eq!(
            octets[28..46],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1, 0x12, 0x34]
        );
        assert_eq!(octets[46..64], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 80]);
        assert_eq!(octets[64..], [2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Packet::decode(&octets), Ok(quiescent()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let mut octets = quiescent().encode();
        let got = octets.len() - 1;
        assert_eq!(Packet::decode(&octets[..got]), Err(WireError::Length { got, wanted: 72 }));
        octets[24] = 99;
        let error = Packet::decode(&octets).unwrap_err().to_string();
        assert_eq!(error, "token 0 at octet 24 has the unknown event 99");
        octets[0] = 2;
        assert_eq!(Packet::decode(&octets), Err(WireError::Version(2)));
    }

    proptest! {
        #[test]
        fn any_octets_are_refused_or_come_back(octets in prop::collection::vec(any::<u8>(), 0..200), good in any::<bool>()) {
            let mut octets = octets;
            if good && octets.len() >= 4 {
                octets[..4].copy_from_slice(&[VERSION, 2, 1, 0]);
            }
            if let Ok(packet) = Packet::decode(&octets) {
                prop_assert_eq!(Packet::decode(&packet.encode()), Ok(packet));
            }
        }
    }
}
