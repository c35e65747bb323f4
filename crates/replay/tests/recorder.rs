//! The recorder as a system's neighbours see it: relays, captures, imports, files; and what is left
//! after a kill.
#![allow(clippy::unwrap_used)]

use chronoscope_clock as clock;
use chronoscope_replay::capture::{Arrival, ArrivalContent, Arrivals, CaptureReader};
use chronoscope_replay::journal;
use chronoscope_replay::recorder::{
    InputSource, Limits, Log, Recorded, RecorderError, Relay, RelayCounts, Sniffer, SnifferError,
    import,
};
use chronoscope_replay::wire::Endpoint;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A relay that runs in a thread.
struct Running {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<(RelayCounts, Recorded)>,
}

impl Running {
    fn start(mut relay: Relay, log: Log) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let thread = std::thread::spawn(move || {
            relay.run(&log, &flag, |_| {}).unwrap();
            (relay.passed, log.end())
        });
        Self { stop, thread }
    }

    fn end(self) -> (RelayCounts, Recorded) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// The arrivals in all captures of a folder.
fn arrivals(folder: &Path) -> Vec<Arrival> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|suffix| suffix == "pcapng"));
    paths.sort();
    let mut all: Option<Arrivals<BufReader<File>>> = None;
    let mut found = Vec::new();
    for path in paths {
        let reader = CaptureReader::new(BufReader::new(File::open(path).unwrap())).unwrap();
        let next = Arrivals::new(reader);
        match &mut all {
            Some(all) => all.continue_with(next),
            None => all = Some(next),
        }
        found.extend(all.iter_mut().flatten().map(|arrival| arrival.unwrap()));
    }
    assert_eq!(all.map_or((0, 0, 0), |all| all.lost()), (0, 0, 0));
    found
}

fn datagrams(folder: &Path) -> Vec<(Endpoint, Endpoint, Vec<u8>)> {
    let of = |arrival: Arrival| match arrival.what {
        ArrivalContent::Datagram(octets) => Some((arrival.from, arrival.to, octets)),
        _ => None,
    };
    arrivals(folder).into_iter().filter_map(of).collect()
}

/// The octets of every stream, and whether it was opened and ended.
fn streams(folder: &Path) -> BTreeMap<Endpoint, (Vec<u8>, bool, bool)> {
    let mut streams: BTreeMap<_, (Vec<u8>, bool, bool)> = BTreeMap::new();
    for arrival in arrivals(folder) {
        let stream = streams.entry(arrival.from).or_default();
        match arrival.what {
            ArrivalContent::Opened => stream.1 = true,
            ArrivalContent::Octets(octets) => stream.0.extend(octets),
            ArrivalContent::Ended => stream.2 = true,
            ArrivalContent::Datagram(_) => panic!("a datagram"),
        }
    }
    streams
}

fn patient(socket: UdpSocket) -> UdpSocket {
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if holds() {
            return;
        }
        clock::sleep(Duration::from_millis(10));
    }
    panic!("20 s passed and not yet: {what}");
}

