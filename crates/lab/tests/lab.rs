//! A network that is up, with real sockets in its namespaces.
#![allow(clippy::unwrap_used)]

use chronoscope_clock as clock;
use chronoscope_lab::{Element, Joint, Lab, LabError, Plan};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

const HERE: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 1);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 254);

/// Two segments and a gateway that needs 5 ms each way; `None`: not allowed here.
fn lab() -> Option<Lab> {
    let element = Element { delay: Duration::from_millis(5), ..Element::default() };
    let plan = Plan {
        segments: vec![Element::default(); 2],
        joints: vec![Joint { element, joins: vec![0, 1], address: Some(GATEWAY) }],
        hosts: vec![(HERE, 0), (THERE, 1)],
    };
    match Lab::new(plan) {
        Ok(lab) => Some(lab),
        Err(error @ LabError::Forbidden { .. }) => {
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn datagrams_take_the_delay_both_ways() {
    let Some(lab) = lab() else { return };
    let [here, there] = [0, 1].map(|host| &lab.hosts()[host]);
    let server = there.run(|| UdpSocket::bind((THERE, 0)).unwrap()).unwrap();
    let client = here.run(|| UdpSocket::bind((HERE, 0)).unwrap()).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    server.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let start_ns = clock::monotonic_ns();
    client.send_to(b"request", server.local_addr().unwrap()).unwrap();
    let mut octets = [0; 64];
    let (len, from) = server.recv_from(&mut octets).unwrap();
    server.send_to(&octets[..len], from).unwrap();
    let len = client.recv(&mut octets).unwrap();
    assert_eq!(&octets[..len], b"request");
    assert!(clock::monotonic_ns() - start_ns >= 10_000_000, "shorter than the gateway's delay");
    assert!(lab.carried().packets >= 2);
    assert_eq!(lab.carried().lost, 0);
}

#[test]
fn connections_run_end_to_end() {
    let Some(lab) = lab() else { return };
    let [here, there] = [0, 1].map(|host| &lab.hosts()[host]);
    let listener = there.run(|| TcpListener::bind((THERE, 0)).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(&all[all.len() - 3..]).unwrap();
        all.len()
    });
    let mut stream = here.run(|| TcpStream::connect(address).unwrap()).unwrap();
    let sent: Vec<u8> = (0..1_000_000u32).map(|n| n.to_le_bytes()[0]).collect();
    stream.write_all(&sent).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, sent[sent.len() - 3..]);
    assert_eq!(server.join().unwrap(), sent.len());
}

#[test]
fn a_gateway_is_seen_by_who_looks_for_it() {
    let Some(lab) = lab() else { return };
    let seen = lab.hosts()[0].run(|| {
        let raw = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).unwrap();
        raw.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        socket.set_ttl(1).unwrap();
        socket.send_to(b"how far", (THERE, 33_434)).unwrap();
        let mut packet = [0; 128];
        let len = (&raw).read(&mut packet).unwrap();
        packet[..len].to_vec()
    });
    let seen = seen.unwrap();
    const TIME_EXCEEDED: u8 = 11;
    assert_eq!((&seen[12..16], seen[20]), (&GATEWAY.octets()[..], TIME_EXCEEDED));
}
