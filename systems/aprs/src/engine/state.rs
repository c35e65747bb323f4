//! What is handed to the next program in a live upgrade.

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
    /// Its name: it keeps it.
    pub conn: ConnId,
    /// The port's address and protocol (`tcp`, `sctp`, `websocket`), by which it is found again.
    pub port: (SocketAddr, String),
    /// Its address.
    pub remote: SocketAddr,
    /// Ours.
    pub local: SocketAddr,
    /// When it came, UTC nanoseconds since 1970.
    pub connected_utc_ns: i64,
    /// Nanoseconds since then.
    pub since_connect_ns: u64,
    /// Who it is; `None` before login.
    pub login: Option<String>,
    /// Whether that is so: 0 no, 1 by passcode, 2 by certificate.
    pub verified: u8,
    /// Failed commands so far.
    pub failed_commands: u8,
    /// Program and version.
    pub application: (String, String),
    /// Its own filter's text.
    pub filter: String,
    /// Where packets go by UDP.
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
    /// What the kernel took and its host may not have: so many octets, and for how long the last
    /// of them has been there, in nanoseconds; the oldest first, each with all before it.
    #[serde(default)]
    pub in_kernel: Vec<(u64, u64)>,
    /// Its counters.
    pub traffic: Traffic,
    /// Whom it hears.
    pub heard: Option<SavedHeard>,
}

/// What the workers share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerState {
    /// When the first of the programs started, UTC nanoseconds since 1970.
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

/// What one worker has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerState {
    /// Clients that stay.
    pub clients: Vec<ClientState>,
}
