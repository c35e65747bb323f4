//! `status.json`: names and shape are those that dashboards and monitoring plug-ins of aprsc read.
//!
//! Beside them stand some of our own: `faults`, `clients[].waiting_ms`, `totals.stale_cuts`, …
//! Fields without a meaning here (blocks of memory cells, buffers of packets by size) are left out,
//! not made up.

use super::series::Series;
use super::site::{Site, View, WorkerFigures};
use super::values::{SOFTWARE, address, in_words, seconds, version};
use crate::config::{PortKind, Protocol, UplinkKind};
use crate::packet::DropReason;
use crate::status::{ClientStatus, Fault, ListenerStatus, Role, StatusSnapshot, Traffic, Verified};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::UNIX_EPOCH;

const NS_PER_S: u64 = 1_000_000_000;

/// The whole document.
pub(super) fn document(view: &View, site: &Site) -> Vec<u8> {
    let document = site.with_series(|series| Document::new(view, series, site));
    // Strings and numbers only: this cannot fail, and an empty body would be seen.
    serde_json::to_vec(&document).unwrap_or_default()
}

#[derive(Serialize)]
struct Document<'a> {
    server: Value,
    memory: Value,
    historydb: Value,
    dupecheck: Value,
    totals: Value,
    listeners: Vec<Value>,
    workers: Vec<Value>,
    uplinks: Vec<Row<'a>>,
    uplinks_configured: Vec<Value>,
    peers: Vec<Row<'a>>,
    clients: Vec<Row<'a>>,
    rx_errs: Vec<&'static str>,
    rx_errs_meaning: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    motd: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_options: Option<&'static str>,
    alarms: Vec<Value>,
    faults: Vec<Value>,
}

impl<'a> Document<'a> {
    fn new(view: &'a View, series: &Series, site: &Site) -> Self {
        let status = &view.status;
        let now_ns = status.now.monotonic_ns;
        let rows = |clients: &'a [ClientStatus]| {
            clients.iter().map(|client| Row::new(client, now_ns)).collect()
        };
        Self {
            server: server(view),
            memory: memory(view),
            historydb: history(status),
            dupecheck: dupecheck(status),
            totals: totals(view, series, site),
            listeners: listeners(status),
            workers: workers(view),
            uplinks: rows(&view.uplinks),
            uplinks_configured: uplinks_configured(status),
            peers: rows(&view.peers),
            clients: rows(&view.clients),
            rx_errs: DropReason::ALL.iter().map(|reason| reason.name()).collect(),
            rx_errs_meaning: DropReason::ALL
                .iter()
                .map(|reason| in_words(reason.meaning()))
                .collect(),
            motd: motd(&site.web_dir),
            status_options: view.config.show_email.then_some("ShowEmail=1"),
            alarms: alarms(status),
            faults: faults(status),
        }
    }
}

fn server(view: &View) -> Value {
    let (config, status) = (&view.config, &view.status);
    let uptime = status.now.monotonic_ns.saturating_sub(status.started.monotonic_ns) / NS_PER_S;
    let (now, started) = (seconds(status.now.utc_ns), seconds(status.started.utc_ns));
    json!({
        "server_id": config.server_id.to_string(),
        "admin": config.my_admin,
        "email": config.my_email,
        "software": SOFTWARE,
        "software_version": version(config),
        "software_build_features": "tls sctp websocket prometheus",
        "software_build_time": build_time(),
        // Nobody's name is put into the program.
        "software_build_user": "",
        "q_protocol_id": char::from(config.q_protocol).to_string(),
        "disallow_other_q_protocols": u8::from(config.disallow_other_q_protocols),
        "uptime": uptime,
        "tick_now": status.now.monotonic_ns / NS_PER_S,
        "time_now": now,
        "time_started": started,
        // The names of these two in early versions.
        "t_now": now,
        "t_started": started,
        "os": os(),
    })
}