#[test]
fn datagrams_are_recorded_with_the_kernels_time_passed_on_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let system = patient(UdpSocket::bind(ANY).unwrap());
    let mut relay = Relay::new().unwrap();
    let any = "0.0.0.0:0".parse().unwrap();
    let listens = relay.udp(any, system.local_addr().unwrap()).unwrap();
    let listens = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), listens.port());
    let log = Log::start(folder.path(), Limits::default()).unwrap();
    // The kernel begins to stamp what arrives only some time after it is asked to, in the background.
    clock::sleep(Duration::from_secs(1));
    // Sent before the relay runs: the kernel's time is that of arrival.
    let senders = [0, 1].map(|_| patient(UdpSocket::bind(ANY).unwrap()));
    let before_ns = clock::utc_now_ns();
    senders[0].send_to(b"early", listens).unwrap();
    let after_ns = clock::utc_now_ns();
    clock::sleep(Duration::from_millis(5));
    let running = Running::start(relay, log);
    let big = vec![7; 60_000];
    let mut octets = [0; 65_536];
    let mut sent = vec![(senders[0].local_addr().unwrap(), b"early".to_vec())];
    assert_eq!(system.recv(&mut octets).unwrap(), 5);
    for n in 0..50_u32 {
        let sender = &senders[n as usize % 2];
        let payload =
            if n == 10 { big.clone() } else { n.to_be_bytes()[..n as usize % 5].to_vec() };
        sender.send_to(&payload, listens).unwrap();
        let (length, from) = system.recv_from(&mut octets).unwrap();
        assert_eq!(octets[..length], payload, "passed on as it was");
        system.send_to(&n.to_be_bytes(), from).unwrap();
        let length = sender.recv(&mut octets).unwrap();
        assert_eq!(octets[..length], n.to_be_bytes(), "the answer goes to who asked");
        sent.push((sender.local_addr().unwrap(), payload));
    }
    let (passed, recorded) = running.end();
    assert_eq!((passed.datagram_count, passed.answer_count), (51, 50));
    assert_eq!((passed.undelivered_count, passed.kernel_dropped_count), (0, 0));
    assert_eq!((recorded.durable_count, recorded.lost_count()), (51, 0));
    let expected: Vec<_> = sent
        .into_iter()
        .map(|(from, payload)| (Endpoint::from(from), Endpoint::from(listens), payload))
        .collect();
    assert_eq!(datagrams(folder.path()), expected, "only what came from outside");
    let first_ns = arrivals(folder.path())[0].at_ns;
    assert!((before_ns..=after_ns).contains(&first_ns), "when it arrived, not when it was read");
}

#[test]
fn a_system_that_is_not_there_is_counted_and_the_recording_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let gone = UdpSocket::bind(ANY).unwrap().local_addr().unwrap();
    let mut relay = Relay::new().unwrap();
    let (udp, tcp) = (relay.udp(ANY, gone).unwrap(), relay.tcp(ANY, gone).unwrap());
    let running = Running::start(relay, Log::start(folder.path(), Limits::default()).unwrap());
    let sender = UdpSocket::bind(ANY).unwrap();
    for payload in [b"one", b"two"] {
        sender.send_to(payload, udp).unwrap();
        clock::sleep(Duration::from_millis(50));
    }
    let mut stream = TcpStream::connect(tcp).unwrap();
    let refused = stream.read(&mut [0; 1]);
    assert!(matches!(refused, Ok(0) | Err(_)), "{refused:?}");
    let from = stream.local_addr().unwrap();
    let (passed, recorded) = running.end();
    assert_eq!((passed.undelivered_count, passed.refused_count), (2, 1));
    assert!(passed.last_error.unwrap().contains("refused"));
    assert_eq!(recorded.lost_count(), 0);
    let all = arrivals(folder.path());
    let of_stream: Vec<_> = all.iter().filter(|a| a.from == from.into()).collect();
    assert_eq!(of_stream.len(), 2, "opened and ended: {of_stream:?}");
    assert_eq!(all.len(), 4);
}

/// Answers every connection with its octets turned round, once it is half closed.
fn reverser() -> SocketAddr {
    let listener = TcpListener::bind(ANY).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut octets = Vec::new();
                stream.read_to_end(&mut octets).unwrap();
                octets.reverse();
                stream.write_all(&octets).unwrap();
            });
        }
    });
    address
}

