//! Endpoints of the server: ports for clients, uplinks, and groups of core peers.

use super::acl::Acl;
use crate::callsign::Callsign;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// Kind of a port: the packets that its clients receive and may send.
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
    /// Kind of the port: the packets that its clients receive and may send.
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

/// Kind of an uplink: the packets that it receives, and how many uplinks of the kind are connected
/// at a time.
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
    /// Kind of the uplink: the packets that it receives.
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

impl Uplink {
    /// Whether two configurations mean the same server, in the same way.
    pub(crate) fn is_same_server(&self, other: &Self) -> bool {
        self.name == other.name
            && self.kind == other.kind
            && self.protocol == other.protocol
            && self.host == other.host
            && self.port == other.port
            && self.tls == other.tls
    }
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
