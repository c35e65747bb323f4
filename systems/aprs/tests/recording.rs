//! A packet's way through the server is a chain that others can read.
#![allow(clippy::unwrap_used)]

use chronoscope_aprs::callsign::Callsign;
use chronoscope_aprs::config::{Config, Listener, PortKind, Protocol};
use chronoscope_aprs::engine::{
    Close, ConnId, DatagramPort, Identity, Input, LogLevel, Now, Output, Server,
};
use chronoscope_aprs::{passcode, recording};
use chronoscope_model::{Batch, Record};
use chronoscope_record::read::{self, Cursors, Ring};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;

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
