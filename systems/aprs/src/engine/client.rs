//! The engine's state of one connection.

use super::lines::Lines;
use super::meter::{Gauge, Total};
use super::outbox::Outbox;
use super::seam::{ConnId, Now};
use super::subscription::Subscription;
use crate::callsign::Callsign;
use crate::config::{Listener, PortKind, Protocol, Uplink, UplinkKind};
use crate::filter::{self, Filter, FilterSet};
use crate::heard::Heard;
use crate::packet::Position;
use crate::qconstruct::Via;
use crate::quirks::Quirks;
use crate::status::{ClientStatus, Role, Traffic, Verified};
use std::net::SocketAddr;
use std::sync::Arc;

/// A connection. What is rare is behind a pointer: thousands of these are idle.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) conn: ConnId,
    pub(super) door: Door,
    pub(super) stage: Stage,
    pub(super) login: Option<Callsign>,
    pub(super) verified: Verified,
    /// The callsign in its certificate, if it showed one that is valid.
    pub(super) certificate: Option<Callsign>,
    pub(super) remote: SocketAddr,
    pub(super) local: Arc<SocketAddr>,
    pub(super) connected: Now,
    pub(super) last_read_ns: u64,
    /// Time when the next keepalive is due.
    pub(super) keepalive_ns: u64,
    pub(super) input: Lines,
    pub(super) application: Option<Arc<Application>>,
    pub(super) quirks: Quirks,
    pub(super) filters: ClientFilters,
    pub(super) heard: Option<Box<Heard>>,
    /// Where it said that it is, for the filter `m`: its packets may be dropped as unverified.
    pub(super) position: Option<Position>,
    pub(super) subscription: Subscription,
    /// It is among those of its class that take turns: a client of a feed always is, but for one
    /// that was blocked when its turn came; others are while packets wait for them.
    pub(super) has_turns: bool,
    /// Destination of its datagrams: index of our port, and its address.
    pub(super) udp: Option<Box<(usize, SocketAddr)>>,
    pub(super) outbox: Outbox,
    pub(super) counted: Counted,
}

/// Filters of a client. What they mean is in the worker's index; here they are text.
#[derive(Debug, Default)]
pub(super) struct ClientFilters {
    /// Filter of the client's port, one for all its clients.
    pub(super) forced: Option<Arc<Filter>>,
    /// The client's own, as it gave it.
    user: Option<Box<[u8]>>,
}

impl ClientFilters {
    /// Sets the client's own filter, or removes it. Invalid terms are left out when it is parsed.
    pub(super) fn set_user(&mut self, text: Option<&[u8]>) {
        self.user = text.map(|text| text.trim_ascii().into());
    }

    pub(super) fn has_any(&self) -> bool {
        self.forced.is_some() || self.user.is_some()
    }

    /// Text of the client's own filter, for people; `None` where it has none.
    pub(super) fn user_text(&self) -> Option<Box<str>> {
        self.user.as_deref().map(filter::shown)
    }

    /// Text of all filters.
    fn text(&self) -> String {
        let forced = self.forced.as_deref().map(|filter| filter.text().into());
        let texts: Vec<Box<str>> = forced.into_iter().chain(self.user_text()).collect();
        texts.join(" ")
    }

    /// The filters' terms.
    pub(super) fn parse(&self) -> FilterSet {
        let user = self.user.as_deref().map(|text| Arc::new(Filter::parse_lenient(text).0));
        FilterSet { forced: self.forced.clone(), user }
    }
}

/// Origin of a connection.
#[derive(Clone, Debug)]
pub(super) enum Door {
    /// Accepted on one of our ports.
    Listener { index: usize, listener: Arc<Listener>, gauge: Arc<Gauge> },
    /// Made by us to an uplink.
    Uplink { uplink: Arc<Uplink> },
}

/// Progress of the login.
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

