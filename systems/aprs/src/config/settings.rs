//! All settings of the server, and their defaults.

use super::endpoints::{Listener, PeerGroup, Uplink};
use super::fault::ConfigError;
use crate::callsign::Callsign;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A whole configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The server's own callsign.
    pub server_id: Callsign,
    /// Passcode that this server sends to its uplinks.
    pub passcode: i32,
    /// The operator's name and callsign.
    pub my_admin: String,
    /// The operator's address.
    pub my_email: Option<String>,
    /// The version that is sent to others instead of ours.
    pub fake_version: Option<String>,
    /// Folder of the log and of the live upgrade's files.
    pub run_dir: Option<PathBuf>,
    /// Size of a log file in bytes, and how many old ones are kept.
    pub log_rotate: Option<(u64, u32)>,
    /// Most clients at a time, uplinks and peers not counted.
    pub clients_max: usize,
    /// Threads that serve connections; 1 makes the output depend on input and clock alone.
    pub workers: usize,
    /// Time without input after which an uplink is disconnected.
    pub upstream_timeout: Duration,
    /// Time without input after which a client is disconnected.
    pub client_timeout: Duration,
    /// Time within which a client has to log in.
    pub login_timeout: Duration,
    /// Largest lag of a reader before it is disconnected; no older packet is sent.
    pub stale_after: Duration,
    /// Time for which a station's last position is remembered.
    pub last_position_cache: Duration,
    /// Interval between two lines of totals in the log.
    pub stats_interval: Duration,
    /// Interval between two removals of expired entries.
    pub expiry_interval: Duration,
    /// Open files that the process asks the system for.
    pub file_limit: Option<u64>,
    /// Packets of clients that are not verified are dropped.
    pub disallow_unverified: bool,
    /// Every client gets the repairs that known broken programs need.
    pub quirks_mode: bool,
    /// Globs of callsigns that may not log in.
    pub disallow_login: Vec<String>,
    /// Globs of callsigns whose packets are dropped.
    pub disallow_source: Vec<String>,
    /// Globs of what may not be in a path from the q construct on: igates, servers, q constructs.
    pub disallow_igate: Vec<String>,
    /// The second letter of the q constructs that this server makes: `A` on APRS-IS.
    pub q_protocol: u8,
    /// Packets with q constructs of other protocols are dropped.
    pub disallow_other_q_protocols: bool,
    /// Batching of deliveries into writes.
    pub batching: Batching,
    /// Ports for clients.
    pub listeners: Vec<Arc<Listener>>,
    /// Servers that this one connects to.
    pub uplinks: Vec<Arc<Uplink>>,
    /// Addresses that connections to uplinks come from: at most one of each family.
    pub uplink_bind: Vec<IpAddr>,
    /// Groups of core peers.
    pub peer_groups: Vec<Arc<PeerGroup>>,
    /// Addresses of the status page.
    pub http_status: Vec<SocketAddr>,
    /// Addresses on which packets are uploaded by HTTP.
    pub http_upload: Vec<SocketAddr>,
    /// Names under which browsers ask the status, upload and WebSocket ports.
    pub http_allow_hosts: Vec<String>,
    /// The operator's address is shown on the page.
    pub show_email: bool,
    /// Remarks about the file that are not faults, for the log and the status page.
    pub warnings: Vec<ConfigError>,
}

impl Config {
    /// The defaults (aprsc's) for the server with this callsign.
    pub fn new(server_id: Callsign) -> Self {
        Self { server_id, ..Self::unnamed() }
    }

    /// The defaults before the file has given the server's callsign.
    pub(super) fn unnamed() -> Self {
        let [upstream_timeout, client_timeout, login_timeout, stale_after, rest @ ..] = TIMES;
        let [last_position_cache, stats_interval, expiry_interval] = rest;
        Self {
            server_id: Callsign::new(b"NOCALL").expect("six octets are a callsign"),
            passcode: -1,
            my_admin: String::new(),
            my_email: None,
            fake_version: None,
            run_dir: None,
            log_rotate: None,
            clients_max: 500,
            workers: 2,
            upstream_timeout,
            client_timeout,
            login_timeout,
            stale_after,
            last_position_cache,
            stats_interval,
            expiry_interval,
            file_limit: None,
            disallow_unverified: true,
            quirks_mode: false,
            disallow_login: Vec::new(),
            disallow_source: Vec::new(),
            disallow_igate: Vec::new(),
            q_protocol: b'A',
            disallow_other_q_protocols: true,
            batching: Batching::default(),
            listeners: Vec::new(),
            uplinks: Vec::new(),
            uplink_bind: Vec::new(),
            peer_groups: Vec::new(),
            http_status: Vec::new(),
            http_upload: Vec::new(),
            http_allow_hosts: Vec::new(),
            show_email: false,
            warnings: Vec::new(),
        }
    }
}

/// Batching of deliveries into writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batching {
    /// The fewer writes are to be made, the sooner they are made.
    #[default]
    Adaptive,
    /// Soon, whatever it costs: within some milliseconds.
    Latency,
    /// Late: the fewest writes.
    Throughput,
    /// When the oldest packet has waited so long, in [1 ms, 1 s].
    Within(Duration),
}

/// Default times, those of aprsc.
const TIMES: [Duration; 7] = [
    Duration::from_secs(30),        // UpstreamTimeout
    Duration::from_secs(48 * 3600), // ClientTimeout
    Duration::from_secs(30),        // LoginTimeout
    Duration::from_secs(10),        // StaleAfter, which is ours
    Duration::from_secs(24 * 3600), // LastPositionCache
    Duration::from_secs(60),        // StatsInterval
    Duration::from_secs(30),        // ExpiryInterval
];
