//! Status of the server as plain data: filled by the engine and the sockets, shown by
//! [`http`](crate::http).
//!
//! All counts begin at the server's start and go on across a live upgrade. All ages and intervals
//! are of the monotonic clock; what is shown to people is UTC.

use crate::config::{Listener, Protocol, Uplink, UplinkKind};
use crate::engine::{ConnId, Now};
use std::net::SocketAddr;
use std::sync::Arc;

/// Octets and packets of a client, a port or a protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Traffic {
    /// Octets received.
    pub bytes_rx: u64,
    /// Octets sent.
    pub bytes_tx: u64,
    /// Packets received, dropped ones and duplicates included.
    pub packets_rx: u64,
    /// Packets sent.
    pub packets_tx: u64,
    /// Packets received that were duplicates.
    pub duplicates: u64,
    /// Packets received that were dropped for another reason.
    pub dropped: u64,
    /// `dropped` by reason, in the order of `DropReason::ALL`; may be shorter, where the rest is 0.
    pub drops: Vec<u64>,
}

impl Traffic {
    /// Counts a packet that was dropped for the reason with this index in `DropReason::ALL`.
    pub fn count_drop(&mut self, reason_index: usize) {
        if self.drops.len() <= reason_index {
            self.drops.resize(reason_index + 1, 0);
        }
        self.drops[reason_index] += 1;
        self.dropped += 1;
    }

    /// Adds what another one counted.
    pub fn add(&mut self, other: &Self) {
        self.bytes_rx += other.bytes_rx;
        self.bytes_tx += other.bytes_tx;
        self.packets_rx += other.packets_rx;
        self.packets_tx += other.packets_tx;
        self.duplicates += other.duplicates;
        self.dropped += other.dropped;
        if self.drops.len() < other.drops.len() {
            self.drops.resize(other.drops.len(), 0);
        }
        for (sum, count) in self.drops.iter_mut().zip(&other.drops) {
            *sum += count;
        }
    }
}

/// All counters of a server at one instant. Clients are not in here: they are asked of each worker.
#[derive(Clone, Debug)]
pub struct StatusSnapshot {
    /// Time of the snapshot.
    pub now: Now,
    /// Start of the server; a live upgrade is not a start.
    pub started: Now,
    /// Clients connected now, uplinks and peers not counted.
    pub clients: u64,
    /// Connections accepted.
    pub connects: u64,
    /// Connections not accepted: ACL, limits.
    pub refused: u64,
    /// Clients cut because they read more slowly than the staleness bound allows.
    pub stale_cuts: u64,
    /// Over TCP, TLS and WebSocket, clients and uplinks.
    pub tcp: Traffic,
    /// Over UDP, clients and peers.
    pub udp: Traffic,
    /// Traffic over SCTP.
    pub sctp: Traffic,
    /// The ports, in the configuration's order.
    pub listeners: Vec<ListenerStatus>,
    /// The uplinks of the configuration, connected or not.
    pub uplinks: Vec<UplinkStatus>,
    /// The duplicate check.
    pub dupes: DupeStatus,
    /// Table of last positions.
    pub history: HistoryStatus,
    /// Memory by table.
    pub memory: Vec<MemoryUse>,
    /// Current faults.
    pub faults: Vec<Fault>,
}

/// Status of a port.
#[derive(Clone, Debug)]
pub struct ListenerStatus {
    /// Port as configured.
    pub listener: Arc<Listener>,
    /// Actual address: the kernel chose the port where the configuration has 0.
    pub address: SocketAddr,
    /// Clients connected now.
    pub clients: u64,
    /// Most clients at a time so far.
    pub clients_peak: u64,
    /// Connections accepted.
    pub connects: u64,
    /// Traffic of the port.
    pub traffic: Traffic,
}

/// An uplink of the configuration.
#[derive(Clone, Debug)]
pub struct UplinkStatus {
    /// Uplink as configured.
    pub uplink: Arc<Uplink>,
    /// Connection of the uplink, where there is one.
    pub conn: Option<ConnId>,
    /// Connections tried so far.
    pub attempts: u64,
    /// Reason why the last connection ended or failed.
    pub error: Option<String>,
}

/// The duplicate check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DupeStatus {
    /// Packets that were new.
    pub uniques: u64,
    /// Packets that were duplicates.
    pub duplicates: u64,
    /// `duplicates` by kind: aprsc's name (`exact`, `space_trim`, `8bit_strip`, …) and count.
    pub kinds: Vec<(&'static str, u64)>,
}

/// Counters of the table of last positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryStatus {
    /// Positions stored, new and changed.
    pub inserts: u64,
    /// Number of look-ups.
    pub lookups: u64,
    /// Look-ups that found a position.
    pub hits: u64,
    /// Packets that had no position to store.
    pub no_position: u64,
    /// Stations forgotten for their age.
    pub expired: u64,
}

