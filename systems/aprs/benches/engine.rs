//! Benchmark of a packet's cost in the engine, without sockets: parse, check, filter, deliver.
//!
//! `cargo bench -p chronoscope-aprs --bench engine`. Ten packets arrive every 10 ms (1000 a second)
//! for ten seconds of the engine's clock; writes are discarded. CPU time of this thread, the best
//! of three runs. The second half of the table is with the recorder on; its last column is the
//! recorder's share of a processor.

use chronoscope_aprs::callsign::Callsign;
use chronoscope_aprs::config::{Config, Listener, PortKind, Protocol};
use chronoscope_aprs::engine::{
    Close, ConnId, DatagramPort, Identity, Input, LogLevel, Now, Output, Server, Worker,
};
use chronoscope_aprs::{passcode, recording};
use chronoscope_clock as clock;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::Arc;

const RUNS: usize = 3;
const PACKETS: usize = 10_000;
const BATCH: usize = 10;
const STEP_NS: u64 = 10_000_000;
const FULL: usize = 0;
const IGATE: usize = 1;

/// Takes everything and keeps nothing.
#[derive(Default)]
struct Sink {
    writes: u64,
    octets: u64,
}

impl Output for Sink {
    fn write(&mut self, _conn: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let octets: usize = slices.iter().map(|slice| slice.len()).sum();
        self.writes += 1;
        self.octets += octets as u64;
        Ok(octets)
    }

    fn unacknowledged(&mut self, _conn: ConnId) -> usize {
        0
    }

