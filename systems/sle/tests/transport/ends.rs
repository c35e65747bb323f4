//! How connections end, and that each end is told.

use std::io::Write;
use std::time::Duration;

use chronoscope_sle::net::{DriverLimits, SendRefused};
use chronoscope_sle::tml::{Heartbeat, HeartbeatLimits, TmlFault};
use socket2::SockRef;

use crate::peer::{CONTEXT, PATIENCE, Setting, Told, Wish, listen, pair, pdu, raw, rest, stream};

#[test]
fn a_close_lets_all_through_that_was_sent_before() {
    let (_listener, responder, initiator) = pair(&Setting::default(), Heartbeat::NONE);
    for number in 0..1000u32 {
        initiator.wish(Wish::Pdu(number.to_be_bytes().to_vec()));
    }
    initiator.wish(Wish::Close);
    for number in 0..1000u32 {
        assert_eq!(responder.next(), Told::Pdu(number.to_be_bytes().to_vec().into()));
    }
    assert_eq!(responder.next(), Told::Closed(None));
    assert_eq!(initiator.next(), Told::Closed(None));
}

#[test]
fn after_the_end_commands_are_given_back() {
    let (_listener, responder, peer) = raw(&Setting::default());
    drop(peer);
    assert_eq!(responder.next(), Told::Closed(None));
    let sender = responder.driver.sender().clone();
    responder.driver.join();
    assert!(sender.ended());
    assert_eq!(sender.send(Wish::Close, 0), Err(SendRefused::Ended(Wish::Close)));
    assert_eq!(sender.try_send(Wish::Close, 0), Err(SendRefused::Ended(Wish::Close)));
}

#[test]
fn commands_behind_the_end_come_back_from_join() {
    let (_listener, _responder, initiator) = pair(&Setting::default(), Heartbeat::NONE);
    let sender = initiator.driver.sender();
    sender.send(Wish::Close, 0).unwrap();
    let body = |number: usize| number.to_be_bytes().to_vec();
    let taken = (0..1000).take_while(|&n| sender.send(Wish::Pdu(body(n)), 8).is_ok()).count();
    assert_eq!(initiator.next(), Told::Closed(None));
    let ended = initiator.driver.join();
    let all: Vec<_> = (0..taken).map(|number| Wish::Pdu(body(number))).collect();
    assert_eq!(ended.commands, all, "each that was taken is executed or comes back");
}

#[test]
fn a_reset_in_the_middle_of_a_pdu() {
    let (_listener, responder, mut peer) = raw(&Setting::default());
    peer.write_all(&[pdu(b"whole"), pdu(b"half")[..9].to_vec()].concat()).unwrap();
    assert_eq!(responder.next(), Told::Pdu("whole".into()));
    SockRef::from(&peer).set_linger(Some(Duration::ZERO)).unwrap();
    drop(peer);
    let Told::Closed(Some(TmlFault::Connection { reason })) = responder.next() else {
        panic!("a reset is no ordinary end")
    };
    assert!(reason.contains("reset"), "{reason}");
}

#[test]
fn whoever_breaks_it_is_told_too() {
    let (_listener, responder, peer) = raw(&Setting::default());
    responder.driver.sender().reset();
    assert!(matches!(responder.next(), Told::Closed(Some(TmlFault::Connection { .. }))));
    assert_eq!(rest(&peer).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn a_peer_that_connects_and_says_nothing_is_reset_in_time() {
    for announce in [false, true] {
        let heartbeats =
            HeartbeatLimits { establishment_ns: 1_000_000_000, ..HeartbeatLimits::default() };
        let (_listener, sides) = listen(&Setting { heartbeats, ..Setting::default() });
        let mut peer = stream(_listener.address());
        if announce {
            peer.write_all(&CONTEXT).unwrap();
        }
        let responder = sides.recv_timeout(PATIENCE).unwrap();
        assert_eq!(responder.next(), Told::Fault(TmlFault::EstablishmentTimeout));
        assert_eq!(responder.next(), Told::Closed(None));
        assert_eq!(rest(&peer).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    }
}

/// A peer that is gone without a word (its host lost power): nothing but heartbeats tells.
#[test]
fn a_half_open_connection_is_found_by_its_silence() {
    let heartbeats = HeartbeatLimits { interval_s: 1..=1, ..HeartbeatLimits::default() };
    let (_listener, sides) = listen(&Setting { heartbeats, ..Setting::default() });
    let mut peer = stream(_listener.address());
    let mut context = CONTEXT;
    context[16..].copy_from_slice(&[0, 1, 0, 1]);
    peer.write_all(&[&context[..], &pdu(b"bind")].concat()).unwrap();
    let responder = sides.recv_timeout(PATIENCE).unwrap();
    assert_eq!(responder.next(), Told::Pdu("bind".into()));
    assert!(matches!(responder.next(), Told::Fault(TmlFault::PeerDead { .. })));
    assert_eq!(responder.next(), Told::Closed(None));
}

#[test]
fn heartbeats_keep_a_silent_association() {
    let heartbeats = HeartbeatLimits { interval_s: 1..=1, ..HeartbeatLimits::default() };
    let setting = Setting { heartbeats, ..Setting::default() };
    let (_listener, responder, initiator) =
        pair(&setting, Heartbeat { interval_s: 1, dead_factor: 2 });
    initiator.wish(Wish::Pdu(b"bind".to_vec()));
    assert_eq!(responder.next(), Told::Pdu("bind".into()));
    // Beyond the dead time of 2 s: had no heartbeat come, there would be a fault.
    assert!(responder.told.recv_timeout(Duration::from_millis(2500)).is_err());
    responder.wish(Wish::Pdu(b"still there".to_vec()));
    assert_eq!(initiator.next(), Told::Pdu("still there".into()));
}

#[test]
fn a_peer_that_takes_nothing_is_cut() {
    let limits = DriverLimits { stall_ns: 100_000_000, ..DriverLimits::default() };
    let (_listener, responder, _peer) = raw(&Setting { limits, ..Setting::default() });
    let sender = responder.driver.sender().clone();
    // More than the kernel takes; the last of them wait until the end.
    while sender.send(Wish::Pdu(vec![7; 1 << 20]), 1 << 20).is_ok() {}
    let Told::Closed(Some(TmlFault::Connection { reason })) = responder.next() else {
        panic!("it is cut")
    };
    assert!(reason.contains("accepted no octet"), "{reason}");
}
