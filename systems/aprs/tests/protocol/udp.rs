//! Packets by UDP: to clients, from submitters, between core peers.

use crate::common::{
    Client, Sends, Server, UdpPeer, Upstream, drops, free_port, loopback, passes, passes_as_is,
    text,
};
use std::net::UdpSocket;
use std::time::Duration;

/// A client that asked for UDP gets packets there, without a line's end, and comments by TCP.
#[test]
fn downstream() {
    let address = free_port(loopback());
    let (ip, port) = (address.ip(), address.port());
    let directives =
        format!("Listen both fullfeed tcp {ip} {port}\nListen by-udp fullfeed udp {ip} {port}\n");
    let server = Server::with(&directives);
    let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let words = format!(" UDP {}", socket.local_addr().unwrap().port());
    let mut control = Client::login_with(address, "N5CAL-2", &words);
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut buffer = [0; 2048];
    let mut next = || loop {
        let (count, from) = socket.recv_from(&mut buffer).unwrap();
        assert_eq!(from, address);
        let line = text(&buffer[..count]);
        if !line.starts_with('#') {
            return line;
        }
    };
    for number in 0..3 {
        let line = format!("SRC>DST,qAR,N5CAL-1:udp {number}");
        tx.send(&line);
        assert_eq!(next(), line);
    }
    control.silent(Duration::from_millis(100));
    // It sends by TCP.
    let mut rx = Client::login(server.port("full"), "N5CAL-3");
    control.send("SRC>DST,qAR,N5CAL-2:by tcp");
    assert_eq!(text(&rx.packet()), "SRC>DST,qAR,N5CAL-2:by tcp");
}

#[test]
fn no_udp_where_there_is_no_udp_port() {
    let server = Server::basic();
    let mut rx = Client::login_with(server.port("full"), "N5CAL-2", " UDP 20000");
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:by tcp");
}

fn submit(server: &Server, lines: &str) {
    let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    socket.send_to(lines.as_bytes(), server.port("submit")).unwrap();
}

#[test]
fn submitted() {
    let server = Server::basic();
    let mut rx = Client::login(server.port("full"), "OH0CAL-2");
    let login = "user TEST pass 29939 vers udptester 1.0\r\n";
    submit(&server, &format!("{login}TEST>UDAPRS,TCPIP*:>one"));
    assert_eq!(text(&rx.packet()), "TEST>UDAPRS,TCPIP*,qAU,TESTING:>one");
    submit(&server, &format!("{login}TEST>UDAPRS:>two\r\n"));
    assert_eq!(text(&rx.packet()), "TEST>UDAPRS,TCPIP*,qAU,TESTING:>two");
}

#[test]
fn submitted_without_a_login() {
    let server = Server::basic();
    let mut rx = Client::login(server.port("full"), "OH0CAL-2");
    for lines in [
        "user TEST pass 12345 vers udptester 1.0\r\nTEST>UDAPRS:>wrong passcode",
        "TEST>UDAPRS:>no login",
        "user TEST pass 29939 vers udptester 1.0\r\nTEST no packet",
        "user TEST pass 29939",
        "",
    ] {
        submit(&server, lines);
    }
    submit(&server, "user TEST pass 29939 vers udptester 1.0\r\nTEST>UDAPRS:>good");
    assert_eq!(text(&rx.packet()), "TEST>UDAPRS,TCPIP*,qAU,TESTING:>good");
}

/// What comes from peers and from uplinks goes to clients alone; what comes from clients goes to
/// all.
#[test]
fn peers() {
    let mut peer = UdpPeer::new("PEER1");
    let upstream = Upstream::new("CORE1");
    let directives = peer.directive() + &upstream.directive("full");
    let server = Server::with(&directives);
    let (mut up, _) = upstream.login();
    let mut client = Client::login(server.port("full"), "N5CAL-1");
    passes_as_is(&mut up, &mut client, "SRC>DST,qAR,IGATE:from the uplink");
    passes_as_is(&mut peer, &mut client, "SRC>DST,qAR,IGATE:from the peer");
    passes_as_is(&mut client, &mut up, "SRC>DST,qAR,IGATE:from a client");
    assert_eq!(text(&peer.packet()), "SRC>DST,qAR,IGATE:from a client");
    drop(server);
}

#[test]
fn a_packet_from_a_peer_is_checked() {
    let mut peer = UdpPeer::new("PEER1");
    let server = Server::with(&peer.directive());
    let mut rx = Client::login(server.port("full"), "N5CAL-1");
    passes_as_is(&mut peer, &mut rx, "SRC>DST,qAR,IGATE:x");
    drops(&mut peer, &mut rx, "SRC>DST,qAR,IGATE:x", "SRC>DST,qAR,IGATE:dummy");
    drops(&mut peer, &mut rx, "SRC>DST,qAR,TESTING:loop", "SRC>DST,qAR,IGATE:dummy");
    passes(&mut peer, &mut rx, "SRC>DST,qAI,IGATE:trace", "SRC>DST,qAI,IGATE,PEER1,TESTING:trace");
}

/// Only those who are in the group are peers.
#[test]
fn a_stranger_is_not_a_peer() {
    let mut peer = UdpPeer::new("PEER1");
    let server = Server::with(&peer.directive());
    let mut rx = Client::login(server.port("full"), "N5CAL-1");
    let stranger = UdpSocket::bind((loopback(), 0)).unwrap();
    stranger.send_to(b"SRC>DST,qAR,IGATE:stranger", peer.server()).unwrap();
    passes_as_is(&mut peer, &mut rx, "SRC>DST,qAR,IGATE:peer");
}