#[test]
fn many_connections_are_recorded_and_half_closed_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let mut relay = Relay::new().unwrap();
    let listens = relay.tcp(ANY, reverser()).unwrap();
    let limits = Limits { file_bytes_max: 300_000, ..Limits::default() };
    let running = Running::start(relay, Log::start(folder.path(), limits).unwrap());
    let clients: Vec<_> = (0..60_usize)
        .map(|n| {
            std::thread::spawn(move || {
                let payload: Vec<u8> = (0..=255).cycle().skip(n).take(n * 5000).collect();
                let mut stream = TcpStream::connect(listens).unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                stream.write_all(&payload).unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
                let mut answer = Vec::new();
                stream.read_to_end(&mut answer).unwrap();
                answer.reverse();
                assert_eq!(answer, payload);
                (Endpoint::from(stream.local_addr().unwrap()), payload)
            })
        })
        .collect();
    let sent: BTreeMap<_, _> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    let (passed, recorded) = running.end();
    assert_eq!((passed.connection_count, passed.open_count), (60, 0));
    assert_eq!((passed.inward_bytes, passed.outward_bytes), (5000 * 1770, 5000 * 1770));
    assert_eq!(recorded.lost_count(), 0);
    assert!(recorded.file_count > 10, "{recorded:?}");
    let recorded = streams(folder.path());
    assert_eq!(recorded.len(), 60);
    for (from, (octets, opened, ended)) in recorded {
        assert!(opened && ended && octets == sent[&from], "{from}");
    }
}

#[test]
fn a_slow_receiver_makes_its_sender_slow() {
    const MOST: usize = 64 << 20; // far beyond what the kernel holds for four sockets
    let folder = tempfile::tempdir().unwrap();
    let system = TcpListener::bind(ANY).unwrap();
    let mut relay = Relay::new().unwrap();
    let listens = relay.tcp(ANY, system.local_addr().unwrap()).unwrap();
    let running = Running::start(relay, Log::start(folder.path(), Limits::default()).unwrap());
    let mut sender = TcpStream::connect(listens).unwrap();
    let (mut receiver, _) = system.accept().unwrap();
    sender.set_nonblocking(true).unwrap();
    let (mut sent, mut still) = (0, 0);
    while still < 30 && sent < MOST {
        match sender.write(&[b'x'; 65_536]) {
            Ok(length) => (sent, still) = (sent + length, 0),
            Err(_) => {
                still += 1;
                clock::sleep(Duration::from_millis(10));
            }
        }
    }
    assert!(sent < MOST, "the sender was never held up");
    sender.shutdown(Shutdown::Write).unwrap();
    let mut octets = Vec::new();
    receiver.read_to_end(&mut octets).unwrap();
    assert_eq!(octets.len(), sent);
    drop((receiver, sender));
    let (passed, recorded) = running.end();
    assert_eq!(passed.inward_bytes, sent as u64);
    assert_eq!(recorded.lost_count(), 0);
    assert_eq!(streams(folder.path()).into_values().next().unwrap().0.len(), sent);
}

#[test]
fn a_connection_that_breaks_ends_in_the_recording_and_breaks_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let system = TcpListener::bind(ANY).unwrap();
    let mut relay = Relay::new().unwrap();
    let listens = relay.tcp(ANY, system.local_addr().unwrap()).unwrap();
    let running = Running::start(relay, Log::start(folder.path(), Limits::default()).unwrap());
    let mut sender = TcpStream::connect(listens).unwrap();
    let (mut receiver, _) = system.accept().unwrap();
    sender.write_all(b"half a line").unwrap();
    let mut octets = [0; 11];
    receiver.read_exact(&mut octets).unwrap();
    receiver.write_all(b"unread").unwrap();
    wait_until("the answer is there", || sender.peek(&mut [0; 6]).is_ok_and(|n| n == 6));
    drop(sender); // with unread octets: the kernel resets it
    assert!(receiver.read(&mut octets).is_err(), "as it would without the relay");
    running.end();
    let (octets, opened, ended) = streams(folder.path()).into_values().next().unwrap();
    assert!(opened && ended);
    assert_eq!(octets, b"half a line");
}

#[test]
fn two_recorders_never_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = Log::start(folder.path(), Limits::default()).unwrap();
    let second = Log::start(folder.path(), Limits::default());
    assert!(matches!(second, Err(RecorderError::Busy(_))), "{second:?}");
    drop(first);
    assert!(Log::start(folder.path(), Limits::default()).is_ok());
}

