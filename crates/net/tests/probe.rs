//! Every kind of probe against servers over real sockets, good and bad.
#![allow(clippy::unwrap_used)]

use chronoscope_net::probe::{Loss, Peer, ProbeOptions, Prober, Target, echo};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

const ASKING: ProbeOptions = ProbeOptions { octets: 100, timeout: Duration::from_secs(5) };
const HASTY: ProbeOptions = ProbeOptions { octets: 100, timeout: Duration::from_millis(30) };

fn peer(address: SocketAddr) -> Peer {
    Peer { host: address.ip().to_string(), port: address.port() }
}

/// A listener, and the targets that mean it.
fn listener() -> (TcpListener, Peer) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let peer = peer(listener.local_addr().unwrap());
    (listener, peer)
}

/// Answers one request on `stream`; `false` when it was closed.
fn echo_once(stream: &mut TcpStream) -> bool {
    let mut octets = [0; echo::COUNT_OCTETS];
    if stream.read_exact(&mut octets).is_err() {
        return false;
    }
    let mut request = vec![0; echo::count(octets).unwrap()];
    stream.read_exact(&mut request).unwrap();
    assert!(echo::reply(&mut request));
    let back: Vec<u8> = octets.into_iter().chain(request).collect();
    stream.write_all(&back).is_ok()
}

#[test]
fn udp_and_tcp_are_answered_over_what_is_kept() {
    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut prober = Prober::new(Target::Udp(peer(udp.local_addr().unwrap())), ASKING);
    std::thread::spawn(move || while echo::answer(&udp, &mut [0; 2048]).is_ok() {});
    assert!((0..20).all(|_| prober.ask().unwrap()));
    assert_eq!((prober.connections(), prober.loss()), (0, None));

    let (listener, peer) = listener();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while echo_once(&mut stream) {}
    });
    let mut prober = Prober::new(Target::Tcp(peer), ASKING);
    assert!((0..20).all(|_| prober.ask().unwrap()));
    assert_eq!(prober.connections(), 1);
}

#[test]
fn a_closed_connection_costs_one_reply_and_is_made_again() {
    let (listener, peer) = listener();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // Two answers, then half of one.
            assert!(echo_once(&mut stream) && echo_once(&mut stream));
            stream.read_exact(&mut [0; 104]).unwrap();
            stream.write_all(&[0, 0, 0, 100, b'C']).unwrap();
        }
    });
    let mut prober = Prober::new(Target::Tcp(peer), ASKING);
    let came: Vec<bool> = (0..6).map(|_| prober.ask().unwrap()).collect();
    assert_eq!(came, [true, true, false, true, true, false]);
    assert_eq!((prober.connections(), prober.loss()), (2, Some(&Loss::Closed)));
}

#[test]
fn every_connect_is_a_new_one() {
    let (listener, peer) = listener();
    let mut prober = Prober::new(Target::Connect(peer.clone()), ASKING);
    let mut tcp = Prober::new(Target::Tcp(peer), HASTY);
    for _ in 0..3 {
        assert!(prober.ask().unwrap());
        assert_eq!(listener.accept().unwrap().0.read(&mut [0; 1]).unwrap(), 0, "nothing is sent");
    }
    assert_eq!(prober.connections(), 3);
    // Accepted by the kernel and never read by anybody.
    assert!(!tcp.ask().unwrap());
    assert_eq!(tcp.loss(), Some(&Loss::Late));
    drop(listener);
    for prober in [&mut prober, &mut tcp] {
        assert!(!prober.ask().unwrap());
        assert_eq!(prober.loss(), Some(&Loss::Refused));
    }
}

#[test]
fn what_is_wrong_here_is_an_error() {
    let target: Target = "udp:no-such-host.invalid:9".parse().unwrap();
    let error = Prober::new(target, HASTY).ask().unwrap_err();
    assert!(error.to_string().starts_with("no-such-host.invalid"), "{error}");
}

/// Long enough for a program on a busy machine, and soon over.
const PATIENT: ProbeOptions = ProbeOptions { octets: 100, timeout: Duration::from_millis(500) };

