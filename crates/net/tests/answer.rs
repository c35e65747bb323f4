//! The permanent server over real sockets.
#![allow(clippy::unwrap_used)]

use chronoscope_net::answer::request::{Bulk, Probe};
use chronoscope_net::answer::{AnswerClient, CallError, OF_ONE_MAX, Options, Server, Token, frame};
use chronoscope_net::probe::echo;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);

fn server() -> Server {
    Server::start(Options::new((Ipv4Addr::LOCALHOST, 0).into())).unwrap()
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.set_write_timeout(Some(LONG)).unwrap();
    stream
}

/// From another host, as far as the server can see.
fn connect_from(last: u8, to: SocketAddr) -> TcpStream {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let from = SocketAddr::from((Ipv4Addr::new(127, 0, 3, last), 0));
    socket.bind(&from.into()).unwrap();
    socket.connect(&to.into()).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket.into()
}

/// A frame with a request of so many octets.
fn request(octets: usize, number: u64) -> Vec<u8> {
    let mut frame = u32::try_from(octets).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(b"CHRq");
    frame.extend_from_slice(&number.to_be_bytes());
    frame.resize(4 + octets, 0x5a);
    frame
}

fn assert_echoes(stream: &mut TcpStream, octets: usize, number: u64) {
    let mut expected = request(octets, number);
    stream.write_all(&expected).unwrap();
    let mut reply = vec![0; expected.len()];
    stream.read_exact(&mut reply).unwrap();
    expected[4..8].copy_from_slice(b"CHRr");
    assert_eq!(reply, expected);
}

/// The connection was closed by the server.
fn assert_closed(mut stream: TcpStream) {
    let mut octets = Vec::new();
    match stream.read_to_end(&mut octets) {
        Ok(_) => assert_eq!(octets, b""),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
    }
}

#[test]
fn one_port_echoes_over_udp_and_tcp() {
    let server = server();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut client = echo::Client::new(socket, server.address(), 1400, LONG).unwrap();
    assert!(client.ask().unwrap() && client.ask().unwrap());
    let mut stream = connect(&server);
    for (number, octets) in (1..).zip([12, 4096, 65_507, 2048, 2049]) {
        assert_echoes(&mut stream, octets, number);
    }
    let counts = server.stop();
    assert_eq!((counts.datagrams, counts.frames, counts.connections), (2, 5, 1));
    assert_eq!((counts.refused_frames, counts.cut, counts.turned_away), (0, 0, 0));
}

#[test]
fn what_is_no_request_closes_its_connection_and_no_other() {
    let server = server();
    let mut good = connect(&server);
    let strangers: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0xff, 0xff, 0xff, 0xff, b'C'],
        &[0, 0, 0, 0],
        &[0, 0, 0, 6, b'C', b'H', b'R', b'q', 0, 0],
        &[0, 0, 0, 16, b'C', b'H', b'R', b'r', 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
    ];
    for octets in strangers {
        let mut stream = connect(&server);
        stream.write_all(octets).unwrap();
        assert_closed(stream);
        assert_echoes(&mut good, 100, 1);
    }
    let mut half = connect(&server);
    half.write_all(&request(1000, 1)[..500]).unwrap();
    half.shutdown(std::net::Shutdown::Write).unwrap();
    assert_closed(half);
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.send_to(b"CHRr........", server.address()).unwrap();
    socket.send_to(b"", server.address()).unwrap();
    let mut client = echo::Client::new(socket, server.address(), 64, LONG).unwrap();
    assert!(client.ask().unwrap());
    let counts = server.stop();
    assert_eq!((counts.refused_frames, counts.refused_datagrams), (5, 2));
}

#[test]
fn one_peer_cannot_keep_the_others_out() {
    let server = server();
    let silent: Vec<TcpStream> = (0..OF_ONE_MAX).map(|_| connect(&server)).collect();
    // All within the seconds in which a connection has to say something.
    for _ in 0..100 {
        assert_closed(connect(&server));
    }
    for last in 1..=3 {
        assert_echoes(&mut connect_from(last, server.address()), 64, 1);
    }
    let mut first = silent.into_iter().next().unwrap();
    assert_echoes(&mut first, 64, 1);
    let counts = server.stop();
    assert_eq!(counts.turned_away, 100);
}

#[test]
fn a_reader_that_never_reads_harms_nobody() {
    let server = server();
    let mut deaf = connect(&server);
    deaf.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    // Until neither side has room for more.
    let frame = request(65_507, 1);
    while deaf.write_all(&frame).is_ok() {}
    assert_echoes(&mut connect(&server), 64, 2);
    drop(deaf);
    assert_echoes(&mut connect(&server), 64, 3);
    server.stop();
}

fn with_token() -> Server {
    let token = Some(Token::new("a secret"));
    Server::start(Options { token, ..Options::new((Ipv4Addr::LOCALHOST, 0).into()) }).unwrap()
}

fn caller(server: &Server, token: Option<&str>) -> AnswerClient {
    AnswerClient { server: server.address(), token: token.map(Token::new) }
}

const SOME: Bulk = Bulk { octets: 5_000_001, at_most_ms: 20_000 };

