//! Input and output of the engine. All input passes here, with its arrival time, and can be
//! recorded and replayed.

use crate::callsign::Callsign;
use smallvec::SmallVec;
use std::io::{self, IoSlice};
use std::net::SocketAddr;

/// A connection, an uplink, a UDP peer or a datagram's port: never used twice by a server, not
/// even across a live upgrade.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct ConnId(pub u64);

/// An instant on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Now {
    /// Nanoseconds of the monotonic clock: all intervals.
    pub monotonic_ns: u64,
    /// UTC nanoseconds since 1970, for everything that is shown to people.
    pub utc_ns: i64,
}

/// An input from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// A client connected to a port, and the ACL has accepted it.
    Opened {
        /// Identifier of the new connection.
        conn: ConnId,
        /// Index of the port in `Config::listeners`.
        listener: usize,
        /// Address of the other side.
        remote: SocketAddr,
        /// Our address that it connected to.
        local: SocketAddr,
        /// Callsign in the client's certificate, where it showed one that is valid.
        certificate: Option<Callsign>,
    },
    /// We connected to an uplink.
    UplinkOpened {
        /// Identifier of the new connection.
        conn: ConnId,
        /// Index of the uplink in `Config::uplinks`.
        uplink: usize,
        /// Address of the uplink.
        remote: SocketAddr,
        /// Our address.
        local: SocketAddr,
        /// The other side's certificate was checked.
        certificate: bool,
    },
    /// Bytes of a connection, in order, in pieces of any size.
    Received {
        /// The sending connection.
        conn: ConnId,
        /// Octets received.
        bytes: &'a [u8],
    },
    /// The kernel takes bytes again after [`Output::write`] had to leave some.
    Writable {
        /// The connection.
        conn: ConnId,
    },
    /// A connection is gone; nothing is written to it any longer.
    Closed {
        /// The connection.
        conn: ConnId,
        /// In words, for the log and the status page.
        reason: &'a str,
    },
    /// A datagram to a UDP port: of a client that asked for UDP, or a submission.
    Datagram {
        /// Index of the port in `Config::listeners`.
        listener: usize,
        /// Address of the sender.
        from: SocketAddr,
        /// Octets of the datagram.
        bytes: &'a [u8],
    },
    /// A datagram of a core peer.
    PeerDatagram {
        /// Index in `Config::peer_groups`.
        group: usize,
        /// Sender, not yet checked to be a peer.
        from: SocketAddr,
        /// Octets of the datagram.
        bytes: &'a [u8],
    },
    /// An upload by HTTP: a login line and a packet line.
    Posted {
        /// Address of the sender.
        from: SocketAddr,
        /// The body of the request.
        bytes: &'a [u8],
    },
}

/// Port through which a datagram is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatagramPort {
    /// Index in `Config::listeners`.
    Listener(usize),
    /// Index in `Config::peer_groups`.
    PeerGroup(usize),
}

/// Manner of closing a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// Closed after all written octets are sent.
    Graceful,
    /// At once: what the kernel still has is thrown away.
    Reset,
}

/// A write to a connection.
#[derive(Debug)]
pub struct Write<'a> {
    /// The connection.
    pub conn: ConnId,
    /// Octets to write; none is empty.
    pub slices: SmallVec<[IoSlice<'a>; 3]>,
}

/// Effects of the engine: sockets in the server, memory in tests and replays.
pub trait Output {
    /// Writes as much as goes without waiting; how many octets that was. Less than all, 0
    /// included, means: [`Input::Writable`] will come.
    ///
    /// # Errors
    /// When the connection is broken; [`Input::Closed`] will come as well.
    fn write(&mut self, conn: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Writes to several connections, none of them twice, as [`write`](Self::write) does to one;
    /// appends the results in the order of the writes.
    fn write_each(&mut self, writes: &[Write<'_>], results: &mut Vec<io::Result<usize>>) {
        results.extend(writes.iter().map(|write| self.write(write.conn, &write.slices)));
    }

    /// Octets that were written to `conn` and that its host has not acknowledged yet.
    fn unacknowledged(&mut self, conn: ConnId) -> usize;

    /// Sends a datagram; one that the kernel does not take is lost, and counted by the callee.
    fn send(&mut self, port: DatagramPort, to: SocketAddr, bytes: &[u8]);

    /// Ends a connection. [`Input::Closed`] does not come for it.
    fn close(&mut self, conn: ConnId, how: Close, reason: &str);

    /// A line for the log.
    fn log(&mut self, level: LogLevel, line: std::fmt::Arguments<'_>);
}

/// Level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// The server cannot go on.
    Critical,
    /// Something does not work.
    Error,
    /// Something may not work.
    Warning,
    /// Information for operators.
    Info,
    /// Information for developers.
    Debug,
}
