//! PEER-ABORT: one octet of urgent data, both ways.

use std::io::Write;

use chronoscope_sle::net::{CommandSender, DriverLimits, SocketOptions};
use chronoscope_sle::tml::{Heartbeat, TmlFault};
use socket2::SockRef;

use crate::peer::{Setting, Told, Wish, pair, pdu, raw, rest};

#[test]
fn an_abort_reaches_the_other_side_and_both_end() {
    let (_listener, responder, initiator) = pair(&Setting::default(), Heartbeat::NONE);
    initiator.wish(Wish::Pdu(b"bind".to_vec()));
    assert_eq!(responder.next(), Told::Pdu("bind".into()));
    responder.wish(Wish::Abort(7));
    assert_eq!(initiator.next(), Told::Urgent(7));
    assert_eq!(initiator.next(), Told::Closed(None));
    assert_eq!(responder.next(), Told::Closed(None));
    assert!(initiator.driver.join().commands.is_empty());
}

#[test]
fn an_urgent_octet_behind_half_a_pdu() {
    let (_listener, responder, mut peer) = raw(&Setting::default());
    peer.write_all(&pdu(b"whole")).unwrap();
    assert_eq!(responder.next(), Told::Pdu("whole".into()));
    peer.write_all(&pdu(b"only half of this")[..12]).unwrap();
    SockRef::from(&peer).send_out_of_band(&[127]).unwrap();
    assert_eq!(responder.next(), Told::Urgent(127));
    assert_eq!(rest(&peer).unwrap(), b"", "it closes");
    drop(peer);
    assert_eq!(responder.next(), Told::Closed(None));
}

/// 1 is a type of the TML too: only the mark tells it from a header's first octet.
#[test]
fn an_urgent_octet_that_looks_like_a_header() {
    for octet in [0, 1, 2, 3, 128, 255] {
        let (_listener, responder, peer) = raw(&Setting::default());
        SockRef::from(&peer).send_out_of_band(&[octet]).unwrap();
        assert_eq!(responder.next(), Told::Urgent(octet));
    }
}

#[test]
fn an_urgent_octet_with_octets_behind_it() {
    let (_listener, responder, mut peer) = raw(&Setting::default());
    SockRef::from(&peer).send_out_of_band(&[3]).unwrap();
    peer.write_all(&pdu(b"too late")).unwrap();
    assert_eq!(responder.next(), Told::Urgent(3));
    drop(peer);
    assert_eq!(responder.next(), Told::Closed(None), "what came behind is not taken");
}

#[test]
fn a_peer_without_urgent_data_finds_one_octet_and_the_end() {
    let (_listener, responder, peer) = raw(&Setting::default());
    SockRef::from(&peer).set_out_of_band_inline(true).unwrap();
    responder.wish(Wish::Pdu(b"last".to_vec()));
    responder.wish(Wish::Abort(4));
    let mut expected = pdu(b"last");
    expected.push(4);
    assert_eq!(rest(&peer).unwrap(), expected);
}

/// With the queue full and the peer not reading, an urgent octet still comes through, as reading
/// and writing do not wait for each other.
#[test]
fn an_abort_reaches_who_is_blocked_in_writing() {
    let setting = Setting {
        options: SocketOptions { send_buffer: Some(4096), ..SocketOptions::default() },
        limits: DriverLimits { waiting_bytes_max: 1 << 16, ..DriverLimits::default() },
        ..Setting::default()
    };
    let (_listener, responder, peer) = raw(&setting);
    let sender = responder.driver.sender();
    // The kernel's buffers fill, then ours.
    fill(sender);
    SockRef::from(&peer).send_out_of_band(&[9]).unwrap();
    assert_eq!(responder.next(), Told::Urgent(9));
    drop(peer);
    assert!(matches!(responder.next(), Told::Closed(_)));
}

/// Sends until neither our buffers nor the kernel's take more.
fn fill(sender: &CommandSender<Wish>) {
    let mut written = 0;
    loop {
        while sender.try_send(Wish::Pdu(vec![7; 1 << 15]), 1 << 15).is_ok() {}
        chronoscope_clock::sleep(std::time::Duration::from_millis(20));
        let now = sender.counters().written_bytes;
        if now > 0 && now == written {
            return;
        }
        written = now;
    }
}

#[test]
fn an_abort_to_who_does_not_read_ends_in_time() {
    let setting = Setting {
        options: SocketOptions { send_buffer: Some(4096), ..SocketOptions::default() },
        limits: DriverLimits { close_ns: 50_000_000, ..DriverLimits::default() },
        ..Setting::default()
    };
    let (_listener, responder, peer) = raw(&setting);
    let sender = responder.driver.sender();
    fill(sender);
    sender.send_first(Wish::Abort(6)).unwrap();
    assert_eq!(responder.next(), Told::Closed(None));
    let error = rest(&peer).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "what was lost is no end");
}

#[test]
fn garbage_is_answered_with_129() {
    let (_listener, responder, mut peer) = raw(&Setting::default());
    SockRef::from(&peer).set_out_of_band_inline(true).unwrap();
    peer.write_all(b"\x01\0\0\0\xff\xff\xff\xff").unwrap();
    assert_eq!(
        responder.next(),
        Told::Fault(TmlFault::TooLong { length: u32::MAX, max: 1 << 20, position: 20 })
    );
    assert_eq!(rest(&peer).unwrap(), [129]);
    // It waits for the peer's end for a bounded time, and ends when that comes.
    peer.shutdown(std::net::Shutdown::Both).unwrap();
    assert_eq!(responder.next(), Told::Closed(None));
}
