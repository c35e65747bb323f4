//! The server's own counters, out of its `status.json`, beside those of the generator.
//!
//! Each connection to the server is the generator's, from its first octet: with nothing under way
//! any more both must have counted the same, since the server's start.

use anyhow::{Context, Result, ensure};
use chronoscope_clock as clock;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The server answers from a snapshot of up to a second ago: two readings are at least so far
/// apart.
pub(crate) const APART: Duration = Duration::from_millis(1050);
/// Longest wait for an answer.
const WITHIN: Duration = Duration::from_secs(10);

/// Counters since the server's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Clients connected now.
    pub(crate) clients: u64,
    /// Connections accepted.
    pub(crate) connects: u64,
    /// Octets received over TCP.
    pub(crate) tcp_bytes_rx: u64,
    /// Octets sent over TCP.
    pub(crate) tcp_bytes_tx: u64,
    /// Octets received over UDP.
    pub(crate) udp_bytes_rx: u64,
    /// Octets sent over UDP.
    pub(crate) udp_bytes_tx: u64,
    /// Packets received over TCP.
    pub(crate) tcp_packets_rx: u64,
    /// Packets sent over TCP.
    pub(crate) tcp_packets_tx: u64,
    /// Packets received over UDP.
    pub(crate) udp_packets_rx: u64,
    /// Packets sent over UDP.
    pub(crate) udp_packets_tx: u64,
    /// Packets that the duplicate check dropped.
    pub(crate) duplicates: u64,
    /// Packets that it let through.
    pub(crate) uniques: u64,
}

/// Takes one counter out of all.
type Counter = fn(&Counts) -> u64;

/// What the document's status page shows, in its order and its words.
const ROWS: [(&str, Counter); 12] = [
    ("Clients", |counts| counts.clients),
    ("Connects", |counts| counts.connects),
    ("Bytes Rx TCP", |counts| counts.tcp_bytes_rx),
    ("Bytes Tx TCP", |counts| counts.tcp_bytes_tx),
    ("Bytes Rx UDP", |counts| counts.udp_bytes_rx),
    ("Bytes Tx UDP", |counts| counts.udp_bytes_tx),
    ("Packets Rx TCP", |counts| counts.tcp_packets_rx),
    ("Packets Tx TCP", |counts| counts.tcp_packets_tx),
    ("Packets Rx UDP", |counts| counts.udp_packets_rx),
    ("Packets Tx UDP", |counts| counts.udp_packets_tx),
    ("Duplicate packets dropped", |counts| counts.duplicates),
    ("Unique packets seen", |counts| counts.uniques),
];

/// `status.json`, as far as it is read here.
#[derive(Deserialize)]
struct Document {
    totals: Totals,
    dupecheck: DupeCheck,
}

#[derive(Deserialize)]
struct Totals {
    clients: u64,
    connects: u64,
    tcp_bytes_rx: u64,
    tcp_bytes_tx: u64,
    udp_bytes_rx: u64,
    udp_bytes_tx: u64,
    tcp_pkts_rx: u64,
    tcp_pkts_tx: u64,
    udp_pkts_rx: u64,
    udp_pkts_tx: u64,
}

#[derive(Deserialize)]
struct DupeCheck {
    dupes_dropped: u64,
    uniques_out: u64,
}

impl Counts {
    /// The counters in a `status.json`.
    ///
    /// # Errors
    /// When one is missing; the error has its name.
    pub(crate) fn parse(json: &str) -> Result<Self> {
        let Document { totals, dupecheck } =
            serde_json::from_str(json).context("status.json has not the expected counters")?;
        Ok(Self {
            clients: totals.clients,
            connects: totals.connects,
            tcp_bytes_rx: totals.tcp_bytes_rx,
            tcp_bytes_tx: totals.tcp_bytes_tx,
            udp_bytes_rx: totals.udp_bytes_rx,
            udp_bytes_tx: totals.udp_bytes_tx,
            tcp_packets_rx: totals.tcp_pkts_rx,
            tcp_packets_tx: totals.tcp_pkts_tx,
            udp_packets_rx: totals.udp_pkts_rx,
            udp_packets_tx: totals.udp_pkts_tx,
            duplicates: dupecheck.dupes_dropped,
            uniques: dupecheck.uniques_out,
        })
    }
}

