//! A server in memory: clients are vectors, time is a number.

use crate::callsign::Callsign;
use crate::config::{
    Batching, Config, Listener, Peer, PeerGroup, PortKind, Protocol, Uplink, UplinkKind,
};
use crate::engine::{
    Close, ConnId, DatagramPort, Identity, Input, LogLevel, Now, Output, Server, Worker,
};
use crate::passcode;
use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const FULL: usize = 0;
pub(crate) const IGATE: usize = 1;
pub(crate) const CLIENT_ONLY: usize = 2;
pub(crate) const DUPES: usize = 3;
pub(crate) const SUBMIT: usize = 4;
pub(crate) const FULL_UDP: usize = 5;
pub(crate) const FORCED: usize = 6;

/// Requests of the engine.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) written: BTreeMap<ConnId, Vec<u8>>,
    /// Octets that a connection takes before it blocks; absent for any number.
    pub(crate) room: BTreeMap<ConnId, usize>,
    pub(crate) unacknowledged: BTreeMap<ConnId, usize>,
    pub(crate) sent: Vec<(DatagramPort, SocketAddr, Vec<u8>)>,
    pub(crate) closed: Vec<(ConnId, Close, String)>,
    pub(crate) writes: usize,
    pub(crate) logged: Vec<String>,
}

impl Output for Memory {
    fn write(&mut self, conn: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.writes += 1;
        let mut octets: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
        if let Some(room) = self.room.get_mut(&conn) {
            octets.truncate(*room);
            *room -= octets.len();
        }
        self.written.entry(conn).or_default().extend_from_slice(&octets);
        Ok(octets.len())
    }

    fn unacknowledged(&mut self, conn: ConnId) -> usize {
        self.unacknowledged.get(&conn).copied().unwrap_or(0)
    }

    fn send(&mut self, port: DatagramPort, to: SocketAddr, bytes: &[u8]) {
        self.sent.push((port, to, bytes.to_vec()));
    }

    fn close(&mut self, conn: ConnId, how: Close, reason: &str) {
        self.closed.push((conn, how, reason.to_owned()));
    }

    fn log(&mut self, _level: LogLevel, line: std::fmt::Arguments<'_>) {
        self.logged.push(line.to_string());
    }
}

/// A server with one worker, and its clock.
pub(crate) struct World {
    pub(crate) server: Arc<Server>,
    pub(crate) worker: Worker,
    pub(crate) out: Memory,
    pub(crate) now: Now,
}

pub(crate) fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn listener(name: &str, kind: PortKind, protocol: Protocol, port: u16) -> Arc<Listener> {
    Arc::new(Listener {
        name: name.to_owned(),
        kind,
        protocol,
        address: SocketAddr::from(([127, 0, 0, 1], port)),
        filter: None,
        clients_max: 50_000,
        acl: None,
        hidden: false,
        tls: None,
    })
}

fn uplink(name: &str, kind: UplinkKind) -> Arc<Uplink> {
    Arc::new(Uplink {
        name: name.to_owned(),
        kind,
        protocol: Protocol::Tcp,
        host: "127.0.0.1".to_owned(),
        port: 10_152,
        tls: None,
    })
}

