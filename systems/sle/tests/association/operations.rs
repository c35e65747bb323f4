//! Operations of a service on a bound association: invoke ids, and who sends what.

use chronoscope_sle::association::{AssociationEvent, SendError};
use chronoscope_sle::pdu::{
    CltuTransferDataReturn, Diagnostic, Message, Pdu, PeerAbortDiagnostic, ReportRequest,
    ThrowEvent,
};

use crate::link::{Alone, Link, cltu, get, start, started, taken};
use crate::provider_table::aborted;

fn throw(invoke_id: u16) -> Pdu {
    Pdu::ThrowEvent(ThrowEvent {
        invoke_id,
        event_invocation_id: 1,
        event: 1,
        qualifier: bytes::Bytes::from_static(b"q"),
    })
}

fn schedule(invoke_id: u16) -> Pdu {
    Pdu::ScheduleStatusReport { invoke_id, request: ReportRequest::Immediately }
}

#[test]
fn an_invocation_goes_down_and_its_return_up() {
    let mut link = Link::started();
    link.send(cltu(2));
    assert_eq!(link.provider_events, [AssociationEvent::Pdu(cltu(2))]);
    assert_eq!(link.user.waiting(), 1);
    link.answer(taken(2));
    assert_eq!(link.user_events, [AssociationEvent::Pdu(taken(2))]);
    assert_eq!(link.user.waiting(), 0);
}

#[test]
fn returns_may_come_in_another_order() {
    let mut link = Link::started();
    for id in 2..=4 {
        link.send(cltu(id));
    }
    for id in [3, 4, 2] {
        link.answer(taken(id));
    }
    assert_eq!(link.user_events, [3, 4, 2].map(|id| AssociationEvent::Pdu(taken(id))));
}

#[test]
fn all_invoke_ids_are_used_and_used_again() {
    let mut link = Link::started();
    for round in 0..2 {
        for id in 0..=u16::MAX {
            link.user.send(cltu(id), link.now).unwrap();
        }
        assert_eq!(link.user.waiting(), 65_536, "round {round}");
        let duplicate = SendError::DuplicateInvokeId(9);
        assert_eq!(link.user.send(get(9), link.now), Err(duplicate));
        link.settle();
        assert_eq!(link.provider_events.len(), 65_536);
        for id in 0..=u16::MAX {
            link.provider.send(taken(id), link.now).unwrap();
        }
        link.settle();
        assert_eq!(link.user.waiting(), 0);
        link.forget();
    }
}

#[test]
fn a_return_that_nobody_waits_for_is_unsolicited() {
    let mut bound = Link::bound();
    bound.send(get(7));
    let unsolicited = [taken(7), Pdu::StopReturn { invoke_id: 7, result: Ok(()) }, started(8)];
    for pdu in unsolicited {
        let mut alone = Alone::binding(crate::link::settings());
        alone.heard();
        alone.say(Pdu::BindReturn(chronoscope_sle::pdu::BindReturn {
            responder: crate::link::PROVIDER.into(),
            result: Ok(5),
        }));
        alone.association.send(get(7), alone.now).unwrap();
        alone.say(pdu);
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::UnsolicitedInvokeId);
    }
}

#[test]
fn an_invoke_id_that_is_open_is_answered_as_a_duplicate() {
    let mut alone = Alone::bound();
    alone.say(get(1));
    alone.events.clear();
    for pdu in [start(1), Pdu::Stop { invoke_id: 1 }, schedule(1), get(1), cltu(1), throw(1)] {
        alone.say(pdu);
    }
    assert_eq!(alone.events, [], "the service never sees them");
    let result = Diagnostic::DuplicateInvokeId;
    let invoke_id = 1;
    let expected = [
        Pdu::StartReturn { invoke_id, result: Err(result) },
        Pdu::StopReturn { invoke_id, result: Err(result) },
        Pdu::ScheduleStatusReportReturn { invoke_id, result: Err(result) },
        Pdu::GetParameterReturn { invoke_id, result: Err(result) },
        Pdu::CltuTransferDataReturn(CltuTransferDataReturn {
            invoke_id,
            next_cltu: 0,
            buffer_available: 0,
            result: Err(result),
        }),
        Pdu::ThrowEventReturn { invoke_id, event_invocation_id: 0, result: Err(result) },
    ];
    let heard = alone.heard();
    let heard: Vec<_> = heard.into_iter().map(|Message { pdu, .. }| pdu).collect();
    assert_eq!(heard, expected);
    // The one that was open still is, and can be returned.
    let answer = Pdu::GetParameterReturn { invoke_id: 1, result: Err(Diagnostic::OtherReason) };
    assert_eq!(alone.association.send(answer, alone.now), Ok(()));
    alone.say(get(1));
    assert_eq!(alone.events, [AssociationEvent::Pdu(get(1))], "closed, the id is free");
}

