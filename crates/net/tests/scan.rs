//! A network of 300 hosts, each in a namespace of its own where that may be made and on a loopback
//! address otherwise, scanned: good hosts, and such as are down, slow, wrong or hostile.
#![allow(clippy::unwrap_used)]

mod agent;
mod peers;

use agent::{Objects, if_mib, read, respond};
use chronoscope_clock as clock;
use chronoscope_lab::{Element, Lab, LabError, Plan};
use chronoscope_net::rows::Outcome;
use chronoscope_net::scan::hosts;
use chronoscope_net::scan::scanner::{Options, Scanned, Scanner};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Behaviour of a host of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Good,
    /// 32-bit counters, which wrap between the scans.
    Wraps,
    /// Counters and time begin anew between the scans.
    Restarts,
    /// 64-bit counters go back, and the time goes on.
    Lies,
    /// No host answers.
    Down,
    /// Answers once the next scan asks.
    Late,
    /// Answers of 60 000 octets.
    Huge,
    /// Octets that are no message, and the answer after them.
    NonsenseFirst,
    /// Octets that are no message.
    Nonsense,
    /// Another request's id.
    WrongId,
    /// Answers from another port.
    Elsewhere,
    /// A table without an end.
    Endless,
    /// Sends what it is asked back.
    Mirror,
    /// Sends without an end, and no answer.
    Floods,
    /// The host refuses connections.
    Refuses,
}

const SPECIAL: [Host; 14] = [
    Host::Wraps,
    Host::Restarts,
    Host::Lies,
    Host::Down,
    Host::Late,
    Host::Huge,
    Host::NonsenseFirst,
    Host::Nonsense,
    Host::WrongId,
    Host::Elsewhere,
    Host::Endless,
    Host::Mirror,
    Host::Floods,
    Host::Refuses,
];

/// How far a host's counters go between two scans: different for each.
fn advance(index: usize) -> [u64; 8] {
    let n = index as u64;
    [n + 1, 2 * n, 1000 * n + 7, 500 * n + 50, n % 3, n % 2, n % 5, n % 7]
}

/// The objects of a host after `scans` scans.
fn objects(host: Host, index: usize, scans: u64) -> Objects {
    let start = match host {
        Host::Wraps => [(1 << 32) - 1; 8],
        _ => [10_000_000_000_000; 8],
    };
    let mut up = 100_000 + 1_000_000 * scans; // more than any scan takes
    let mut values = start.map(|start: u64| start + index as u64);
    values.iter_mut().zip(advance(index)).for_each(|(value, by)| *value += by * scans);
    match host {
        Host::Restarts if scans > 0 => (values, up) = (advance(index), 10),
        Host::Lies => values = values.map(|value| value - 9_000_000_000 * scans),
        _ => {}
    }
    if_mib(up, host != Host::Wraps, &[("lo", [scans * 77; 8]), ("eth0", values)])
}

