//! Benchmark of the engine's cost per packet and per delivery, without sockets: reading, q
//! construct, duplicate check, filters, and gathering a client's packets into one write.
//!
//! `cargo bench -p chronoscope-aprs --bench fanout`. One worker, 1000 packets/s of virtual time for
//! ten seconds, from one igate of the server, read as they come; writes take everything. What the
//! kernel adds per write is not in it, so writes are counted beside. CPU time of this thread.

#![allow(clippy::cast_possible_truncation, reason = "made-up stations, all numbers small")]

use chronoscope_aprs::config::{self, Surroundings};
use chronoscope_aprs::engine::{
    Close, ConnId, DatagramPort, Identity, Input, LogLevel, Now, Output, Server, Worker,
};
use chronoscope_aprs::passcode;
use chronoscope_clock as clock;
use std::fmt::Write as _;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::Arc;

const CONFIG: &str = "ServerId TESTING\nPassCode 31421\nMyAdmin \"A, B1C\"\nMyEmail a@example.org\n\
    MaxClients 20000\n\
    Listen \"full\" fullfeed tcp 127.0.0.1 10152 maxclients 20000\n\
    Listen \"igate\" igate tcp 127.0.0.1 14580 maxclients 20000\n";
const PACKETS_PER_S: u64 = 1000;
const SECONDS: u64 = 10;

fn main() {
    println!(
        "{:>8} {:>9} {:>10} {:>11} {:>12} {:>14}",
        "clients", "feed", "delivered", "writes", "CPU us/pkt", "CPU-s/M out"
    );
    for (feed, listener, counts) in
        [("full", 0, [1, 50, 400, 2000]), ("filtered", 1, [100, 400, 1000, 4000])]
    {
        for count in counts {
            measure(feed, listener, count);
        }
    }
}

fn measure(feed: &str, listener: usize, count: u64) {
    let mut world = World::new();
    let sender = world.client(0, "N5CAL-1", "");
    for number in 0..count {
        let filter =
            if listener == 0 { String::new() } else { format!("filter {}", filter(number)) };
        world.client(listener, &format!("L{number}"), &filter);
    }
    let lines: Vec<_> = (0..PACKETS_PER_S * SECONDS).map(line).collect();
    world.out = Sink::default();
    let start = clock::thread_cpu_ns();
    for line in &lines {
        world.pass(1_000_000_000 / PACKETS_PER_S);
        world.receive(sender, line);
    }
    world.pass(1_000_000_000);
    let cpu_ns = (clock::thread_cpu_ns() - start) as f64;
    // All lines are of one length.
    let delivered = world.out.octets as f64 / lines[0].len() as f64;
    println!(
        "{count:>8} {feed:>9} {delivered:>10} {:>11} {:>12.2} {:>14.3}",
        world.out.writes,
        cpu_ns / 1e3 / lines.len() as f64,
        cpu_ns / 1e9 / (delivered / 1e6),
    );
}

/// A filter of the mix that `filter.rs` describes, in short.
fn filter(number: u64) -> String {
    let latitude = 35 + number * 7 % 30;
    let longitude = number * 13 % 40;
    match number % 20 {
        0..11 => format!("r/{latitude}/{longitude}/150"),
        11..16 => format!("a/{}/{longitude}/{latitude}/{}", latitude + 2, longitude + 3),
        16..18 => format!("b/{}/{}", callsign(number), callsign(number * 31)),
        18 => format!("p/{} -t/t", &callsign(number)[..2]),
        _ => "t/w".to_owned(),
    }
}

fn callsign(number: u64) -> String {
    let letter = |place: u64| char::from(b'A' + (number / place % 26) as u8);
    format!("{}{}{}{}{}", letter(1), letter(31), number % 10, letter(7), letter(173))
}

fn line(number: u64) -> String {
    let station = number * 7919 % 30_000;
    let (latitude, longitude) = (35 + station % 31, station * 17 % 41);
    format!(
        "{}>APRS,WIDE1-1,WIDE2-1*,qAR,N5CAL-1:!{latitude:02}{:02}.{:02}N/{longitude:03}30.00E#PHG \
         on the air {number:05}\r\n",
        callsign(station),
        station % 60,
        number % 100,
    )
}

/// Counts what is written, and takes everything.
#[derive(Default)]
struct Sink {
    writes: u64,
    octets: u64,
}

impl Output for Sink {
    fn write(&mut self, _: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.writes += 1;
        let len: usize = slices.iter().map(|slice| slice.len()).sum();
        self.octets += len as u64;
        Ok(len)
    }

    fn unacknowledged(&mut self, _: ConnId) -> usize {
        0
    }

    fn send(&mut self, _: DatagramPort, _: SocketAddr, _: &[u8]) {}

    fn close(&mut self, _: ConnId, _: Close, reason: &str) {
        panic!("a client was closed: {reason}");
    }

    fn log(&mut self, _: LogLevel, _: std::fmt::Arguments<'_>) {}
}

struct World {
    server: Arc<Server>,
    worker: Worker,
    out: Sink,
    now: Now,
}

impl World {
    fn new() -> Self {
        let surroundings = Surroundings {
            read: &|_| Err(io::ErrorKind::NotFound.into()),
            resolve: &|_| Err(io::ErrorKind::NotFound.into()),
        };
        let config = config::parse(CONFIG.as_bytes(), "bench".as_ref(), &surroundings)
            .expect("a configuration");
        let now = Now { monotonic_ns: 1_000_000_000, utc_ns: 1_763_812_800_000_000_000 };
        let identity = Identity { software: "bench".into(), version: "1".into() };
        let server = Server::new(Arc::new(config), 7, identity, now);
        let worker = server.worker(0, Box::new(|| ()));
        Self { server, worker, out: Sink::default(), now }
    }

    fn client(&mut self, listener: usize, call: &str, more: &str) -> ConnId {
        let conn = self.server.next_conn();
        let remote = SocketAddr::from(([192, 0, 2, 1], 1024 + (conn.0 % 60_000) as u16));
        let local = self.server.config().listeners[listener].address;
        let opened = Input::Opened { conn, listener, remote, local, certificate: None };
        self.worker.input(self.now, opened, &mut self.out);
        let mut login = String::new();
        let code = passcode::of(call.as_bytes());
        write!(login, "user {call} pass {code} vers bench 1 {more}\r\n").expect("a string grows");
        self.receive(conn, &login);
        conn
    }

    fn receive(&mut self, conn: ConnId, line: &str) {
        let received = Input::Received { conn, bytes: line.as_bytes() };
        self.worker.input(self.now, received, &mut self.out);
    }

    /// Lets time pass, with everything done that is due meanwhile.
    fn pass(&mut self, ns: u64) {
        let end = self.now.monotonic_ns + ns;
        while let Some(at) = self.worker.deadline().filter(|at| *at <= end) {
            self.pass_until(at.max(self.now.monotonic_ns));
            self.worker.tick(self.now, &mut self.out);
        }
        self.pass_until(end);
    }

    fn pass_until(&mut self, at_ns: u64) {
        self.now.utc_ns += (at_ns - self.now.monotonic_ns) as i64;
        self.now.monotonic_ns = at_ns;
    }
}