/// Memory used by a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// aprsc's name where it has one: `historydb`, `dupecheck`, `client`, `client_heard`, `filter`.
    pub name: &'static str,
    /// Entries in use.
    pub entries: u64,
    /// Entries that there is room for without asking the system.
    pub entries_max: u64,
    /// Octets of one entry; 0 where they differ.
    pub entry_bytes: u64,
    /// Octets allocated.
    pub allocated_bytes: u64,
}

impl MemoryUse {
    /// A table with entries of one size.
    pub fn of(name: &'static str, entries: usize, entry_bytes: usize, allocated: usize) -> Self {
        let [entries, entry_bytes, allocated_bytes] =
            [entries, entry_bytes, allocated].map(|number| number as u64);
        let entries_max = (allocated_bytes / entry_bytes.max(1)).max(entries);
        Self { name, entries, entries_max, entry_bytes, allocated_bytes }
    }

    /// Adds the same table of another worker.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.entries_max += other.entries_max;
        self.allocated_bytes += other.allocated_bytes;
    }
}

/// A fault that an operator has to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Name of the fault: aprsc's alarm where it has one (`no_uplink`, `packet_drop_hang`,
    /// `packet_drop_future`).
    pub name: &'static str,
    /// Description of the fault and its remedy, in a sentence.
    pub text: String,
    /// UTC nanoseconds of the first time.
    pub since_utc_ns: i64,
    /// Number of occurrences so far.
    pub count: u64,
}

/// Role of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A client of the port with this index.
    Client(usize),
    /// An uplink.
    Uplink(UplinkKind),
    /// A core peer.
    Peer,
}

/// Verification of a client's identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verified {
    /// No login, or a wrong passcode.
    #[default]
    No,
    /// Verified by passcode.
    Passcode,
    /// Verified by certificate.
    Certificate,
}

impl Verified {
    /// By whatever means.
    pub fn is_verified(self) -> bool {
        self != Self::No
    }
}

/// A connection: a client, an uplink or a peer.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientStatus {
    /// Identifier of the connection.
    pub conn: ConnId,
    /// Role of the connection.
    pub role: Role,
    /// Transport protocol.
    pub protocol: Protocol,
    /// Whether it is on a hidden port: counted, but not shown.
    pub hidden: bool,
    /// Address of the other side.
    pub remote: SocketAddr,
    /// Our address that it connected to.
    pub local: SocketAddr,
    /// Gets its packets by UDP.
    pub udp: bool,
    /// UTC nanoseconds of the connection's begin.
    pub connected_utc_ns: i64,
    /// Time since the connection began, nanoseconds.
    pub connected_ns: u64,
    /// Time since the last octet was received, nanoseconds.
    pub silent_ns: u64,
    /// Login, or server callsign of an uplink or peer; empty before it is known.
    pub username: String,
    /// Name of the client's program.
    pub app_name: String,
    /// Version of the program.
    pub app_version: String,
    /// Verification of its identity.
    pub verified: Verified,
    /// Subject of the certificate shown.
    pub certificate_subject: Option<String>,
    /// Issuer of the certificate shown.
    pub certificate_issuer: Option<String>,
    /// Octets that wait in our memory.
    pub queued_bytes: u64,
    /// Age of what has waited longest, nanoseconds.
    pub queued_ns: u64,
    /// Traffic of the connection.
    pub traffic: Traffic,
    /// Stations heard from it.
    pub heard: u64,
    /// Stations whose position was sent as a courtesy.
    pub courtesy: u64,
    /// Gets the repairs that known broken programs need.
    pub quirks: bool,
    /// Filters of the client, the port's included.
    pub filter: String,
}

/// A worker, and the connections that it serves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerStatus {
    /// Index of the worker.
    pub index: usize,
    /// Blocks of packets that wait for it.
    pub mail_waiting: u64,
    /// Connections of the worker.
    pub connections: Vec<ClientStatus>,
    /// Memory of the worker's tables.
    pub memory: Vec<MemoryUse>,
}

/// Result of a packet's upload by HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// The packet is accepted. This includes duplicates, which are detected later.
    Accepted,
    /// The first line is not a login line, or not one that may log in.
    InvalidLogin,
    /// The passcode is not that of the callsign.
    NotVerified,
    /// Fewer octets than a packet can have.
    TooShort,
    /// More octets than a packet may have.
    TooLong,
    /// Dropped, for the reason of this name (`DropReason::name`).
    Dropped(&'static str),
}

#[cfg(test)]
mod tests {
    use super::Traffic;

    #[test]
    fn drops_are_counted_by_reason_and_added() {
        let mut one = Traffic::default();
        one.count_drop(3);
        one.count_drop(3);
        let mut sum = Traffic { packets_rx: 5, ..Traffic::default() };
        sum.count_drop(0);
        sum.add(&one);
        assert_eq!((sum.dropped, sum.drops), (3, vec![1, 0, 0, 2]));
        assert_eq!(sum.packets_rx, 5);
    }
}
