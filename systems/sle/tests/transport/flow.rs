//! Many PDUs, few calls, bounded memory.

use std::io::{Read, Write};

use chronoscope_sle::net::{DriverLimits, SendRefused, SocketOptions};
use chronoscope_sle::tml::Heartbeat;

use crate::peer::{CONTEXT, PATIENCE, Setting, Told, Wish, listen, pair, pdu, raw, stream};

#[test]
fn ten_thousand_pdus_at_once_cost_few_calls() {
    let (_listener, responder, mut peer) = raw(&Setting { echo: true, ..Setting::default() });
    let octets: Vec<u8> = (0..10_000u32).flat_map(|n| pdu(&n.to_be_bytes())).collect();
    peer.write_all(&octets).unwrap();
    for number in 0..10_000u32 {
        assert_eq!(responder.next(), Told::Pdu(number.to_be_bytes().to_vec().into()));
    }
    let mut back = vec![0; octets.len()];
    peer.read_exact(&mut back).unwrap();
    assert!(back == octets, "each comes back, in order");
    drop(peer);
    let sender = responder.driver.sender().clone();
    responder.driver.join(); // the last write is counted after its octets have come
    let counters = sender.counters();
    assert!(counters.reads < 500, "{counters:?}");
    assert!(counters.writes < 500, "{counters:?}");
    assert_eq!(counters.written_bytes, octets.len() as u64);
    assert_eq!(counters.read_bytes, (octets.len() + CONTEXT.len()) as u64);
}

/// As an application without batching would: the peer sees the same octets.
#[test]
fn a_write_for_each_pdu_where_that_is_asked_for() {
    let limits = DriverLimits { write_each: true, ..DriverLimits::default() };
    let setting = Setting { echo: true, limits, ..Setting::default() };
    let (_listener, responder, mut peer) = raw(&setting);
    let octets: Vec<u8> = (0..1000u32).flat_map(|n| pdu(&n.to_be_bytes())).collect();
    peer.write_all(&octets).unwrap();
    let mut back = vec![0; octets.len()];
    peer.read_exact(&mut back).unwrap();
    assert!(back == octets, "each comes back, in order");
    drop(peer);
    let sender = responder.driver.sender().clone();
    responder.driver.join(); // the last write is counted after its octets have come
    let counters = sender.counters();
    assert_eq!(counters.writes, 1000, "12 octets are never written in part: {counters:?}");
}

#[test]
fn one_octet_a_segment() {
    let (listener, sides) = listen(&Setting::default());
    let mut peer = stream(listener.address());
    for octet in [&CONTEXT[..], &pdu(b"first"), b"\x03\0\0\0\0\0\0\0", &pdu(b"second")].concat() {
        peer.write_all(&[octet]).unwrap();
    }
    let responder = sides.recv_timeout(PATIENCE).unwrap();
    assert_eq!(responder.next(), Told::Pdu("first".into()));
    assert_eq!(responder.next(), Told::Pdu("second".into()));
}

#[test]
fn commands_of_many_threads_all_come_each_threads_in_order() {
    let limits = DriverLimits { waiting_bytes_max: 1000, ..DriverLimits::default() };
    let (_listener, responder, initiator) =
        pair(&Setting { limits, ..Setting::default() }, Heartbeat::NONE);
    let threads: Vec<_> = (0..4u8)
        .map(|thread| {
            let sender = initiator.driver.sender().clone();
            std::thread::spawn(move || {
                for number in 0..500u16 {
                    let [high, low] = number.to_be_bytes();
                    sender.send(Wish::Pdu(vec![thread, high, low]), 3).unwrap();
                }
            })
        })
        .collect();
    let mut expected = [0u16; 4];
    for _ in 0..2000 {
        let Told::Pdu(body) = responder.next() else { panic!("a PDU") };
        let next = &mut expected[usize::from(body[0])];
        assert_eq!(u16::from_be_bytes([body[1], body[2]]), *next);
        *next += 1;
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A slow reader: senders are told, memory stays bounded, and all comes once it reads.
#[test]
fn senders_wait_for_a_slow_reader() {
    let limits = DriverLimits { waiting_bytes_max: 100_000, ..DriverLimits::default() };
    let options = SocketOptions { send_buffer: Some(4096), ..SocketOptions::default() };
    let (_listener, responder, mut peer) = raw(&Setting { limits, options, ..Setting::default() });
    let sender = responder.driver.sender().clone();
    let mut sent = 0usize;
    let mut refused = 0;
    // Full for good when the kernel has taken nothing in between.
    let mut written = 0;
    while refused < 1000 {
        match sender.try_send(Wish::Pdu(vec![7; 10_000]), 10_000) {
            Ok(()) => sent += 1,
            Err(SendRefused::Full(Wish::Pdu(body))) => {
                assert_eq!(body.len(), 10_000, "it is given back");
                let now = sender.counters().written_bytes;
                refused = if now == written { refused + 1 } else { 0 };
                written = now;
                std::thread::yield_now();
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(sender.waiting_bytes() < 100_000 + 10_008 * 2, "{}", sender.waiting_bytes());
    let blocked = std::thread::spawn(move || sender.send(Wish::Pdu(b"last".to_vec()), 4));
    let mut octets = vec![0; sent * 10_008 + 12];
    peer.read_exact(&mut octets).unwrap();
    assert_eq!(octets[octets.len() - 4..], *b"last");
    assert_eq!(blocked.join().unwrap(), Ok(()));
}

/// A peer that asks and never reads the answers cannot make them pile up: it is not read either.
#[test]
fn answers_to_who_does_not_read_are_bounded() {
    let limits = DriverLimits { waiting_bytes_max: 100_000, ..DriverLimits::default() };
    let options = SocketOptions {
        send_buffer: Some(4096),
        receive_buffer: Some(4096),
        ..SocketOptions::default()
    };
    let setting = Setting { limits, options, echo: true, ..Setting::default() };
    let (_listener, responder, peer) = raw(&setting);
    peer.set_write_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
    let octets = pdu(&[7; 1000]).repeat(100);
    // Until our peer stops reading what we ask: kernel buffers and 2 × 100,000 octets.
    let mut asked = 0;
    while asked < 1000 && (&peer).write_all(&octets).is_ok() {
        asked += 1;
    }
    assert!(asked < 1000, "it read {asked} times 100 kB and kept the answers");
    let waiting = responder.driver.sender().waiting_bytes();
    assert!(waiting < 200_000 + (256 << 10), "{waiting}");
}