/// What an HTTP client makes of a server that answers with `response` and closes.
fn http(response: Vec<u8>) -> (bool, Option<Loss>) {
    let (listener, peer) = listener();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        read_request(&mut stream);
        // It may have closed in disgust.
        let _ = stream.write_all(&response);
        // What it still says is read, so that closing does not reset.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read(&mut [0; 64]);
    });
    let mut prober = Prober::new(Target::Http(peer, "/".to_owned()), ASKING);
    let came = prober.ask().unwrap();
    (came, prober.loss().cloned())
}

fn read_request(stream: &mut TcpStream) -> bool {
    let mut octets = Vec::new();
    let mut octet = [0];
    while !octets.ends_with(b"\r\n\r\n") {
        if stream.read(&mut octet).unwrap_or(0) == 0 {
            return false;
        }
        octets.push(octet[0]);
    }
    true
}

#[test]
fn http_replies_are_whole_or_lost() {
    let ok = "HTTP/1.1 200 OK\r\n";
    for whole in [
        format!("{ok}Content-Length: 3\r\n\r\nabc"),
        format!("{ok}Content-Length: 0\r\n\r\n"),
        format!("{ok}\r\nuntil it is closed"),
        format!("{ok}Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nTrailer: t\r\n\r\n"),
        format!("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n{ok}Content-Length: 1\r\n\r\nx"),
        "HTTP/1.0 302 Found\r\nLocation: /\r\n\r\n".to_owned(),
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n".to_owned(),
    ] {
        assert_eq!(http(whole.clone().into_bytes()), (true, None), "{whole}");
    }
    for half in [
        String::new(),
        "HTTP/1.1 200".to_owned(),
        format!("{ok}Content-Length: 10\r\n\r\nabc"),
        format!("{ok}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
        format!("{ok}Transfer-Encoding: chunked\r\n\r\nff\r\nabc"),
        "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
    ] {
        assert_eq!(http(half.clone().into_bytes()), (false, Some(Loss::Closed)), "{half}");
    }
    for wrong in [
        "SSH-2.0-OpenSSH\r\n".to_owned(),
        format!("{ok}Content-Length: x\r\n\r\n"),
        format!("{ok}Content-Length: 99999999999\r\n\r\n"),
        format!("{ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        format!("{ok}Transfer-Encoding: gzip\r\n\r\nab"),
        format!("{ok}Transfer-Encoding: chunked\r\n\r\nno size\r\n"),
        format!("{ok}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n"),
        format!("{ok}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"),
        format!("{ok}Transfer-Encoding: chunked\r\n\r\n1;{}\r\n", "x".repeat(5000)),
        format!("{ok}X: {}\r\n\r\n", "x".repeat(20_000)),
        format!("{ok}{}\r\n", "X: y\r\n".repeat(200)),
        format!("{ok}\r\n{}", "x".repeat(17 << 20)),
    ] {
        let (came, loss) = http(wrong.clone().into_bytes());
        assert!(!came && matches!(loss, Some(Loss::Wrong(_))), "{loss:?}: {wrong:.60}");
    }
    let denied = http(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n".to_vec());
    assert_eq!(denied, (false, Some(Loss::Denied("HTTP status 500".to_owned()))));
}

#[test]
fn what_comes_unasked_ends_a_connection() {
    let (listener, peer) = listener();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            read_request(&mut stream);
            let twice = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx".repeat(2);
            stream.write_all(twice.as_bytes()).unwrap();
            // Kept until the client closes it.
            assert_eq!(stream.read(&mut [0; 64]).unwrap_or(0), 0);
        }
    });
    let mut prober = Prober::new(Target::Http(peer, "/".to_owned()), ASKING);
    assert!((0..3).all(|_| prober.ask().unwrap()));
    assert_eq!(prober.connections(), 3);
}

/// A server of datagrams: it is told each request, and sends what `answers` makes of it.
fn datagrams(answers: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Peer {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let peer = peer(socket.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut buffer = [0; 2048];
        while let Ok((len, from)) = socket.recv_from(&mut buffer) {
            for answer in answers(&buffer[..len]) {
                // The client may be gone.
                let _ = socket.send_to(&answer, from);
            }
        }
    });
    peer
}

