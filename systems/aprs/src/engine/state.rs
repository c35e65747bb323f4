//! State that a live upgrade hands to the next program.

use super::meter::PortCounters;
use super::seam::ConnId;
use crate::dupes::SavedDupes;
use crate::heard::SavedHeard;
use crate::history::SavedPosition;
use crate::status::Traffic;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// A client that stays connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientState {
    /// Identifier of the connection, which stays the same.
    pub conn: ConnId,
    /// The port's address and protocol (`tcp`, `sctp`, `websocket`), by which it is found again.
    pub port: (SocketAddr, String),
    /// Address of the client.
    pub remote: SocketAddr,
    /// Our address.
    pub local: SocketAddr,
    /// Time of the connection, UTC nanoseconds since 1970.
    pub connected_utc_ns: i64,
    /// Nanoseconds since then.
    pub since_connect_ns: u64,
    /// Login; `None` before login.
    pub login: Option<String>,
    /// Whether that is so: 0 no, 1 by passcode, 2 by certificate.
    pub verified: u8,
    /// Failed commands so far.
    pub failed_commands: u8,
    /// Program and version.
    pub application: (String, String),
    /// Text of its own filter.
    pub filter: String,
    /// Port to which packets are sent by UDP.
    pub udp_port: Option<u16>,
    /// Octets of a line that has not ended.
    #[serde(with = "super::latin1")]
    pub input: Vec<u8>,
    /// The line is too long already and is left out.
    pub input_overlong: bool,
    /// Octets that are to be written first.
    #[serde(with = "super::latin1")]
    pub output: Vec<u8>,
    /// For how long the oldest of them has waited, in nanoseconds.
    #[serde(default)]
    pub output_age_ns: u64,
    /// Octets in the kernel that the client may not have acknowledged: cumulative number, and for
    /// how long the last of them has been there, in nanoseconds; oldest first.
    #[serde(default)]
    pub in_kernel: Vec<(u64, u64)>,
    /// Counters of the connection.
    pub traffic: Traffic,
    /// Stations that the client has heard.
    pub heard: Option<SavedHeard>,
    /// Where it said that it is: latitude and longitude in millionths of a degree.
    #[serde(default)]
    pub position: Option<(i32, i32)>,
}

/// State shared by the workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    /// Start of the first program, UTC nanoseconds since 1970.
    pub started_utc_ns: i64,
    /// Ports by address and protocol.
    pub ports: Vec<((SocketAddr, String), PortCounters)>,
    /// Traffic by TCP, UDP and SCTP.
    pub totals: [Traffic; 3],
    /// Most clients at a time.
    pub clients_peak: u64,
    /// Connections of clients.
    pub connects: u64,
    /// Connections that were refused.
    pub refused: u64,
    /// Clients that were cut for their slowness.
    pub stale_cuts: u64,
    /// The duplicate check's memory.
    pub dupes: Option<SavedDupes>,
    /// The last positions.
    pub history: Vec<SavedPosition>,
    /// A name that was not given to any connection yet.
    pub next_conn: u64,
}

/// State of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerState {
    /// Clients that stay.
    pub clients: Vec<ClientState>,
}