/// When the program's file was written, in seconds since 1970: the program itself has no time of its
/// build, so that equal sources make equal programs. 0 where the file is gone.
fn build_time() -> u64 {
    static TIME: OnceLock<u64> = OnceLock::new();
    *TIME.get_or_init(|| {
        let modified = std::fs::metadata("/proc/self/exe").and_then(|file| file.modified());
        let since_1970 = modified.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        since_1970.map_or(0, |since| since.as_secs())
    })
}

/// Operating system and architecture, without a version: who asks is anybody.
fn os() -> String {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/ostype");
    let kernel = kernel.as_deref().map_or(std::env::consts::OS, str::trim);
    format!("{kernel} {}", std::env::consts::ARCH)
}

/// Numbers of entries in each table; cells are entries.
fn memory(view: &View) -> Value {
    let mut memory = Map::new();
    let mut put = |name: &str, value: u64| drop(memory.insert(name.to_owned(), value.into()));
    for part in view.status.memory.iter().chain(&view.memory) {
        let name = part.name;
        put(&format!("{name}_cells_used"), part.entries);
        if part.entries_max > 0 {
            put(&format!("{name}_cells_free"), part.entries_max.saturating_sub(part.entries));
        }
        // Of tables whose entries differ in size all that is allocated counts as used.
        if part.entry_bytes > 0 {
            put(&format!("{name}_cell_size_aligned"), part.entry_bytes);
            put(&format!("{name}_used_bytes"), part.entries * part.entry_bytes);
        } else {
            put(&format!("{name}_used_bytes"), part.allocated_bytes);
        }
        put(&format!("{name}_allocated_bytes"), part.allocated_bytes);
    }
    if let Some(bytes) = super::process::resident_bytes() {
        put("process_resident_bytes", bytes);
    }
    memory.into()
}

fn history(status: &StatusSnapshot) -> Value {
    let history = &status.history;
    json!({
        "inserts": history.inserts,
        "lookups": history.lookups,
        "hashmatches": history.hits,
        "keymatches": history.hits,
        "noposcount": history.no_position,
        "cleaned": history.expired,
    })
}

fn dupecheck(status: &StatusSnapshot) -> Value {
    let kinds: Map<String, Value> = status
        .dupes
        .kinds
        .iter()
        .map(|(kind, count)| ((*kind).to_owned(), (*count).into()))
        .collect();
    json!({
        "dupes_dropped": status.dupes.duplicates,
        "uniques_out": status.dupes.uniques,
        "variations": kinds,
    })
}

fn totals(view: &View, series: &Series, site: &Site) -> Value {
    let status = &view.status;
    let mut totals = Map::new();
    let mut put = |name: &str, value: Value| drop(totals.insert(name.to_owned(), value));
    put("clients_max", view.config.clients_max.into());
    put("clients", status.clients.into());
    put("connects", status.connects.into());
    put("refused", status.refused.into());
    put("stale_cuts", status.stale_cuts.into());
    put("http_requests", site.requests.load(Ordering::Relaxed).into());
    let protocols = [("tcp", &status.tcp), ("udp", &status.udp), ("sctp", &status.sctp)];
    for (name, traffic) in protocols {
        put(&format!("{name}_bytes_rx"), traffic.bytes_rx.into());
        put(&format!("{name}_bytes_tx"), traffic.bytes_tx.into());
        put(&format!("{name}_pkts_rx"), traffic.packets_rx.into());
        put(&format!("{name}_pkts_tx"), traffic.packets_tx.into());
        put(&format!("{name}_pkts_ign"), traffic.dropped.into());
        put(&format!("{name}_pkts_dup"), traffic.duplicates.into());
        put(&format!("{name}_rx_errs"), errors(traffic).into());
    }
    let (mut rx, mut tx) = (0, 0);
    for (name, _) in protocols {
        let rate = |way: &str| series.last_rate(&format!("totals.{name}_bytes_{way}"));
        put(&format!("{name}_bytes_rx_rate"), rate("rx").into());
        put(&format!("{name}_bytes_tx_rate"), rate("tx").into());
        rx += rate("rx");
        tx += rate("tx");
    }
    put("bytes_rx_rate", rx.into());
    put("bytes_tx_rate", tx.into());
    totals.into()
}