/// Program name and version that the client gave at login.
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
    pub(super) fn drop_for(&mut self, reason: crate::packet::DropReason) {
        self.dropped += 1;
        let reasons = crate::packet::DropReason::COUNT;
        let drops = self.drops.get_or_insert_with(|| vec![0; reasons].into_boxed_slice());
        drops[reason.index()] = drops[reason.index()].saturating_add(1);
    }

    pub(super) fn traffic(&self) -> Traffic {
        let drops = self.drops.iter().flat_map(|drops| drops.iter());
        Traffic {
            bytes_rx: self.bytes_rx,
            bytes_tx: self.bytes_tx,
            packets_rx: self.packets_rx,
            packets_tx: self.packets_tx,
            duplicates: self.duplicates,
            dropped: self.dropped,
            drops: drops.map(|count| u64::from(*count)).collect(),
        }
    }

    pub(super) fn restore(traffic: &Traffic) -> Self {
        let mut counted = Self {
            bytes_rx: traffic.bytes_rx,
            bytes_tx: traffic.bytes_tx,
            packets_rx: traffic.packets_rx,
            packets_tx: traffic.packets_tx,
            duplicates: traffic.duplicates,
            dropped: traffic.dropped,
            drops: None,
        };
        if traffic.dropped > 0 {
            let narrow = |count: &u64| u32::try_from(*count).unwrap_or(u32::MAX);
            let mut drops: Vec<u32> = traffic.drops.iter().map(narrow).collect();
            drops.resize(crate::packet::DropReason::COUNT, 0);
            counted.drops = Some(drops.into_boxed_slice());
        }
        counted
    }
}

impl Client {
    pub(super) fn new(
        conn: ConnId,
        door: Door,
        (remote, local): (SocketAddr, Arc<SocketAddr>),
        now: Now,
    ) -> Self {
        let stage = match door {
            Door::Listener { .. } => Stage::Login { failed: 0 },
            Door::Uplink { .. } => Stage::Greeting,
        };
        Self {
            conn,
            door,
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
            quirks: Quirks::default(),
            filters: ClientFilters::default(),
            heard: None,
            position: None,
            subscription: Subscription::Nothing,
            has_turns: false,
            udp: None,
            outbox: Outbox::default(),
            counted: Counted::default(),
        }
    }

    /// The kind of its port; `None` for an uplink.
    pub(super) fn kind(&self) -> Option<PortKind> {
        match &self.door {
            Door::Listener { listener, .. } => Some(listener.kind),
            Door::Uplink { .. } => None,
        }
    }

    pub(super) fn uplink_kind(&self) -> Option<UplinkKind> {
        match &self.door {
            Door::Listener { .. } => None,
            Door::Uplink { uplink, .. } => Some(uplink.kind),
        }
    }

    pub(super) fn via(&self) -> Via {
        match self.kind() {
            None => Via::Uplink,
            Some(PortKind::ClientOnly) => Via::ClientOnly,
            Some(_) => Via::Client,
        }
    }

    /// Whether clients of its port choose packets by filter and get messages for stations they
    /// hear.
    pub(super) fn is_igate(&self) -> bool {
        matches!(self.kind(), Some(PortKind::Igate | PortKind::ClientOnly))
    }

    pub(super) fn protocol(&self) -> Protocol {
        match &self.door {
            Door::Listener { listener, .. } => listener.protocol,
            Door::Uplink { uplink, .. } => uplink.protocol,
        }
    }

    pub(super) fn total(&self) -> Total {
        self.protocol().into()
    }

    pub(super) fn status(&self, now: Now, waiting: (u64, u64)) -> ClientStatus {
        let (role, hidden) = match &self.door {
            Door::Listener { index, listener, .. } => (Role::Client(*index), listener.hidden),
            Door::Uplink { uplink, .. } => (Role::Uplink(uplink.kind), false),
        };
        let application = self.application.as_deref().cloned().unwrap_or_default();
        let (heard, courtesy) = self.heard.as_deref().map(Heard::len).unwrap_or_default();
        ClientStatus {
            conn: self.conn,
            role,
            protocol: self.protocol(),
            hidden,
            remote: self.remote,
            local: *self.local,
            udp: self.udp.is_some(),
            connected_utc_ns: self.connected.utc_ns,
            connected_ns: now.monotonic_ns.saturating_sub(self.connected.monotonic_ns),
            silent_ns: now.monotonic_ns.saturating_sub(self.last_read_ns),
            username: self.login.map(|login| login.to_string()).unwrap_or_default(),
            app_name: application.name,
            app_version: application.version,
            verified: self.verified,
            certificate_subject: self.certificate.map(|call| call.to_string()),
            certificate_issuer: None,
            queued_bytes: waiting.0,
            queued_ns: waiting.1,
            traffic: self.counted.traffic(),
            heard: heard as u64,
            courtesy: courtesy as u64,
            quirks: self.quirks.repair,
            filter: self.filters.text(),
        }
    }
}
