//! `/metrics`: the same numbers for Prometheus, text format 0.0.4.

use super::json::{all_faults, proto};
use super::process;
use super::site::{Site, View};
use super::values::{SOFTWARE, version};
use crate::packet::DropReason;
use crate::status::{ListenerStatus, StatusSnapshot, Traffic};
use chronoscope_clock as clock;
use std::fmt::{self, Write as _};
use std::sync::atomic::Ordering;

/// Type of a family of samples.
#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
}

/// The page. A family stands there whole, its samples below its two lines.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Begins a family. All of its samples have to follow.
    fn family(&mut self, name: &'static str, kind: Kind, help: &str) -> Family<'_> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        self.0.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        Family { page: self, name }
    }

    fn counter(&mut self, name: &'static str, help: &str, value: u64) {
        self.family(name, Kind::Counter, help).put(&[], value);
    }

    fn gauge(&mut self, name: &'static str, help: &str, value: impl fmt::Display) {
        self.family(name, Kind::Gauge, help).put(&[], value);
    }
}

struct Family<'a> {
    page: &'a mut Page,
    name: &'static str,
}

impl Family<'_> {
    fn put(&mut self, labels: &[(&str, &str)], value: impl fmt::Display) {
        let out = &mut self.page.0;
        out.push_str(self.name);
        for (at, (name, text)) in labels.iter().enumerate() {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let open = if at == 0 { '{' } else { ',' };
            let _ = write!(out, "{open}{name}=\"{text}\""); // a String takes everything
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(out, "{close} {value}"); // as above
    }
}

/// Nanoseconds as seconds. An f64 is exact enough: it keeps microseconds for 200 years.
#[allow(clippy::cast_precision_loss)]
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The whole page.
pub(super) fn page(view: &View, site: &Site) -> String {
    let mut page = Page::default();
    let status = &view.status;
    process(&mut page, view);
    server(&mut page, view, site);
    protocols(&mut page, status);
    ports(&mut page, status);
    uplinks(&mut page, status);
    faults(&mut page, status);
    page.0
}

fn process(page: &mut Page, view: &View) {
    let status = &view.status;
    let version = &[("software", SOFTWARE), ("version", version(&view.config))];
    page.family("aprs_build_info", Kind::Gauge, "Always 1: what runs.").put(version, 1);
    let uptime = status.now.monotonic_ns.saturating_sub(status.started.monotonic_ns);
    page.gauge("aprs_uptime_seconds", "Since the start; an upgrade is none.", seconds(uptime));
    let cpu = "CPU time of this process.";
    page.family("process_cpu_seconds_total", Kind::Counter, cpu)
        .put(&[], seconds(clock::process_cpu_ns()));
    if let Some(bytes) = process::resident_bytes() {
        page.gauge("process_resident_memory_bytes", "Memory in RAM.", bytes);
    }
    if let Some(files) = process::open_files() {
        page.gauge("process_open_fds", "Open files and sockets.", files);
    }
}

fn server(page: &mut Page, view: &View, site: &Site) {
    let status = &view.status;
    page.gauge("aprs_clients", "Clients connected.", status.clients);
    page.gauge("aprs_clients_max", "Most clients at a time.", view.config.clients_max);
    page.counter("aprs_connects_total", "Connections of clients.", status.connects);
    page.counter("aprs_refused_total", "Connections refused: ACL, limits.", status.refused);
    let help = "Clients cut for reading more slowly than the staleness bound allows.";
    page.counter("aprs_stale_cuts_total", help, status.stale_cuts);
    let requests = site.requests.load(Ordering::Relaxed);
    page.counter("aprs_http_requests_total", "Requests to the web side.", requests);
    page.counter("aprs_unique_packets_total", "Packets that were new.", status.dupes.uniques);
    if !status.dupes.kinds.is_empty() {
        let help = "Packets that were duplicates, by how they differ.";
        let mut kinds = page.family("aprs_duplicate_packets_total", Kind::Counter, help);
        for (kind, count) in &status.dupes.kinds {
            kinds.put(&[("kind", kind)], count);
        }
    }
    let rows = [&view.clients, &view.uplinks, &view.peers];
    let bytes: u64 = rows.iter().copied().flatten().map(|client| client.queued_bytes).sum();
    page.gauge("aprs_waiting_bytes", "Octets in memory that wait for readers.", bytes);
    let oldest = rows.iter().copied().flatten().map(|client| client.queued_ns).max();
    let help = "Age of what has waited longest for a reader.";
    page.gauge("aprs_waiting_seconds_max", help, seconds(oldest.unwrap_or(0)));
}

