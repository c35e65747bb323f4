//! Every kind of probe against servers over real sockets, good and bad.
#![allow(clippy::unwrap_used)]

use chronoscope_net::probe::{Asking, Loss, Peer, Prober, Target, echo};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

const ASKING: Asking = Asking { octets: 100, timeout: Duration::from_secs(5) };
const HASTY: Asking = Asking { octets: 100, timeout: Duration::from_millis(30) };

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
