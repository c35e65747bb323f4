//! Operations that are well formed and wrong.

use crate::peer::{End, FORWARD, Peer, RETURN, bind, cltu, get, start};
use crate::station::{Neighbour, Station};
use bytes::Bytes;
use chronoscope_sle::pdu::{
    BindDiagnostic, BindPdu, Diagnostic, Pdu, PeerAbortDiagnostic, ServiceType, UnbindReason,
};
use chronoscope_sle::service::fcltu::diagnostic;

const PROTOCOL_ERROR: End = End::Abort(3);
const ENCODING_ERROR: End = End::Abort(5);

#[test]
fn operations_that_the_state_does_not_allow_are_protocol_errors() {
    assert_eq!(PROTOCOL_ERROR, End::Abort(PeerAbortDiagnostic::ProtocolError.octet()));
    assert_eq!(ENCODING_ERROR, End::Abort(PeerAbortDiagnostic::EncodingError.octet()));
    let station = Station::new();
    let neighbour = Neighbour::start(&station);
    let instance = format!("{FORWARD}cltu1");
    let transfer = || Pdu::CltuTransferData(cltu(0));
    let unbind = Pdu::Unbind(UnbindReason::End);
    let again = Pdu::Bind(bind(&instance));

    for early in [start(), transfer(), get(1), Pdu::Stop { invoke_id: 1 }, unbind.clone()] {
        let mut peer = Peer::user(station.address());
        peer.say(early.clone());
        assert_eq!(peer.end(), (vec![], PROTOCOL_ERROR), "unbound: {early:?}");
    }
    for in_ready in [transfer(), Pdu::Stop { invoke_id: 1 }, again.clone()] {
        let mut peer = Peer::user(station.address());
        peer.bind(&instance);
        peer.say(in_ready.clone());
        assert_eq!(peer.end(), (vec![], PROTOCOL_ERROR), "ready: {in_ready:?}");
        station.serves("cltu1");
    }
    for in_active in [start(), unbind, again] {
        let mut peer = Peer::started(station.address(), &instance);
        peer.say(in_active.clone());
        assert_eq!(peer.end(), (vec![], PROTOCOL_ERROR), "active: {in_active:?}");
        station.serves("cltu1");
    }
    // A return is nothing that a user says: his half of the protocol has no such operation.
    let mut peer = Peer::started(station.address(), &instance);
    peer.say(Pdu::StopReturn { invoke_id: 9, result: Ok(()) });
    assert_eq!(peer.end(), (vec![], ENCODING_ERROR));
    station.serves("cltu1");
    neighbour.noticed_nothing();
}

#[test]
fn a_bind_that_is_not_allowed_is_refused_with_its_diagnostic() {
    let station = Station::new();
    let right = bind(&format!("{FORWARD}cltu1"));
    let nobody = BindPdu { initiator: "NOBODY".to_owned(), ..right.clone() };
    let nowhere = bind(&format!("{FORWARD}cltu9"));
    let too_new = BindPdu { version: 9, ..right.clone() };
    let mixed = BindPdu { service: Ok(ServiceType::Raf), ..right.clone() };
    let busy = bind(&format!("{FORWARD}good"));
    let neighbour = Neighbour::start(&station);
    for (wrong, diagnostic) in [
        (nobody, BindDiagnostic::AccessDenied),
        (nowhere, BindDiagnostic::NoSuchServiceInstance),
        (too_new, BindDiagnostic::VersionNotSupported),
        (mixed, BindDiagnostic::InconsistentServiceType),
        (busy, BindDiagnostic::AlreadyBound),
    ] {
        let mut peer = Peer::user(station.address());
        peer.say(Pdu::Bind(wrong));
        let Pdu::BindReturn(answer) = peer.hear() else { panic!() };
        assert_eq!(answer.result, Err(diagnostic));
        peer.stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(peer.end(), (vec![], End::Closed), "{diagnostic:?}");
    }
    neighbour.noticed_nothing();
}

/// Refused, each with what is expected; the association goes on.
#[test]
fn cltus_out_of_sequence_are_refused_and_nothing_else_happens() {
    let station = Station::new();
    let mut peer = Peer::started(station.address(), &format!("{FORWARD}cltu1"));
    let mut transfer = |number: u32| {
        peer.say(Pdu::CltuTransferData(cltu(number)));
        loop {
            if let Pdu::CltuTransferDataReturn(answer) = peer.hear() {
                return (answer.result, answer.next_cltu);
            }
        }
    };
    let wrong = Err(diagnostic::TRANSFER_OUT_OF_SEQUENCE);
    assert_eq!(transfer(0), (Ok(()), 1));
    for out_of_sequence in [0, 2, 7, u32::MAX] {
        assert_eq!(transfer(out_of_sequence), (wrong, 1), "{out_of_sequence}");
    }
    assert_eq!(transfer(1), (Ok(()), 2));
    assert!(station.status("cltu1").contains("received 2,"));
}

#[test]
fn numbers_of_events_out_of_sequence_are_refused() {
    let station = Station::new();
    let mut peer = Peer::user(station.address());
    peer.bind(&format!("{FORWARD}cltu1"));
    for number in [5, 0] {
        peer.say(Pdu::ThrowEvent(chronoscope_sle::pdu::ThrowEvent {
            invoke_id: 1,
            event_invocation_id: number,
            event: 1,
            qualifier: Bytes::from_static(b"x"),
        }));
        let Pdu::ThrowEventReturn { result, event_invocation_id, .. } = peer.hear() else {
            panic!()
        };
        // None is configured.
        assert!(matches!(result, Err(Diagnostic::Specific(_))));
        assert_eq!(event_invocation_id, 0);
    }
    peer.say(Pdu::Unbind(UnbindReason::End));
    assert_eq!(peer.hear(), Pdu::UnbindReturn);
}

/// What belongs to another service than the one that is bound.
#[test]
fn operations_of_another_service_are_encoding_errors() {
    let station = Station::new();
    let mut peer = Peer::user(station.address());
    peer.bind(&format!("{RETURN}onlc1"));
    peer.codec.service = ServiceType::Fcltu;
    peer.say(Pdu::CltuTransferData(cltu(0)));
    assert_eq!(peer.end(), (vec![], ENCODING_ERROR));
}