fn listeners(status: &StatusSnapshot) -> Vec<Value> {
    let shown = status.listeners.iter().enumerate().filter(|(_, port)| !port.listener.hidden);
    shown.map(|(index, port)| listener(index, port)).collect()
}

fn listener(index: usize, port: &ListenerStatus) -> Value {
    let ListenerStatus { listener, traffic, .. } = port;
    json!({
        "fd": index,
        "id": index,
        "name": listener.name,
        "proto": proto(listener.protocol),
        "kind": kind(listener.kind),
        "tls": listener.tls.is_some(),
        "addr": port.address.to_string(),
        "clients": port.clients,
        "clients_peak": port.clients_peak,
        "clients_max": listener.clients_max,
        "connects": port.connects,
        "bytes_rx": traffic.bytes_rx,
        "bytes_tx": traffic.bytes_tx,
        "pkts_rx": traffic.packets_rx,
        "pkts_tx": traffic.packets_tx,
        "pkts_ign": traffic.dropped,
        "pkts_dup": traffic.duplicates,
        "rx_errs": errors(traffic),
    })
}

/// aprsc's word for a protocol. WebSocket has none; the Munin plug-in takes any but `udp` as
/// something that has clients.
pub(super) fn proto(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
        Protocol::Sctp => "sctp",
        Protocol::WebSocket => "websocket",
    }
}

fn kind(kind: PortKind) -> &'static str {
    match kind {
        PortKind::FullFeed => "fullfeed",
        PortKind::Igate => "igate",
        PortKind::ClientOnly => "clientonly",
        PortKind::DupeFeed => "dupefeed",
        PortKind::UdpSubmit => "udpsubmit",
    }
}

/// Workers; the figures are null for one that did not answer. Packets come to a worker in blocks,
/// and what it received itself never waits.
fn workers(view: &View) -> Vec<Value> {
    let each = |(id, worker): (usize, &Option<WorkerFigures>)| {
        json!({
            "id": id,
            "clients": worker.map(|worker| worker.connections),
            "pbuf_incoming_count": worker.map(|worker| worker.mail_waiting),
            "pbuf_incoming_local_count": worker.map(|_| 0),
        })
    };
    view.workers.iter().enumerate().map(each).collect()
}

/// All uplinks that there should be, with what keeps them away.
fn uplinks_configured(status: &StatusSnapshot) -> Vec<Value> {
    let each = |uplink: &crate::status::UplinkStatus| {
        json!({
            "name": uplink.uplink.name,
            "mode": mode(uplink.uplink.kind),
            "addr": format!("{}:{}", uplink.uplink.host, uplink.uplink.port),
            "id": uplink.conn.map(|conn| conn.0),
            "attempts": uplink.attempts,
            "error": uplink.error,
        })
    };
    status.uplinks.iter().map(each).collect()
}

/// Number of drops for each reason.
fn errors(traffic: &Traffic) -> Vec<u64> {
    (0..DropReason::COUNT).map(|at| traffic.drops.get(at).copied().unwrap_or(0)).collect()
}

/// The name of the operator's message, where there is one.
fn motd(web_dir: &Path) -> Option<&'static str> {
    web_dir.join("motd.html").is_file().then_some("/motd.html")
}

/// Names for aprsc's page: those that it has a sentence for, and ours.
fn alarms(status: &StatusSnapshot) -> Vec<Value> {
    let faults = all_faults(status);
    faults.iter().map(|fault| json!({ "err": fault.name, "set": 1 })).collect()
}

