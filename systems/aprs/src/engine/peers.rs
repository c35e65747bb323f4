//! Core peers: servers that exchange packets of clients by UDP.

use super::client::Counted;
use super::seam::{ConnId, Now};
use super::server::Server;
use crate::callsign::Callsign;
use crate::config::{Config, Protocol};
use crate::status::{ClientStatus, Role, Verified};
use std::net::SocketAddr;

/// All core peers of the configuration.
#[derive(Debug, Default)]
pub(super) struct Peers {
    pub(super) all: Vec<Peer>,
}

/// A core peer.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) conn: ConnId,
    /// Index in `Config::peer_groups`.
    pub(super) group: usize,
    pub(super) server_id: Callsign,
    pub(super) address: SocketAddr,
    pub(super) local: SocketAddr,
    /// Time of the last input from the peer; `None` for never.
    pub(super) last_read: Option<Now>,
    pub(super) counted: Counted,
}

impl Peers {
    pub(super) fn new(config: &Config, server: &Server) -> Self {
        let mut peers = Self::default();
        peers.configure(config, server);
        peers
    }

    /// Takes up the peers of a configuration; those that were there go on.
    pub(super) fn configure(&mut self, config: &Config, server: &Server) {
        let mut before = std::mem::take(&mut self.all);
        for (group, peers) in config.peer_groups.iter().enumerate() {
            for peer in &peers.peers {
                let is_same = |known: &Peer| {
                    known.address == peer.address && known.server_id == peer.server_id
                };
                let known = before.iter().position(is_same).map(|at| before.swap_remove(at));
                let mut known = known.unwrap_or_else(|| Peer {
                    conn: server.next_conn(),
                    group,
                    server_id: peer.server_id,
                    address: peer.address,
                    local: peers.local,
                    last_read: None,
                    counted: Counted::default(),
                });
                (known.group, known.local) = (group, peers.local);
                self.all.push(known);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn find(&mut self, group: usize, from: SocketAddr) -> Option<&mut Peer> {
        let from = canonical(from);
        self.all.iter_mut().find(|peer| peer.group == group && canonical(peer.address) == from)
    }

    pub(super) fn status(&self, now: Now) -> impl Iterator<Item = ClientStatus> {
        self.all.iter().map(move |peer| peer.status(now))
    }
}

impl Peer {
    fn status(&self, now: Now) -> ClientStatus {
        let silent_ns =
            self.last_read.map_or(0, |at| now.monotonic_ns.saturating_sub(at.monotonic_ns));
        ClientStatus {
            conn: self.conn,
            role: Role::Peer,
            protocol: Protocol::Udp,
            hidden: false,
            remote: self.address,
            local: self.local,
            udp: true,
            connected_utc_ns: self.last_read.map_or(0, |at| at.utc_ns),
            connected_ns: 0,
            silent_ns,
            username: self.server_id.to_string(),
            app_name: String::new(),
            app_version: String::new(),
            verified: Verified::Passcode,
            certificate_subject: None,
            certificate_issuer: None,
            queued_bytes: 0,
            queued_ns: 0,
            traffic: self.counted.traffic(),
            heard: 0,
            courtesy: 0,
            quirks: false,
            filter: String::new(),
        }
    }
}

/// Converts an IPv4-mapped IPv6 address to IPv4.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