#[test]
fn a_duplicate_cltu_is_told_what_is_expected() {
    let mut alone = Alone::bound();
    alone.say(start(1));
    alone.association.send(started(1), alone.now).unwrap();
    alone.say(cltu(5));
    alone.association.send(taken(5), alone.now).unwrap();
    alone.say(cltu(6));
    alone.collect();
    alone.heard();
    alone.say(cltu(6));
    let [Message { pdu: Pdu::CltuTransferDataReturn(answer), .. }] = alone.heard()[..] else {
        panic!("no return");
    };
    assert_eq!((answer.next_cltu, answer.buffer_available), (6, 4096));
    assert_eq!(answer.result, Err(Diagnostic::DuplicateInvokeId));
}

#[test]
fn a_start_refused_as_a_duplicate_does_not_stop_what_is_started() {
    let mut alone = Alone::bound();
    alone.say(start(1));
    alone.association.send(started(1), alone.now).unwrap();
    alone.say(get(2));
    alone.say(start(2));
    alone.say(Pdu::Unbind(chronoscope_sle::pdu::UnbindReason::End));
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::ProtocolError);
}

#[test]
fn nobody_sends_what_is_the_other_s() {
    let mut link = Link::started();
    link.send(get(3));
    let sent = link.user.send(taken(1), link.now);
    assert_eq!(sent, Err(SendError::NotOurs { operation: "TRANSFER-DATA return", role: "user" }));
    let sent = link.provider.send(get(1), link.now);
    let operation = "GET-PARAMETER invocation";
    assert_eq!(sent, Err(SendError::NotOurs { operation, role: "provider" }));
    let sent = link.user.send(Pdu::UnbindReturn, link.now);
    assert_eq!(sent, Err(SendError::NotOurs { operation: "UNBIND return", role: "user" }));
    assert_eq!(link.provider.send(taken(9), link.now), Err(SendError::NoSuchInvocation(9)));
    // A return goes to an invocation of its own operation.
    assert_eq!(link.provider.send(taken(3), link.now), Err(SendError::NoSuchInvocation(3)));
}

#[test]
fn what_cannot_be_encoded_opens_nothing() {
    let mut link = Link::bound();
    let Pdu::CltuTransferData(mut data) = cltu(1) else { panic!() };
    data.data = bytes::Bytes::new();
    let sent = link.user.send(Pdu::CltuTransferData(data), link.now);
    assert!(matches!(sent, Err(SendError::Encode(_))), "{sent:?}");
    assert_eq!(link.user.waiting(), 0);
    link.send(get(1));
    assert_eq!(link.provider_events, [AssociationEvent::Pdu(get(1))]);
}

#[test]
fn octets_may_come_one_at_a_time() {
    let mut alone = Alone::bound();
    let mut octets = Vec::new();
    for id in [1, 2] {
        let message = Message { credentials: None, pdu: cltu(id) };
        let codec = alone.codec;
        alone.tml.frame(alone.now, &mut octets, |out| codec.encode(&message, out)).unwrap();
    }
    for octet in octets {
        alone.octets(&[octet]);
    }
    assert_eq!(alone.events, [1, 2].map(|id| AssociationEvent::Pdu(cltu(id))));
}