    fn send(&mut self, _port: DatagramPort, _to: SocketAddr, _bytes: &[u8]) {}
    fn close(&mut self, _conn: ConnId, _how: Close, _reason: &str) {}
    fn log(&mut self, _level: LogLevel, _line: std::fmt::Arguments<'_>) {}
}

struct Figures {
    ns_in: f64,
    delivered: u64,
    writes: u64,
}

fn main() {
    println!(
        "{:>22} {:>10} {:>12} {:>14} {:>14} {:>9} {:>10}",
        "clients", "delivered", "writes", "ns a packet in", "ns a delivery", "recorder", "of a CPU"
    );
    let scenes = [("1 full feed", 1, 0), ("400 full feeds", 400, 0), ("4000 filtered", 0, 4000)];
    let mut without = Vec::new();
    for (name, full, filtered) in scenes {
        let figures = best(full, filtered);
        show(name, &figures, "off", None);
        without.push(figures.ns_in);
    }
    recording::init();
    for ((name, full, filtered), without) in scenes.into_iter().zip(without) {
        let figures = best(full, filtered);
        show(name, &figures, "on", Some(figures.ns_in - without));
    }
}

#[allow(clippy::cast_precision_loss)] // counts far below 2^52
fn show(name: &str, figures: &Figures, recorder: &str, more_ns: Option<f64>) {
    let each = figures.ns_in * PACKETS as f64 / figures.delivered as f64;
    // At 1000 packets a second.
    let share = more_ns.map_or(String::new(), |ns| format!("{:.3} %", ns * 1000.0 / 1e9 * 100.0));
    println!(
        "{name:>22} {:>10} {:>12} {:>14.0} {:>14.1} {recorder:>9} {share:>10}",
        figures.delivered, figures.writes, figures.ns_in, each
    );
}

fn best(full: usize, filtered: usize) -> Figures {
    let mut best = run(full, filtered);
    for _ in 1..RUNS {
        let figures = run(full, filtered);
        if figures.ns_in < best.ns_in {
            best = figures;
        }
    }
    best
}

fn run(full: usize, filtered: usize) -> Figures {
    let mut config = Config::new(Callsign::new(b"BENCH").expect("a callsign"));
    config.clients_max = 100_000;
    config.workers = 1;
    config.listeners = vec![listener(PortKind::FullFeed, 1), listener(PortKind::Igate, 2)];
    let identity = Identity { software: "bench".into(), version: "0".into() };
    let mut now = Now { monotonic_ns: 1_000_000_000, utc_ns: 0 };
    let server = Server::new(Arc::new(config), 7, identity, now);
    let mut worker = server.worker(0, Box::new(|| ()));
    let mut out = Sink::default();
    let sender = client(&server, &mut worker, now, IGATE, "N0GATE", "", &mut out);
    for number in 0..full {
        client(&server, &mut worker, now, FULL, &format!("F{number}"), "", &mut out);
    }
    for number in 0..filtered {
        let filter = filter(number);
        client(&server, &mut worker, now, IGATE, &format!("G{number}"), &filter, &mut out);
    }
    let batches: Vec<Vec<u8>> = (0..PACKETS / BATCH).map(batch).collect();
    let sent = |server: &Server, now| server.status(now).tcp.packets_tx;
    let (before, writes) = (sent(&server, now), out.writes);
    let start = clock::thread_cpu_ns();
    for bytes in &batches {
        worker.input(now, Input::Received { conn: sender, bytes }, &mut out);
        let until = now.monotonic_ns + STEP_NS;
        while let Some(at) = worker.deadline().filter(|at| *at <= until) {
            now.monotonic_ns = now.monotonic_ns.max(at);
            worker.tick(now, &mut out);
        }
        now.monotonic_ns = until;
    }
    let cpu_ns = clock::thread_cpu_ns() - start;
    #[allow(clippy::cast_precision_loss)] // some seconds in nanoseconds
    let ns_in = cpu_ns as f64 / PACKETS as f64;
    Figures { ns_in, delivered: sent(&server, now) - before, writes: out.writes - writes }
}

fn listener(kind: PortKind, port: u16) -> Arc<Listener> {
    Arc::new(Listener {
        name: format!("{kind:?}"),
        kind,
        protocol: Protocol::Tcp,
        address: SocketAddr::from(([127, 0, 0, 1], port)),
        filter: None,
        clients_max: 100_000,
        acl: None,
        hidden: false,
        tls: None,
    })
}

fn client(
    server: &Server,
    worker: &mut Worker,
    now: Now,
    listener: usize,
    call: &str,
    filter: &str,
    out: &mut Sink,
) -> ConnId {
    let conn = server.next_conn();
    let at = SocketAddr::from(([127, 0, 0, 1], 1));
    let opened = Input::Opened { conn, listener, remote: at, local: at, certificate: None };
    worker.input(now, opened, out);
    let code = passcode::of(call.as_bytes());
    let login = format!("user {call} pass {code} vers bench 1 {filter}\r\n");
    worker.input(now, Input::Received { conn, bytes: login.as_bytes() }, out);
    conn
}

/// Filters as clients have them, by first letter: r 55 %, a 23 %, b 8 %, p 8 %, t 6 %.
fn filter(number: usize) -> String {
    let (latitude, longitude) = place(number * 7919);
    match number % 100 {
        0..55 => format!("filter r/{latitude:.3}/{longitude:.3}/{}", 20 + number % 180),
        55..78 => {
            let (north, west) = (latitude + 1.0, longitude - 1.0);
            format!("filter a/{north:.2}/{west:.2}/{:.2}/{:.2}", north - 2.0, west + 2.0)
        }
        78..86 => format!("filter b/S{number}/S{}*/OH7LZB", number * 3),
        86..94 => format!("filter p/S{}", number % 977),
        _ => format!("filter t/w -p/S1 b/S{number}"),
    }
}

/// A place where stations are: Europe or North America.
#[allow(clippy::cast_precision_loss)] // small numbers
fn place(number: usize) -> (f64, f64) {
    let (north, east) = ((number * 37 % 2000) as f64 / 100.0, (number * 61 % 4000) as f64 / 100.0);
    if number.is_multiple_of(2) {
        (40.0 + north, -5.0 + east * 0.75)
    } else {
        (30.0 + north, -120.0 + east)
    }
}

fn batch(number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for packet in number * BATCH..(number + 1) * BATCH {
        let (latitude, longitude) = place(packet);
        let dm = |degrees: f64| (degrees.abs().trunc(), degrees.abs().fract() * 60.0);
        let ((north_d, north_m), (east_d, east_m)) = (dm(latitude), dm(longitude));
        let side = if longitude < 0.0 { 'W' } else { 'E' };
        bytes.extend_from_slice(
            format!(
                "S{}>APRS,WIDE1-1,qAR,N0GATE:!{north_d:02}{north_m:05.2}N/{east_d:03}{east_m:05.2}{side}-{packet}\r\n",
                packet % 5000
            )
            .as_bytes(),
        );
    }
    bytes
}
