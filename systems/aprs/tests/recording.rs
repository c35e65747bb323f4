//! A packet's way through the server is a chain that others can read.
#![allow(clippy::unwrap_used)]

mod common;

use chronoscope_aprs::callsign::Callsign;
use chronoscope_aprs::config::{Config, Listener, PortKind, Protocol};
use chronoscope_aprs::engine::{
    Close, ConnId, DatagramPort, Identity, Input, LogLevel, Now, Output, Server,
};
use chronoscope_aprs::{passcode, recording};
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Record};
use chronoscope_record::read::{self, Cursors, Ring};
use common::{Client, UdpPeer, Upstream, free_port, loopback, passes_as_is, text};
use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

const SCENARIO: &str = "APRS_TEST_SCENARIO";

struct Sink;

impl Output for Sink {
    fn write(&mut self, _conn: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }

    fn unacknowledged(&mut self, _conn: ConnId) -> usize {
        0
    }

    fn send(&mut self, _port: DatagramPort, _to: SocketAddr, _bytes: &[u8]) {}
    fn close(&mut self, _conn: ConnId, _how: Close, _reason: &str) {}
    fn log(&mut self, _level: LogLevel, _line: std::fmt::Arguments<'_>) {}
}

fn listener(kind: PortKind, port: u16) -> Arc<Listener> {
    Arc::new(Listener {
        name: format!("{kind:?}"),
        kind,
        protocol: Protocol::Tcp,
        address: SocketAddr::from(([127, 0, 0, 1], port)),
        filter: None,
        clients_max: 100,
        acl: None,
        hidden: false,
        tls: None,
    })
}

/// In the child: three packets, one of them twice and one malformed, to two readers.
#[test]
fn child_entry() {
    if std::env::var_os(SCENARIO).is_none() {
        return;
    }
    recording::init();
    let mut config = Config::new(Callsign::new(b"TESTING").unwrap());
    config.workers = 1;
    config.listeners = vec![listener(PortKind::FullFeed, 1), listener(PortKind::Igate, 2)];
    let identity = Identity { software: "test".into(), version: "0".into() };
    let mut now = Now { monotonic_ns: 1_000_000_000, utc_ns: 0 };
    let server = Server::new(Arc::new(config), 7, identity, now);
    let mut worker = server.worker(0, Box::new(|| ()));
    let at = SocketAddr::from(([127, 0, 0, 1], 1));
    let mut conns = Vec::new();
    for (listener, call) in [(1, "OH7AA"), (0, "OH7BB"), (1, "OH7CC"), (0, "OH7DD")] {
        let conn = server.next_conn();
        let opened = Input::Opened { conn, listener, remote: at, local: at, certificate: None };
        worker.input(now, opened, &mut Sink);
        let code = passcode::of(call.as_bytes());
        let login = format!("user {call} pass {code} vers x 1 filter p/AA\r\n");
        worker.input(now, Input::Received { conn, bytes: login.as_bytes() }, &mut Sink);
        conns.push(conn);
    }
    let bytes = b"AA1A>APRS,qAR,OH7AA:>one\r\nBB1B>APRS,qAR,OH7AA:>two\r\n\
                  BB1B>APRS,qAR,OH7AA:>two\r\nnothing of the kind\r\n";
    worker.input(now, Input::Received { conn: conns[0], bytes }, &mut Sink);
    now.monotonic_ns = worker.deadline().unwrap();
    worker.tick(now, &mut Sink);
}

fn of_class(ring: &Ring, batch: &Batch, class: &str) -> Vec<Record> {
    let named = |r: &&Record| ring.names().class(r.class).is_some_and(|name| name.class == class);
    batch.records().iter().filter(named).copied().collect()
}

#[test]
fn each_packet_is_a_chain_from_receipt_to_the_last_write() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["child_entry", "--exact", "--test-threads=1"])
        .env(SCENARIO, "1")
        .env("CHRONOSCOPE_DIR", folder.path())
        .status()
        .unwrap();
    assert!(status.success());
    let mut ring = Ring::open(&read::find_rings(folder.path())[0]).unwrap();
    assert_eq!(ring.process().application, recording::APPLICATION);
    let mut batch = Batch::default();
    ring.drain(&mut Cursors::default(), usize::MAX, &mut batch).unwrap();
    ring.refresh_names().unwrap();
    let count = |class: &str| of_class(&ring, &batch, class).len();
    let counts = ["Receive", "DupeCheck", "Filter", "Write full feed", "Write filtered"].map(count);
    assert_eq!(counts, [4, 3, 2, 2, 1]);
    let roots = of_class(&ring, &batch, "Receive");
    for class in ["DupeCheck", "Filter", "Write full feed", "Write filtered"] {
        for record in of_class(&ring, &batch, class) {
            assert_eq!(record.level, 1, "{class}");
            let root = roots.iter().find(|root| root.id == record.parent).unwrap();
            assert_eq!(record.root_start_ns, root.start_ns, "{class}");
        }
    }
}