/// Name, help text and value of a counter that each protocol has.
type PerProtocol = (&'static str, &'static str, fn(&Traffic) -> u64);

const PER_PROTOCOL: [PerProtocol; 4] = [
    ("aprs_received_bytes_total", "Octets received.", |traffic| traffic.bytes_rx),
    ("aprs_sent_bytes_total", "Octets sent.", |traffic| traffic.bytes_tx),
    ("aprs_received_packets_total", "Packets received.", |traffic| traffic.packets_rx),
    ("aprs_sent_packets_total", "Packets sent.", |traffic| traffic.packets_tx),
];

fn protocols(page: &mut Page, status: &StatusSnapshot) {
    let all = [("tcp", &status.tcp), ("udp", &status.udp), ("sctp", &status.sctp)];
    for (name, help, value) in PER_PROTOCOL {
        let mut family = page.family(name, Kind::Counter, help);
        for (protocol, traffic) in all {
            family.put(&[("protocol", protocol)], value(traffic));
        }
    }
    let help = "Packets received and dropped, by reason.";
    let mut drops = page.family("aprs_dropped_packets_total", Kind::Counter, help);
    for (protocol, traffic) in all {
        for (at, reason) in DropReason::ALL.iter().enumerate() {
            let count = traffic.drops.get(at).copied().unwrap_or(0);
            // A reason that never occurred is exported for one protocol, so that queries find it.
            if count > 0 || protocol == "tcp" {
                drops.put(&[("protocol", protocol), ("reason", reason.name())], count);
            }
        }
    }
}

fn ports(page: &mut Page, status: &StatusSnapshot) {
    let shown: Vec<_> = status.listeners.iter().filter(|port| !port.listener.hidden).collect();
    if shown.is_empty() {
        return;
    }
    let mut each = |name, kind, help: &str, value: fn(&ListenerStatus) -> u64| {
        let mut family = page.family(name, kind, help);
        for port in &shown {
            let address = port.address.to_string();
            let labels = [
                ("port", &*port.listener.name),
                ("address", &*address),
                ("protocol", proto(port.listener.protocol)),
            ];
            family.put(&labels, value(port));
        }
    };
    each("aprs_port_clients", Kind::Gauge, "Clients of the port.", |port| port.clients);
    each("aprs_port_connects_total", Kind::Counter, "Connections.", |port| port.connects);
    let help = "Packets received at the port.";
    each("aprs_port_received_packets_total", Kind::Counter, help, |port| port.traffic.packets_rx);
    let help = "Packets sent at the port.";
    each("aprs_port_sent_packets_total", Kind::Counter, help, |port| port.traffic.packets_tx);
    let help = "Octets sent at the port.";
    each("aprs_port_sent_bytes_total", Kind::Counter, help, |port| port.traffic.bytes_tx);
}

fn uplinks(page: &mut Page, status: &StatusSnapshot) {
    if status.uplinks.is_empty() {
        return;
    }
    let mut up = page.family("aprs_uplink_up", Kind::Gauge, "1 where the uplink is connected.");
    for (at, uplink) in status.uplinks.iter().enumerate() {
        let number = at.to_string(); // names need not differ
        let labels = [("uplink", &*uplink.uplink.name), ("number", &*number)];
        up.put(&labels, u8::from(uplink.conn.is_some()));
    }
}

fn faults(page: &mut Page, status: &StatusSnapshot) {
    let faults = all_faults(status);
    page.gauge("aprs_faults", "What is not as it should be.", faults.len());
    if faults.is_empty() {
        return;
    }
    let mut each = page.family("aprs_fault", Kind::Gauge, "1 while the fault lasts.");
    for fault in &faults {
        each.put(&[("name", fault.name)], 1);
    }
}