#[test]
fn a_growing_file_is_followed_through_its_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input.log");
    std::fs::write(&path, "before\n").unwrap();
    let log = Arc::new(Log::start(&folder.path().join("recorded"), Limits::default()).unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let (follower, flag, source) = (log.clone(), stop.clone(), InputSource::Growing(path.clone()));
    let (says, said) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        source.run(&follower, &flag, |read| says.send(read).unwrap()).unwrap();
    });
    let read_to =
        |bytes| while said.recv_timeout(Duration::from_secs(20)).unwrap().bytes < bytes {};
    read_to(0);
    let append = |text: &str| {
        let mut file = File::options().append(true).create(true).open(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append("first\n");
    read_to(6);
    append("last of the old\n");
    std::fs::rename(&path, folder.path().join("input.log.1")).unwrap();
    append("first of the new\n");
    read_to(6 + 16 + 17);
    std::fs::write(&path, "cut\n").unwrap();
    read_to(6 + 16 + 17 + 4);
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    let recorded = log.end();
    assert_eq!(recorded.lost_count(), 0);
    let (inputs, torn) = journal::read_all(&folder.path().join("recorded/journal")).unwrap();
    assert!(torn.is_empty());
    let octets: Vec<u8> = inputs.iter().flat_map(|input| input.octets.clone()).collect();
    let text = String::from_utf8(octets).unwrap();
    assert_eq!(text, "first\nlast of the old\nfirst of the new\ncut\n");
    assert!(inputs.iter().all(|input| input.channel == path.display().to_string()));
}

/// A capture of tcpdump's kind (classic, microseconds, Ethernet), and a torn one.
#[test]
fn a_capture_of_others_is_imported_as_it_is_up_to_its_torn_end() {
    let mut bytes = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    bytes.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    for n in 0..3_u8 {
        for number in [1_700_000_000, u32::from(n), 60, 90] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([n; 60]);
    }
    for (cut, expected, torn) in [(0, 3, false), (1, 2, true), (59, 2, true), (76, 2, false)] {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::start(folder.path(), Limits::default()).unwrap();
        let stop = AtomicBool::new(false);
        let imported = import(&bytes[..bytes.len() - cut], &log, &stop, |_| {}).unwrap();
        assert_eq!((imported.packet_count, imported.torn_at.is_some()), (expected, torn));
        assert_eq!(log.end().durable_count, expected);
        let path = folder.path().join("0000000000-20231114T221320Z.pcapng");
        let packets = CaptureReader::new(File::open(path).unwrap()).unwrap();
        for (n, packet) in (0..).zip(packets.map(Result::unwrap)) {
            assert_eq!((packet.link, packet.original_bytes), (1, 90));
            assert_eq!(packet.at_ns, 1_700_000_000_000_000_000 + i64::from(n) * 1000);
            assert_eq!(packet.octets, [n; 60]);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let log = Log::start(folder.path(), Limits::default()).unwrap();
    let refused = import(&b"no capture"[..], &log, &AtomicBool::new(false), |_| {});
    assert!(refused.unwrap_err().to_string().contains("not a capture"));
}

#[test]
fn the_loopback_interface_is_captured_by_port() {
    let folder = tempfile::tempdir().unwrap();
    let (wanted, other) = (UdpSocket::bind(ANY).unwrap(), UdpSocket::bind(ANY).unwrap());
    let v6 = UdpSocket::bind("[::1]:0");
    let server = TcpListener::bind(ANY).unwrap();
    let mut ports = vec![wanted.local_addr().unwrap().port(), server.local_addr().unwrap().port()];
    ports.extend(v6.iter().map(|socket| socket.local_addr().unwrap().port()));
    let mut sniffer = match Sniffer::open("lo", &ports) {
        Err(SnifferError::Privilege(_)) => {
            return eprintln!("SKIPPED: no capture without CAP_NET_RAW");
        }
        sniffer => sniffer.unwrap(),
    };
    assert!(matches!(Sniffer::open("nosuch0", &[]), Err(SnifferError::Interface(_))));
    let log = Log::start(folder.path(), Limits::default()).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let before_ns = clock::utc_now_ns();
    let thread = std::thread::spawn(move || {
        let mut last = Default::default();
        sniffer.run(&log, &flag, |sniffed| last = sniffed).unwrap();
        (last, log.end())
    });
    let sender = UdpSocket::bind(ANY).unwrap();
    let mut expected = Vec::new();
    // 20,000 octets go as one packet over this interface, 65,507 at most.
    for payload in [b"plots".to_vec(), vec![1; 20_000], Vec::new()] {
        for to in [&other, &wanted] {
            sender.send_to(&payload, to.local_addr().unwrap()).unwrap();
        }
        expected.push(payload);
    }
    if let Ok(v6) = &v6 {
        let sender = UdpSocket::bind("[::1]:0").unwrap();
        sender.send_to(b"six", v6.local_addr().unwrap()).unwrap();
        expected.push(b"six".to_vec());
    }
    let mut stream = TcpStream::connect(server.local_addr().unwrap()).unwrap();
    let (mut accepted, _) = server.accept().unwrap();
    stream.write_all(b"query").unwrap();
    accepted.write_all(b"answer").unwrap();
    stream.read_exact(&mut [0; 6]).unwrap();
    drop(stream);
    accepted.read_to_end(&mut Vec::new()).unwrap();
    clock::sleep(Duration::from_secs(1));
    stop.store(true, Ordering::Relaxed);
    let (sniffed, recorded) = thread.join().unwrap();
    assert_eq!(sniffed.kernel_dropped_count, 0);
    assert_eq!((recorded.written_count, recorded.lost_count()), (sniffed.packet_count, 0));
    let all = arrivals(folder.path());
    let got: Vec<_> = all
        .iter()
        .filter_map(|arrival| match &arrival.what {
            ArrivalContent::Datagram(octets) => Some(octets.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(got, expected, "each once, and nothing to other ports");
    let octets: Vec<u8> = all
        .iter()
        .filter_map(|arrival| match &arrival.what {
            ArrivalContent::Octets(octets) => Some(octets.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(octets, b"query", "what goes to the port, and no answer");
    assert!(all.iter().any(|arrival| arrival.what == ArrivalContent::Ended));
    assert!(all.iter().all(|arrival| arrival.at_ns >= before_ns));
}

const CHILD: &str = "CHRONOSCOPE_TEST_RECORDER";

/// What the killed process runs: a relay that says what is durable.
#[test]
fn child_that_relays_until_it_is_killed() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let system: SocketAddr = std::env::var("CHRONOSCOPE_TEST_SYSTEM").unwrap().parse().unwrap();
    let limits = Limits {
        file_bytes_max: 20_000,
        sync_every: Duration::from_millis(20),
        retry_every: Duration::from_millis(100),
        ..Limits::default()
    };
    let log = Log::start(Path::new(&folder), limits).unwrap();
    let mut relay = Relay::new().unwrap();
    println!("\nlistens {}", relay.udp(ANY, system).unwrap());
    let mut said = Recorded::default();
    let tell = |passed: &RelayCounts| {
        let now = log.recorded();
        if now != said {
            let trouble = now.trouble().is_some();
            println!("\nsaid {} {} {trouble}", passed.datagram_count, now.durable_count);
            said = now;
        }
    };
    relay.run(&log, &AtomicBool::new(false), tell).unwrap();
}

/// The child's command, and how its lines are read.
fn child(folder: &Path, system: SocketAddr) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child_that_relays_until_it_is_killed", "--nocapture"]);
    command.env(CHILD, folder).env("CHRONOSCOPE_TEST_SYSTEM", system.to_string());
    command.stdout(Stdio::piped());
    command
}

fn word<T: std::str::FromStr>(line: &str, index: usize) -> T
where
    T::Err: std::fmt::Debug,
{
    line.split(' ').nth(index).unwrap().parse().unwrap()
}

#[test]
fn what_was_said_to_be_durable_is_there_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let system = UdpSocket::bind(ANY).unwrap();
    let mut total = 0;
    for wanted in [50, 700] {
        let mut child = child(folder.path(), system.local_addr().unwrap()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let listens = lines.find(|line| line.starts_with("listens ")).unwrap();
        let listens: SocketAddr = word(&listens, 1);
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let sends = std::thread::spawn(move || {
            let sender = UdpSocket::bind(ANY).unwrap();
            for n in 0_u32.. {
                if flag.load(Ordering::Relaxed) {
                    return;
                }
                sender.send_to(&n.to_be_bytes().repeat(20), listens).unwrap();
                if n % 10 == 9 {
                    clock::sleep(Duration::from_millis(5)); // what waits must not overflow
                }
            }
        });
        let durable = lines
            .by_ref() // read on until it is killed
            .filter(|line| line.starts_with("said "))
            .map(|line| word::<u32>(&line, 2))
            .find(|durable| *durable >= wanted)
            .unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        stop.store(true, Ordering::Relaxed);
        sends.join().unwrap();
        // Another recorder repairs what the dead one left.
        drop(Log::start(folder.path(), Limits::default()).unwrap());
        let all = datagrams(folder.path());
        let own = &all[total..];
        assert!(own.len() >= durable as usize, "{} of {durable}", own.len());
        let numbers = own.iter().map(|(_, _, o)| u32::from_be_bytes(o[..4].try_into().unwrap()));
        assert!(numbers.eq(0..u32::try_from(own.len()).unwrap()), "in order, each once");
        total = all.len();
    }
}

/// The disk is a file system of 128 kB of its own, in a mount namespace of its own.
#[test]
fn a_full_disk_stops_the_recording_and_not_the_relay_and_it_goes_on_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let system = patient(UdpSocket::bind(ANY).unwrap());
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mut inner = child(&disk, system.local_addr().unwrap());
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs -o size=128k chronoscope \"$1\" && shift && exec \"$@\"";
    command.args(["-rm", "sh", "-c", script, "sh"]).arg(&disk).arg(inner.get_program());
    command.args(inner.get_args());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap());
    }
    inner = command;
    inner.stdout(Stdio::piped());
    let Ok(mut child) = inner.spawn() else {
        return eprintln!("SKIPPED: no unshare (Debian package util-linux)");
    };
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let Some(listens) = lines.find(|line| line.starts_with("listens ")) else {
        child.wait().unwrap();
        return eprintln!("SKIPPED: no mount namespace here");
    };
    let listens: SocketAddr = word(&listens, 1);
    let mut lines = lines.filter(|line| line.starts_with("said "));
    let sender = UdpSocket::bind(ANY).unwrap();
    let mut octets = [0; 2000];
    let mut pass = move |n: u32| {
        sender.send_to(&n.to_be_bytes().repeat(250), listens).unwrap();
        assert_eq!(system.recv(&mut octets).unwrap(), 1000, "the relay goes on");
    };
    (0..300).for_each(&mut pass);
    let full = lines.find(|line| line.ends_with(" true")).unwrap();
    let durable: u32 = word(&full, 2);
    assert!(durable < 128, "{durable} inputs of 1000 octets in 128 kB");
    // Room is made, as an operator would: the old files go. The namespace is the child's.
    let inside = format!("/proc/{}/root{}", child.id(), disk.display());
    for entry in std::fs::read_dir(&inside).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|suffix| suffix == "pcapng") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let sends = std::thread::spawn(move || {
        while !flag.load(Ordering::Relaxed) {
            pass(300);
            clock::sleep(Duration::from_millis(5));
        }
    });
    let healed = lines.find(|line| line.ends_with(" false")).unwrap();
    let before: u32 = word(&healed, 2);
    assert!(lines.any(|line| word::<u32>(&line, 2) > before), "it records again");
    stop.store(true, Ordering::Relaxed);
    sends.join().unwrap();
    child.kill().unwrap(); // the file system stays as long as its files are looked at
    child.wait().unwrap();
}