/// The hosts' part: one thread that answers for all.
struct Hosts {
    scans: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hosts {
    fn start(hosts: Vec<(Host, usize, UdpSocket, UdpSocket)>) -> Self {
        let (scans, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (scans2, stop2) = (Arc::clone(&scans), Arc::clone(&stop));
        let run = move || {
            let mut kept = None; // what the late one sends later
            while !stop2.load(Ordering::Relaxed) {
                let mut idle = true;
                for (host, index, socket, other) in &hosts {
                    let mut question = [0; 9000];
                    while let Ok((len, from)) = socket.recv_from(&mut question) {
                        idle = false;
                        let scans = scans2.load(Ordering::Relaxed);
                        let objects = objects(*host, *index, scans);
                        let sockets = [socket, other];
                        answer(*host, &objects, &question[..len], from, sockets, &mut kept, scans);
                    }
                }
                if idle {
                    clock::sleep(Duration::from_micros(300));
                }
            }
        };
        Self { scans, stop, thread: Some(thread::spawn(run)) }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[allow(clippy::too_many_arguments)] // all that it needs, once
fn answer(
    host: Host,
    objects: &Objects,
    question: &[u8],
    from: SocketAddr,
    [socket, other]: [&UdpSocket; 2],
    kept: &mut Option<(u64, Vec<u8>)>,
    scans: u64,
) {
    let right = || agent::answer(question, objects).unwrap();
    let send = |octets: &[u8]| drop(socket.send_to(octets, from)); // a full buffer is a lost datagram
    let bulk = read(question).unwrap();
    match host {
        Host::Good | Host::Wraps | Host::Restarts | Host::Lies => send(&right()),
        Host::Down => {}
        Host::Late => {
            let (then, late) = kept.get_or_insert_with(|| (scans, right()));
            if *then < scans {
                send(late);
            }
        }
        Host::Huge => send(&agent::tlv(0x30, &vec![0x30; 60_000])),
        Host::NonsenseFirst => {
            send(b"\x30\x84\xFF\xFF\xFF\xFF");
            send(&right());
        }
        Host::Nonsense => send(&[0x30, 0x82, 0x40, 0x00, 0x02, 0x01]),
        Host::WrongId => send(&respond(b"public", bulk.request ^ 1, 0, &[])),
        Host::Elsewhere => drop(other.send_to(&right(), from)),
        Host::Endless => {
            let next = |o: &Vec<u32>| ([&o[..], &[1]].concat(), agent::number(agent::COUNTER64, 1));
            // Of a column's row the one below it, for ever.
            let cut = |o: &Vec<u32>| {
                let column = if o.len() > 10 && o[6] == 31 { 11 } else { 10 };
                let row = o.get(column).copied().unwrap_or(0) + 1;
                let id = [&o[..column.min(o.len())], &[row]].concat();
                (id, agent::number(agent::COUNTER64, 1))
            };
            let binds = bulk.objects.iter().map(|o| if o.len() < 9 { next(o) } else { cut(o) });
            send(&respond(b"public", bulk.request, 0, &binds.collect::<Vec<_>>()));
        }
        Host::Mirror => send(question),
        Host::Floods => {
            let (socket, octets) = (socket.try_clone().unwrap(), vec![0x30; 1200]);
            thread::spawn(move || (0..4_000).for_each(|_| drop(socket.send_to(&octets, from))));
        }
        Host::Refuses => send(&respond(b"public", bulk.request, 16, &[])),
    }
}

/// A network with its hosts' addresses; the first is the one that scans.
struct Network {
    lab: Option<Lab>,
    addresses: Vec<Ipv4Addr>,
}

impl Network {
    fn new(count: usize) -> Self {
        let octet = |n: usize| u8::try_from(n).unwrap();
        let addresses = |net: [u8; 2]| -> Vec<_> {
            let address =
                |n: usize| Ipv4Addr::new(net[0], net[1], octet(n / 250), octet(n % 250 + 1));
            (0..count).map(address).collect()
        };
        let hosts: Vec<_> = addresses([10, 60]).into_iter().map(|address| (address, 0)).collect();
        let plan = Plan { segments: vec![Element::default()], joints: vec![], hosts };
        match Lab::new(plan) {
            Ok(lab) => Self { lab: Some(lab), addresses: addresses([10, 60]) },
            Err(error @ LabError::Forbidden { .. }) => {
                eprintln!("SKIPPED: namespaces ({error}); the hosts are on loopback addresses");
                Self { lab: None, addresses: addresses([127, 60]) }
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Does something on a host.
    fn on<T: Send>(&self, host: usize, what: impl FnOnce() -> T + Send) -> T {
        match &self.lab {
            Some(lab) => lab.hosts()[host].run(what).unwrap(),
            None => what(),
        }
    }

    fn socket(&self, host: usize) -> UdpSocket {
        let address = self.addresses[host];
        let socket = self.on(host, || UdpSocket::bind((address, 0)).unwrap());
        socket.set_nonblocking(true).unwrap();
        socket
    }
}

fn counted(scanned: &Scanned) -> ([u64; 8], bool) {
    match &scanned.row.outcome {
        Outcome::Counted { advance, restarted, .. } => (advance.values(), *restarted),
        other => panic!("{}: {other:?}", scanned.row.host),
    }
}

fn not_understood(scanned: &Scanned) -> &str {
    match &scanned.row.outcome {
        Outcome::NotUnderstood(why) => why,
        other => panic!("{}: {other:?}", scanned.row.host),
    }
}

#[test]
fn three_hundred_hosts_of_all_kinds() {
    const COUNT: usize = 300;
    let network = Network::new(COUNT + 1);
    let kind = |n: usize| {
        SPECIAL.get(n / 20).filter(|_| n.is_multiple_of(20)).copied().unwrap_or(Host::Good)
    };
    let mut list = String::new();
    let mut sockets = Vec::new();
    for n in 0..COUNT {
        let (socket, other) = (network.socket(n + 1), network.socket(n + 1));
        let address = socket.local_addr().unwrap();
        list += &format!("{} host{n} port={}\n", address.ip(), address.port());
        if kind(n) != Host::Down {
            sockets.push((kind(n), n, socket, other));
        }
    }
    list += "nobody.invalid nobody\nelsewhere by=agent\n";
    let targets = hosts::read(&list).unwrap();
    let agents = Hosts::start(sockets);
    // Long, so that a busy machine makes nobody silent; the silent ones cost it in each scan.
    let options = Options { timeout: Duration::from_secs(5) };
    let [first, second] = network.on(0, || {
        let mut scanner = Scanner::new(&targets, options).unwrap();
        assert_eq!(scanner.len(), COUNT + 1, "who tells by itself is not asked");
        let first = scanner.scan().unwrap();
        agents.scans.fetch_add(1, Ordering::Relaxed);
        let second = scanner.scan().unwrap();
        assert!(scanner.kept_off() > 0, "who floods is kept off");
        [first, second]
    });
    for (n, (first, second)) in first.iter().zip(&second).take(COUNT).enumerate() {
        assert_eq!(second.row.host, format!("host{n}"));
        let host = kind(n);
        match host {
            Host::Good | Host::NonsenseFirst => {
                assert_eq!(first.row.outcome, Outcome::First, "host{n}");
                assert_eq!(counted(second), (advance(n), false), "host{n}");
                assert_eq!(second.step.as_ref().unwrap().interfaces[0].0, "eth0");
            }
            Host::Wraps => assert_eq!(counted(second), (advance(n), false)),
            Host::Restarts => assert_eq!(counted(second), (advance(n), true)),
            Host::Lies => assert_eq!(counted(second), ([0; 8], true)),
            Host::Down | Host::Late | Host::WrongId | Host::Elsewhere => {
                assert_eq!(first.row.outcome, Outcome::NoAnswer, "{host:?}");
                assert_eq!(second.row.outcome, Outcome::NoAnswer, "{host:?}");
            }
            Host::Huge | Host::Mirror => {
                assert_eq!(second.row.outcome, Outcome::NoAnswer, "{host:?}")
            }
            Host::Nonsense => {
                assert!(not_understood(second).starts_with("not an SNMP message"), "{host:?}");
            }
            Host::Endless | Host::Floods => {
                // A table has an end by the number of answers or by the time; who floods may be
                // kept off before he is asked.
                let outcome = &second.row.outcome;
                assert!(
                    !matches!(outcome, Outcome::Counted { .. } | Outcome::First),
                    "{outcome:?}"
                );
            }
            Host::Refuses => assert!(not_understood(second).contains("error 16")),
        }
    }
    assert!(not_understood(&second[COUNT]).starts_with("nobody.invalid has no address"));
}

/// An exporter of the test's own: what it answers, in turn, over one connection or several.
fn exporter(answers: Vec<String>) -> (SocketAddr, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = move || {
        let mut answers = answers.into_iter().peekable();
        let mut connections = 0;
        while answers.peek().is_some() {
            let (mut stream, _) = listener.accept().unwrap();
            connections += 1;
            let mut octets = [0; 4096];
            while answers.peek().is_some() && stream.read(&mut octets).is_ok_and(|len| len > 0) {
                let answer = answers.next().unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
                if answer.contains("close") {
                    break;
                }
            }
        }
        connections
    };
    (address, thread::spawn(serve))
}

fn page(octets: u64, header: &str) -> String {
    let body = format!(
        "node_network_receive_bytes_total{{device=\"eth0\"}} {octets}\nnode_boot_time_seconds 1e9\n"
    );
    format!("HTTP/1.1 200 OK\r\n{header}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn scans(list: &str, count: usize, timeout: Duration) -> Vec<Vec<Scanned>> {
    let targets = hosts::read(list).unwrap();
    let mut scanner = Scanner::new(&targets, Options { timeout }).unwrap();
    (0..count).map(|_| scanner.scan().unwrap()).collect()
}

#[test]
fn exporters_are_asked_over_connections_that_are_kept() {
    let refusal = "HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nno!".to_owned();
    let close = "Connection: close\r\n";
    let pages = vec![refusal, page(100, ""), page(130, ""), page(131, close), page(139, "")];
    let (address, thread) = exporter(pages);
    let list = format!("127.0.0.1 a by=node_exporter port={}\n", address.port());
    let scans = scans(&list, 4, Duration::from_secs(20));
    assert_eq!(scans[0][0].row.outcome, Outcome::First);
    let octets: Vec<_> = scans[1..].iter().map(|scan| counted(&scan[0]).0[2]).collect();
    assert_eq!(octets, [30, 1, 8]);
    assert_eq!(thread.join().unwrap(), 2, "connections");
}

#[test]
fn exporters_that_misbehave_are_named() {
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(40_000));
    let answers = [
        ("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".to_owned(), "status 503"),
        ("SSH-2.0-OpenSSH_9.2\r\n".to_owned(), "not an HTTP/1.1 response"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_owned(), "no node_network_"),
        (endless, "16384"),
    ];
    for (answer, expected) in answers {
        let (address, thread) = exporter(vec![answer]);
        let list = format!("127.0.0.1 a by=node_exporter port={}\n", address.port());
        let scans = scans(&list, 1, Duration::from_secs(20));
        assert!(not_understood(&scans[0][0]).contains(expected), "{:?}", scans[0][0]);
        thread.join().unwrap();
    }
    // One that takes connections and says nothing, and a port where nobody listens.
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let list = format!(
        "127.0.0.1 mute by=node_exporter port={}\n127.0.0.1 gone by=node_exporter port={}\n",
        mute.local_addr().unwrap().port(),
        gone.port()
    );
    let scans = scans(&list, 2, Duration::from_millis(300));
    assert_eq!(scans[1][0].row.outcome, Outcome::NoAnswer);
    assert!(not_understood(&scans[1][1]).contains("refused"), "{:?}", scans[1][1]);
}

/// Real programs, in one scan: snmpd by versions 2c and 3, and node_exporter.
#[test]
fn real_programs_in_one_scan() {
    if !peers::installed("snmpd", "snmpd") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let ports = [peers::free_port("127.0.0.1"), peers::free_port("127.0.0.2")];
    let users = "createUser closed SHA-256 long-password AES other-password\n\
        rouser closed priv\nrocommunity control";
    let _snmpd = peers::snmpd(dir.path(), &ports, users);
    let mut list = format!(
        "127.0.0.1 v2c port={} community=control\n\
         127.0.0.2 v3 by=snmp3 port={} user=closed auth=sha256:long-password priv=aes128:other-password\n",
        ports[0].port(),
        ports[1].port()
    );
    let _exporter = if peers::installed("prometheus-node-exporter", "prometheus-node-exporter") {
        let (running, port) = peers::node_exporter();
        list += &format!("127.0.0.1 exporter by=node_exporter port={port}\n");
        Some(running)
    } else {
        None
    };
    let scans = scans(&list, 3, Duration::from_secs(20));
    for scanned in &scans[2] {
        let (advance, _) = counted(scanned);
        assert!(advance[2] < 1 << 40, "{}: {advance:?}", scanned.row.host);
    }
}