pub(crate) fn config() -> Config {
    let mut forced = (*listener("forced", PortKind::Igate, Protocol::Tcp, 14_006)).clone();
    forced.filter = Some("p/OH".to_owned());
    Config {
        server_id: Callsign::new(b"TESTING").unwrap(),
        passcode: 31_421,
        my_admin: "Nobody".to_owned(),
        my_email: None,
        fake_version: None,
        run_dir: None,
        log_rotate: None,
        clients_max: 50_000,
        workers: 1,
        upstream_timeout: Duration::from_secs(15),
        client_timeout: Duration::from_secs(48 * 3600),
        login_timeout: Duration::from_secs(30),
        stale_after: Duration::from_secs(10),
        last_position_cache: Duration::from_secs(24 * 3600),
        stats_interval: Duration::from_secs(3600),
        expiry_interval: Duration::from_secs(60),
        file_limit: None,
        disallow_unverified: true,
        quirks_mode: false,
        disallow_login: vec!["P1RAT*".to_owned()],
        disallow_source: vec!["B4D*".to_owned()],
        disallow_igate: vec!["BADGATE".to_owned()],
        warnings: Vec::new(),
        q_protocol: b'A',
        disallow_other_q_protocols: false,
        batching: Batching::Adaptive,
        listeners: vec![
            listener("full", PortKind::FullFeed, Protocol::Tcp, 14_000),
            listener("igate", PortKind::Igate, Protocol::Tcp, 14_001),
            listener("clients", PortKind::ClientOnly, Protocol::Tcp, 14_002),
            listener("dupes", PortKind::DupeFeed, Protocol::Tcp, 14_003),
            listener("submit", PortKind::UdpSubmit, Protocol::Udp, 14_004),
            listener("full", PortKind::FullFeed, Protocol::Udp, 14_000),
            Arc::new(forced),
        ],
        uplinks: vec![uplink("core", UplinkKind::Full), uplink("ro", UplinkKind::ReadOnly)],
        uplink_bind: Vec::new(),
        peer_groups: vec![Arc::new(PeerGroup {
            name: "peers".to_owned(),
            local: address("127.0.0.1:16404"),
            peers: vec![
                Peer {
                    server_id: Callsign::new(b"PEER1").unwrap(),
                    address: address("127.0.0.1:16405"),
                },
                Peer {
                    server_id: Callsign::new(b"PEER2").unwrap(),
                    address: address("127.0.0.1:16406"),
                },
            ],
        })],
        http_status: Vec::new(),
        http_upload: Vec::new(),
        http_allow_hosts: Vec::new(),
        show_email: false,
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(config())
    }

    pub(crate) fn with(config: Config) -> Self {
        // 22 Nov 2025 12:00:00 UTC; the monotonic clock begins anywhere.
        let now = Now { monotonic_ns: 1_000_000_000_000, utc_ns: 1_763_812_800_000_000_000 };
        let identity = Identity { software: "chronoscope-aprs".into(), version: "1.2.3".into() };
        let server = Server::new(Arc::new(config), 7, identity, now);
        let worker = server.worker(0, Box::new(|| ()));
        Self { server, worker, out: Memory::default(), now }
    }

    pub(crate) fn open(&mut self, listener: usize) -> ConnId {
        let conn = self.server.next_conn();
        let port = u16::try_from(conn.0 % 60_000).unwrap() + 1024;
        let remote = SocketAddr::from(([192, 0, 2, 1], port));
        let local = self.worker.config.listeners[listener].address;
        let opened = Input::Opened { conn, listener, remote, local, certificate: None };
        self.worker.input(self.now, opened, &mut self.out);
        conn
    }

    /// A client that is logged in and verified; what it was told is forgotten.
    pub(crate) fn client(&mut self, listener: usize, call: &str, more: &str) -> ConnId {
        let conn = self.open(listener);
        let code = passcode::of(call.as_bytes());
        self.says(conn, &format!("user {call} pass {code} vers test 1.0 {more}"));
        let told = self.hears(conn);
        assert!(told.contains(&format!("# logresp {call} verified, server TESTING")), "{told}");
        conn
    }

    pub(crate) fn uplink(&mut self, uplink: usize, call: &str) -> ConnId {
        let conn = self.server.next_conn();
        let opened = Input::UplinkOpened {
            conn,
            uplink,
            remote: address("198.51.100.1:10152"),
            local: address("192.0.2.9:40000"),
            certificate: false,
        };
        self.worker.input(self.now, opened, &mut self.out);
        self.says(conn, "# aprsc 2.1.21");
        assert_eq!(self.hears(conn), "user TESTING pass 31421 vers chronoscope-aprs 1.2.3\r\n");
        self.says(conn, &format!("# logresp TESTING verified, server {call}, adjunct"));
        conn
    }

    pub(crate) fn says(&mut self, conn: ConnId, line: &str) {
        self.says_octets(conn, format!("{line}\r\n").as_bytes());
    }

    pub(crate) fn says_octets(&mut self, conn: ConnId, bytes: &[u8]) {
        self.worker.input(self.now, Input::Received { conn, bytes }, &mut self.out);
        // Two verified logins of one callsign: the older one is told by mail.
        self.worker.mail(self.now, &mut self.out);
    }

    pub(crate) fn closed(&mut self, conn: ConnId) {
        self.worker.input(self.now, Input::Closed { conn, reason: "eof" }, &mut self.out);
    }

    /// Lets time pass, with everything done that is due meanwhile.
    pub(crate) fn wait(&mut self, duration: Duration) {
        let end = self.now.monotonic_ns + u64::try_from(duration.as_nanos()).unwrap();
        while let Some(at) = self.worker.deadline().filter(|at| *at <= end) {
            self.pass_until(at.max(self.now.monotonic_ns));
            self.worker.tick(self.now, &mut self.out);
        }
        self.pass_until(end);
    }

    fn pass_until(&mut self, at_ns: u64) {
        let passed = i64::try_from(at_ns - self.now.monotonic_ns).unwrap();
        self.now = Now { monotonic_ns: at_ns, utc_ns: self.now.utc_ns + passed };
    }

    /// The lines sent to a client since the last call; waits for those that are due soon.
    pub(crate) fn hears(&mut self, conn: ConnId) -> String {
        self.wait(Duration::from_millis(250));
        let octets = self.out.written.remove(&conn).unwrap_or_default();
        String::from_utf8(octets).unwrap()
    }

    /// The same, packets only.
    pub(crate) fn packets(&mut self, conn: ConnId) -> Vec<String> {
        let text = self.hears(conn);
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }

    pub(crate) fn is_closed(&self, conn: ConnId) -> Option<&str> {
        let close = self.out.closed.iter().find(|(closed, ..)| *closed == conn);
        close.map(|(_, _, reason)| reason.as_str())
    }

    pub(crate) fn row(&self, conn: ConnId) -> crate::status::ClientStatus {
        let rows = self.worker.status(self.now).connections;
        rows.into_iter().find(|row| row.conn == conn).unwrap()
    }
}