#[test]
fn bulk_data_goes_both_ways() {
    let server = server();
    let caller = caller(&server, None);
    for moved in [caller.send(SOME).unwrap(), caller.receive(SOME).unwrap()] {
        assert_eq!(moved.octets, SOME.octets);
        assert!(moved.bits_per_s() > 0.0);
        assert!(moved.here.thread_ns > 0 && moved.there.thread_ns > 0, "{moved:?}");
    }
    let hasty = Bulk { octets: 100_000_000_000, at_most_ms: 30 };
    for moved in [caller.send(hasty).unwrap(), caller.receive(hasty).unwrap()] {
        assert!(moved.octets > 0 && moved.octets < hasty.octets);
    }
    assert_eq!(server.stop().asks, 4);
}

#[test]
fn who_does_not_know_the_token_gets_echo_and_nothing_else() {
    let server = with_token();
    assert!(caller(&server, Some("a secret")).send(SOME).is_ok());
    let why = |token| match caller(&server, token).receive(SOME).unwrap_err() {
        CallError::Refused { why, .. } => why,
        other => panic!("{other}"),
    };
    assert_eq!(why(None), "a token is needed");
    assert_eq!(why(Some("another secret")), "the token is wrong");
    assert_echoes(&mut connect(&server), 64, 1);
    let counts = server.stop();
    assert_eq!((counts.asks, counts.refused_asks, counts.frames), (1, 2, 1));
}

#[test]
fn a_proof_is_good_for_one_question() {
    let server = with_token();
    let json = br#"{"version":1,"ask":{"sink":{"octets":0,"at_most_ms":1}}}"#;
    let mut stream = connect(&server);
    let mut said = |octets: &[u8]| {
        stream.write_all(octets).unwrap();
        let mut prefix = [0; 4];
        stream.read_exact(&mut prefix).unwrap();
        let mut frame = vec![0; frame::length(prefix).unwrap()];
        stream.read_exact(&mut frame).unwrap();
        frame
    };
    let number = frame::number(&said(&frame::frame(&[b"CHRh"]))).unwrap();
    let proof = Token::new("a secret").prove(&number, json);
    let asked = frame::frame(&[b"CHRa", &proof, json]);
    let first = String::from_utf8(said(&asked)).unwrap();
    assert!(first.contains("octets = 0: 1 to"), "it was read: {first}");
    let again = String::from_utf8(said(&asked)).unwrap();
    assert!(again.contains("begin with CHRh"), "{again}");
    said(&frame::frame(&[b"CHRh"]));
    let replayed = String::from_utf8(said(&asked)).unwrap();
    assert!(replayed.contains("the token is wrong"), "{replayed}");
}

fn probe(target: String) -> Probe {
    Probe { target, octets: 64, count: 10, every_us: 1000, timeout_ms: 2000 }
}

#[test]
fn round_trips_are_measured_from_there() {
    let (server, other) = (with_token(), self::server());
    let caller = caller(&server, Some("a secret"));
    for kind in ["udp", "tcp", "connect"] {
        let measured = caller.probe(&probe(format!("{kind}:{}", other.address()))).unwrap();
        assert!(measured.first_ns.is_some() && measured.steady.len() == 10, "{measured:?}");
        assert!(measured.steady.iter().all(|(_, took_ns)| took_ns.is_some()), "{measured:?}");
    }
    let counts = other.stop();
    assert_eq!((counts.datagrams, counts.frames), (11, 11));
    let nobody = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let lost = caller.probe(&probe(format!("udp:{nobody}"))).unwrap();
    assert!(lost.first_ns.is_none() && lost.loss.unwrap().contains("no program listens"));
    for target in ["exec:/bin/true", "udp:nobody", "http://127.0.0.1/"] {
        let error = caller.probe(&probe(target.to_owned())).unwrap_err();
        assert!(matches!(error, CallError::Refused { .. }), "{target}: {error}");
    }
    let error = caller.probe(&probe("udp:no-such-host.invalid:9".to_owned())).unwrap_err();
    assert!(error.to_string().contains("no-such-host.invalid"), "{error}");
}

#[test]
fn who_asks_and_never_reads_is_cut_and_others_are_served() {
    let server = server();
    let json = br#"{"version":1,"ask":{"source":{"octets":100000000000,"at_most_ms":30000}}}"#;
    let deaf: Vec<TcpStream> = (0..4)
        .map(|_| {
            let mut stream = connect(&server);
            stream.write_all(&frame::frame(&[b"CHRh"])).unwrap();
            stream.read_exact(&mut [0; 40]).unwrap();
            stream.write_all(&frame::frame(&[b"CHRa", &[0; 32], json])).unwrap();
            stream.read_exact(&mut [0; 4]).unwrap();
            stream
        })
        .collect();
    let error = caller(&server, None).send(SOME).unwrap_err();
    assert!(error.to_string().contains("try again later"), "{error}");
    assert_echoes(&mut connect(&server), 64, 1);
    // They are cut after three seconds; then there is room again.
    let mut tries = 0;
    while server.counts().cut < 4 {
        tries += 1;
        assert!(tries < 300, "{:?}", server.counts());
        chronoscope_clock::sleep(Duration::from_millis(100));
    }
    assert!(caller(&server, None).send(SOME).is_ok());
    drop(deaf);
    server.stop();
}
