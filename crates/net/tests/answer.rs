//! The permanent server over real sockets.
#![allow(clippy::unwrap_used)]

use chronoscope_net::answer::{OF_ONE_MAX, Options, Server};
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
    for _ in 0..1000 {
        assert_closed(connect(&server));
    }
    for last in 1..=3 {
        assert_echoes(&mut connect_from(last, server.address()), 64, 1);
    }
    let mut first = silent.into_iter().next().unwrap();
    assert_echoes(&mut first, 64, 1);
    let counts = server.stop();
    assert_eq!(counts.turned_away, 1000);
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
