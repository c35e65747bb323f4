//! Configuration of the server: aprsc's configuration files, with a few directives more.
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
    /// How deliveries are gathered into writes.
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

/// What clients of a port receive, and what they may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortKind {
    /// Clients receive every packet.
    FullFeed,
    /// Clients receive what their filters pass.
    Igate,
    /// As `Igate`, but only packets of the login's own callsign are accepted.
    ClientOnly,
    /// Clients receive duplicates only.
    DupeFeed,
    /// Packets come in, each datagram with its own login.
    UdpSubmit,
}

/// Transport protocol of a port or an uplink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// TCP, with or without TLS.
    Tcp,
    /// UDP datagrams.
    Udp,
    /// SCTP, one stream.
    Sctp,
    /// Lines in WebSocket messages.
    WebSocket,
}

/// A port for clients.
#[derive(Clone, Debug)]
pub struct Listener {
    /// Name of the port in log and status.
    pub name: String,
    /// What its clients receive, and what they may send.
    pub kind: PortKind,
    /// Transport protocol.
    pub protocol: Protocol,
    /// Address on which the port listens.
    pub address: SocketAddr,
    /// Filters that its clients have and cannot change, blank separated.
    pub filter: Option<String>,
    /// Most clients at a time.
    pub clients_max: usize,
    /// Access list; `None` lets everybody connect.
    pub acl: Option<Arc<Acl>>,
    /// The port is not shown on the status page.
    pub hidden: bool,
    /// TLS settings; `None` for a port without TLS.
    pub tls: Option<TlsFiles>,
}

/// Files in PEM form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Our private key.
    pub key: Option<PathBuf>,
    /// Our certificate and those between it and the root.
    pub certificate: Option<PathBuf>,
    /// Certificate authorities that may sign the other side's certificate.
    pub ca: Option<PathBuf>,
    /// Revocation list for certificates of these authorities.
    pub crl: Option<PathBuf>,
}

/// What is sent to an uplink, and how many uplinks of the kind are connected at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UplinkKind {
    /// Packets from clients are sent to the uplink.
    Full,
    /// Nothing is sent to the uplink.
    ReadOnly,
    /// Nothing is sent to the uplink, and all uplinks of this kind are connected at a time.
    MultiReadOnly,
}

/// A server that this one connects to.
#[derive(Clone, Debug)]
pub struct Uplink {
    /// Name of the uplink in log and status.
    pub name: String,
    /// What is sent to the uplink.
    pub kind: UplinkKind,
    /// Transport protocol: TCP or SCTP.
    pub protocol: Protocol,
    /// Name or address, looked up at every connection.
    pub host: String,
    /// Port of the uplink.
    pub port: u16,
    /// TLS settings; `None` for a connection without TLS.
    pub tls: Option<TlsFiles>,
}

/// Servers that exchange everything by UDP, each with each.
#[derive(Clone, Debug)]
pub struct PeerGroup {
    /// Name of the peer group in log and status.
    pub name: String,
    /// Our own address, port 0 never.
    pub local: SocketAddr,
    /// The others: ours is left out.
    pub peers: Vec<Peer>,
}

/// A core peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Callsign of the peer.
    pub server_id: Callsign,
    /// Address of the peer.
    pub address: SocketAddr,
}

/// Access list: the first rule that matches decides; an address that no rule matches is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl {
    /// Rules in the file's order: whether the rule allows, and for which addresses.
    pub rules: Vec<(bool, ipnet::IpNet)>,
}