/// The reply of a name server to `query`, with other octets at the front.
fn dns_reply(query: &[u8], front: &[u8]) -> Vec<u8> {
    front.iter().chain(&query[front.len()..]).copied().collect()
}

#[test]
fn only_the_reply_to_this_query_counts() {
    let peer = datagrams(|query| {
        let other = query[1].wrapping_add(1);
        vec![
            b"garbage".to_vec(),
            dns_reply(query, &[query[0], other, 0x81, 0x80]),
            dns_reply(query, &[query[0], query[1], 0x81, 0x80]),
        ]
    });
    let mut prober = Prober::new(Target::Dns(peer, "a.example".to_owned()), ASKING);
    assert!((0..5).all(|_| prober.ask().unwrap()));

    // The reply to one query comes with the next.
    let before = std::sync::Mutex::new(Vec::new());
    let peer = datagrams(move |query| {
        let reply = dns_reply(query, &[query[0], query[1], 0x81, 0x80]);
        vec![std::mem::replace(&mut *before.lock().unwrap(), reply)]
    });
    let mut prober = Prober::new(Target::Dns(peer, "a.example".to_owned()), HASTY);
    assert!((0..5).all(|_| !prober.ask().unwrap()));
}

#[test]
fn a_flood_does_not_outlast_the_deadline() {
    for target in [Target::Udp, |peer| Target::Snmp(peer, "public".to_owned())] {
        let peer = datagrams(|_| vec![b"0123456789abcdef".repeat(8); 20_000]);
        let mut prober = Prober::new(target(peer), PATIENT);
        assert!(!prober.ask().unwrap());
        let loss = prober.loss().unwrap().clone();
        let is_said = match prober.target() {
            Target::Udp(_) => loss == Loss::Late,
            _ => loss == Loss::Wrong("128 octets that are not an SNMP message".to_owned()),
        };
        assert!(is_said, "{loss:?}");
    }
}

fn exec(script: &str, asking: ProbeOptions) -> Prober {
    Prober::new(format!("exec:sh -c '{script}'").parse().unwrap(), asking)
}

#[test]
fn a_program_asks_in_our_place() {
    let mut prober = exec("echo ready; while read n; do echo $n ok 1000 ns; done", ASKING);
    for _ in 0..3 {
        assert!(prober.ask().unwrap());
        assert_eq!(prober.reported_ns(), Some(1000));
    }
    let mut prober = exec("echo ready; while read n; do echo $n ok; done", ASKING);
    assert!(prober.ask().unwrap());
    assert!(prober.reported_ns().unwrap() > 1000, "by our own measure");
    let mut prober = exec("echo ready; while read n; do echo $n lost no beam; done", ASKING);
    assert!(!prober.ask().unwrap());
    assert_eq!(prober.loss(), Some(&Loss::Denied("no beam".to_owned())));
}

#[test]
fn a_late_line_is_not_taken_for_the_next() {
    // The first is answered with the second, and the second not at all.
    let script = "echo ready; read n; read m; echo $n ok; read o; echo $o ok; read p";
    let mut prober = exec(script, PATIENT);
    let came: Vec<bool> = (0..3).map(|_| prober.ask().unwrap()).collect();
    assert_eq!(came, [false, false, true]);
}

#[test]
fn a_program_that_does_not_play_by_the_rules() {
    let said = |script: &str| {
        let mut prober = exec(script, ASKING);
        match (prober.ask(), prober.ask()) {
            (Err(error), _) | (Ok(_), Err(error)) => error.to_string(),
            _ => prober.loss().unwrap().to_string(),
        }
    };
    assert!(said("exit 3").contains("was not ready: ended (exit status: 3)"));
    assert!(said("echo hello; read n").contains("wrote \"hello\" first"));
    assert!(said("echo ready; read n; echo $n ok; read n; exit 1").contains("exit status: 1"));
    assert!(said("echo ready; while read n; do echo what; done").contains("the line \"what\""));
    assert!(said("echo ready; read n; head -c 9000 /dev/zero; read n").contains("1024 octets"));
    let target: Target = "exec:/no/such/program".parse().unwrap();
    let error = Prober::new(target, HASTY).ask().unwrap_err();
    assert!(error.to_string().starts_with("/no/such/program: "), "{error}");
}