/// Counters at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// When they were read, nanoseconds of the monotonic clock.
    at_ns: u64,
    pub(crate) counts: Counts,
}

impl Reading {
    /// Asks a status port for its counters. The server makes a new snapshot only
    /// [`APART`] after the last one.
    ///
    /// # Errors
    /// When it does not answer, or not with counters.
    pub(crate) fn take(status_port: SocketAddr) -> Result<Self> {
        let json = get(status_port, "/status.json").context("reading status.json")?;
        Ok(Self { at_ns: clock::monotonic_ns(), counts: Counts::parse(&json)? })
    }
}

fn get(address: SocketAddr, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, WITHIN)?;
    stream.set_read_timeout(Some(WITHIN))?;
    // HTTP/1.0: the body ends where the connection does.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) =
        text.split_once("\r\n\r\n").context("an answer without an end of its head")?;
    let first = head.lines().next().unwrap_or_default();
    ensure!(first.contains(" 200 "), "{path}: {first}");
    Ok(body.to_owned())
}

/// The server's counters over a window, and in all beside the generator's.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct StatusPage {
    /// Seconds between the readings that rates are of.
    pub(crate) window_s: f64,
    /// Packets received a second.
    pub(crate) received_per_s: f64,
    /// Packets sent a second.
    pub(crate) sent_per_s: f64,
    /// Duplicates dropped a second.
    pub(crate) duplicates_per_s: f64,
    /// Unique packets a second: those that reach the filters.
    pub(crate) uniques_per_s: f64,
    /// The rows of the document's page.
    pub(crate) rows: Vec<StatusRow>,
    /// Largest difference of a counter from the generator's, percent of the larger of both.
    pub(crate) difference_pct: f64,
    /// Name of the counter with it.
    pub(crate) differs_most: &'static str,
}

/// A row of the status page.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StatusRow {
    /// Name on the document's page.
    pub(crate) name: &'static str,
    /// Value at the end, as the server counted.
    pub(crate) total: u64,
    /// Change a second in the window.
    pub(crate) rate: f64,
    /// Value at the end, as the generator counted.
    pub(crate) generator: u64,
}

impl StatusPage {
    /// From the readings at the window's begin and end, and at the end with nothing under way any
    /// more, when the generator had counted `generator`.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn new(from: Reading, to: Reading, last: Counts, generator: Counts) -> Self {
        let window_s = (to.at_ns - from.at_ns) as f64 / 1e9;
        let rate = |of: Counter| {
            // Clients may become fewer.
            (of(&to.counts) as f64 - of(&from.counts) as f64) / window_s
        };
        let row = |(name, of): (&'static str, Counter)| StatusRow {
            name,
            total: of(&last),
            rate: rate(of),
            generator: of(&generator),
        };
        let rows: Vec<StatusRow> = ROWS.into_iter().map(row).collect();
        let (difference_pct, differs_most) = largest_difference(&rows);
        Self {
            window_s,
            received_per_s: rate(|counts| counts.tcp_packets_rx),
            sent_per_s: rate(|counts| counts.tcp_packets_tx),
            duplicates_per_s: rate(|counts| counts.duplicates),
            uniques_per_s: rate(|counts| counts.uniques),
            rows,
            difference_pct,
            differs_most,
        }
    }
}