#[test]
fn nothing_is_recorded_where_the_environment_says_so() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["child_entry", "--exact", "--test-threads=1"])
        .env(SCENARIO, "1")
        .env("CHRONOSCOPE_DIR", folder.path())
        .env("CHRONOSCOPE_RECORD", "off")
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(read::find_rings(folder.path()), Vec::<std::path::PathBuf>::new());
}

/// What ended in the ring of a running process until `class` did, for each class asked for.
#[track_caller]
fn until_ended(ring: &mut Ring, classes: &[&str]) -> Batch {
    let (mut cursors, mut batch) = (Cursors::default(), Batch::default());
    for _ in 0..12_000 {
        ring.drain(&mut cursors, usize::MAX, &mut batch).unwrap();
        ring.refresh_names().unwrap();
        if classes.iter().all(|class| !of_class(ring, &batch, class).is_empty()) {
            return batch;
        }
        clock::sleep(Duration::from_millis(5));
    }
    let missing: Vec<_> =
        classes.iter().filter(|class| of_class(ring, &batch, class).is_empty()).collect();
    panic!("never recorded: {missing:?}");
}

/// One packet to one client of each class, by the program with its sockets and two workers.
#[test]
fn a_running_program_records_the_way_to_clients_of_each_class() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let peer = UdpPeer::new("PEER1");
    let upstream = Upstream::new("CORE1");
    let both = free_port(loopback());
    let (ip, port) = (both.ip(), both.port());
    let directives = peer.directive()
        + &upstream.directive("full")
        + &format!("Listen both fullfeed tcp {ip} {port}\nListen udp fullfeed udp {ip} {port}\n");
    let (server, rings) = common::Server::recorded(&directives, folder.path());
    let (mut up, _) = upstream.login();
    server.wait_for("let in by its uplink", |status| {
        !status["alarms"].to_string().contains("no_uplink")
    });
    let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let words = format!(" UDP {}", socket.local_addr().unwrap().port());
    let _by_udp = Client::login_with(both, "N5CAL-4", &words);
    let mut filtered = Client::filtered(server.port("igate"), "N5CAL-3", "p/SRC");
    let mut full = Client::login(server.port("full"), "N5CAL-2");
    let mut sender = Client::login(server.port("igate"), "N5CAL-1");
    let line = "SRC>DST,qAR,N5CAL-1:to all";
    passes_as_is(&mut sender, &mut full, line);
    for received in [filtered.packet(), up.packet(), peer.packet()] {
        assert_eq!(text(&received), line);
    }
    let mut buffer = [0; 600];
    let count = socket.recv(&mut buffer).unwrap();
    assert_eq!(text(&buffer[..count]), line);

    let mut ring = Ring::open(&read::find_rings(&rings)[0]).unwrap();
    assert_eq!(ring.process().application, recording::APPLICATION);
    let writes = ["Write full feed", "Write filtered", "Write uplink", "Write peer", "Write UDP"];
    let batch = until_ended(&mut ring, &writes);
    let roots = of_class(&ring, &batch, "Receive");
    assert_eq!(roots.len(), 1);
    for class in ["DupeCheck"].iter().chain(&writes) {
        let records = of_class(&ring, &batch, class);
        assert_eq!(records.len(), 1, "{class}");
        assert_eq!((records[0].level, records[0].parent), (1, roots[0].id), "{class}");
        assert_eq!(records[0].root_start_ns, roots[0].start_ns, "{class}");
    }
}
