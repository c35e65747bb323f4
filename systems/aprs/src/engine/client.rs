//! What the engine knows of one connection.

use super::lines::Lines;
use super::meter::Gauge;
use super::seam::{ConnId, Now};
use super::server::Total;
use crate::callsign::Callsign;
use crate::config::{Listener, PortKind, Protocol, Uplink, UplinkKind};
use crate::status::{ClientStatus, Role, Traffic, Verified};
use std::net::SocketAddr;
use std::sync::Arc;

/// A connection. About 400 octets while it is idle; what is rare is behind a pointer.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) conn: ConnId,
    pub(super) side: Port,
    pub(super) stage: Stage,
    pub(super) login: Option<Callsign>,
    pub(super) verified: Verified,
    /// The callsign in its certificate, if it showed one that is valid.
    pub(super) certificate: Option<Callsign>,
    pub(super) remote: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) connected: Now,
    pub(super) last_read_ns: u64,
    /// When the next keepalive is due.
    pub(super) keepalive_ns: u64,
    pub(super) input: Lines,
    pub(super) application: Option<Box<Application>>,
    pub(super) counted: Counted,
}

/// Which door it came through.
#[derive(Clone, Debug)]
pub(super) enum Port {
    /// One of ours.
    Listener { index: usize, listener: Arc<Listener>, gauge: Arc<Gauge> },
    /// We connected.
    Uplink { index: usize, uplink: Arc<Uplink> },
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// A client that has not logged in, after so many failed commands.
    Login { failed: u8 },
    /// An uplink that has not greeted.
    Greeting,
    /// An uplink that has not answered our login.
    Response,
    /// Packets go both ways.
    Running,
}

/// What it says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Application {
    pub(super) name: String,
    pub(super) version: String,
}

/// Counters of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    pub(super) bytes_rx: u64,
    pub(super) bytes_tx: u64,
    pub(super) packets_rx: u64,
    pub(super) packets_tx: u64,
    pub(super) duplicates: u64,
    pub(super) dropped: u64,
    /// By reason; nothing before the first drop.
    pub(super) drops: Option<Box<[u32]>>,
}

impl Counted {
    pub(super) fn drop_for(&mut self, reason: usize, reasons: usize) {
        self.dropped += 1;
        let drops = self.drops.get_or_insert_with(|| vec![0; reasons].into_boxed_slice());
        drops[reason] = drops[reason].saturating_add(1);
    }

    pub(super) fn traffic(&self) -> Traffic {
        Traffic {
            bytes_rx: self.bytes_rx,
            bytes_tx: self.bytes_tx,
            packets_rx: self.packets_rx,
            packets_tx: self.packets_tx,
            duplicates: self.duplicates,
            dropped: self.dropped,
            drops: self
                .drops
                .iter()
                .flat_map(|drops| drops.iter())
                .map(|n| u64::from(*n))
                .collect(),
        }
    }
}

impl Client {
    pub(super) fn new(
        conn: ConnId,
        side: Port,
        remote: SocketAddr,
        local: SocketAddr,
        now: Now,
    ) -> Self {
        let stage = match side {
            Port::Listener { .. } => Stage::Login { failed: 0 },
            Port::Uplink { .. } => Stage::Greeting,
        };
        Self {
            conn,
            side,
            stage,
            login: None,
            verified: Verified::No,
            certificate: None,
            remote,
            local,
            connected: now,
            last_read_ns: now.monotonic_ns,
            keepalive_ns: u64::MAX,
            input: Lines::default(),
            application: None,
            counted: Counted::default(),
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.stage == Stage::Running
    }

    /// The kind of its port; `None` for an uplink.
    pub(super) fn kind(&self) -> Option<PortKind> {
        match &self.side {
            Port::Listener { listener, .. } => Some(listener.kind),
            Port::Uplink { .. } => None,
        }
    }

    pub(super) fn uplink_kind(&self) -> Option<UplinkKind> {
        match &self.side {
            Port::Listener { .. } => None,
            Port::Uplink { uplink, .. } => Some(uplink.kind),
        }
    }

    pub(super) fn protocol(&self) -> Protocol {
        match &self.side {
            Port::Listener { listener, .. } => listener.protocol,
            Port::Uplink { uplink, .. } => uplink.protocol,
        }
    }

    pub(super) fn total(&self) -> Total {
        self.protocol().into()
    }

    pub(super) fn status(&self, now: Now) -> ClientStatus {
        let (role, hidden) = match &self.side {
            Port::Listener { index, listener, .. } => (Role::Client(*index), listener.hidden),
            Port::Uplink { uplink, .. } => (Role::Uplink(uplink.kind), false),
        };
        let application = self.application.as_deref().cloned().unwrap_or_default();
        ClientStatus {
            conn: self.conn,
            role,
            protocol: self.protocol(),
            hidden,
            remote: self.remote,
            local: self.local,
            udp: false,
            connected_utc_ns: self.connected.utc_ns,
            connected_ns: now.monotonic_ns.saturating_sub(self.connected.monotonic_ns),
            silent_ns: now.monotonic_ns.saturating_sub(self.last_read_ns),
            username: self.login.map(|login| login.to_string()).unwrap_or_default(),
            app_name: application.name,
            app_version: application.version,
            verified: self.verified,
            certificate_subject: self.certificate.map(|call| call.to_string()),
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