/// The faults, and among them that no uplink is connected, whoever noticed it.
pub(super) fn all_faults(status: &StatusSnapshot) -> Vec<Fault> {
    let mut faults = status.faults.clone();
    let none = status.uplinks.iter().all(|uplink| uplink.conn.is_none());
    let known = faults.iter().any(|fault| fault.name == NO_UPLINK);
    if none && !status.uplinks.is_empty() && !known {
        let text = "no uplink is connected: packets of other servers do not come in".to_owned();
        let since_utc_ns = status.now.utc_ns;
        faults.insert(0, Fault { name: NO_UPLINK, text, since_utc_ns, count: 1 });
    }
    faults
}

const NO_UPLINK: &str = "no_uplink";

fn faults(status: &StatusSnapshot) -> Vec<Value> {
    let each = |fault: Fault| {
        json!({
            "name": fault.name,
            "text": fault.text,
            "since": seconds(fault.since_utc_ns),
            "count": fault.count,
        })
    };
    all_faults(status).into_iter().map(each).collect()
}

/// A client, an uplink or a peer.
#[derive(Serialize)]
struct Row<'a> {
    fd: u64,
    id: u64,
    proto: &'static str,
    addr_rem: String,
    addr_loc: String,
    #[serde(skip_serializing_if = "is_no")]
    udp_downstream: u8,
    t_connect: i64,
    /// On the scale of `server.tick_now`.
    t_connect_tick: u64,
    since_connect: u64,
    since_last_read: u64,
    username: &'a str,
    app_name: &'a str,
    app_version: &'a str,
    verified: u8,
    obuf_q: u64,
    waiting_ms: u64,
    bytes_rx: u64,
    bytes_tx: u64,
    pkts_rx: u64,
    pkts_tx: u64,
    pkts_ign: u64,
    pkts_dup: u64,
    heard_count: u64,
    courtesy_count: u64,
    rx_errs: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filter: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    #[serde(skip_serializing_if = "is_no")]
    quirks_mode: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    cert_subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cert_issuer: Option<&'a str>,
}

fn is_no(flag: &u8) -> bool {
    *flag == 0
}

impl<'a> Row<'a> {
    fn new(client: &'a ClientStatus, now_ns: u64) -> Self {
        let traffic = &client.traffic;
        let mode = match client.role {
            Role::Peer => Some("peer"),
            Role::Uplink(kind) => Some(mode(kind)),
            Role::Client(_) => None,
        };
        Self {
            fd: client.conn.0,
            id: client.conn.0,
            proto: proto(client.protocol),
            addr_rem: address(client, client.remote),
            addr_loc: address(client, client.local),
            udp_downstream: u8::from(client.udp),
            t_connect: seconds(client.connected_utc_ns),
            t_connect_tick: now_ns.saturating_sub(client.connected_ns) / NS_PER_S,
            since_connect: client.connected_ns / NS_PER_S,
            since_last_read: client.silent_ns / NS_PER_S,
            username: &client.username,
            app_name: &client.app_name,
            app_version: &client.app_version,
            verified: match client.verified {
                Verified::No => 0,
                Verified::Passcode => 1,
                Verified::Certificate => 3,
            },
            obuf_q: client.queued_bytes,
            waiting_ms: client.queued_ns / 1_000_000,
            bytes_rx: traffic.bytes_rx,
            bytes_tx: traffic.bytes_tx,
            pkts_rx: traffic.packets_rx,
            pkts_tx: traffic.packets_tx,
            pkts_ign: traffic.dropped,
            pkts_dup: traffic.duplicates,
            heard_count: client.heard,
            courtesy_count: client.courtesy,
            rx_errs: errors(traffic),
            filter: mode.is_none().then_some(&*client.filter),
            mode,
            quirks_mode: u8::from(client.quirks),
            cert_subject: client.certificate_subject.as_deref(),
            cert_issuer: client.certificate_issuer.as_deref(),
        }
    }
}

fn mode(kind: UplinkKind) -> &'static str {
    match kind {
        UplinkKind::Full => "full",
        UplinkKind::ReadOnly => "ro",
        UplinkKind::MultiReadOnly => "multiro",
    }
}