/// Of the counters, the largest relative difference in percent, and its name.
#[allow(clippy::cast_precision_loss)]
fn largest_difference(rows: &[StatusRow]) -> (f64, &'static str) {
    let of = |row: &StatusRow| {
        let (one, other) = (row.total as f64, row.generator as f64);
        // Both 0 is no difference.
        ((one - other).abs() / one.max(other).max(1.0) * 100.0, row.name)
    };
    rows.iter().map(of).fold((0.0, "none"), |most, one| if one.0 > most.0 { one } else { most })
}

#[cfg(test)]
mod tests {
    use super::{Counts, ROWS, Reading, StatusPage};

    /// What a server would say after 4 clients sent 1000 packets, 250 of them repeated, to 10 more.
    const JSON: &str = r#"{ "server": { "uptime": 9 },
        "totals": { "clients": 14, "connects": 14, "refused": 0,
            "tcp_bytes_rx": 82000, "tcp_bytes_tx": 615000, "udp_bytes_rx": 0, "udp_bytes_tx": 0,
            "tcp_pkts_rx": 1000, "tcp_pkts_tx": 7500, "udp_pkts_rx": 0, "udp_pkts_tx": 0 },
        "dupecheck": { "dupes_dropped": 250, "uniques_out": 750, "variations": { "exact": 250 } } }"#;

    fn generator() -> Counts {
        Counts {
            clients: 14,
            connects: 14,
            tcp_bytes_rx: 82_000,
            tcp_bytes_tx: 615_000,
            tcp_packets_rx: 1000,
            tcp_packets_tx: 7500,
            duplicates: 250,
            uniques: 750,
            ..Counts::default()
        }
    }

    fn page(json: &str) -> StatusPage {
        let last = Counts::parse(json).unwrap();
        let from = Reading { at_ns: 1_000_000_000, counts: Counts::default() };
        let to = Reading { at_ns: 3_000_000_000, counts: last };
        StatusPage::new(from, to, last, generator())
    }

    #[test]
    fn rates_are_the_difference_of_two_readings_over_the_time_between() {
        let page = page(JSON);
        assert_eq!((page.window_s, page.received_per_s, page.sent_per_s), (2.0, 500.0, 3750.0));
        assert_eq!((page.duplicates_per_s, page.uniques_per_s), (125.0, 375.0));
        let packets = page.rows.iter().find(|row| row.name == "Packets Tx TCP").unwrap();
        assert_eq!((packets.total, packets.rate, packets.generator), (7500, 3750.0, 7500));
        assert_eq!((page.difference_pct, page.differs_most), (0.0, "none"));
    }

    /// Each counter, wrong by one alone: the agreement fails, and names it.
    #[test]
    fn a_wrong_counter_is_found() {
        let good: serde_json::Value = serde_json::from_str(JSON).unwrap();
        let places = [
            "/totals/clients",
            "/totals/connects",
            "/totals/tcp_bytes_rx",
            "/totals/tcp_bytes_tx",
            "/totals/udp_bytes_rx",
            "/totals/udp_bytes_tx",
            "/totals/tcp_pkts_rx",
            "/totals/tcp_pkts_tx",
            "/totals/udp_pkts_rx",
            "/totals/udp_pkts_tx",
            "/dupecheck/dupes_dropped",
            "/dupecheck/uniques_out",
        ];
        for (place, (name, _)) in places.into_iter().zip(ROWS) {
            let mut wrong = good.clone();
            let value = wrong.pointer(place).unwrap().as_u64().unwrap();
            *wrong.pointer_mut(place).unwrap() = (value + value / 100 + 1).into();
            let page = page(&wrong.to_string());
            assert_eq!(page.differs_most, name);
            assert!(page.difference_pct > 0.9, "{name}: {} %", page.difference_pct);
        }
    }

    #[test]
    fn a_counter_that_is_not_there_is_named() {
        let error = Counts::parse(&JSON.replace("tcp_pkts_tx", "x")).unwrap_err();
        assert!(format!("{error:#}").contains("tcp_pkts_tx"), "{error:#}");
    }
}
