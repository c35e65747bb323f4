//! What an operator wants of the server: aprsc's configuration files, with a few directives more.
//!
//! ```no_run
//! let config = chronoscope_aprs::config::read("aprsc.conf".as_ref())?;
//! println!("{} has {} ports", config.server_id, config.listeners.len());
//! # Ok::<(), chronoscope_aprs::config::ConfigErrors>(())
//! ```

mod acl;
mod fault;
mod lines;
mod ports;
mod read;
#[cfg(test)]
mod tests;
mod value;

pub use fault::{ConfigError, ConfigErrors, Fault, Position};
pub use lines::quote;
pub use read::{DIRECTIVES, FILE_SIZE_MAX, Surroundings, parse, read};

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
    /// What it says to uplinks as its passcode.
    pub passcode: i32,
    /// The operator's name and callsign.
    pub my_admin: String,
    /// The operator's address.
    pub my_email: Option<String>,
    /// The version that is told to others instead of ours.
    pub fake_version: Option<String>,
    /// Where the log and the files of a live upgrade are.
    pub run_dir: Option<PathBuf>,
    /// Size of a log file in bytes, and how many old ones are kept.
    pub log_rotate: Option<(u64, u32)>,
    /// Most clients at a time, uplinks and peers not counted.
    pub clients_max: usize,
    /// Threads that serve connections; 1 makes the output depend on input and clock alone.
    pub workers: usize,
    /// How long an uplink may be silent.
    pub upstream_timeout: Duration,
    /// How long a client may be silent.
    pub client_timeout: Duration,
    /// How long a client may take to log in.
    pub login_timeout: Duration,
    /// How long a reader may lag before it is cut; nothing older is sent.
    pub stale_after: Duration,
    /// How long the last position of a station is known.
    pub last_position_cache: Duration,
    /// How often totals are logged.
    pub stats_interval: Duration,
    /// How often what is too old is forgotten.
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
    /// How deliveries are gathered into writes.
    pub batching: Batching,
    /// Ports.
    pub listeners: Vec<Arc<Listener>>,
    /// Servers that this one connects to.
    pub uplinks: Vec<Arc<Uplink>>,
    /// Addresses that connections to uplinks come from: at most one of each family.
    pub uplink_bind: Vec<IpAddr>,
    /// Core peers.
    pub peer_groups: Vec<Arc<PeerGroup>>,
    /// Where the status page is.
    pub http_status: Vec<SocketAddr>,
    /// Where packets are uploaded.
    pub http_upload: Vec<SocketAddr>,
    /// Names under which browsers ask the status, upload and WebSocket ports.
    pub http_allow_hosts: Vec<String>,
    /// The operator's address is shown on the page.
    pub show_email: bool,
    /// What is odd about the file without being wrong: for the log and the status page.
    pub warnings: Vec<ConfigError>,
}

impl Config {
    /// What is so when nothing is said (aprsc's defaults), for the server of this callsign.
    pub fn new(server_id: Callsign) -> Self {
        Self { server_id, ..Self::unnamed() }
    }

    /// Before a file has said whose server it is.
    fn unnamed() -> Self {
        let [upstream_timeout, client_timeout, login_timeout, stale_after, rest @ ..] = read::TIMES;
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

/// How deliveries are gathered into writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batching {
    /// The fewer writes are to be made, the sooner they are made.
    #[default]
    Adaptive,
    /// Soon, whatever it costs: within some milliseconds.
    Latency,
    /// Late: the fewest writes.
    Throughput,
}

/// What clients of a port get and may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortKind {
    /// Every packet.
    FullFeed,
    /// What filters say.
    Igate,
    /// As `Igate`, and only packets of the login's own callsign come in.
    ClientOnly,
    /// Only what was found to be a duplicate.
    DupeFeed,
    /// Packets come in, each datagram with its own login.
    UdpSubmit,
}

/// How bytes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// TCP, with or without TLS.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP, one stream.
    Sctp,
    /// Lines in WebSocket messages.
    WebSocket,
}

/// A port.
#[derive(Clone, Debug)]
pub struct Listener {
    /// What it is called in log and status.
    pub name: String,
    /// What its clients get.
    pub kind: PortKind,
    /// How its bytes travel.
    pub protocol: Protocol,
    /// Where it listens.
    pub address: SocketAddr,
    /// Filters that its clients have and cannot change, blank separated.
    pub filter: Option<String>,
    /// Most clients at a time.
    pub clients_max: usize,
    /// Who may connect.
    pub acl: Option<Arc<Acl>>,
    /// Not on the status page.
    pub hidden: bool,
    /// With TLS.
    pub tls: Option<TlsFiles>,
}

/// Files in PEM form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Our private key.
    pub key: Option<PathBuf>,
    /// Our certificate and those between it and the root.
    pub certificate: Option<PathBuf>,
    /// Who may sign the other side's certificate.
    pub ca: Option<PathBuf>,
    /// Which of those are revoked.
    pub crl: Option<PathBuf>,
}

/// What goes to an uplink, and how many of them are used at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UplinkKind {
    /// What comes from clients goes up.
    Full,
    /// Nothing goes up.
    ReadOnly,
    /// Nothing goes up, and all of this kind are connected at a time.
    MultiReadOnly,
}

/// A server that this one connects to.
#[derive(Clone, Debug)]
pub struct Uplink {
    /// What it is called in log and status.
    pub name: String,
    /// What goes there.
    pub kind: UplinkKind,
    /// How its bytes travel: TCP or SCTP.
    pub protocol: Protocol,
    /// Name or address, looked up at every connection.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// With TLS.
    pub tls: Option<TlsFiles>,
}

/// Servers that exchange everything by UDP, each with each.
#[derive(Clone, Debug)]
pub struct PeerGroup {
    /// What it is called in log and status.
    pub name: String,
    /// Our own address, port 0 never.
    pub local: SocketAddr,
    /// The others: ours is left out.
    pub peers: Vec<Peer>,
}

/// A core peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its callsign.
    pub server_id: Callsign,
    /// Its address.
    pub address: SocketAddr,
}

/// Who may connect: the first rule that matches decides, and nobody may whom none matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl {
    /// In the file's order: whether it allows, and whom.
    pub rules: Vec<(bool, ipnet::IpNet)>,
}
